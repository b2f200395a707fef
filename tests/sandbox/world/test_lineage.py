"""What was undone, rewound or forked away from never was: nothing that is kept or sent of it is left."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sandbox import actions
from sandbox.access.people import local_user
from sandbox.base.errors import ConflictError, InvalidError, NotFoundError
from sandbox.explain.comparing import compare
from sandbox.explain.forecasting import ForecastOptions
from sandbox.forecasts import asking
from sandbox.live import pages
from sandbox.models import Event, Revision, Sample, Sandbox
from sandbox.page import diffs
from sandbox.page.diffs import HISTORY_EDITS
from sandbox.world import history, worlds
from scheduler.model.objects import Key
from tests.builders import job
from tests.sandbox.conftest import check_rows, contended, row, text_of, tick
from tests.sandbox.world.test_history import QUICKER

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

EXAMPLES = 5 if settings().max_examples <= 100 else settings().max_examples
#: Edits of the clock and of the past, not of the world.
_OF_TIME = HISTORY_EDITS | {"Create", "Play", "Pause"}
_OWN = ("id", "title", "branch", "parent", "playing", "speed", "until", "firstTick")


class Step(NamedTuple):
    """A tick, or an edit of the world, and the member that it was made in."""

    verb: str
    how: int
    member: int


@dataclass
class Member:
    """A sandbox, what counts of all that was done to it, and what can be redone."""

    sandbox: Sandbox
    steps: list[Step] = field(default_factory=list)
    undone: list[tuple[int, Step]] = field(default_factory=list)

    def upto(self, at: int) -> list[Step]:
        """Return the steps up to a tick and the edits in it."""
        ticks = 0
        for n, step in enumerate(self.steps):
            ticks += step.verb == "tick"
            if ticks > at:
                return self.steps[:n]
        return list(self.steps)


def _put(user: Any, pk: str, n: int) -> None:
    text = text_of(job(f"extra-{n}", queue="a-queue", cpu=1 + n % 3, runtime="9s"))
    actions.do_import(user, pk, [("edit.yaml", text)])


def _delete(user: Any, pk: str, n: int) -> None:
    actions.do_delete(user, pk, [Key("Job", "default", f"job-{n % 6:02d}")])


def _policy(user: Any, pk: str, n: int) -> None:
    spec = {"spec": {"simulation": {"podStartMs": 100 * (n + 1)}}}
    actions.do_policy(user, pk, spec, patch=True)


EDITS: dict[str, Callable[[Any, str, int], None]] = {
    "put": _put,
    "delete": _delete,
    "policy": _policy,
}


class Family:
    """A sandbox and its forks, beside a list of what counts of each."""

    def __init__(self) -> None:
        worlds.forget_all()
        self.user = local_user()
        self.members = [Member(self._made())]

    def _made(self) -> Sandbox:
        files = [("world.yaml", text_of(*contended(6)))]
        made = actions.do_create(self.user, files=files, seed=1).sandbox
        actions.do_play(self.user, made.pk)
        return made

    def do(self, member: int, step: tuple[str, int]) -> None:
        verb, how = step
        one = self.members[member % len(self.members)]
        own = Step(verb, how, self.members.index(one))
        match verb:
            case "tick":
                actions.do_play(self.user, one.sandbox.pk)
                one.steps += [own] * len(tick(one.sandbox, 1 + how % 4))
            case "undo" | "redo":
                getattr(self, verb)(one)
            case "rewind" | "fork":
                getattr(self, verb)(one, how % (row(one.sandbox).tick + 1))
            case _:
                try:
                    EDITS[verb](self.user, one.sandbox.pk, how)
                except (ConflictError, InvalidError, NotFoundError):
                    return  # it is no part of what counts
                one.steps.append(own)
                one.undone.clear()

    def undo(self, one: Member) -> None:
        member = self.members.index(one)
        own = [
            n
            for n, step in enumerate(one.steps)
            if step.verb in EDITS and step.member == member
        ]
        if not own:
            with pytest.raises(ConflictError, match="no edit to undo"):
                actions.do_undo(self.user, one.sandbox.pk)
            return
        actions.do_undo(self.user, one.sandbox.pk)
        one.undone.append((own[-1], one.steps.pop(own[-1])))

    def redo(self, one: Member) -> None:
        if not one.undone:
            with pytest.raises(ConflictError, match="no edit to redo"):
                actions.do_redo(self.user, one.sandbox.pk)
            return
        actions.do_redo(self.user, one.sandbox.pk)
        place, step = one.undone.pop()
        one.steps.insert(place, step)

    def rewind(self, one: Member, at: int) -> None:
        kept_steps = one.upto(at)
        if kept_steps == one.steps:
            return
        _, kept = actions.do_rewind(self.user, one.sandbox.pk, tick=at)
        self.members.append(Member(kept, one.steps))
        one.steps, one.undone = kept_steps, []

    def fork(self, one: Member, at: int) -> None:
        fork = actions.do_fork(self.user, one.sandbox.pk, tick=at)
        self.members.append(Member(fork, one.upto(at)))

    def from_scratch(self, one: Member) -> Sandbox:
        """Return a new sandbox to which only what counts was done."""
        made = self._made()
        for step in one.steps:
            if step.verb == "tick":
                tick(made)
            else:
                EDITS[step.verb](self.user, made.pk, step.how)
        return made


def derived(sandbox: Sandbox) -> dict[str, Any]:
    """Return all that is kept and sent of a sandbox, without numbers of revisions."""
    present = row(sandbox)
    events = history.rows_of(Event, present).exclude(type="Edit", reason__in=_OF_TIME)
    columns = ("tick", "t_ms", "type", "subject", "by", "reason", "message", "data")
    state = json.loads(pages.page_state(present, present.revision))
    past = [
        history.page_at(present, history.revision_at(present, at))
        for at in range(0, present.tick + 1, 2)
    ]
    worlds_then = [
        history.world_at(present, history.revision_at(present, at)).hash()
        for at in range(1, present.tick + 1, 5)
    ]
    return {
        "hash": present.hash,
        "events": list(events.order_by("revision", "seq").values_list(*columns)),
        "samples": [
            s.body for s in history.rows_of(Sample, present).order_by("revision")
        ],
        "pages": [{key: _plain(line) for key, line in page.items()} for page in past],
        "worlds": worlds_then,
        "sent samples": state["samples"],
        "sent events": [
            _numberless(e) for e in state["events"] if e["reason"] not in _OF_TIME
        ],
        "sent rows": {line["key"]: _plain(line) for line in state["rows"]},
    }


def _plain(line: dict[str, Any]) -> dict[str, Any]:
    left = _OWN if line["kind"] == "Sandbox" else ()
    return {name: value for name, value in line.items() if name not in left}


def _numberless(event: dict[str, Any]) -> dict[str, Any]:
    return {n: v for n, v in event.items() if n not in ("revision", "seq")}


STEPS = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.tuples(
            st.one_of(
                st.sampled_from(["tick", *EDITS]),
                st.sampled_from(["undo", "redo", "rewind", "fork"]),
            ),
            st.integers(0, 20),
        ),
    ),
    min_size=4,
    max_size=10,
)


def carry_out(steps: list[tuple[int, tuple[str, int]]]) -> None:
    family = Family()
    for member, step in steps:
        family.do(member, step)
    for one in family.members:
        check_rows(one.sandbox)
        assert derived(one.sandbox) == derived(family.from_scratch(one))


@settings(max_examples=EXAMPLES, phases=[Phase.generate])
@given(steps=STEPS)
def test_everything_derived_is_as_if_only_what_counts_was_done(steps):
    carry_out(steps)


#: Histories that once left something of what was undone.
FOUND = {
    "events, curves and pages of a run that was undone": (
        "0 policy 9, 0 tick 3, 0 tick 3, 0 undo 0"
    ),
    "two are undone and done again": (
        "0 put 1, 0 tick 1, 0 policy 4, 0 tick 3, 0 undo 0, 0 undo 0, 0 redo 0, "
        "0 tick 1, 0 redo 0"
    ),
    "a fork of what was undone later": (
        "0 put 2, 0 tick 3, 0 fork 2, 1 tick 2, 0 undo 0, 1 delete 1, 1 tick 3"
    ),
    "undone, then rewound into what was made again": (
        "0 tick 2, 0 put 2, 0 tick 3, 0 undo 0, 0 rewind 4, 0 tick 2, 1 tick 1"
    ),
    "rewound behind the beginning of a fork": (
        "0 tick 3, 0 put 1, 0 tick 2, 0 fork 4, 1 put 4, 1 tick 2, 1 rewind 2, 1 tick 3"
    ),
}


@pytest.mark.parametrize("steps", FOUND.values(), ids=FOUND)
def test_what_was_left_of_an_undone_run_is_gone(steps):
    words = [step.split() for step in steps.split(", ")]
    carry_out([(int(who), (verb, int(how))) for who, verb, how in words])


def test_events_stand_in_the_order_of_ticks_after_an_undo(busy, person):
    actions.do_policy(person, busy.pk, QUICKER, patch=True)
    tick(busy, 12)
    actions.do_undo(person, busy.pk)
    lines = history.rows_of(Event, row(busy)).order_by("revision", "seq")
    ticks = list(lines.values_list("tick", flat=True))
    assert ticks == sorted(ticks)


def test_one_diff_is_sent_of_an_undo_and_leads_to_the_new_page(busy, person):
    actions.do_policy(person, busy.pk, QUICKER, patch=True)
    tick(busy, 12)
    before = row(busy)
    page = history.page_at(before, before.revision)
    step = actions.do_undo(person, busy.pk)
    diffs.apply(page, step)
    present = row(busy)
    assert (step.from_revision, step.revision) == (before.revision, present.revision)
    assert diffs.between(page, history.page_at(present, present.revision)).empty()
    assert step.rewrites_history()


def test_a_forecast_of_what_was_undone_is_none_of_its_track_record(busy, person):
    tick(busy, 2)
    actions.do_policy(person, busy.pk, QUICKER, patch=True)
    tick(busy, 1)
    asking.result(asking.ask(row(busy), None, ForecastOptions(futures=2, seconds=20)))
    assert len(asking.forecasts_of(row(busy), 9).items) == 1
    actions.do_undo(person, busy.pk)
    assert asking.forecasts_of(row(busy), 9).items == []


def test_a_branch_is_compared_as_what_counts_of_it(busy, person):
    tick(busy, 3)
    fork = actions.do_fork(person, busy.pk)
    actions.do_play(person, fork.pk)
    actions.do_policy(person, fork.pk, QUICKER, patch=True)
    for sandbox in (busy, fork):
        tick(sandbox, 9)
    actions.do_undo(person, fork.pk)
    assert compare([row(busy), row(fork)]).differences == [None]


def test_a_past_with_more_turns_than_a_query_nests_is_read(busy, person):
    """SQLite nests conditions 1000 deep."""
    tick(busy, 1)
    last = row(busy).revision
    turns = [
        Revision(
            sandbox=busy,
            number=last + 2 * n,
            base=last + 2 * n - 2,
            tick=1,
            t_ms=1000,
            kind=Revision.RERUN,
            at="2026-01-01T00:00:00Z",
        )
        for n in range(1, 1500)
    ]
    Revision.objects.bulk_create(turns)
    Sandbox.objects.filter(pk=busy.pk).update(revision=turns[-1].number)
    assert history.events(row(busy)).count() > 0
