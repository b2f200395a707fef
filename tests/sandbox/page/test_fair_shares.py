"""How far from fair a page is: as far as a measured run."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox import page as pages
from sandbox.models import Sandbox
from sandbox.page import rows
from sandbox.page.rows.samples import share_error_of
from sandbox.page.rows.tally import WorkloadTally
from scheduler.analysis.measures import Measures
from scheduler.analysis.measures.samples import FAIR_WITHIN, unfair_spans
from scheduler.assembly import assemble
from scheduler.cli.run import read_sources
from scheduler.engine.stage import SearchTally
from scheduler.engine.tick import run_tick, simulate

LIBRARY = Path(pages.__file__).parents[1] / "scenarios"
TICK_MS = 1_000


def looks_of(name: str, until_ms: int) -> list[tuple[int, float]]:
    """Return (time, share error) of the page after each tick."""
    world = assemble(read_sources([LIBRARY / name])).world
    shown = Sandbox(title=name, stack="kueue", seed=1)
    found = []
    while world.context.now_ms < until_ms:
        run_tick(world)
        world.take()
        page = rows.page_of(world, shown)
        error = share_error_of(list(page.values()), WorkloadTally.of(page))
        found.append((world.context.now_ms, error))
    return found


@pytest.mark.parametrize(
    "name",
    ["fair-strategies-in-order", "fair-weights", "friday-rush", "hierarchy-lending"],
)
def test_a_page_is_unfair_as_long_as_a_measured_run(name):
    world = assemble(read_sources([LIBRARY / name])).world
    measures = Measures(world)
    simulate(world, until_ms=120_000, hear=measures.observe)
    world.context.now_ms = 120_000
    measured = measures.summary()
    spans = unfair_spans(looks_of(name, 120_000), 120_000)
    assert len(spans) == measured.unfair_spans
    longest = max(spans, default=0)
    assert abs(longest - (measured.time_to_fair_max_ms or 0)) <= 2 * TICK_MS


def test_the_capacity_of_a_sample_has_what_a_cohort_owns():
    world = assemble(read_sources([LIBRARY / "fair-strategies-in-order"])).world
    shown = Sandbox(title="t", stack="kueue", seed=1)
    page = rows.page_of(world, shown)
    made = rows.sample_of(shown, page, WorkloadTally.of(page), [], SearchTally())
    assert made["capacity"] == {"cpu": "12000"}


def test_the_capacity_of_a_sample_counts_the_quota_of_queues_once():
    world = assemble(read_sources([LIBRARY / "friday-rush"])).world
    shown = Sandbox(title="t", stack="kueue", seed=1)
    page = rows.page_of(world, shown)
    made = rows.sample_of(shown, page, WorkloadTally.of(page), [], SearchTally())
    assert made["capacity"]["nvidia.com/gpu"] == "112"


def test_a_span_lasts_from_the_first_unfair_look_to_the_next_fair_one():
    unfair = 2 * FAIR_WITHIN
    looks = [(1, 0.0), (2, unfair), (3, unfair), (4, 0.0), (7, unfair)]
    assert unfair_spans(looks, 9) == [2, 2]


def test_a_page_without_cluster_queues_has_no_share_error():
    assert share_error_of([], WorkloadTally()) is None
