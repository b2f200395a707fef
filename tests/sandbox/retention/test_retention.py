"""History that is too old goes; what is left is as it was."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st

from sandbox import actions
from sandbox.base.errors import (
    ForbiddenError,
    GoneError,
    InvalidError,
)
from sandbox.explain.comparing import compare
from sandbox.models import Checkpoint, Diff, Event, Revision, Sample
from sandbox.retention import retention
from sandbox.worker import tasks
from sandbox.world import history, leases
from scheduler.model.objects import Key
from tests.sandbox.conftest import check_rows, contended, row, tick
from tests.sandbox.world.test_history import hashes

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def long(make, person):
    """A sandbox of 100 ticks that keeps 30."""
    sandbox = make(*contended())
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 100)
    actions.do_set_retention(person, sandbox.pk, ticks=30)
    return sandbox


def test_old_history_goes_up_to_a_checkpoint(long):
    assert tasks.tidy() > 0
    present = row(long)
    assert 0 < present.kept_tick <= 70
    first = present.kept_revision
    assert Checkpoint.objects.filter(sandbox=long, revision=first).exists()
    for model in (Event, Diff, Sample):
        assert not model.objects.filter(sandbox=long, revision__lt=first).exists()
    check_rows(long)


def test_every_tick_that_is_kept_is_shown_as_it_was(make, person):
    sandbox = make(*contended())
    actions.do_play(person, sandbox.pk)
    known = hashes(sandbox, 100)
    pages = {at: history.page_at(row(sandbox), at) for at in (70, 88, 100)}
    actions.do_set_retention(person, sandbox.pk, ticks=35)
    tasks.tidy()
    history._pages.clear()
    present = row(sandbox)
    for at in range(present.kept_tick, 101, 9):
        revision = history.revision_at(present, at)
        assert history.world_at(present, revision).hash() == known[at]
    for at, page in pages.items():
        again = history.page_at(present, at)
        page["Sandbox//sandbox"]["firstTick"] = present.kept_tick
        assert again == page


def test_a_tick_before_says_where_history_begins(long):
    tasks.tidy()
    present = row(long)
    begins = f"history begins at tick {present.kept_tick}"
    with pytest.raises(GoneError, match=begins):
        history.revision_at(present, present.kept_tick - 1)


def test_the_page_reports_the_first_tick(long):
    tasks.tidy()
    present = row(long)
    page = history.page_at(present, present.revision)
    assert page["Sandbox//sandbox"]["firstTick"] == present.kept_tick > 0
    reported = history.events(present).get(reason="Trim")
    assert reported.message == f"history before tick {present.kept_tick} is deleted"


def test_letting_history_go_changes_no_decision(long, make, person):
    other = make(*contended())
    actions.do_play(person, other.pk)
    tick(other, 104)
    tasks.tidy()
    tick(long, 4)
    assert row(long).hash == row(other).hash
    check_rows(long)


def test_twice_is_as_good_as_once(long):
    tasks.tidy()
    present = row(long)
    assert tasks.tidy() == 0
    assert row(long).revision == present.revision


def test_an_old_edit_can_still_be_undone(make, person):
    sandbox, other = make(*contended()), make(*contended())
    for one in (sandbox, other):
        actions.do_play(person, one.pk)
        tick(one, 3)
    actions.do_delete(person, sandbox.pk, [Key("Job", "default", "job-00")])
    for one in (sandbox, other):
        tick(one, 80)
    actions.do_set_retention(person, sandbox.pk, ticks=10)
    tasks.tidy()
    actions.do_undo(person, sandbox.pk)
    assert row(sandbox).hash == row(other).hash
    check_rows(sandbox)


def test_a_fork_keeps_what_it_shares(long, person):
    fork = actions.do_fork(person, long.pk, tick=40)
    actions.do_set_retention(person, fork.pk, ticks=0)
    shown = {at: history.page_at(row(fork), at) for at in (2, 17, 40)}
    tasks.tidy()
    history._pages.clear()
    assert row(long).kept_tick > 40
    for at, page in shown.items():
        assert history.page_at(row(fork), at) == page
    check_rows(fork)


def test_what_no_fork_keeps_any_longer_goes(long, person):
    fork = actions.do_fork(person, long.pk, tick=40)
    tasks.tidy()
    before = Diff.objects.filter(sandbox=long).count()
    actions.do_delete_sandbox(person, fork.pk)
    tasks.tidy()
    assert Diff.objects.filter(sandbox=long).count() < before


def test_a_fork_of_what_is_kept_begins_where_that_does(long, person):
    tasks.tidy()
    fork = actions.do_fork(person, long.pk)
    with pytest.raises(GoneError):
        history.revision_at(row(fork), row(long).kept_tick - 1)
    check_rows(fork)


def test_branches_are_compared_while_both_record_how_they_parted(long, person):
    early = actions.do_fork(person, long.pk, tick=40)
    late = actions.do_fork(person, long.pk)
    tasks.tidy()
    present = row(long)
    assert compare([present, row(late)]).history_from == present.kept_tick
    with pytest.raises(GoneError, match="where its kept history begins"):
        compare([present, row(early)])


def test_a_rewind_stays_within_what_is_kept(long, person):
    tasks.tidy()
    with pytest.raises(GoneError):
        actions.do_rewind(person, long.pk, tick=3)
    _, kept = actions.do_rewind(person, long.pk, tick=row(long).kept_tick)
    check_rows(long)
    check_rows(kept)


def test_days_are_those_of_the_wall_clock(make, person):
    sandbox = make(*contended())
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 80)
    old = Revision.objects.filter(sandbox=sandbox, tick__lte=70)
    old.update(at=F("at") - timedelta(days=3))
    actions.do_set_retention(person, sandbox.pk, days=2)
    tasks.tidy()
    assert 0 < row(sandbox).kept_tick <= 70


def test_the_operator_s_limit_holds_for_everybody(long, person, settings):
    settings.HISTORY = {"ticks": 20, "days": 0, "in_all": 0}
    most = retention.most_ticks()
    assert retention.keep_of(row(long), most) == (20, 0)
    actions.do_set_retention(person, long.pk, ticks=10)
    assert retention.keep_of(row(long), most) == (10, 0)
    actions.do_set_retention(person, long.pk, ticks=0)
    assert retention.keep_of(row(long), most) == (20, 0)


def test_a_sandbox_short_of_the_operators_ticks_is_not_looked_at(busy):
    type(busy).objects.filter(pk=busy.pk).update(tick=64 + 8)
    assert list(retention.candidates(64)) == []
    type(busy).objects.filter(pk=busy.pk).update(tick=64 + 8 + 1)
    assert [one.pk for one in retention.candidates(64)] == [busy.pk]


def test_all_together_keep_no_more_than_the_operator_lets_them(
    long, make, person, settings
):
    short = make(*contended())
    actions.do_play(person, short.pk)
    tick(short, 10)
    actions.do_set_retention(person, long.pk, ticks=0)
    settings.HISTORY = {"ticks": 0, "days": 0, "in_all": 40}
    assert tasks.tidy() > 0
    assert 0 < row(long).kept_tick <= 70
    assert row(short).kept_tick == 0


def test_what_a_fork_shares_is_counted_once(long, person, settings):
    settings.HISTORY = {"ticks": 0, "days": 0, "in_all": row(long).revision + 10}
    for _ in range(3):
        actions.do_fork(person, long.pk, tick=90)
    assert retention.most_ticks() == 0


@given(st.lists(st.integers(0, 1000), min_size=1).map(sorted), st.integers(1, 5000))
def test_the_longest_are_shortened_to_one_length(lengths, most):
    one = retention.level(lengths, most)
    if one == 0:
        assert sum(lengths) <= most
    else:
        assert sum(lengths) > most
        kept = [sum(min(one + more, n) for n in lengths) for more in (0, 1)]
        assert kept[0] <= most or one == 1
        assert kept[1] > most


def test_without_a_limit_all_stays(make, person):
    sandbox = make(*contended())
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 70)
    assert tasks.tidy() == 0
    assert history.page_at(row(sandbox), 1)


def test_who_holds_the_sandbox_is_left_alone(long):
    claim = leases.take(long.pk)
    tasks.tidy()
    assert row(long).kept_revision == 0
    leases.release(claim)


def test_only_the_owner_says_how_much_is_kept(long, stranger):
    type(long).objects.filter(pk=long.pk).update(visibility="public")
    with pytest.raises(ForbiddenError):
        actions.do_set_retention(stranger, long.pk, ticks=1)


def test_a_setting_that_cannot_be_is_refused(long, person):
    with pytest.raises(InvalidError, match="keepTicks: expected 0"):
        actions.do_set_retention(person, long.pk, ticks=-1)


def test_postgresql_takes_the_place_of_history_back_early():
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_class"
            " WHERE 'autovacuum_vacuum_scale_factor=0.02' = ANY(reloptions)"
        )
        found = {name for (name,) in cursor.fetchall()}
    assert found == {
        model._meta.db_table for model in (Checkpoint, Diff, Event, Revision, Sample)
    }
