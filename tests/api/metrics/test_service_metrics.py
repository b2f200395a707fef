"""Metrics of the service itself; the board and the alerts name only what there is."""

from __future__ import annotations

import json
import re

import pytest
import yaml
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from sandbox import actions
from sandbox.answers import asking
from sandbox.base import counters
from sandbox.models import Sandbox
from sandbox.process import services
from sandbox.worker import pulses, tasks
from tests.services.alerts import firing
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
    pulses.send(busy.pk, "", 1.0)
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
    found = samples()
    assert found["quotalab_bus_up", ""] == 0
    assert "quotalab_leases_lost_total" not in {name for name, _ in found}
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


def scraped() -> str:
    return Client().get("/metrics/service").content.decode()


#: Each load, and what the operator is told of.
LOADS = {
    "late": ["QuotalabSlow"],
    "queued": ["QuotalabQueueGrows"],
    "waiting": ["QuotalabPeopleWait"],
    "refused": ["QuotalabRefuses"],
    "failed": ["QuotalabTicksFail"],
}


@pytest.mark.parametrize("load", [*LOADS, ""])
def test_an_alert_fires_under_its_load_and_none_in_calm(load, busy, person, valkey):
    tasks.advance.apply((busy.pk,)).get()
    before = scraped()
    tasks.advance.apply((busy.pk,)).get()
    counters.observe_tick(0.01)
    match load:
        case "late":
            Sandbox.objects.update(due_at=1)
        case "queued":
            for _ in range(151):
                pulses.send(busy.pk, "", 1.0)
        case "waiting":
            asking.ask("explain", [busy], person)
        case "refused":
            for _ in range(20):
                counters.count_refused(429, "denied.answers", "ada")
        case "failed":
            counters.count("ticks_failed")
    assert firing(before, scraped(), 60) == LOADS.get(load, [])


def test_the_operators_page_says_who_waits_what_is_late_and_who_was_refused(
    busy, person, stranger, valkey
):
    asking.ask("explain", [busy], stranger)
    Sandbox.objects.update(due_at=1)
    counters.count_refused(429, "denied.answers", "ada")
    counters.count("cpu_advance", 12.5)
    html = Client().get("/service").content.decode()
    cells = [
        re.findall("<td>(.*?)</td>", line)
        for line in re.findall("<tr>(.*?)</tr>", html)
    ]
    assert [stranger.username, "explain", "1", "0"] in cells
    assert ["429", "denied.answers", "ada", "1"] in cells
    assert [busy.pk, busy.title] in [row[:2] for row in cells]
    assert ["advance", "12.5"] in [row[:2] for row in cells]


@pytest.mark.parametrize(("staff", "status"), [(True, 200), (False, 403)])
def test_only_staff_see_the_operators_page(staff, status, person, settings, valkey):
    settings.SERVER, person.is_staff = True, staff
    person.save()
    client = Client()
    assert client.get("/service").headers["Location"] == "/sign-in?next=%2Fservice"
    client.force_login(person)
    assert client.get("/service").status_code == status


def test_what_is_refused_is_counted_with_who_asked(busy, person, settings, samples):
    settings.LIMITS = {**settings.LIMITS, "sandboxes_per_user": 1}
    before = samples().get(("quotalab_refused_total", "403"), 0)
    asked = {"data": '{"title": "one more"}', "content_type": "application/json"}
    assert Client().post("/api/v1/sandboxes", **asked).status_code == 403
    assert samples()["quotalab_refused_total", "403"] == before + 1
    (row,) = services.refused_today(9)
    assert (row.status, row.person, row.times) == (403, person.username, 1)


def test_the_scrape_configuration_asks_where_the_metrics_are():
    (job,) = yaml.safe_load((DOCS / "scrape.yaml").read_text())["scrape_configs"]
    assert Client().get(job["metrics_path"]).status_code == 200
