"""Would work start if it were submitted now: when, at whose cost, and what starts it now.

1. The work is put into a copy of the world, which runs on until it has all it asks for.
2. Where that is late, the reasons are those of the copy, as `answers` tells them.
3. Then the work is changed: fewer or smaller pods, another queue, a higher priority. Each
   change is run, and those that start it now are told, the one at least cost first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from scheduler.analysis.explain import answers, places
from scheduler.analysis.explain.outcomes import MOST_DECISIONS, victim_of
from scheduler.analysis.explain.shapes import Shape, Victim
from scheduler.analysis.explain.workloads import waits
from scheduler.analysis.forecast.submission import check_new, submitted
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.input.manifests.run_times import assumed_work, pods_of
from scheduler.model import amounts, durations
from scheduler.model.decisions import Admit, Bind, Decision, Evict, Finish, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.jobs import PRIORITY_CLASS, QUEUE
from scheduler.model.objects import Key, Object, cluster_of
from scheduler.model.problems import RequestProblem
from scheduler.model.sentence import Items, Named, Quantity, Sentence, few, named
from scheduler.words.why import IfSubmitted

HORIZON_MS = 86_400_000
#: What starts within this time starts now: a cycle, and the end of who is preempted.
NOW_MS = 30_000
MOST_RUNS = 24
_MOST_REASONS = 4
_MOST_CHANGES = 4
_MOST_OF_A_KIND = 6
#: Fields that count pods.
_COUNTS = ("parallelism", "replicas", "numNodes", "instances", "count")
#: Parts of what a pod asks for that are tried: numerator, denominator.
_PARTS = ((3, 4), (1, 2), (1, 4), (1, 8))
#: Who ended last, and so shortly before the start, made room for it.
_ROOM_MS = 30_000
_UNTOLD = frozenset({"short.cost", "why.setAside", "asked.someWait"})


class JobChange(Shape):
    """A change of the work with which it starts now, and who would go for it."""

    said: Sentence
    text: str
    starts_ms: int
    victims: list[Victim]


class Would(Shape):
    """What would come of work that is submitted now; nothing was submitted.

    `starts`: "now", "later" or "never" (within the horizon); `starts_ms` counts from now,
    to when all of it has quota, and nodes where there are any. `after` left right before.
    """

    at_ms: int
    tick: int
    about: list[str]
    starts: str
    starts_ms: int | None
    horizon_ms: int
    after: list[str]
    victims: list[Victim]
    changes: list[JobChange]
    said: list[Sentence]
    sentences: list[str]


def would(
    world: World,
    objects: Sequence[Object],
    *,
    horizon_ms: int = HORIZON_MS,
    limit: int = MOST_RUNS,
) -> Would:
    """Return whether these objects would start if they were submitted now.

    `objects` are those of a manifest as `read_submission` reads it; an arrival that
    they state is not waited for. The world stays as it is. Raises SchedulerError for
    objects that are there already, and for those of which no pod or Workload comes.
    Cost: at most `limit` copies of the world, each run for `NOW_MS`, one to the horizon.
    """
    check_new(world, objects)
    first = _submit(world, list(submitted(objects, None)))
    _run_on(first, NOW_MS)
    why = list(_reasons(first)) if first.started_ms is None else []
    _run_on(first, horizon_ms)
    if not first.own():
        raise SchedulerError(RequestProblem.NO_WORK.said())
    late = first.started_ms is None or first.started_ms - first.from_ms > NOW_MS
    changes = list(_changes(world, objects, limit - 1)) if late else []
    changes = sorted(changes, key=lambda one: len(one.victims))[:_MOST_CHANGES]
    said = [*_start(first, horizon_ms), *why, *_victims(first.victims)]
    if late:
        said += [*_assumed(world), *map(_change, changes)]
        said += [] if changes else [IfSubmitted.NO_CHANGE.said()]
    return Would(
        at_ms=first.from_ms,
        tick=world.tick,
        about=[str(obj.key) for obj in objects],
        starts=_word(first, late=late),
        starts_ms=_since(first),
        horizon_ms=horizon_ms,
        after=first.ended,
        victims=first.victims,
        changes=changes,
        said=said,
        sentences=[one.text for one in said],
    )


def when(world: World, key: Key, *, horizon_ms: int = HORIZON_MS) -> list[Sentence]:
    """Return when a Workload or pod that waits starts by itself, and what that assumes.

    Nothing of what waits for nothing. The world stays as it is. Cost: a copy, run until
    it starts or to the horizon.
    """
    trial = _Trial(world, fork(world), frozenset({key}), world.context.now_ms)
    if not trial.waiting():
        return []
    _run_on(trial, horizon_ms)
    since = _since(trial)
    if since is None:
        return [IfSubmitted.NEVER.said(span=_span(horizon_ms)), *_assumed(world)]
    left = few(Named(name) for name in trial.ended)
    said = IfSubmitted.BY_ITSELF if trial.ended else IfSubmitted.BY_TIME
    holes: dict[str, Any] = {"names": left} if trial.ended else {}
    return [said.said(span=_span(since), **holes), *_assumed(world)]


# ------------------------------------------------------------------------
# One run of a copy.


@dataclass(slots=True)
class _Trial:
    origin: World
    world: World
    submitted: frozenset[Key]
    from_ms: int
    started_ms: int | None = None
    decisions: list[Decision] = field(default_factory=list)

    def belongs(self, key: Key | None) -> bool:
        """Return whether an object was submitted, or is owned by what was."""
        seen = set[Key]()
        while key is not None and key not in seen:
            if key in self.submitted:
                return True
            seen.add(key)
            obj = self.world.objects.get(key)
            owners = obj.metadata.get("ownerReferences") if obj is not None else None
            key = (
                Key(str(owners[0]["kind"]), key.namespace, str(owners[0]["name"]))
                if owners
                else None
            )
        return False

    def own(self) -> list[Key]:
        """Return its Workloads and pods. O(Workloads + pods)."""
        return [
            key
            for kind in ("Workload", "Pod")
            for key in self.world.keys(kind)
            if not cluster_of(key) and self.belongs(key)
        ]

    def waiting(self) -> list[Key]:
        """Return those of its own that have no quota, or no node."""
        return [key for key in self.own() if self._waits(key)]

    def _waits(self, key: Key) -> bool:
        world = self.world
        if key.kind == "Pod":
            return places.waits(world, key, world.objects[key])
        work = world.kueue.cluster.workloads.get(key) if world.kueue else None
        if work is None or work.finished:
            return False
        held = work.reserved and not waits(work)
        nodes = world.lifetime.placement() and places.awaits_nodes(world, key)
        return not held or nodes

    @property
    def victims(self) -> list[Victim]:
        """Return who was preempted for it, in order."""
        made = [one for one in self.decisions if isinstance(one, Preempt)]
        return [self._victim(one) for one in made if self.belongs(one.by)]

    def _victim(self, made: Preempt) -> Victim:
        if made.subject.kind == "Workload" and self.origin.kueue is not None:
            return victim_of(self.origin, made, self.decisions)
        pod = self.origin.kube.pods.get(made.subject) if self.origin.kube else None
        return Victim(
            workload=str(made.subject),
            queue="",
            reason=made.reason,
            priority=pod.priority if pod is not None else 0,
            at_ms=made.at_ms,
            work_lost_ms=made.work_lost_ms,
        )

    @property
    def ended(self) -> list[str]:
        """Return what ended, or was evicted, right before it started."""
        if self.started_ms is None or self.started_ms == self.from_ms:
            return []
        since = max(self.from_ms, self.started_ms - _ROOM_MS)
        ends = [
            one
            for one in self.decisions
            if isinstance(one, Finish | Evict) and since <= one.at_ms <= self.started_ms
        ]
        works = [one for one in ends if one.subject.kind == "Workload"] or ends
        return [str(one.subject) for one in works if one.at_ms == works[-1].at_ms]


def _submit(world: World, objects: Sequence[Object]) -> _Trial:
    copied = fork(world)
    for obj in objects:
        copied.put(obj)
    keys = frozenset(obj.key for obj in objects)
    return _Trial(world, copied, keys, world.context.now_ms)


def _run_on(trial: _Trial, span_ms: int) -> None:
    """Run on until all of it has started, at most so long after it was submitted."""

    def begins(one: Decision) -> bool:
        return isinstance(one, Admit | Bind) and trial.belongs(one.subject)

    until_ms, number = trial.from_ms + span_ms, len(trial.decisions)
    while trial.started_ms is None and number <= MOST_DECISIONS:
        found = simulate(trial.world, until_ms=until_ms, stop=begins)
        trial.decisions += found.decisions
        number = len(trial.decisions)
        if not any(map(begins, found.decisions)):
            return
        if not trial.waiting():
            trial.started_ms = trial.world.context.now_ms


def _since(trial: _Trial) -> int | None:
    return None if trial.started_ms is None else trial.started_ms - trial.from_ms


def _word(trial: _Trial, *, late: bool) -> str:
    if trial.started_ms is None:
        return "never"
    return "later" if late else "now"


# ------------------------------------------------------------------------
# What is said of it.


def _start(trial: _Trial, horizon_ms: int) -> Iterator[Sentence]:
    since = _since(trial)
    if since is None:
        yield IfSubmitted.NOT.said(span=_span(horizon_ms))
    elif since > NOW_MS and trial.ended:
        yield IfSubmitted.AFTER.said(span=_span(since), names=named(trial.ended))
    elif since > NOW_MS:
        yield IfSubmitted.LATER.said(span=_span(since))
    else:
        yield IfSubmitted.NOW.said(span=_span(since))


def _span(value_ms: int) -> str:
    whole = round(value_ms, -3 if value_ms > NOW_MS else 0)
    return re.sub("(?<=[hm])0[ms]", "", durations.duration_text(whole))


def _reasons(trial: _Trial) -> Iterator[Sentence]:
    """Yield what keeps the first of it that waits from starting."""
    waiting = trial.waiting() or trial.own()  # what was refused waits for nothing
    if not waiting:
        return
    told = answers.about(trial.world, waiting[0]).said
    kept = [one for one in told if one.code not in _UNTOLD]
    yield from kept[:_MOST_REASONS]


def _victims(victims: Sequence[Victim]) -> Iterator[Sentence]:
    if victims:
        yield IfSubmitted.VICTIMS.said(n=len(victims), names=_listed(victims))


def _listed(victims: Sequence[Victim]) -> Items:
    parts: list[Sentence] = []
    for one in victims:
        name, lost = Named(one.workload), _span(one.work_lost_ms)
        parts.append(
            IfSubmitted.VICTIM.said(name=name, priority=one.priority, lost=lost)
        )
    return Items(tuple(parts))


def _assumed(world: World) -> Iterator[Sentence]:
    """Yield what the time rests on: who else comes, and run times that nobody gave."""
    coming = [
        key
        for key in world.own_objects()
        if world.lifetime.waits(key) and key.kind not in ("Workload", "Change")
    ]
    yield IfSubmitted.KNOWN.said(n=len(coming)) if coming else IfSubmitted.NOBODY.said()
    span = world.policy.spec.simulation.default_runtime
    guessed = [said for said, _ in assumed_work(world.own_objects().values(), span)]
    if guessed:
        yield from guessed
    elif any(not run.done for run in world.lifetime.runs.values()):
        yield IfSubmitted.STATED.said()


def _change(change: JobChange) -> Sentence:
    span = _span(change.starts_ms)
    if not change.victims:
        return IfSubmitted.CHANGE.said(change=change.said, span=span)
    names = _listed(change.victims)
    return IfSubmitted.CHANGE_PREEMPTS.said(change=change.said, span=span, names=names)


# ------------------------------------------------------------------------
# Changes of the work, each of which is run.

#: What is said of a change, and the objects as they are then.
_Variant = tuple[Sentence, list[Object]]
#: How many changes belong together, and each by its number, the smallest first. A change
#: is made when it is run: work may have as many as it has pods.
_Ladder = tuple[int, Callable[[int], _Variant]]


def _changes(
    world: World, objects: Sequence[Object], limit: int
) -> Iterator[JobChange]:
    """Yield the smallest change of each kind with which the work starts now."""
    left = [limit]

    def tried(variant: _Variant) -> JobChange | None:
        left[0] -= 1
        trial = _submit(world, variant[1])
        _run_on(trial, NOW_MS)
        since = _since(trial)
        if since is None:
            return None
        said = variant[0]
        victims = trial.victims
        return JobChange(said=said, text=said.text, starts_ms=since, victims=victims)

    for size, step in _ladders(world, objects):
        best = tried(step(size - 1)) if left[0] > 0 else None
        low, high = 0, size - 1
        while best is not None and low < high and left[0] > 0:
            middle = (low + high) // 2
            found = tried(step(middle))
            if found is None:
                low = middle + 1
            else:
                best, high = found, middle
        if best is not None:
            yield best


def _ladders(world: World, objects: Sequence[Object]) -> Iterator[_Ladder]:
    """Yield changes that belong together."""
    yield from _fewer(objects)
    for few_of_a_kind in (
        [*_smaller(objects)],
        [*_free_of_selectors(objects)],
        [*_urgent(world, objects)],
        *([one] for one in _elsewhere(world, objects)),
    ):
        if few_of_a_kind:
            yield len(few_of_a_kind), few_of_a_kind.__getitem__


def _changed(objects: Sequence[Object], do: Any) -> list[Object]:
    """Return copies of the objects as submitted, each given to `do`."""
    found = list(submitted(objects, None))
    for obj in found:
        do(obj)
    return found


def _pods(obj: Object) -> Iterator[dict[str, Any]]:
    """Yield the specs of pods that an object, a copy, is or holds."""
    for pod in pods_of(obj.manifest):
        yield cast("dict[str, Any]", pod)


def _fewer(objects: Sequence[Object]) -> Iterator[_Ladder]:
    """Yield the work with fewer and fewer pods: its largest count is made smaller."""
    counts = [
        (holder[name], index, path)
        for index, obj in enumerate(objects)
        for path, holder, name in _counts(obj.manifest.get("spec"), "spec")
    ]
    if not counts:
        return
    most, index, path = max(counts, key=lambda one: one[0])

    def step(number: int) -> _Variant:
        count, found = most - 1 - number, list(submitted(objects, None))
        for place, holder, name in _counts(found[index].manifest.get("spec"), "spec"):
            if place == path:
                holder[name] = count
        return IfSubmitted.FEWER.said(field=path, value=count, now=most), found

    yield most - 1, step


def _counts(value: Any, path: str) -> Iterator[tuple[str, dict[str, Any], str]]:
    """Yield the fields that count more than one pod: path, who holds it, its name."""
    if isinstance(value, list):
        for number, one in enumerate(value):
            yield from _counts(one, f"{path}[{number}]")
    elif isinstance(value, dict) and "containers" not in value:
        for name, one in value.items():
            if name in _COUNTS and type(one) is int and one > 1:
                yield f"{path}.{name}", value, name
            else:
                yield from _counts(one, f"{path}.{name}")


def _smaller(objects: Sequence[Object]) -> Iterator[_Variant]:
    """Yield the work with pods that ask for less and less, while nothing is parted."""
    for part, whole in _PARTS:
        found, asked = list(submitted(objects, None)), dict[str, Quantity]()
        for given in [one for obj in found for one in _amounts(obj)]:
            for name, value in given.items():
                less = amounts.quota(name, value) * part
                if less % whole or less <= 0:
                    return  # a device is whole
                given[name] = amounts.text_of(name, less // whole)
                asked[name] = Quantity(name, str(less // whole))
        if asked:
            texts = Items(tuple(asked.values()))
            yield IfSubmitted.SMALLER.said(part=f"{part}/{whole}", asked=texts), found


def _amounts(obj: Object) -> Iterator[dict[str, Any]]:
    """Yield what the containers of an object, a copy, request and may use at most."""
    for pod in _pods(obj):
        for container in pod["containers"]:
            resources = container.get("resources") or {}
            for part in ("requests", "limits"):
                if resources.get(part):
                    yield resources[part]


def _free_of_selectors(objects: Sequence[Object]) -> Iterator[_Variant]:
    """Yield the work without the selectors of nodes that its pods have."""
    removed: dict[str, str] = {}

    def free(obj: Object) -> None:
        for pod in _pods(obj):
            removed.update(pod.pop("nodeSelector", None) or {})

    found = _changed(objects, free)
    if removed:
        names = Items(tuple(f"{name}={value}" for name, value in removed.items()))
        yield IfSubmitted.NO_SELECTOR.said(labels=names), found


def _urgent(world: World, objects: Sequence[Object]) -> Iterator[_Variant]:
    """Yield the work with each priority class that is above its own, the lowest first."""
    kueue = world.kueue is not None and any(map(_queue_of, objects))
    kind = "WorkloadPriorityClass" if kueue else "PriorityClass"
    values = {
        key.name: int(world.objects[key].manifest.get("value") or 0)
        for key in world.keys(kind)
    }
    own = max((values.get(_class_of(obj), 0) for obj in objects), default=0)
    above = sorted((v, name) for name, v in values.items() if v > own)
    for value, name in above[:_MOST_OF_A_KIND]:
        found = _changed(objects, partial(_raise, name=name, kueue=kueue))
        yield IfSubmitted.URGENT.said(kind=kind, name=name, value=value), found


def _queue_of(obj: Object) -> str:
    if obj.key.kind == "Workload":
        return str(obj.spec.get("queueName") or "")
    return obj.labels.get(QUEUE, "")


def _class_of(obj: Object) -> str:
    pods = (pod.get("priorityClassName") for pod in _pods(obj))
    return obj.labels.get(PRIORITY_CLASS) or next(filter(None, pods), "")


def _raise(obj: Object, *, name: str, kueue: bool) -> None:
    if kueue and obj.key.kind != "Workload" and _queue_of(obj):
        obj.metadata["labels"] = {**obj.labels, PRIORITY_CLASS: name}
    elif kueue and obj.key.kind == "Workload":
        group = "kueue.x-k8s.io"
        reference = {"group": group, "kind": "WorkloadPriorityClass", "name": name}
        obj.manifest["spec"]["priorityClassRef"] = reference
    elif not kueue:
        for pod in _pods(obj):
            pod["priorityClassName"] = name
            pod.pop("priority", None)


def _elsewhere(world: World, objects: Sequence[Object]) -> Iterator[_Variant]:
    """Yield the work in each other LocalQueue, those of its own namespace first."""
    own = next(((o.key.namespace, _queue_of(o)) for o in objects if _queue_of(o)), None)
    if own is None:
        return
    others = [key for key in world.keys("LocalQueue") if key[1:] != own]
    others.sort(key=lambda key: (key.namespace != own[0], key))
    for key in others[:_MOST_OF_A_KIND]:
        found = list(submitted(objects, key))
        yield IfSubmitted.ELSEWHERE.said(queue=key.path), found


def lines_of(found: Any) -> Iterator[str]:
    """Yield a `Would`, as a document, as people read it."""
    yield ", ".join(found["about"])
    yield from (f"  {sentence}" for sentence in found["sentences"])
