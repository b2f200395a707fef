"""What a card says of a long sentence."""

from __future__ import annotations

import json

import msgspec

from sandbox.page.rows import workloads
from sandbox.page.rows.wording import LONGEST, shortened
from sandbox.page.wire_rows import Row
from scheduler.assembly import assemble
from scheduler.engine.simulation import simulate
from scheduler.model.decisions import Finish
from tests.bench.page_world import World
from tests.builders import job, small_cluster
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
        assert set(made) == {*fields[made["kind"]], "kind"}, made["key"]


def test_a_short_sentence_stays():
    assert shortened("insufficient quota") == "insufficient quota"


def test_a_long_sentence_ends_between_words():
    reported = shortened("0/5 nodes are available: " + "insufficient cpu, " * 40)
    assert len(reported) <= LONGEST
    assert reported.endswith((" cpu…", " insufficient…"))


def test_a_word_without_end_is_cut_all_the_same():
    assert shortened("x" * 900) == "x" * (LONGEST - 1) + "…"
