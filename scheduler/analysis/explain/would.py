"""Would work start if it were submitted now: when, at whose cost, and what starts it now.

1. The work is put into a copy of the world, which runs on until it has all it asks for.
2. Where that is late, the reasons are those of the copy, as `answers` tells them.
3. Then the work is changed (`work_forms.py`): each change is run, and those that start it
   now are told, the one at least cost first.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from scheduler.analysis.explain import answers, places
from scheduler.analysis.explain.answers import Overview
from scheduler.analysis.explain.counterfactuals import counterfactuals
from scheduler.analysis.explain.moves import moves
from scheduler.analysis.explain.outcomes import MOST_DECISIONS, victim_of
from scheduler.analysis.explain.past import Past
from scheduler.analysis.explain.queue_limits import raised
from scheduler.analysis.explain.shapes import Shape, Victim
from scheduler.analysis.explain.work_forms import Variant, ladders
from scheduler.analysis.explain.workloads import waits
from scheduler.analysis.forecast.submission import check_new, submitted
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.input.manifests.run_times import assumed_work
from scheduler.model import durations
from scheduler.model.decisions import Admit, Bind, Decision, Evict, Finish, Preempt
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key, Object, cluster_of
from scheduler.model.problems import RequestProblem
from scheduler.model.sentence import Items, Named, Sentence, few, named, plain
from scheduler.words.why import IfSubmitted

HORIZON_MS = 86_400_000
#: What starts within this time starts now: a cycle, and the end of who is preempted.
NOW_MS = 30_000
#: Pods that get nodes so soon after the first of them run at once.
_AT_ONCE_MS = 1000
MOST_RUNS = 24
_MOST_REASONS = 4
_MOST_CHANGES = 4
_MOST_MOVES = 8
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
    part = first.part()
    why = list(_reasons(first)) if first.started_ms is None else []
    _run_on(first, horizon_ms)
    if not first.own():
        why = _podless(first)
    since = _since(first)
    late = since is None or since > NOW_MS or part is not None
    changes = list(_changes(world, objects, limit - 1)) if late else []
    changes = sorted(changes, key=lambda one: len(one.victims))[:_MOST_CHANGES]
    said = [*_start(first, horizon_ms, part), *why, *_victims(first.victims)]
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


def _podless(trial: _Trial) -> list[Sentence]:
    """Return why no pod and no Workload came. Raises SchedulerError for what makes none."""
    makers = [key for key in trial.submitted if key.kind in answers.MAKERS]
    if not makers:
        raise SchedulerError(RequestProblem.NO_WORK.said())
    found = [answers.why_podless(trial.world, key) for key in sorted(makers)]
    return [one for said in found for one in said]


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


def overview_run(world: World, name: str, past: Past) -> Overview:
    """Return `overview`, and of the one thing that `name` means what runs of copies say.

    That is which changes start it now, and when it starts by itself; of what waits for
    nothing, and of several things, the overview alone. Cost: as `helps` and `when`.
    """
    found = answers.overview(world, name, past)
    if len(found.answers) == 1:
        [one] = found.answers
        key = answers.key_of(one)
        runs = key.kind in ("Workload", "Pod")
        if runs and key in world.objects and not cluster_of(key):
            one.said += [*helps(world, key), *when(world, key)]
            one.sentences = [said.text for said in one.said]
    return found


def helps(world: World, key: Key, *, limit: int = MOST_RUNS) -> list[Sentence]:
    """Return changes of a pod or Workload that waits with which it starts now, each run.

    Of a Workload that waits for quota those of its queue, cohort and policies that
    `counterfactuals` tries; of an admitted one those of its first pod without a node.
    Where none starts it, that is said; nothing of what waits for nothing, and of what
    starts by itself as soon. Cost: at most
    `limit` copies, each run for `NOW_MS`.
    """
    if key.kind == "Workload":
        missing = places.unplaced(world, key) if world.lifetime.placement() else []
        return helps(world, missing[0]) if missing else _of_quota(world, key, limit)
    obj = world.objects.get(key)
    if obj is None or key.kind != "Pod":
        return []
    kept = obj.spec.get("schedulingGates") or places.names_no_node(world, obj)
    if not (kept or places.waits(world, key, obj)):
        return []
    unchanged = _Trial(world, fork(world), frozenset({key}), world.context.now_ms)
    _run_on(unchanged, NOW_MS)
    if unchanged.started_ms is not None:
        return []
    objects = [obj, *places.group_of(world, obj)]
    found = sorted(_changes(world, objects, limit), key=lambda one: len(one.victims))
    found = [*found[:_MOST_CHANGES], *_raised(world, key), *_moves(world, key)]
    said = [_change(one, _OF_POD) for one in found]
    return said or [IfSubmitted.NO_HELP.said()]


def _moves(world: World, key: Key) -> Iterator[JobChange]:
    """Yield the cheapest eviction that pays, by which a pod starts now."""
    tried = moves(world, key, span_ms=NOW_MS, limit=_MOST_MOVES)
    for one in islice(tried, 1):
        lost = _span(one.lost_ms)
        said = IfSubmitted.MOVED.said(pod=one.pod.path, node=one.node, lost=lost)
        starts = one.starts_ms
        yield JobChange(said=said, text=said.text, starts_ms=starts, victims=[])


def _raised(world: World, key: Key) -> Iterator[JobChange]:
    """Yield the raise of YuniKorn's limits by which a pod starts now, if it does."""
    found = raised(world, key) if world.yunikorn is not None else None
    if found is None:
        return
    said, policy = found
    trial = _Trial(world, fork(world), frozenset({key}), world.context.now_ms)
    trial.world.set_policy(policy)
    _run_on(trial, NOW_MS)
    since = _since(trial)
    if since is not None:
        victims = trial.victims
        yield JobChange(said=said, text=said.text, starts_ms=since, victims=victims)


def _of_quota(world: World, key: Key, limit: int) -> list[Sentence]:
    """Return the first changes that let a Workload in now, those at no one's cost first."""
    tried = counterfactuals(world, key, horizon_ms=NOW_MS, limit=limit).verdicts
    if any(one.kind == "wait" and one.verdict == "yes" for one in tried):
        return []
    works = [
        JobChange(
            said=plain(one.subject),
            text=one.subject,
            starts_ms=(one.outcome.at_ms or 0) - one.outcome.ran_from_ms,
            victims=one.outcome.victims,
        )
        for one in tried
        if one.verdict == "yes"
    ]
    works.sort(key=lambda one: len(one.victims))
    said = [_change(one, _OF_WORKLOAD) for one in works[:_MOST_CHANGES]]
    changed = any(one.kind != "wait" for one in tried)
    return said or [IfSubmitted.NO_HELP.said()] * changed


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
    bound: list[int] = field(default_factory=list)  # when its pods got nodes
    wanted: int = 0  # pods that run at once, each for itself

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
        """Return the Workloads and pods of what was submitted. O(Workloads + pods)."""
        return [
            key
            for kind in ("Workload", "Pod")
            for key in self.world.keys(kind)
            if not cluster_of(key) and self.belongs(key)
        ]

    def waiting(self) -> list[Key]:
        """Return those of its own without quota or node, and who cannot make its pods."""
        refusals = self.world.lifetime.job_stage.quotas.refusals
        refused = [maker for maker in refusals if self.belongs(maker)]
        return [*(key for key in self.own() if self._waits(key)), *refused]

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

    def part(self) -> tuple[int, int] | None:
        """Return how many of how many pods get nodes at once, each of which runs for itself.

        None where all do, where none does, and of pods that run together.
        """
        n = sum(at_ms <= self.bound[0] + _AT_ONCE_MS for at_ms in self.bound)
        return (n, self.wanted) if 0 < n < self.wanted else None

    def hear(self, decisions: Sequence[Decision]) -> None:
        """Take decisions, and when its pods get nodes."""
        self.decisions += decisions
        own = [one for one in decisions if isinstance(one, Bind)]
        own = [one for one in own if self.belongs(one.subject)]
        if own and not self.bound:
            runs = [r for k, r in self.world.lifetime.runs.items() if self.belongs(k)]
            alone = [run.rounds for run in runs if run.ends_by_pods]
            self.wanted = sum(one.pods for one in alone if one is not None)
        self.bound += [one.at_ms for one in own]

    @property
    def victims(self) -> list[Victim]:
        """Return who was preempted for what was submitted, in order."""
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
        if obj.key.kind == "Pod" and copied.objects.get(obj.key, obj).spec.get(
            "nodeName"
        ):
            copied.delete(obj.key)  # what has a node gets no other
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
        trial.hear(found.decisions)
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


def _start(
    trial: _Trial, horizon_ms: int, part: tuple[int, int] | None
) -> Iterator[Sentence]:
    since = _since(trial)
    if part is not None:
        n, count = part
        said = IfSubmitted.PART_NOT if since is None else IfSubmitted.PART
        span = _span(horizon_ms if since is None else since)
        yield said.said(n=n, count=count, span=span)
    elif since is None:
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
    first = waiting[0]
    told = (
        answers.about(trial.world, first).said
        if first.kind in ("Workload", "Pod")
        else places.not_made(trial.world, first)
    )
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


_Effect = tuple[IfSubmitted, IfSubmitted]  # what a change does; and whom it preempts
_SUBMITTED: _Effect = (IfSubmitted.CHANGE, IfSubmitted.CHANGE_PREEMPTS)
_OF_POD: _Effect = (IfSubmitted.HELPS, IfSubmitted.HELPS_PREEMPTS)
_OF_WORKLOAD: _Effect = (IfSubmitted.HELPS_IF, IfSubmitted.HELPS_IF_PREEMPTS)


def _change(change: JobChange, effect: _Effect = _SUBMITTED) -> Sentence:
    """Return what a change does."""
    alone, preempts = effect
    span = _span(change.starts_ms)
    if not change.victims:
        return alone.said(change=change.said, span=span)
    names = _listed(change.victims)
    return preempts.said(change=change.said, span=span, names=names)


# ------------------------------------------------------------------------
# Changes of the work, each of which is run.


def _changes(
    world: World, objects: Sequence[Object], limit: int
) -> Iterator[JobChange]:
    """Yield the smallest change of each kind with which the work starts now."""
    left = [limit]

    def tried(variant: Variant) -> JobChange | None:
        left[0] -= 1
        trial = _submit(world, variant[1])
        _run_on(trial, NOW_MS)
        since = _since(trial)
        if since is None:
            return None
        said = variant[0]
        victims = trial.victims
        return JobChange(said=said, text=said.text, starts_ms=since, victims=victims)

    for size, step in ladders(world, objects):
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


def lines_of(found: Any) -> Iterator[str]:
    """Yield a `Would`, as a document, as people read it."""
    yield ", ".join(found["about"])
    yield from (f"  {sentence}" for sentence in found["sentences"])
