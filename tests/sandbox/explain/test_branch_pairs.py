"""Two branches are a pair: the verdict is that of a what-if with the branch's edits."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.base.errors import ConflictError
from sandbox.explain.comparing.branches import pair_of
from sandbox.models import Sandbox
from sandbox.world import history
from scheduler.analysis.pairs import compare_pair
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import cluster_queue, job, small_cluster
from tests.sandbox.conftest import row, text_of, tick

pytestmark = pytest.mark.django_db

PARTED, END = 2, 28
WIDE = cluster_queue("main", cpu=8)


def widen(world: World) -> None:
    world.put(Object(key=Key("ClusterQueue", "", "main"), manifest=WIDE))


@pytest.fixture
def branches(make, person) -> tuple[Sandbox, Sandbox]:
    """Return a run to tick 28, and a fork at tick 2 with more quota as far."""
    jobs = [
        job(f"job-{n}", queue="main", cpu=4, runtime="10s", arrival=f"{n}s")
        for n in range(4)
    ]
    one = make(*small_cluster(cpu=4), *jobs)
    actions.do_play(person, one.pk)
    tick(one, PARTED)
    other = actions.do_fork(person, one.pk)
    actions.do_import(person, other.pk, [("edit.yaml", text_of(WIDE))])
    actions.do_play(person, other.pk)
    for sandbox in (one, other):
        tick(sandbox, END - PARTED)
    return row(one), row(other)


def test_a_pair_of_branches_is_the_what_if_of_their_edits(branches):
    one, _ = branches
    found = pair_of(*branches)
    world = history.world_at(one, history.revision_at(one, PARTED))
    asked = compare_pair(world, widen, horizon_ms=1000 * (END - PARTED))
    assert found.seeds[0].verdict == asked.seeds[0].verdict
    assert found.lines == asked.lines
    names = ("waiting", "waitMeanMs", "later", "only", "earlier", "preemptions")
    assert [found.sums[name] for name in names] == [asked.sums[name] for name in names]
    assert found.differs


def test_the_branch_that_stands_first_is_the_side_without(branches):
    one, other = (
        pair_of(*pair).seeds[0].verdict for pair in (branches, branches[::-1])
    )
    assert (one.without, one.changed) == (other.changed, other.without)


def test_what_was_undone_and_rewound_is_no_part_of_a_side(branches, person):
    one, other = branches
    before = pair_of(one, other)
    actions.do_rewind(person, other.pk, tick=20)
    actions.do_play(person, other.pk)
    tick(other, END - 20)
    assert pair_of(one, row(other)) == before
    actions.do_undo(person, other.pk)  # the edit
    assert not pair_of(one, row(other)).differs


def test_strangers_are_no_pair(branches, make):
    with pytest.raises(ConflictError, match="no past in common"):
        pair_of(branches[0], make(*small_cluster()))
