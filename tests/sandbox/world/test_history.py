"""Any past can be looked at, gone back to, forked and done again."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.base.errors import (
    ConflictError,
    GoneError,
    NotFoundError,
)
from sandbox.models import Checkpoint, Revision, Sandbox, Workload
from sandbox.page import rows
from sandbox.page.diffs import between
from sandbox.world import history, operations, worlds
from sandbox.world.commits import CHECKPOINT_APART
from scheduler.model.objects import Key
from tests.sandbox.conftest import check_rows, contended, row, tick

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

QUICKER = {"spec": {"simulation": {"podStartMs": 700}}}


def hashes(sandbox: Sandbox, count: int) -> dict[int, str]:
    """Make ticks; return the hash after each."""
    found = {}
    for _ in range(count):
        tick(sandbox)
        found[row(sandbox).tick] = row(sandbox).hash
    return found


def test_the_world_of_any_tick_is_had_again(busy):
    known = hashes(busy, 70)
    assert Checkpoint.objects.filter(sandbox=busy).count() == 2
    for at in (1, 30, 62, 66, 70):
        world = history.world_at(row(busy), history.revision_at(row(busy), at))
        assert world.hash() == known[at]


def test_the_page_of_any_tick_is_that_of_its_world(busy):
    tick(busy, 40)
    present = row(busy)
    for at in (0, 7, 23, 40):
        revision = history.revision_at(present, at)
        world = history.world_at(present, revision)
        page = history.page_at(present, revision)
        fresh = rows.page_of(world, present)
        delta = between(page, fresh)
        # The clock's own row is of the moment; the rest is of the world.
        delta.updated.pop("Sandbox//sandbox", None)
        assert delta.empty()


def test_a_tick_that_has_not_been_is_not_found(busy):
    tick(busy, 2)
    with pytest.raises(NotFoundError, match="is in the future"):
        history.revision_at(row(busy), 3)


def test_a_history_without_its_checkpoints_is_gone_and_says_so(busy):
    tick(busy, 2)
    Checkpoint.objects.all().delete()
    with pytest.raises(GoneError):
        history.page_at(row(busy), row(busy).revision)


def test_the_same_operations_on_the_first_state_give_the_same_hash(busy, person):
    tick(busy, 5)
    actions.do_policy(person, busy.pk, QUICKER, patch=True)
    tick(busy, 5)
    present = row(busy)
    past = history.rows_of(Revision, present).exclude(kind=Revision.TRANSPORT)
    begin, *rest = past.order_by("number")
    world = history.world_at(present, begin.number)
    for revision in rest:
        operations.perform(world, operations.from_document(revision.operation))
    assert world.hash() == present.hash


# ------------------------------------------------------------------- rewind


def test_a_rewound_sandbox_decides_again_what_it_decided(busy, person):
    known = hashes(busy, 20)
    actions.do_rewind(person, busy.pk, tick=9)
    assert (row(busy).tick, row(busy).hash) == (9, known[9])
    check_rows(busy)
    actions.do_play(person, busy.pk)
    assert hashes(busy, 11)[20] == known[20]


def test_a_rewind_by_a_process_that_held_no_world_starts_from_the_page_that_was(
    busy, person
):
    tick(busy, 20)
    before = history.page_at(row(busy), row(busy).revision)
    worlds.forget_all()
    step, _ = actions.do_rewind(person, busy.pk, tick=9)
    assert not {one["key"] for one in step.added} & set(before)


def test_what_came_after_a_rewind_is_kept_as_a_fork(busy, person):
    known = hashes(busy, 20)
    _, kept = actions.do_rewind(person, busy.pk, tick=9)
    assert (kept.tick, kept.hash, kept.parent) == (20, known[20], busy)
    check_rows(kept)
    for at in (3, 15):
        revision = history.revision_at(row(kept), at)
        assert history.world_at(row(kept), revision).hash() == known[at]
    actions.do_play(person, kept.pk)
    assert [step.tick for step in tick(kept)] == [21]


def test_a_fork_rewound_into_its_parents_past_keeps_both_pasts(busy, person):
    known = hashes(busy, 12)
    fork = actions.do_fork(person, busy.pk, tick=8)
    actions.do_play(person, fork.pk)
    tick(fork, 4)
    _, kept = actions.do_rewind(person, fork.pk, tick=5)
    assert row(fork).hash == known[5]
    assert kept.hash == known[12]
    for sandbox in (fork, kept, busy):
        check_rows(sandbox)
        revision = history.revision_at(row(sandbox), 3)
        assert history.world_at(row(sandbox), revision).hash() == known[3]


def test_a_rewind_to_now_is_refused(busy, person):
    tick(busy, 3)
    with pytest.raises(ConflictError):
        actions.do_rewind(person, busy.pk, tick=3)


# -------------------------------------------------------------------- forks


def test_a_fork_under_the_same_policy_decides_the_same(busy, person):
    known = hashes(busy, 15)
    fork = actions.do_fork(person, busy.pk, tick=6)
    assert (fork.hash, fork.branch, fork.parent_id) == (known[6], "B", busy.pk)
    actions.do_play(person, fork.pk)
    assert hashes(fork, 9)[15] == known[15]
    check_rows(fork)


def test_a_fork_goes_its_own_way_and_leaves_its_parent_alone(busy, person):
    known = hashes(busy, 4)
    fork = actions.do_fork(person, busy.pk)
    actions.do_policy(person, fork.pk, QUICKER, patch=True)
    assert row(busy).hash == known[4]
    assert row(fork).hash != known[4]
    check_rows(busy)


def test_the_events_before_a_fork_are_its_parents(busy, person):
    tick(busy, 5)
    fork = actions.do_fork(person, busy.pk)
    before = history.events(row(fork)).filter(type="Arrive").count()
    assert before == history.events(row(busy)).filter(type="Arrive").count() > 0


def test_a_fork_outlives_its_parent(busy, person):
    tick(busy, 5)
    fork = actions.do_fork(person, busy.pk)
    actions.do_delete_sandbox(person, busy.pk)
    worlds.forget_all()
    check_rows(fork)


# --------------------------------------------------------------- undo, redo


def test_an_undone_edit_never_was_and_redone_it_was(busy, person, make):
    other = make(*contended())
    actions.do_play(person, other.pk)
    tick(busy, 4)
    actions.do_policy(person, busy.pk, QUICKER, patch=True)
    tick(busy, 6)
    with_it = row(busy).hash
    tick(other, 10)
    actions.do_undo(person, busy.pk)
    assert (row(busy).tick, row(busy).hash) == (10, row(other).hash)
    check_rows(busy)
    actions.do_redo(person, busy.pk)
    assert row(busy).hash == with_it
    check_rows(busy)


def test_edits_are_undone_and_redone_in_their_order(busy, person):
    tick(busy, 3)
    states = [row(busy).hash]
    for name in ("job-00", "job-01"):
        actions.do_delete(person, busy.pk, [Key("Job", "default", name)])
        states.append(row(busy).hash)
    for expected in (states[1], states[0]):
        actions.do_undo(person, busy.pk)
        assert row(busy).hash == expected
    with pytest.raises(ConflictError, match="no edit to undo"):
        actions.do_undo(person, busy.pk)
    for expected in (states[1], states[2]):
        actions.do_redo(person, busy.pk)
        assert row(busy).hash == expected
    with pytest.raises(ConflictError, match="no edit to redo"):
        actions.do_redo(person, busy.pk)


def test_an_edit_after_an_undo_leaves_nothing_to_redo(busy, person):
    tick(busy, 2)
    actions.do_delete(person, busy.pk, [Key("Job", "default", "job-00")])
    actions.do_undo(person, busy.pk)
    actions.do_delete(person, busy.pk, [Key("Job", "default", "job-01")])
    with pytest.raises(ConflictError, match="no edit to redo"):
        actions.do_redo(person, busy.pk)


def test_an_undone_delete_brings_the_rows_back(busy, person):
    tick(busy, 3)
    count = Workload.objects.filter(sandbox=busy).count()
    actions.do_delete(person, busy.pk, [Key("Job", "default", "job-00")])
    actions.do_undo(person, busy.pk)
    assert Workload.objects.filter(sandbox=busy).count() == count


def test_checkpoints_of_one_sandbox_are_none_of_anothers(make, person):
    for _ in range(2):
        sandbox = make(*contended())
        actions.do_play(person, sandbox.pk)
        tick(sandbox, CHECKPOINT_APART + 1)
        actions.do_policy(person, sandbox.pk, QUICKER, patch=True)
        present = row(sandbox)
        assert Checkpoint.objects.filter(
            sandbox=sandbox, revision=present.revision
        ).exists()


def test_of_edits_in_a_row_one_in_so_many_has_a_checkpoint(make, person):
    sandbox = make()
    first = row(sandbox).revision
    for n in range(CHECKPOINT_APART + 1):
        quicker = {"spec": {"simulation": {"podStartMs": 700 + n}}}
        actions.do_policy(person, sandbox.pk, quicker, patch=True)
    kept = Checkpoint.objects.filter(sandbox=sandbox).values_list("revision", flat=True)
    assert sorted(kept) == [first, first + CHECKPOINT_APART]
