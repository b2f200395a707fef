"""Metrics that a Grafana board made for Kueue reads unchanged."""

from __future__ import annotations

import re

import pytest

from sandbox.models import Event, Workload
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db]

LINE = re.compile(r"[a-z_]+(\{([a-z_]+=\"[^\"]*\",?)*\})? (\S+)")


def values(text: str, name: str, **labels: str) -> list[float]:
    found = []
    for line in text.splitlines():
        head, _, value = line.rpartition(" ")
        if head.partition("{")[0] == name and all(
            f'{label}="{wanted}"' in head for label, wanted in labels.items()
        ):
            found.append(float(value))
    return found


@pytest.fixture
def text(call, busy) -> str:
    tick(busy, 12)
    return call("get", busy, "/metrics").content.decode()


def test_every_line_is_of_the_format(text):
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    assert lines
    assert all(LINE.fullmatch(line) for line in lines)


def test_every_family_says_that_time_is_simulated(text):
    helps = [line for line in text.splitlines() if line.startswith("# HELP")]
    assert all(line.endswith("(simulated time)") for line in helps)


def test_gauges_say_what_the_rows_say(text, busy):
    admitted = Workload.objects.filter(sandbox=busy, phase="admitted").count()
    assert sum(values(text, "kueue_admitted_active_workloads")) == admitted
    name = "kueue_cluster_queue_nominal_quota"
    assert values(text, name, cluster_queue="a", resource="cpu") == [4.0]
    assert values(text, "kueue_cluster_queue_borrowing_limit")[0] == float("inf")
    assert values(text, "quotalab_simulated_seconds") == [12.0]


def test_counters_say_what_the_events_say(text, busy):
    admissions = Event.objects.filter(sandbox=busy, type="Admit").count()
    preemptions = Event.objects.filter(sandbox=busy, type="Preempt").count()
    assert sum(values(text, "kueue_admitted_workloads_total")) == admissions
    assert sum(values(text, "kueue_preempted_workloads_total")) == preemptions > 0
    waits = values(text, "kueue_admission_wait_time_seconds_count")
    assert sum(waits) == admissions


def test_a_second_scrape_goes_on_counting(text, call, busy):
    tick(busy, 8)
    again = call("get", busy, "/metrics").content.decode()
    admissions = Event.objects.filter(sandbox=busy, type="Admit").count()
    assert sum(values(again, "kueue_admitted_workloads_total")) == admissions


def test_one_scrape_has_every_sandbox(client, make, busy):
    other = make()
    text = client.get("/metrics").content.decode()
    for sandbox in (busy, other):
        assert values(text, "quotalab_tick", sandbox=sandbox.pk)
