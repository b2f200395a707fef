"""What a card says of a long sentence."""

from __future__ import annotations

import json

import msgspec
import pytest

from sandbox.base import library
from sandbox.models import Sandbox
from sandbox.page import diffs, rows
from sandbox.page.rows import workloads
from sandbox.page.rows.tally import WorkloadTally
from sandbox.page.rows.workloads import LONGEST, shortened
from sandbox.page.wire import Row
from scheduler.assembly import assemble, prepare
from scheduler.engine.stage import SearchTally
from scheduler.engine.tick import run_tick, simulate
from scheduler.model.decisions import Finish
from tests.bench.page_world import World
from tests.bench.worlds import crowded
from tests.builders import job, node, pod, small_cluster, world_of
from tests.sandbox.actions.test_stacks import STACKS
from tests.sandbox.conftest import text_of


def test_a_row_of_finished_work_says_when_it_finished():
    text = text_of(*small_cluster(), job("j", queue="main", cpu="1"))
    world = assemble([("world.yaml", text)]).world
    decisions = simulate(world, until_ms=3_600_000).decisions
    [key] = world.keys("Workload")
    end = max(one.at_ms for one in decisions if isinstance(one, Finish))
    card = workloads.row(world, world.get(key))
    assert card.phase == "finished"
    assert 0 <= end - card.finished_ms <= 2_000


def test_the_rows_of_the_benchmark_have_every_field_of_the_products():
    fields = {
        kind.__struct_config__.tag: {
            one.encode_name for one in msgspec.structs.fields(kind)
        }
        for kind in Row.__subclasses__()
    }
    for made in json.loads(World(1).state())["rows"]:
        # A row names a proposal only where one decides.
        assert {*made, "proposal"} == {*fields[made["kind"]], "kind", "proposal"}, made


def test_a_short_sentence_stays():
    assert shortened("insufficient quota") == "insufficient quota"


def test_a_long_sentence_ends_between_words():
    reported = shortened("0/5 nodes are available: " + "insufficient cpu, " * 40)
    assert len(reported) <= LONGEST
    assert reported.endswith((" cpu…", " insufficient…"))


def test_a_word_without_end_is_cut_all_the_same():
    assert shortened("x" * 900) == "x" * (LONGEST - 1) + "…"


def brief(made: dict) -> dict:
    """Return a Job that is deleted a second after its end."""
    made["spec"]["ttlSecondsAfterFinished"] = 1
    return made


WORLDS = {
    **{
        name: lambda manifests=manifests, policy=policy: world_of(*manifests, **policy)
        for name, (manifests, policy) in STACKS.items()
    },
    "a crowd of which whole classes are set aside": lambda: (
        assemble(crowded(workloads=300, nodes=30, queues=1, runtime_s=(20, 40))).world
    ),
    "a job that is deleted after its end, beside a pod of no queue": lambda: world_of(
        *small_cluster(),
        node("n1"),
        brief(job("brief", queue="main", runtime="3s")),
        pod("lasting", runtime="20s"),
        stack="kueue",
    ),
    **{
        name: lambda name=name: prepare(library.files_of(name)).assemble().world
        for name in (
            *("scale-from-zero", "yunikorn-fair-grows", "friday-rush"),
            "yunikorn-preemption-properties",  # queues come while it runs
        )
    },
}


@pytest.mark.parametrize("make_world", WORLDS.values(), ids=WORLDS)
def test_what_is_kept_from_tick_to_tick_is_what_a_page_made_anew_says(make_world):
    world, sandbox = make_world(), Sandbox(id="s", title="a sandbox")
    page = rows.page_of(world, sandbox)
    tally = WorkloadTally.of(page)
    for _ in range(90):
        run_tick(world)
        sandbox.tick = world.tick
        diffs.apply(page, rows.delta_of(world, sandbox, page, tally, world.take()))
        fresh = rows.page_of(world, sandbox)
        assert page == fresh
        kept, anew = (
            rows.sample_of(sandbox, page, one, [], SearchTally())
            for one in (tally, WorkloadTally.of(fresh))
        )
        assert kept == anew
