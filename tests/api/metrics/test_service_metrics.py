"""Metrics of the service itself; the board and the alerts name only what there is."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from sandbox import actions
from sandbox.base import counters
from sandbox.models import Sandbox
from sandbox.process import services
from sandbox.worker import tasks
from tests.services.default_run import ROOT

pytestmark = [pytest.mark.django_db]
DOCS = ROOT / "docs" / "monitoring"
OURS = re.compile(r"\bquotalab_\w+")


@pytest.fixture
def samples(valkey):
    """Return a function that reads every sample, as Prometheus' parser does."""
    counters.take()

    def read() -> dict[tuple[str, str], float]:
        text = Client().get("/metrics/service").content.decode()
        return {
            (sample.name, "".join(sample.labels.values())): sample.value
            for family in text_string_to_metric_families(text)
            for sample in family.samples
        }

    return read


def test_ticks_commits_queues_and_lag_are_counted(busy, person, samples):
    Sandbox.objects.update(due_at=0)
    late = samples()
    assert late["quotalab_sandboxes_late", ""] == 1
    assert late["quotalab_lag_seconds", ""] > 1000
    made = tasks.advance.apply((busy.pk,)).get()
    actions.do_pause(person, busy.pk)
    tasks.send(busy.pk, "", 1.0)
    found = samples()
    assert found["quotalab_tick_seconds_count", ""] == made > 0
    assert found["quotalab_tick_seconds_bucket", "+Inf"] == made
    assert found["quotalab_commits_total", "tick"] == made
    assert found["quotalab_commits_total", "transport"] == 1
    assert found["quotalab_queue_messages", "ticks"] == 1
    assert found["quotalab_sandboxes_playing", ""] == 0


def test_counts_wait_while_the_bus_is_away(valkey, samples, settings):
    counters.count("leases_lost")
    there, settings.BUS_URL = settings.BUS_URL, "unix:///nowhere/bus.sock"
    assert samples() == {
        ("quotalab_sandboxes_playing", ""): 0,
        ("quotalab_sandboxes_late", ""): 0,
        ("quotalab_lag_seconds", ""): 0,
        ("quotalab_bus_up", ""): 0,
    }
    settings.BUS_URL = there
    assert samples()["quotalab_leases_lost_total", ""] == 1


def test_sizes_of_processes_are_added_and_end_with_them(valkey, samples):
    bus = valkey.client()
    bus.hset(f"{services.SIZES}other:1", "sockets", 3)
    counters.note_size("sockets", 2)
    assert samples()["quotalab_sockets", ""] == 5
    counters.note_size("sockets", -2)
    assert samples()["quotalab_sockets", ""] == 3


def test_a_simulation_and_the_service_share_no_metric(samples):
    simulated = Client().get("/metrics").content.decode()
    served = Client().get("/metrics/service").content.decode()
    names = [
        set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
        for text in (simulated, served)
    ]
    assert not names[0] & names[1]
    assert "simulated" not in served


def test_board_and_alerts_name_metrics_that_there_are(samples):
    there = {name for name, _ in samples()}
    board = json.loads((DOCS / "grafana.json").read_text())
    rules = yaml.safe_load((DOCS / "alerts.yaml").read_text())["groups"][0]["rules"]
    asked = [t["expr"] for panel in board["panels"] for t in panel["targets"]]
    asked += [rule["expr"] for rule in rules]
    named = {name for expr in asked for name in OURS.findall(expr)}
    assert len(asked) > 15
    assert named - there == set()
    assert there - named <= {"quotalab_tick_seconds_sum"}


def test_the_scrape_configuration_asks_where_the_metrics_are():
    (job,) = yaml.safe_load((DOCS / "scrape.yaml").read_text())["scrape_configs"]
    assert Client().get(job["metrics_path"]).status_code == 200
