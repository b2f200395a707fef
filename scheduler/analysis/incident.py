"""A window of a real cluster replayed under its policy and under a changed one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median, quantiles

import msgspec

from scheduler.analysis.forecast.workloads import created_ms, waits
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Decision, Preempt
from scheduler.model.objects import Key, Object

#: Means that differ by less are called equal.
LEAST_MS = 1_000
#: So many queues are named in the sentence, those that change most first.
MOST_NAMED = 2


class QueueWaits(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How long work of one ClusterQueue waited in a window; what waits still counts as far."""

    queue: str
    workloads: int  # that waited or came
    admitted: int
    wait_ms: int  # mean


class WindowRun(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A window as it was, or as one policy would have had it."""

    queues: list[QueueWaits]
    admitted: int
    preemptions: int


class IncidentReplay(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A window as it was, replayed, and replayed with a change."""

    from_ms: int
    to_ms: int
    real: WindowRun
    same: WindowRun  # this engine, under the real policy
    changed: WindowRun
    start_error_ms: list[int]  # median and p90 of first admissions, real against same
    sentence: str


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """What became of the work of a window: by owner, its queue, arrival and start (ms)."""

    work: Mapping[str, tuple[str, int, int | None]]
    preemptions: int


def replay(world: World, until_ms: int, go_on: Callable[[], None]) -> Window:
    """Run a world to the end of a window and return the outcome of its work.

    `go_on` is called at each instant; what it raises ends the run.
    """
    begin = world.context.now_ms
    waited = [key for key, obj in world.objects.items() if waits(obj)]
    starts: dict[Key, int] = {}
    preempted = 0

    def hear(decisions: Sequence[Decision]) -> None:
        nonlocal preempted
        go_on()
        for one in decisions:
            if isinstance(one, Admit):
                starts.setdefault(one.subject, one.at_ms)
            preempted += isinstance(one, Preempt)

    simulate(world, until_ms=until_ms, hear=hear)
    there = window_work(world, begin, until_ms, waited)
    return Window(
        work={
            owner_name(obj): (queue, came, starts.get(obj.key))
            for obj, queue, came in there
        },
        preemptions=preempted,
    )


def window_work(
    world: World, begin_ms: int, until_ms: int, waited: Iterable[Key]
) -> Iterable[tuple[Object, str, int]]:
    """Yield each Workload that waited at the begin or came since: its queue, its arrival."""
    known = set(waited)
    queues = {
        (key.namespace, key.name): str(obj.spec.get("clusterQueue", ""))
        for key, obj in world.objects.items()
        if key.kind == "LocalQueue"
    }
    for key, obj in sorted(world.objects.items()):
        if key.kind != "Workload":
            continue
        came = created_ms(world, obj)
        if key in known or begin_ms < came <= until_ms:
            place = key.namespace, str(obj.spec.get("queueName", ""))
            yield obj, queues.get(place, place[1]), came


def owner_name(obj: Object) -> str:
    """Return the owner of a Workload: names of Workloads differ from run to run."""
    for owner in obj.metadata.get("ownerReferences") or ():
        if owner.get("controller"):
            return f"{owner['kind']}/{obj.key.namespace}/{owner['name']}"
    return str(obj.key)


def compared(
    real: Window, same: Window, changed: Window, *, from_ms: int, to_ms: int
) -> IncidentReplay:
    """Return how a window went: in the cluster, replayed, and replayed with a change.

    With a sentence on what the change made of it, and by how much the replay is off.
    """
    runs = [_run(one, from_ms, to_ms) for one in (real, same, changed)]
    return IncidentReplay(
        from_ms=from_ms,
        to_ms=to_ms,
        real=runs[0],
        same=runs[1],
        changed=runs[2],
        start_error_ms=_errors(real, same),
        sentence=sentence_of(runs[1], runs[2]),
    )


def _run(window: Window, begin_ms: int, until_ms: int) -> WindowRun:
    """Sum a window up; a wait begins in it or before, and is counted from its arrival."""
    found: dict[str, list[tuple[int, bool]]] = {}
    for queue, came, start in window.work.values():
        end = until_ms if start is None else start
        found.setdefault(queue, []).append((max(end - came, 0), start is not None))
    queues = [
        QueueWaits(
            queue=queue,
            workloads=len(waited),
            admitted=sum(started for _, started in waited),
            wait_ms=round(sum(ms for ms, _ in waited) / len(waited)),
        )
        for queue, waited in sorted(found.items())
    ]
    return WindowRun(
        queues=queues,
        admitted=sum(one.admitted for one in queues),
        preemptions=window.preemptions,
    )


def _errors(real: Window, same: Window) -> list[int]:
    """Return median and p90 of how far starts of both are apart (ms); [] without any."""
    found = [
        abs(start - real.work[name][2])  # type: ignore[operator]
        for name, (_, _, start) in same.work.items()
        if start is not None and name in real.work and real.work[name][2] is not None
    ]
    if not found:
        return []
    tenths = quantiles(found, n=10, method="inclusive") if len(found) > 1 else found
    return [round(median(found)), round(tenths[-1])]


def sentence_of(same: WindowRun, changed: WindowRun) -> str:
    """Return the effect of the change as one sentence."""
    before = {one.queue: one.wait_ms for one in same.queues}
    moved = [
        (one.queue, one.wait_ms - before[one.queue])
        for one in changed.queues
        if abs(one.wait_ms - before.get(one.queue, one.wait_ms)) >= LEAST_MS
    ]
    moved.sort(key=lambda pair: (-abs(pair[1]), pair[0]))
    parts = [
        f"{queue} would have waited {_span(abs(ms))} {'less' if ms < 0 else 'more'}"
        for queue, ms in moved[:MOST_NAMED]
    ]
    more = changed.preemptions - same.preemptions
    if more:
        word = "preemption" if abs(more) == 1 else "preemptions"
        parts.append(f"{abs(more)} {word} {'more' if more > 0 else 'fewer'}")
    return ", ".join(parts) or "nothing would have been otherwise"


def _span(ms: int) -> str:
    seconds = round(ms / 1000)
    if seconds < 60:
        return f"{seconds} s"
    minutes, rest = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes} min" + (f" {rest} s" if rest else "")
    hours, left = divmod(minutes, 60)
    return f"{hours} h" + (f" {left} min" if left else "")
