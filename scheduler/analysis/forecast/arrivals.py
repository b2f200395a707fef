"""Arrivals of a world that go on: a process fitted per queue and hour of week."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from random import Random

from scheduler.analysis.forecast.workloads import created_ms, queue_of
from scheduler.engine.world import World
from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.objects import Key, Object

HOUR_MS = 3_600_000
BATCH_MS = 10_000
_WEEK = 168
#: So many hours at the rate of all hours count beside those of an hour of the week.
SHRINK_HOURS = 3.0
#: With fewer batches in the past, "not enough history".
LEAST_BATCHES = 5
#: No future of a queue brings more batches.
MOST_BATCHES = 2_000

Batch = tuple[Key, ...]


@dataclass(frozen=True, slots=True)
class QueueArrivals:
    """What came to one queue, and how often per hour in each hour of the week."""

    batches: list[Batch]
    rates: list[float]
    from_ms: int  # until then what comes is known

    def future(
        self, random: Random, epoch_ms: int, until_ms: int
    ) -> Iterator[tuple[int, Batch]]:
        """Yield when batches may come, and like which: at most MOST_BATCHES."""
        at = float(self.from_ms)
        for _ in range(MOST_BATCHES):
            at = self._next(random, epoch_ms, at, until_ms)
            if at >= until_ms:
                return
            yield round(at) + 1, random.choice(self.batches)

    def _next(self, random: Random, epoch_ms: int, at: float, until_ms: int) -> float:
        while at < until_ms:
            hour = int((epoch_ms + at) // HOUR_MS)
            rate = self.rates[hour % _WEEK] / HOUR_MS
            gap = random.expovariate(rate) if rate else float(HOUR_MS)
            end = (hour + 1) * HOUR_MS - epoch_ms
            if at + gap < end:
                return at + gap
            at = float(end)
        return at


@dataclass(frozen=True, slots=True)
class FittedArrivals:
    """The processes of all queues, in order of their names."""

    epoch_ms: int
    queues: Mapping[str, QueueArrivals]

    @property
    def batches(self) -> int:
        """Return how many batches of the past the processes rest on."""
        return sum(len(queue.batches) for queue in self.queues.values())

    def future(self, random: Random, until_ms: int) -> Iterator[tuple[int, Key]]:
        """Yield future arrivals: the time, and the Workload to copy."""
        for queue in self.queues.values():
            for at, batch in queue.future(random, self.epoch_ms, until_ms):
                for like in batch:
                    yield at, like


def fit(world: World) -> FittedArrivals:
    """Fit the processes to the Workloads of a world.

    What was there at the first instant is no arrival. Work that a world knows to
    come is taken as it is: its queue goes on after the last of it. Cost: O(Workloads).
    """
    now, epoch_ms = world.context.now_ms, world.context.epoch_us // 1000
    came: dict[str, list[tuple[int, Key]]] = defaultdict(list)
    for key in world.keys("Workload"):
        if not world.lifetime.waits(key):
            obj = world.objects[key]
            came[queue_of(obj)].append((created_ms(world, obj), key))
    known: dict[str, int] = {}
    for key, at in world.lifetime.future.items():
        queue = queue_of(world.objects[key])
        known[queue] = max(known.get(queue, now), at)
    first = min((at for found in came.values() for at, _ in found), default=now)
    queues = {
        queue: _fitted(batches, first, now, epoch_ms, known.get(queue, now))
        for queue, found in sorted(came.items())
        if (batches := _batches(sorted(found), first)) and now > first
    }
    return FittedArrivals(epoch_ms, queues)


def _batches(came: list[tuple[int, Key]], first: int) -> list[tuple[int, Batch]]:
    """Return what came after the first instant, what came together in one."""
    found: list[tuple[int, Batch]] = []
    last = first
    for at, key in came:
        if at <= first:
            continue
        if found and at - last <= BATCH_MS:
            found[-1] = (found[-1][0], (*found[-1][1], key))
        else:
            found.append((at, (key,)))
        last = at
    return found


def _fitted(
    batches: list[tuple[int, Batch]], first: int, now: int, epoch_ms: int, from_ms: int
) -> QueueArrivals:
    counts = [0] * _WEEK
    for at, _ in batches:
        counts[(epoch_ms + at) // HOUR_MS % _WEEK] += 1
    hours = (now - first) / HOUR_MS
    mean = len(batches) / hours
    seen = _seen_hours(first + epoch_ms, now + epoch_ms)
    rates = [
        (count + SHRINK_HOURS * mean) / (hour + SHRINK_HOURS)
        for count, hour in zip(counts, seen, strict=True)
    ]
    return QueueArrivals([batch for _, batch in batches], rates, from_ms)


def _seen_hours(begin: int, end: int) -> list[float]:
    """Return how much of each hour of the week was seen, in hours."""
    weeks, rest = divmod(end - begin, _WEEK * HOUR_MS)
    found = [float(weeks)] * _WEEK
    at = end - rest
    while at < end:
        upto = min((at // HOUR_MS + 1) * HOUR_MS, end)
        found[at // HOUR_MS % _WEEK] += (upto - at) / HOUR_MS
        at = upto
    return found


def arriving(like: Object, name: str, at_ms: int, run_ms: int) -> Object:
    """Return a Workload like one of the past that comes at an instant and runs so long."""
    metadata = like.metadata
    annotations = metadata.get("annotations") or {}
    spec = {name: value for name, value in like.spec.items() if name != "active"}
    manifest = {
        **{part: like.manifest[part] for part in ("apiVersion", "kind")},
        "metadata": {
            "name": name,
            "namespace": like.key.namespace,
            "labels": dict(metadata.get("labels") or {}),
            "annotations": {
                **annotations,
                ARRIVAL: f"{at_ms}ms",
                RUNTIME: f"{run_ms}ms",
            },
        },
        "spec": spec,
    }
    return Object(key=Key("Workload", like.key.namespace, name), manifest=manifest)
