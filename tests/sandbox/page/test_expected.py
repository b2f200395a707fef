"""Before the first tick: what a page shows of jobs that are here."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.models import Sandbox
from sandbox.page import rows
from sandbox.page.diffs import Page, apply
from sandbox.page.rows import workloads
from sandbox.page.rows.tally import WorkloadTally
from scheduler.engine.lifetime.jobs.expected import MOST_JOBS
from scheduler.engine.tick import run_tick
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import cluster_queue, flavor, job, local_queue, world_of
from tests.scheduler.test_verdict_cases import YUNIKORN, raised_at

SANDBOX = Sandbox(id="s", title="a sandbox", tick=0)


def world(*jobs: dict[str, Any], **policy: Any) -> World:
    queue = [cluster_queue("q", cpu=1), local_queue("q", cluster_queue="q")]
    return world_of(flavor(), *queue, *jobs, **policy)


def ticked(found: World, page: Page) -> Page:
    """Make a tick; bring the page forward by its delta."""
    run_tick(found)
    SANDBOX.tick = found.tick
    return brought_forward(found, page)


def brought_forward(found: World, page: Page) -> Page:
    tally = WorkloadTally.of(page)
    delta = rows.delta_of(found, SANDBOX, page, tally, found.take())
    forward = dict(page)
    apply(forward, delta)
    return forward


def cards(page: Page) -> dict[str, str]:
    return {
        row["owner"]: row["phase"] for row in page.values() if row["kind"] == "Workload"
    }


@pytest.fixture(autouse=True)
def start() -> None:
    SANDBOX.tick = 0


def test_a_job_is_seen_before_its_workload_is_made() -> None:
    page = rows.page_of(world(job("a", queue="q", cpu=2)), SANDBOX)
    (card,) = [row for row in page.values() if row["kind"] == "Workload"]
    assert (card["owner"], card["clusterQueue"]) == ("Job/default/a", "q")
    assert card["totals"] == {"cpu": "2000"}
    assert workloads.is_expected(card)
    assert page["ClusterQueue//q"]["counts"]["pending"] == 1


def test_the_first_tick_makes_them_of_what_was_expected() -> None:
    found = world(job("a", queue="q"), job("b", queue="q"))
    before = rows.page_of(found, SANDBOX)
    after = ticked(found, before)
    assert [k for k in before if k.startswith("Workload/")] == [
        k for k in after if k.startswith("Workload/")
    ]
    assert sorted(cards(after).values()) == ["admitted", "inadmissible"]
    assert after == rows.page_of(found, SANDBOX)


def test_their_order_is_the_one_that_they_will_have() -> None:
    found = world(*(job(f"job-{n}", queue="q", cpu=2) for n in range(6)))
    page = rows.page_of(found, SANDBOX)
    before = sorted(
        (row for row in page.values() if row["kind"] == "Workload"),
        key=lambda row: int(row["orderUs"]),
    )
    after = ticked(found, page)
    uids = [after[row["key"]]["uid"] for row in before]
    assert uids == sorted(uids)


def test_who_is_not_made_in_the_first_tick_is_gone_after_it() -> None:
    latencies = {"simulation": {"latencies": {"workloadCreation": "5s"}}}
    found = world(job("a", queue="q"), **latencies)
    page = ticked(found, rows.page_of(found, SANDBOX))
    assert cards(page) == {}
    assert page == rows.page_of(found, SANDBOX)


def test_an_edit_before_the_first_tick_leads_to_what_a_fresh_page_shows() -> None:
    found = world(job("goes", queue="q"), job("stays", queue="q"))
    page = rows.page_of(found, SANDBOX)
    found.delete(Key("Job", "default", "goes"))
    found.put(
        Object(key=Key("Job", "default", "comes"), manifest=job("comes", queue="q"))
    )
    page = brought_forward(found, page)
    assert set(cards(page)) == {"Job/default/stays", "Job/default/comes"}
    assert page == rows.page_of(found, SANDBOX)


def test_who_comes_later_or_is_of_no_queue_is_not_expected() -> None:
    found = world(job("later", queue="q", arrival="9s"), job("free"))
    assert cards(rows.page_of(found, SANDBOX)) == {}


def test_nobody_is_expected_of_very_many_jobs() -> None:
    found = world(*(job(f"job-{n}", queue="q") for n in range(MOST_JOBS + 1)))
    assert cards(rows.page_of(found, SANDBOX)) == {}


def test_a_real_cluster_shows_what_it_has() -> None:
    real = Sandbox(id="r", title="a cluster", source={"kind": "recording"})
    assert cards(rows.page_of(world(job("a", queue="q")), real)) == {}


def test_a_tick_that_brings_other_queues_shows_the_policy_that_holds() -> None:
    found = world_of(*raised_at("1s"), **YUNIKORN)
    page = rows.page_of(found, SANDBOX)
    for _ in range(2):
        page = ticked(found, page)
    assert page == rows.page_of(found, SANDBOX)
