"""Two runs of one world to one horizon, without and with a change: who gains and loses.

Every word and sum is made of the lives of both runs (`lives.py`). Differences of at most
`within_ms` count as equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

import msgspec

from scheduler.analysis.measures.chains import Chains, Link
from scheduler.analysis.measures.lives import Lives, Traits
from scheduler.analysis.measures.units import Life, Stretch
from scheduler.model.objects import Key

#: By the first start, or the end: "only" with the change alone, "never" without alone.
StartVerdict = Literal["same", "earlier", "later", "never", "only"]


def start_verdict(
    without_ms: int | None, changed_ms: int | None, within_ms: int = 0
) -> StartVerdict:
    """Return how an instant came out with a change; None = it did not come."""
    if without_ms is None or changed_ms is None:
        if without_ms == changed_ms:
            return "same"
        return "never" if changed_ms is None else "only"
    if abs(changed_ms - without_ms) <= within_ms:
        return "same"
    return "earlier" if changed_ms < without_ms else "later"


#: What may become of a unit with the change, worst first. A unit stands under the first
#: that holds of it, and its row has the others.
LOSSES = (
    "never",  # it does not run before the horizon; without the change it does
    "endsLater",  # or not before the horizon
    "evictedMore",
    "losesMore",  # work
    "startsLater",
    "waitsLonger",
)
NEUTRAL = ("onlyWithout", "onlyWith", "moved", "elsewhere")
GAINS = (
    "only",
    "endsEarlier",
    "evictedLess",
    "losesLess",
    "startsEarlier",
    "waitsLess",
)
#: Something differs, by no more than counts as equal.
EQUAL = "equal"
_OPPOSITE = dict(zip(LOSSES, GAINS, strict=True))


class RunCourse(msgspec.Struct, kw_only=True, rename="camel"):
    """What became of one unit in one run; milliseconds of virtual time.

    `started_ms` is when it first runs (before the begin for what runs then), None where
    it does not. `place` is that of its last run. `preemptions` are among the evictions.
    """

    started_ms: int | None = None
    finished_ms: int | None = None
    place: str = ""
    evictions: int = 0
    preemptions: int = 0
    lost_ms: int = 0
    waited_ms: int = 0
    stretches: list[Stretch] = []


class WorkloadVerdict(msgspec.Struct, kw_only=True, rename="camel"):
    """One unit whose life differs with the change; None: it is not there on that side.

    `fates`: all that holds of it, the worst first. `later_ms` = `waiting_ms` +
    `lost_ms`: by how much later its work is done, less than 0 for earlier; 0 for what is
    there on one side alone, was moved by the change, or is equal. `why` is the place in
    the verdict's `links` where its chain begins; None where it is not told. `members` are
    the pods of a gang or an application, of both sides.
    """

    subject: str
    fates: list[str]
    start: StartVerdict
    end: StartVerdict
    queue: str
    cohort: str
    namespace: str
    priority_class: str
    user: str
    later_ms: int
    waiting_ms: int
    lost_ms: int
    without: RunCourse | None
    changed: RunCourse | None
    why: int | None = None
    members: list[str] = []

    @property
    def is_equal(self) -> bool:
        """Return whether it differs by no more than counts as equal."""
        return self.fates[0] == EQUAL

    @property
    def gains(self) -> bool:
        """Return whether the change is a gain for the unit."""
        return self.fates[0] in GAINS

    @property
    def loses(self) -> bool:
        """Return whether the change is a loss for the unit."""
        return self.fates[0] in LOSSES


class RunTotals(msgspec.Struct, kw_only=True, rename="camel"):
    """The units of one run, or of a group of them, in sums over the same time.

    `share`: of what all units held, of the resource of which these held most.
    """

    units: int
    started: int  # starts, again after an eviction too
    finished: int
    evictions: int
    preemptions: int
    work_lost_ms: int
    waited_ms: int
    last_end_ms: int | None = None
    share: float = 1.0


class GroupVerdict(msgspec.Struct, kw_only=True, rename="camel"):
    """The units of one queue, cohort, namespace, class or user. Sums are those of their rows.

    `later`, `earlier` and `equal` count units by the fate that they stand under; `added`
    and `removed` are there on one side alone or were moved.
    """

    name: str
    later_ms: int
    waiting_ms: int
    lost_ms: int
    evictions: int
    later: int
    earlier: int
    never: int
    added: int
    removed: int
    equal: int
    without: RunTotals
    changed: RunTotals


class ChangeVerdict(msgspec.Struct, kw_only=True, rename="camel"):
    """What a change makes different: two runs from one instant to one horizon.

    `workloads` are all whose life differs, those that lose most first: Workloads, and of
    pods that belong to none gangs, applications and single pods; `pods` counts the pods of
    units that get another node, or get one at another time. `by` has a group for every queue, cohort, namespace, priority
    class and user: worst first. `links` are decisions of one run that the other lacks,
    each with the place of the one that it comes from. `differs`: anything comes out
    otherwise by more than counts as equal.
    """

    from_ms: int
    to_ms: int
    within_ms: int
    differs: bool
    workloads: list[WorkloadVerdict]
    pods: int
    without: RunTotals
    changed: RunTotals
    later_ms: int
    waiting_ms: int
    lost_ms: int
    by: dict[str, list[GroupVerdict]]
    links: list[Link]


BY = ("queue", "cohort", "namespace", "priorityClass", "user")
#: So many rows are told why: those that stand first.
MOST_TOLD = 300


def verdict(
    without: Lives, changed: Lives, *, within_ms: int | None = None
) -> ChangeVerdict:
    """Return the differences of two runs of one world up to the same instant.

    A difference of at most `within_ms`, a tick unless it is given, counts as equal. Equal
    lives give a verdict that does not differ. O(units + decisions that differ).
    """
    within_ms = without.tick_ms if within_ms is None else within_ms
    rows = rows_of(without, changed, within_ms)
    named = sorted(rows.items(), key=lambda one: worst_first(one[1]))
    ordered = [row for _, row in named]
    chains = Chains(without, changed)
    for key, row in named[:MOST_TOLD]:
        if row.fates[0] not in (EQUAL, "onlyWith", "onlyWithout"):
            row.why = chains.of(key, gains=row.gains)
    pods = {*without.pods, *changed.pods}
    sides, sums = (without, changed), (_sums_of(without), _sums_of(changed))
    alls = _held(sums[0].values()), _held(sums[1].values())
    return ChangeVerdict(
        from_ms=without.from_ms,
        to_ms=without.to_ms,
        within_ms=within_ms,
        differs=any(row.fates[0] != EQUAL for row in ordered),
        workloads=ordered,
        pods=sum(_apart(without.pods.get(key), changed.pods.get(key)) for key in pods),
        without=_total(list(sums[0].values())),
        changed=_total(list(sums[1].values())),
        later_ms=sum(row.later_ms for row in ordered),
        waiting_ms=sum(row.waiting_ms for row in ordered),
        lost_ms=sum(row.lost_ms for row in ordered),
        by={by: _groups(by, rows, sides, sums, alls) for by in BY},
        links=chains.links,
    )


def rows_of(
    without: Lives, changed: Lives, within_ms: int
) -> dict[Key, WorkloadVerdict]:
    """Return every unit whose life differs; which by no more than `within_ms` is equal."""
    keys = sorted({*without.units, *changed.units})
    return {key: row for key in keys if (row := _row(key, without, changed, within_ms))}


def worst_first(row: WorkloadVerdict) -> tuple[int, int, str]:
    """Order rows: those that lose most first, those that count as equal last."""
    first = row.fates[0]
    rank = 0 if first in LOSSES else 1 if first in NEUTRAL else 2 + (first == EQUAL)
    by = -row.later_ms if rank == 0 else row.later_ms
    return rank, by, row.subject


def _apart(one: Life | None, other: Life | None) -> bool:
    if one is None or other is None:
        return True
    return one.stretches != other.stretches


def _row(
    key: Key, without: Lives, changed: Lives, within_ms: int
) -> WorkloadVerdict | None:
    one, other = without.units.get(key), changed.units.get(key)
    traits = _traits(key, without, changed)
    moved = one is not None and other is not None and _moved(key, without, changed)
    if not moved and not _apart(one, other):
        return None
    start, end = (
        start_verdict(
            None if one is None else getattr(one, name),
            None if other is None else getattr(other, name),
            within_ms,
        )
        for name in ("started_ms", "finished_ms")
    )
    waiting = lost = 0
    if one is None or other is None:
        fates = ["onlyWith" if one is None else "onlyWithout"]
        start = end = "same"
    else:
        lost = other.lost_ms - one.lost_ms
        waiting = other.waited_ms - one.waited_ms
        if one.finished_ms is not None and other.finished_ms is not None:
            # What it loses in other ways (its pods wait for nodes) is a wait as well.
            waiting = other.finished_ms - one.finished_ms - lost
        fates = _fates(one, other, (start, end), (waiting, lost), within_ms)
        if moved:
            fates = ["moved", *fates]
        elif not fates:
            fates = ["elsewhere" if _places(one) != _places(other) else EQUAL]
        if fates[0] in NEUTRAL or fates[0] == EQUAL:
            waiting = lost = 0
    return WorkloadVerdict(
        subject=str(key),
        fates=fates,
        start=start,
        end=end,
        queue=traits.queue,
        cohort=traits.cohort,
        namespace=traits.namespace,
        priority_class=traits.priority_class,
        user=traits.user,
        later_ms=waiting + lost,
        waiting_ms=waiting,
        lost_ms=lost,
        without=None if one is None else course_of(one),
        changed=None if other is None else course_of(other),
        members=sorted(
            {
                str(pod)
                for side in (without, changed)
                for pod in side.members.get(key, ())
            }
        ),
    )


def _fates(
    one: Life,
    other: Life,
    instants: tuple[StartVerdict, StartVerdict],
    more: tuple[int, int],
    within_ms: int,
) -> list[str]:
    """Return all that holds of a unit that is there on both sides, losses first."""
    start, end = instants
    waiting, lost = more
    signs = {
        "never": (start == "never") - (start == "only"),
        "endsLater": (end in ("later", "never")) - (end in ("earlier", "only")),
        "evictedMore": other.evictions - one.evictions,
        "losesMore": lost if abs(lost) > within_ms else 0,
        "startsLater": (start == "later") - (start == "earlier"),
        "waitsLonger": waiting if abs(waiting) > within_ms else 0,
    }
    losses = [name for name, sign in signs.items() if sign > 0]
    return losses + [_OPPOSITE[name] for name, sign in signs.items() if sign < 0]


def _places(life: Life) -> list[str]:
    return [one.place for one in life.stretches if one.runs]


def _moved(key: Key, without: Lives, changed: Lives) -> bool:
    return without.traits[key].queue != changed.traits[key].queue


def _traits(key: Key, without: Lives, changed: Lives) -> Traits:
    return changed.traits[key] if key in changed.units else without.traits[key]


def course_of(life: Life) -> RunCourse:
    """Return what became of one unit in one run."""
    places = _places(life)
    return RunCourse(
        started_ms=life.started_ms,
        finished_ms=life.finished_ms,
        place=places[-1] if places else "",
        evictions=life.evictions,
        preemptions=life.preemptions,
        lost_ms=life.lost_ms,
        waited_ms=life.waited_ms,
        stretches=life.stretches,
    )


class _Sums(NamedTuple):
    """One unit in numbers, of which those of every group are made."""

    starts: int
    finished_ms: int | None
    evictions: int
    preemptions: int
    lost_ms: int
    waited_ms: int
    held: Mapping[str, int]  # since the begin: resource -> units x ms


def _sums_of(side: Lives) -> dict[Key, _Sums]:
    def span_of(one: Stretch) -> int:
        return one.to_ms - max(one.from_ms, side.from_ms)

    return {
        key: _sums(life, _amounts(side, (key,), span_of))
        for key, life in side.units.items()
    }


def _sums(life: Life, held: Mapping[str, int]) -> _Sums:
    return _Sums(
        life.starts,
        life.finished_ms,
        life.evictions,
        life.preemptions,
        life.lost_ms,
        life.waited_ms,
        held,
    )


def totals_of(side: Lives) -> RunTotals:
    """Return all units in sums."""
    return _total([_sums(life, {}) for life in side.units.values()])


def _total(
    units: Sequence[_Sums], of_all: Mapping[str, int] | None = None
) -> RunTotals:
    """Return units in sums; `of_all` is what all units held, None where these are all."""
    ends = [one.finished_ms for one in units if one.finished_ms is not None]
    share = 1.0
    if of_all is not None:
        held = _held(units).items()
        shares = (part / of_all[name] for name, part in held if of_all.get(name))
        share = max(shares, default=0.0)
    return RunTotals(
        units=len(units),
        started=sum(one.starts for one in units),
        finished=len(ends),
        evictions=sum(one.evictions for one in units),
        preemptions=sum(one.preemptions for one in units),
        work_lost_ms=sum(one.lost_ms for one in units),
        waited_ms=sum(one.waited_ms for one in units),
        last_end_ms=max(ends, default=None),
        share=share,
    )


def _held(units: Iterable[_Sums]) -> dict[str, int]:
    found: dict[str, int] = {}
    for one in units:
        for resource, amount in one.held.items():
            found[resource] = found.get(resource, 0) + amount
    return found


def lost_of(
    side: Lives, keys: Iterable[Key], *, since_ms: int | None = None
) -> dict[str, int]:
    """Return what units held for work that must be done again: resource -> units x ms.

    `since_ms`: no work from before that instant.
    """

    def span_of(one: Stretch) -> int:
        if since_ms is None:
            return one.lost_ms
        return min(one.lost_ms, one.to_ms - max(one.from_ms, since_ms))

    return _amounts(side, keys, span_of)


def _amounts(
    side: Lives, keys: Iterable[Key], span_of: Callable[[Stretch], int]
) -> dict[str, int]:
    found: dict[str, int] = {}
    holders = (pod for key in keys for pod in side.members.get(key, (key,)))
    for key in holders:
        life = side.units.get(key) or side.pods[key]
        for one, held in zip(life.stretches, life.held, strict=True):
            span = span_of(one) if held else 0
            for (_, resource), amount in held.items():
                found[resource] = found.get(resource, 0) + amount * span
    return found


_NAME_OF: dict[str, Callable[[Traits], str]] = {
    "queue": lambda one: one.queue,
    "cohort": lambda one: one.cohort,
    "namespace": lambda one: one.namespace,
    "priorityClass": lambda one: one.priority_class,
    "user": lambda one: one.user,
}


def _groups(
    by: str,
    rows: Mapping[Key, WorkloadVerdict],
    sides: tuple[Lives, Lives],
    sums: tuple[Mapping[Key, _Sums], Mapping[Key, _Sums]],
    alls: tuple[Mapping[str, int], Mapping[str, int]],
) -> list[GroupVerdict]:
    """Return the groups; of each side the `sums` of its units, and what all of them held."""
    name_of = _NAME_OF[by]
    members: dict[str, tuple[list[Key], list[Key]]] = {}
    for at, side in enumerate(sides):
        for key in side.units:
            members.setdefault(name_of(side.traits[key]), ([], []))[at].append(key)
    own: dict[str, list[WorkloadVerdict]] = {name: [] for name in members}
    for key, row in rows.items():
        own[name_of(_traits(key, *sides))].append(row)
    found = []
    for name, (before, after) in members.items():
        fates = [row.fates[0] for row in own[name]]
        kept = set(before) & set(after)
        found.append(
            GroupVerdict(
                name=name,
                later_ms=sum(row.later_ms for row in own[name]),
                waiting_ms=sum(row.waiting_ms for row in own[name]),
                lost_ms=sum(row.lost_ms for row in own[name]),
                evictions=sum(_more_evictions(row) for row in own[name]),
                later=sum(one in LOSSES for one in fates),
                earlier=sum(one in GAINS for one in fates),
                never=fates.count("never"),
                added=len(after) - len(kept),
                removed=len(before) - len(kept),
                equal=fates.count(EQUAL),
                without=_total([sums[0][key] for key in before], alls[0]),
                changed=_total([sums[1][key] for key in after], alls[1]),
            )
        )
    return sorted(found, key=lambda one: (-one.later_ms, one.name))


def _more_evictions(row: WorkloadVerdict) -> int:
    if row.without is None or row.changed is None or row.fates[0] in NEUTRAL:
        return 0
    return row.changed.evictions - row.without.evictions


def differing(found: ChangeVerdict) -> Sequence[WorkloadVerdict]:
    """Return the units that come out otherwise, without those that count as equal."""
    return [row for row in found.workloads if row.fates[0] != EQUAL]
