"""Decisions in, numbers out: follows a running world instant by instant."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from scheduler.analysis.measures.lives import LifeReader, Lives, with_given_nodes
from scheduler.analysis.measures.report import Sharing, sharing_of, summarise
from scheduler.analysis.measures.samples import Samples
from scheduler.analysis.measures.subjects import (
    NOBODY,
    Amounts,
    Ledger,
    QuotaHolding,
    Subject,
    kind_of_subjects,
    read_subject,
    requests_of,
)
from scheduler.analysis.measures.summary import Summary
from scheduler.engine.kueue.workload.families import is_variant
from scheduler.engine.world import World
from scheduler.model.amounts import canonical
from scheduler.model.decisions import (
    Admit,
    Arrive,
    Bind,
    Deactivate,
    Decision,
    Evict,
    Fail,
    Finish,
    NodeChange,
    PodSetAdmission,
    Preempt,
    Requeue,
)
from scheduler.model.objects import Key, cluster_of
from scheduler.model.reasons import has_ended


class Measures:
    """Feeds on the decisions of a world while it runs.

    What waits, starts, is stopped and ends is said by the lives of units (`lives.py`),
    which `reader` follows; one that another part of a pair begun is given. Who holds what
    is kept here: under Kueue Workloads hold quota, under the other stacks Pods a node.
    `observe` must be called before the world goes on, since it looks up what the decisions
    name. What runs or waits already is taken over; a wait counts from its arrival. What
    still waits in a world that comes to rest before `until_ms` waits until then. Without
    `fragments` no `summary` is asked for.
    """

    def __init__(
        self,
        world: World,
        *,
        limit_ms: int | None = None,
        until_ms: int = 0,
        reader: LifeReader | None = None,
        fragments: bool = True,
    ) -> None:
        self.world = world
        self.limit_ms = limit_ms
        self.until_ms = until_ms
        self.reader = reader or LifeReader(world)
        self.kind = kind_of_subjects(world)
        self.ledger = Ledger()
        self.samples = Samples(world, self.ledger, fragments=fragments)
        self.subjects: dict[Key, Subject] = {}
        self.pods: dict[Key, tuple[tuple[str, Amounts], ...]] = {}  # under Kueue
        self.members: dict[Key, list[Key]] = {}  # owner of a run -> its pods
        grown = world.autoscaling
        self.cost_before = 0.0 if grown is None else grown.cost()
        self.searched_before = replace(world.context.searched)
        self._reactions: dict[type[Decision], Callable[[Any], None]] = {
            Arrive: self._arrive,
            Admit: self._admit,
            Bind: self._bind,
            Preempt: self._lose,
            Evict: self._lose,
            Fail: self._fail,
            Requeue: self._requeue,
            Deactivate: self._deactivate,
            Finish: self._finish,
            NodeChange: self._node_changed,
        }
        adopt(self)

    def observe(self, decisions: Sequence[Decision]) -> None:
        """Take the decisions of an instant, a tick or a run, in order."""
        self.reader.hear(decisions, self.world)
        self.hold(decisions)

    def hold(self, decisions: Iterable[Decision]) -> None:
        """Take who holds and who waits by decisions, without what becomes of them."""
        for decision in with_given_nodes([*decisions], self.world):
            reaction = self._reactions.get(type(decision))
            if reaction is not None and self._is_of_manager(decision):
                self.samples.until(decision.at_ms)
                reaction(decision)

    def _is_of_manager(self, decision: Decision) -> bool:
        """Return whether a decision counts: none of a worker cluster, nor of a variant.

        What happens to a variant counts where it happens to its parent.
        A Workload counts where its quota is reserved, not where its copy runs.
        """
        key = decision.subject
        if cluster_of(key):
            return False
        kueue = self.world.kueue
        return kueue is None or kueue.variants is None or not self._is_variant(key)

    def _is_variant(self, key: Key) -> bool:
        obj = self.world.objects.get(key)
        return obj is not None and is_variant(obj)

    def summary(
        self, *, scheduling_ms: float | None = None, lives: Lives | None = None
    ) -> Summary:
        """Return the numbers as of now; what is still held counts up to now.

        `lives` are those of the run up to its end, where they are known already.
        """
        now = self.world.context.now_ms
        self.samples.until(now + 1)
        return summarise(self, lives or self.lives(), scheduling_ms)

    def lives(self) -> Lives:
        """Return the lives of the run, as of now or its end."""
        now = self.world.context.now_ms
        return self.reader.lives(max(now, self.until_ms), self.world)

    def sharing(self, lives: Lives) -> Sharing:
        """Return what `summary` says of shares, of these lives of the run up to its end."""
        self.samples.until(self.world.context.now_ms + 1)
        return sharing_of(self, lives)

    def subject(self, key: Key) -> Subject:
        """Return the record of a subject; it is read once, while the object exists."""
        found = self.subjects.get(key)
        if found is None or found is NOBODY:
            known = self.reader.subjects.get(key)
            found = known or read_subject(self.world, key)
            if not self.samples.on_nodes:
                found = found._replace(shapes=(tuple(sorted(found.totals.items())),))
            self.subjects[key] = found
        return found

    # -- coming, starting ------------------------------------------------

    def _arrive(self, decision: Arrive) -> None:
        key = decision.subject
        if key.kind != self.kind:
            return
        subject = self.subject(key)
        self.ledger.wait(key, subject)
        self._join(key, subject.owner)

    def _admit(self, decision: Admit) -> None:
        if decision.subject.kind != self.kind:
            return
        usage: Amounts = {}
        parts: dict[str, Amounts] = {}
        for pod_set in decision.pod_sets:
            for resource, amount in pod_set.usage.items():
                usage[resource] = usage.get(resource, 0) + amount
                pool = self.samples.pool(
                    decision.queue, pod_set.flavors.get(resource, "")
                )
                part = parts.setdefault(pool, {})
                part[resource] = part.get(resource, 0) + amount
        places = () if self.samples.on_nodes else tuple(parts.items())
        self._start(decision, decision.queue, usage, places)

    def _bind(self, decision: Bind) -> None:
        key = decision.subject
        if self.kind == "Pod":
            subject = self.subject(key)
            part = ((decision.node, subject.totals),)
            self._start(decision, subject.queue, subject.totals, part)
            self._join(key, subject.owner)
        elif (pod := self.world.objects.get(key)) is not None:
            place = ((decision.node, requests_of(pod.spec)),)
            self._vacate(key)
            self.pods[key] = place
            self.ledger.occupy(place, 1)
            self._join(key, self.world.lifetime.owners.get(key))

    def _join(self, pod: Key, owner: Key | None) -> None:
        """Remember whose pod it is: owners end without a word about their pods."""
        if owner is not None and owner != pod:
            self.members.setdefault(owner, []).append(pod)

    def _start(
        self,
        decision: Decision,
        queue: str,
        usage: Amounts,
        parts: tuple[tuple[str, Amounts], ...],
    ) -> None:
        since = decision.at_ms
        self.ledger.take(
            decision.subject,
            QuotaHolding(queue=queue, usage=usage, since_ms=since, parts=parts),
        )

    # -- losing, ending --------------------------------------------------

    def _fail(self, decision: Fail) -> None:
        if decision.node:  # on its node; without one it merely waits on
            self._lose(decision)

    def _lose(self, decision: Decision) -> None:
        self._end_members(decision.subject, decision.at_ms)
        self._vacate(decision.subject)
        self.ledger.release(decision.subject, decision.at_ms)

    def _requeue(self, decision: Requeue) -> None:
        if decision.subject.kind == self.kind:
            self.ledger.wait(decision.subject, self.subject(decision.subject))

    def _deactivate(self, decision: Deactivate) -> None:
        self.ledger.stop_waiting(decision.subject)

    def _finish(self, decision: Finish) -> None:
        key, now = decision.subject, decision.at_ms
        self._end_members(key, now)
        self._vacate(key)
        self.ledger.release(key, now)
        self.ledger.stop_waiting(key)

    def _end_members(self, owner: Key, now_ms: int) -> None:
        for pod in self.members.pop(owner, ()):
            self._vacate(pod)
            if self.kind == "Pod":
                self.ledger.release(pod, now_ms)
                self.ledger.stop_waiting(pod)

    def _vacate(self, pod: Key) -> None:
        place = self.pods.pop(pod, None)
        if place is not None:
            self.ledger.occupy(place, -1)

    def _node_changed(self, decision: NodeChange) -> None:
        self.samples.capacity_changed()


# ------------------------------------------------------------------------
# A run that begins in the middle: what holds and waits already is taken over.


class AdoptingRun(Protocol):
    """The measures of a run, as far as what holds and waits is entered in them."""

    world: World
    kind: str
    ledger: Ledger

    def hold(self, decisions: Iterable[Decision]) -> None:
        """Enter who holds by decisions, in the order in which they were made."""

    def subject(self, key: Key) -> Subject:
        """Return the record of a subject."""


def adopt(run: AdoptingRun) -> None:
    """Enter what the world holds now."""
    world = run.world
    if not world.lifetime.arrived:
        return
    for key in sorted(world.own_objects()):
        if key.kind in (run.kind, "Pod") and key in world.lifetime.arrived:
            _adopt_workload(run, key) if key.kind == "Workload" else _adopt_pod(
                run, key
            )


def _adopt_workload(run: AdoptingRun, key: Key) -> None:
    kueue = run.world.kueue
    work = kueue.cluster.workloads.get(key) if kueue is not None else None
    if work is None or work.finished or work.parent is not None:
        return
    if work.reserved and work.admission is not None:
        run.hold([_admission(run, key)])
    elif work.active:
        run.ledger.wait(key, run.subject(key))


def _admission(run: AdoptingRun, key: Key) -> Admit:
    """Return the admission in force, as if it were decided now."""
    admission = run.world.get(key).status["admission"]
    return Admit(
        at_ms=run.world.context.now_ms,
        subject=key,
        queue=str(admission["clusterQueue"]),
        pod_sets=tuple(
            PodSetAdmission(
                part["name"],
                int(part.get("count") or 0),
                part.get("flavors") or {},
                _usage(part),
            )
            for part in admission.get("podSetAssignments") or ()
        ),
    )


def _usage(part: dict[str, dict[str, str]]) -> dict[str, int]:
    usage = part.get("resourceUsage") or {}
    return {resource: canonical(resource, text) for resource, text in usage.items()}


def _adopt_pod(run: AdoptingRun, key: Key) -> None:
    world = run.world
    now = world.context.now_ms
    if node := world.lifetime.placed.get(key):
        run.hold([Bind(at_ms=now, subject=key, node=node)])
    elif run.kind == "Pod" and not has_ended(world.objects[key].status):
        run.ledger.wait(key, run.subject(key))
