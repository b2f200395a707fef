"""Two runs of one world, without and with a change: who gains and who loses."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler.analysis.measures.verdict import ChangeVerdict, verdict
from scheduler.model.decisions import Admit, Decision, Evict, Finish, Preempt
from scheduler.model.objects import Key

NAMES = [Key("Workload", "ns", name) for name in "abc"]
RUNNING = {NAMES[0]: 0}


def judged(without: list[Decision], changed: list[Decision]) -> ChangeVerdict:
    return verdict(
        without, changed, kind="Workload", from_ms=1_000, to_ms=9_000, since=RUNNING
    )


@st.composite
def runs(draw: st.DrawFn) -> list[Decision]:
    """Return decisions about three Workloads, in order of time."""
    kinds = st.sampled_from((Admit, Evict, Preempt, Finish))
    steps = st.tuples(st.integers(1_000, 9_000), st.sampled_from(NAMES), kinds)
    return [
        kind(at_ms=at, subject=key)
        for at, key, kind in sorted(draw(st.lists(steps, max_size=12)), key=str)
    ]


def test_who_ran_at_the_begin_and_is_evicted_loses_its_place() -> None:
    found = judged([], [Preempt(at_ms=3_000, subject=NAMES[0], by=NAMES[1])])
    (one,) = found.workloads
    assert (one.start, one.loses, one.changed.lost_ms) == ("never", True, 3_000)
    assert (found.without.preemptions, found.changed.preemptions) == (0, 1)


def test_who_starts_again_after_an_eviction_starts_later() -> None:
    again: list[Decision] = [
        Evict(at_ms=2_000, subject=NAMES[0]),
        Admit(at_ms=5_000, subject=NAMES[0]),
    ]
    assert [one.start for one in judged([], again).workloads] == ["later"]


def test_who_starts_at_the_same_time_and_ends_sooner_gains() -> None:
    begin = Admit(at_ms=2_000, subject=NAMES[1])
    found = judged([begin], [begin, Finish(at_ms=8_000, subject=NAMES[1])])
    assert [(one.start, one.gains) for one in found.workloads] == [("same", True)]


@given(runs())
def test_equal_runs_do_not_differ(run: list[Decision]) -> None:
    found = judged(run, run)
    assert not found.differs
    assert found.workloads == []
    assert found.without == found.changed


@given(runs(), runs())
def test_who_gains_one_way_loses_the_other(
    one: list[Decision], other: list[Decision]
) -> None:
    there, back = judged(one, other), judged(other, one)
    assert there.differs == back.differs
    gains = {row.subject for row in there.workloads if row.gains}
    assert gains == {row.subject for row in back.workloads if row.loses}
