"""A tick runs once, whatever is delivered twice, raced or thrown away."""

from __future__ import annotations

import time
from collections import Counter

import psutil
import pytest

from sandbox import actions
from sandbox.base.errors import BusyError, InvalidError, NotFoundError, OvertakenError
from sandbox.models import Event, Revision, Sample, Sandbox
from sandbox.process import services
from sandbox.process.idle_flag import LOOKED
from sandbox.worker import pulses, tasks
from sandbox.world import commits, kept, leases, worlds
from sandbox.world.operations import Transport
from scheduler.engine.tick import run_tick
from scheduler.model.objects import Key
from scheduler.model.releases.release import NEWEST
from tests import stored
from tests.builders import job, world_of
from tests.sandbox.conftest import check_rows, contended, row, tick
from tests.services.default_run import wait_for

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_what_a_tick_decides_becomes_rows_events_and_a_revision(busy):
    (step,) = tick(busy)
    present = row(busy)
    assert (present.tick, present.revision) == (1, step.revision)
    assert {"Arrive", "Admit"} <= {event["type"] for event in step.events}
    stored = Event.objects.filter(sandbox=busy, revision=step.revision)
    assert stored.count() == len(step.events)
    check_rows(busy)


def test_each_commit_is_counted_as_what_it_is(busy, person, valkey):
    # On the bus: where a test before opened a socket, a thread brings counts there.
    before = commits_counted()
    tick(busy, 3)
    actions.do_delete(person, busy.pk, [Key("Job", "default", "job-00")])
    actions.do_pause(person, busy.pk)
    made = {"commits_tick": 3, "commits_edit": 1, "commits_transport": 1}
    wait_for(lambda: commits_counted() - before == made, "the counts of these commits")


def commits_counted() -> Counter[str]:
    found = services.read()
    assert found is not None
    return Counter({k: int(n) for k, n in found[0].items() if k.startswith("commits_")})


def test_who_changes_the_speed_does_so_at_the_present_tick(busy, person):
    tick(busy, 3)
    step = actions.do_speed(person, busy.pk, 4)
    assert [(event["type"], event["tick"]) for event in step.events] == [("Edit", 3)]


def test_a_paused_sandbox_does_not_tick(make):
    sandbox = make(*contended())
    assert tick(sandbox) == []
    assert row(sandbox).tick == 0


def test_who_finds_the_sandbox_held_does_nothing(busy):
    claim = leases.take(busy.pk)
    assert leases.take(busy.pk) is None
    assert tasks.advance.apply((busy.pk,)).get() == 0
    leases.release(claim)
    assert row(busy).tick == 0


def test_a_slow_holder_finds_a_newer_fence_and_commits_nothing(busy):
    slow = leases.take(busy.pk, lease_s=-1)
    quick = leases.take(busy.pk)
    assert actions.do_tick(quick).tick == 1
    with pytest.raises(OvertakenError):
        actions.do_tick(slow)
    assert row(busy).tick == 1
    check_rows(busy)


def test_a_slow_holder_commits_nothing_though_nobody_else_has_committed(busy):
    slow = leases.take(busy.pk, lease_s=-1)
    leases.take(busy.pk)
    request = commits.CommitRequest(operation=Transport(), columns={"speed": 9})
    with pytest.raises(OvertakenError):
        actions.do_tick(slow)
    with pytest.raises(OvertakenError):
        commits.commit_transport(row(busy), slow, request)
    assert (row(busy).tick, row(busy).speed) == (busy.tick, busy.speed)


def test_who_lost_the_claim_neither_renews_it_nor_gives_it_back(busy):
    slow = leases.take(busy.pk, lease_s=-1)
    quick = leases.take(busy.pk, lease_s=-1)
    assert (leases.renew(slow), leases.renew(quick)) == (False, True)
    leases.release(slow)
    assert leases.take(busy.pk) is None
    leases.release(quick)
    assert leases.take(busy.pk) is not None


def test_an_edit_that_is_not_let_in_keeps_ticks_away_and_one_that_is_lets_go(busy):
    claim = leases.take(busy.pk)
    with pytest.raises(BusyError), leases.claimed(busy.pk, patience_s=0):
        pass
    assert row(busy).waiting_until > 0
    leases.release(claim)
    with leases.claimed(busy.pk):
        assert row(busy).waiting_until == 0
    with pytest.raises(ZeroDivisionError), leases.claimed(busy.pk):
        1 / 0  # noqa: B018 - an edit that fails
    assert leases.take(busy.pk) is not None


def test_a_sandbox_that_is_not_there_is_not_waited_for(db):
    with pytest.raises(NotFoundError), leases.claimed("aaaaaaaaaaaa"):
        pass


def test_a_holder_who_commits_from_an_older_revision_writes_nothing(busy):
    stale, claim = row(busy), leases.take(busy.pk)
    actions.do_tick(claim)
    present, count = row(busy).revision, Revision.objects.count()
    request = commits.CommitRequest(operation=Transport(), columns={"speed": 9})
    with pytest.raises(OvertakenError, match=f"from revision {stale.revision}"):
        commits.commit_transport(stale, claim, request)
    assert (row(busy).revision, Revision.objects.count()) == (present, count)
    assert row(busy).speed != 9


def test_a_tick_thrown_away_is_made_again_as_it_was(busy, make, person):
    tick(busy, 3)
    clean_hash = row(busy).hash
    other = make(*contended())
    actions.do_play(person, other.pk)
    tick(other, 2)
    claim = leases.take(other.pk)
    worlds.load(row(other))  # in memory, then lost as by kill -9
    worlds.forget_all()
    leases.release(claim)
    tick(other)
    assert row(other).hash == clean_hash


def test_a_world_read_anew_at_every_tick_decides_the_same(busy, make, person):
    other = make(*contended())
    actions.do_play(person, other.pk)
    for _ in range(25):
        tick(busy)
        worlds.forget_all()
        tick(other)
        worlds.drop(other.pk)
    assert row(busy).hash == row(other).hash


def test_rows_and_memory_decide_the_same(busy):
    world = world_of(*contended(), release=dict(NEWEST))
    for _ in range(25):
        run_tick(world)
        world.take()
    tick(busy, 25)
    assert row(busy).hash == world.hash()


def test_a_world_left_behind_catches_up_by_doing_it_again(busy):
    tick(busy, 2)
    held = worlds._cache.get(busy.pk)
    worlds.drop(busy.pk)
    tick(busy, 5)
    worlds.drop(busy.pk)
    worlds.put(held)
    tick(busy)
    assert worlds._cache.get(busy.pk) is held
    check_rows(busy)


def test_every_tick_has_a_sample_and_none_has_two(busy):
    tick(busy, 10)
    ticks = Sample.objects.filter(sandbox=busy).values_list("tick", flat=True)
    assert sorted(ticks) == list(range(1, 11))


def test_a_step_stops_at_its_tick(make, person):
    sandbox = make(*contended())
    actions.do_step(person, sandbox.pk, ticks=3)
    assert [step.tick for step in tick(sandbox, 9)] == [1, 2, 3]
    present = row(sandbox)
    assert (present.playing, present.until) == (False, {})


def test_the_ticks_of_a_second_step_add_to_those_of_the_first(make, person):
    sandbox = make(*contended())
    actions.do_step(person, sandbox.pk, ticks=3)
    _, goal = actions.do_step(person, sandbox.pk, ticks=2)
    assert goal == 5
    assert [step.tick for step in tick(sandbox, 9)] == [1, 2, 3, 4, 5]


def test_a_step_goes_at_full_speed_in_a_sandbox_that_plays_slowly(make, person):
    sandbox = make(*contended())
    actions.do_speed(person, sandbox.pk, 0.1)
    actions.do_step(person, sandbox.pk, ticks=3)
    tick(sandbox)
    assert row(sandbox).due_at <= time.time()


def test_a_step_with_a_speed_of_its_own_keeps_it(make, person):
    sandbox = make(*contended())
    actions.do_step(person, sandbox.pk, ticks=3, speed=0.1)
    tick(sandbox)
    assert row(sandbox).due_at > time.time() + 5


def test_a_step_comes_to_its_tick_in_a_world_where_nothing_happens(make, person):
    sandbox = make()
    actions.do_speed(person, sandbox.pk, 0)
    actions.do_step(person, sandbox.pk, ticks=4)
    assert [step.tick for step in tick(sandbox, 9)] == [1, 2, 3, 4]
    assert not row(sandbox).playing


def test_a_step_stops_at_its_event(make, person):
    sandbox = make(*contended())
    actions.do_step(person, sandbox.pk, until_event={"type": "Finish"})
    steps = tick(sandbox, 50)
    assert "Finish" in {event["type"] for event in steps[-1].events}
    assert not any(e["type"] == "Finish" for s in steps[:-1] for e in s.events)


def test_a_step_stops_at_the_first_of_several_events(make, person):
    one, other = make(*contended()), make(*contended())
    actions.do_step(person, one.pk, until_event={"type": ["Finish", "Preempt"]})
    steps = tick(one, 50)
    seen = [{e["type"] for e in s.events} & {"Finish", "Preempt"} for s in steps]
    assert seen[-1]
    assert not any(seen[:-1])
    given = {"type": ["Finish"]}
    actions.do_step(person, other.pk, until_event=given, until_tick=2)
    assert row(other).until == {"types": ["Finish"], "tick": 2}
    assert len(tick(other, 50)) == 2


def test_a_step_stops_when_one_workload_is_admitted(make, person):
    sandbox = make(*contended())
    name = next(w for w in _waiting(sandbox, person))
    subject = f"Workload/default/{name}"
    actions.do_step(
        person, sandbox.pk, until_event={"type": "Admit", "subject": subject}
    )
    steps = tick(sandbox, 80)
    last = [(e["type"], e["subject"]) for e in steps[-1].events]
    assert ("Admit", subject) in last
    reported = next(e["message"] for e in steps[-1].events if e["reason"] == "Pause")
    assert reported == f"Admit {subject} is seen"


def _waiting(sandbox: Sandbox, person: object) -> list[str]:
    actions.do_step(person, sandbox.pk, ticks=5)
    tick(sandbox, 9)
    return [row.name for row in stored.workloads(sandbox.pk, "pending")]


def test_a_reason_that_no_decision_has_is_waited_for_in_vain(make, person):
    sandbox = make(*contended())
    given = {"type": "Admit", "reason": "Preempted"}
    actions.do_step(person, sandbox.pk, until_event=given, until_tick=3)
    tick(sandbox, 9)
    assert (row(sandbox).playing, row(sandbox).tick) == (False, 3)


def test_an_event_that_cannot_come_is_refused(make, person):
    sandbox = make(*contended())
    with pytest.raises(InvalidError, match=r"untilEvent\.type: expected one of Arrive"):
        actions.do_step(person, sandbox.pk, until_event={"type": "Explode"})


def test_full_speed_ends_when_nothing_more_happens(make, person):
    sandbox = make(*contended(2))
    actions.do_play(person, sandbox.pk, speed=0)
    assert len(tick(sandbox, 200)) < 60
    assert row(sandbox).playing is False


def test_a_tick_that_fails_pauses_and_says_so(busy):
    # A row that no world can be read from, as a damaged disk would leave it.
    Sandbox.objects.filter(pk=busy.pk).update(header=b"damaged")
    worlds.forget_all()
    assert tasks.advance.apply((busy.pk,)).get() == 0
    present = row(busy)
    assert present.playing is False
    assert "the tick failed" in present.problem


def test_the_pulse_sends_what_is_due_and_once(busy, make, monkeypatch):
    make(*contended())  # paused: not due
    sent = []
    monkeypatch.setattr(pulses, "send", lambda *a, **_: sent.append(a[0]))
    assert pulses.pulse() == 1
    assert pulses.pulse() == 0
    assert sent == [busy.pk]


def test_a_pulse_costs_the_same_for_one_and_for_many(
    make, person, monkeypatch, valkey, django_assert_num_queries
):
    monkeypatch.setattr(pulses, "send", lambda *a, **_: None)
    for count in (1, 8):
        for _ in range(count):
            actions.do_play(person, make(*contended(2)).pk)
        valkey.client().set(LOOKED, 1)  # what runs was looked at a moment ago
        with django_assert_num_queries(5):
            assert pulses.pulse() == count


def test_what_was_sent_and_never_begun_is_sent_again(busy, monkeypatch):
    sent = []
    monkeypatch.setattr(pulses, "send", lambda *a, **_: sent.append(a))
    Sandbox.objects.filter(pk=busy.pk).update(warm="a-dead-worker")
    pulses.pulse()
    Sandbox.objects.filter(pk=busy.pk).update(queued_until=time.time() - 1)
    pulses.pulse()
    assert [to for _, to, _ in sent] == ["a-dead-worker", ""]


def test_a_tick_takes_a_fixed_number_of_queries(
    make, person, django_assert_max_num_queries
):
    small, large = make(*contended(4)), make(*contended(60))
    for sandbox in (small, large):
        actions.do_play(person, sandbox.pk)
        tick(sandbox, 2)
    for sandbox in (small, large):
        with django_assert_max_num_queries(24):
            tick(sandbox)


def test_a_world_is_read_in_a_fixed_number_of_queries(make, django_assert_num_queries):
    for sandbox in (make(*contended(4)), make(*contended(60))):
        with django_assert_num_queries(12):  # the sandbox and 11 tables
            worlds.fresh(row(sandbox))


def test_the_operation_of_a_revision_is_kept(busy):
    tick(busy)
    last = Revision.objects.filter(sandbox=busy).latest("number")
    assert (last.kind, last.operation) == (Revision.TICK, {"do": "tick"})


def test_a_sandbox_that_races_is_read_as_of_one_moment(busy, monkeypatch):
    """As when other revisions are committed during every reading."""
    tick(busy, 3)
    worlds.forget_all()
    monkeypatch.setattr(worlds, "MOST_READS", 0)
    world, read = worlds.copy_of(busy.pk)
    assert (world.hash(), read.revision) == (row(busy).hash, row(busy).revision)


def test_memory_goes_back_when_sandboxes_were_deleted_by_another_process(make, person):
    """Held against the size before, after what is loaded once is loaded."""

    def held() -> list[str]:
        return [
            make(
                *contended(),
                *(job(f"more-{n}", queue="a-queue", runtime="5s") for n in range(800)),
            ).pk
            for _ in range(3)
        ]

    def deleted(keys: list[str]) -> int:
        # As another process does: this one is told nothing.
        Sandbox.objects.filter(pk__in=keys).delete()
        return kept.forget_deleted()

    assert deleted(held()) == 3
    process = psutil.Process()
    before = process.memory_info().rss
    assert deleted(held()) == 3
    assert kept.forget_deleted() == 0
    assert process.memory_info().rss < 1.2 * before


def test_a_world_whose_sandbox_is_there_is_not_forgotten(busy):
    worlds.load(busy)
    assert kept.forget_deleted() == 0
    assert worlds.held() == [busy.pk]
