"""What a unit of work is where no Workload stands for its pods: a pod, a gang, an application.

1. Pods that name a PodGroup, or a pod group of a Workload of scheduling.k8s.io, are one
   unit; so are pods that name, or whose job makes, an application of YuniKorn.
2. Such a unit has its place while as many of its pods have one as it needs: as many as its
   group declares, or where it declares none, all that are there.
3. Its life is made of theirs by `joined`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby, pairwise
from typing import NamedTuple

import msgspec

from scheduler.engine.kube.cache.pod_group import OLD_MINIMUM_LABEL, gang_key, group_key
from scheduler.engine.world import World
from scheduler.engine.yunikorn.shim.pods import is_ours, named_app, read_gang
from scheduler.model.amounts import is_whole
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object
from scheduler.model.pod import read_pod

Amounts = Mapping[tuple[str, str], int]  # (flavor or "", resource) -> canonical units


class Stretch(msgspec.Struct, kw_only=True, rename="camel"):
    """A part of a life, from an instant up to the next part; milliseconds of virtual time.

    `end`: "" where it goes on at the horizon, "starts" of a wait, else how a run ends:
    "preempted", "evicted", "failed" (all three: it waits again), "restarts" (it keeps its
    place and begins its work again), "grows" (it waits for a pod that came since),
    "finished" or "deleted". `lost_ms` is work that must be done again.
    """

    runs: bool
    from_ms: int
    to_ms: int
    place: str = ""  # queue and flavors, or the node
    end: str = ""
    by: str = ""  # who preempts, or the pod that was lost
    reason: str = ""  # of a stop, as the real system spells it
    lost_ms: int = 0
    kept_ms: int = 0


class Life(msgspec.Struct, kw_only=True):
    """The stretches of one unit, in order and without a gap, from when it is there."""

    stretches: list[Stretch]
    ended: str = ""  # "finished", "failed", "deleted"; "": not before the horizon
    #: Of each stretch its number among all that was decided, 0 for what is there at the
    #: begin, and what it holds.
    orders: list[int] = []
    held: list[Amounts] = []
    #: When it came, which may be before the begin; None for what has run by then.
    came_ms: int | None = None

    @property
    def started_ms(self) -> int | None:
        """Return when it first runs; before the begin for what runs then. None: it does not."""
        return next((one.from_ms for one in self.stretches if one.runs), None)

    @property
    def finished_ms(self) -> int | None:
        """Return when its work ended; None: not before the horizon."""
        done = self.ended in ("finished", "failed")
        return self.stretches[-1].to_ms if done else None

    @property
    def waits(self) -> bool:
        """Return whether the unit waits at the end."""
        return not self.ended and not self.stretches[-1].runs

    @property
    def evictions(self) -> int:
        """Return how often the unit lost its place."""
        return sum(one.end in STOPS for one in self.stretches)

    @property
    def preemptions(self) -> int:
        """Return how often it lost its place to another."""
        return sum(one.end == "preempted" for one in self.stretches)

    @property
    def lost_ms(self) -> int:
        """Return how much work, in milliseconds, this run must do again."""
        return sum(one.lost_ms for one in self.stretches)

    @property
    def waited_ms(self) -> int:
        """Return how long the unit waits, in all."""
        return sum(one.to_ms - one.from_ms for one in self.stretches if not one.runs)

    @property
    def restarts(self) -> int:
        """Return how often it begins its work again: after a stop, or at its place."""
        stopped = sum(
            one.end == "starts" and before.end in STOPS
            for before, one in pairwise(self.stretches)
        )
        return stopped + sum(
            one.end == "restarts" and one.by != "" for one in self.stretches
        )

    @property
    def useful_ms(self) -> int:
        """Return how long it ran without what it lost."""
        runs = sum(one.to_ms - one.from_ms for one in self.stretches if one.runs)
        return runs - self.lost_ms

    @property
    def starts(self) -> int:
        """Return how often it starts, again after an eviction too."""
        return sum(one.end == "starts" for one in self.stretches)


STOPS = frozenset({"preempted", "evicted", "failed"})


# ------------------------------------------------------------------------
# Which unit a pod is of.


def unit_of(world: World, obj: Object) -> tuple[Key, int | None]:
    """Return the unit of a pod that belongs to no Workload, and how many pods that needs.

    None: all that are there. A pod by itself is its own unit.
    """
    pod = read_pod(obj.manifest, obj.status)
    if world.yunikorn is not None and is_ours(pod):
        app = named_app(obj)
        if app:
            return Key("Application", "", app), _declared(obj)
    elif world.kube is not None:
        if (gang := gang_key(pod)) is not None:
            least, problem = world.kube.shared.gangs.policy(pod)
            return (gang if least or problem else obj.key), least
        if (group := group_key(pod)) is not None:
            found = world.kube.nodes.groups.get(group)
            old = pod.labels.get(OLD_MINIMUM_LABEL, "")
            given = int(old) if is_whole(old) else 0
            return group, (given if found is None else found.min_member) or None
    return obj.key, None


def _declared(obj: Object) -> int | None:
    """Return how many pods the task groups of an application have that a pod declares."""
    try:
        gang = read_gang(obj)
    except SchedulerError:
        return None
    return None if gang is None else sum(one.members for one in gang.declared())


def is_joined(key: Key) -> bool:
    """Return whether a unit's life is made of those of its pods."""
    return key.kind not in ("Workload", "Pod")


# ------------------------------------------------------------------------
# Its life, made of those of its pods.


class _Turn(NamedTuple):
    """What befalls one pod: `before` ends, and `after` begins (None: its life is over)."""

    at_ms: int
    order: int  # 0: it is there at the begin
    pod: int
    before: Stretch | None
    after: Stretch | None
    held: Amounts


def joined(pods: Sequence[Life], needed: int | None, begin_ms: int) -> Life:
    """Return the life of a unit that has these pods.

    It runs while `needed` of them run, or all that have not ended where those are fewer;
    None: all that are there. What stops a run is the first pod that loses its place then; what pods
    lose at one instant counts once, by the most that one of them loses.
    """
    turns = sorted(
        (turn for at, pod in enumerate(pods) for turn in _turns(at, pod, begin_ms)),
        key=lambda one: one[:3],
    )
    found = Life(stretches=[], ended=_ended(pods))
    there: dict[int, tuple[Stretch, Amounts]] = {}
    over = 0
    for (_, decided), instant in groupby(turns, key=lambda one: (one[0], one[1] > 0)):
        now = list(instant)
        for one in now:
            if one.after is None:
                there.pop(one.pod, None)
                over += 1
            else:
                there[one.pod] = one.after, one.held
        running = [both for both in there.values() if both[0].runs]
        least = min(needed, len(pods) - over) if needed else len(there)
        _step(found, now, running, None if not there else len(running) >= least)
        last = found.stretches[-1]
        if last.runs:
            places = {*last.place.split(", "), *(one.place for one, _ in running)}
            last.place = ", ".join(sorted(places - {""}))
        if not decided and last.runs:  # it runs at the begin
            last.from_ms = sorted(one.from_ms for one, _ in running)[least - 1]
    if turns[0].order or not found.stretches[0].runs:  # it was not running at the begin
        came = (pod.came_ms for pod in pods if pod.came_ms is not None)
        found.came_ms = min(came, default=None)
    last, final = found.stretches[-1], turns[-1]
    if found.ended:
        last.to_ms, last.end = final.at_ms, found.ended
        found.orders.append(final.order)
    else:
        last.to_ms = max(pod.stretches[-1].to_ms for pod in pods)
    return found


def _turns(at: int, pod: Life, begin_ms: int) -> Iterable[_Turn]:
    before: Stretch | None = None
    for order, after, held in zip(pod.orders, pod.stretches, pod.held, strict=False):
        yield _Turn(max(after.from_ms, begin_ms), order, at, before, after, held)
        before = after
    if pod.ended and before is not None:
        yield _Turn(before.to_ms, pod.orders[-1], at, before, None, {})


def _ended(pods: Sequence[Life]) -> str:
    """Return how a unit ended; "": one of its pods did not."""
    ends = {pod.ended for pod in pods}
    return next((end for end in ("", "failed", "finished") if end in ends), "deleted")


def _step(
    life: Life,
    now: Sequence[_Turn],
    running: Sequence[tuple[Stretch, Amounts]],
    runs: bool | None,
) -> None:
    """Go on with a life at one instant; `runs` None: it has no pod now."""
    ended = [one.before for one in now if one.before is not None]
    last = life.stretches[-1] if life.stretches else None
    if last is not None:
        last.lost_ms += max((one.lost_ms for one in ended), default=0)
    if last is not None and runs in (None, last.runs):
        return
    at_ms = now[0].at_ms
    if last is not None:
        stop = next((one for one in ended if one.end in STOPS), None)
        last.to_ms, last.end = at_ms, "grows" if last.runs else "starts"
        if last.runs and stop is not None:
            last.end, last.by, last.reason = stop.end, stop.by, stop.reason
    life.stretches.append(Stretch(runs=bool(runs), from_ms=at_ms, to_ms=at_ms))
    life.orders.append(now[-1].order)
    held: dict[tuple[str, str], int] = {}
    for _, amounts in running if runs else ():
        for name, amount in amounts.items():
            held[name] = held.get(name, 0) + amount
    life.held.append(held)
