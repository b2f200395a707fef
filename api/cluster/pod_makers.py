"""What Deployments, ReplicaSets and StatefulSets tell of the pods that they make.

No event of ours is about that: it follows from the pods that came, or got a node, and
from what people changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from api.cluster import rollouts
from api.cluster.controlled import Owners, replica_set
from api.cluster.event_objects import owners_of
from sandbox.models import Event, Sandbox, table_of
from scheduler.engine.lifetime.controllers.deployments import (
    Rollout,
    is_recreated,
    replica_set_of,
    wanted_of,
)
from scheduler.engine.lifetime.starting import first_rolled
from scheduler.model.jobs import QUEUE, pod_number
from scheduler.model.objects import Key, Object

JOB_CONTROLLER = "job-controller"
_SETS = "replicaset-controller"
_DEPLOYMENTS = "deployment-controller"
#: Kinds whose controllers make pods and say so.
MAKERS = {
    "DaemonSet": "daemonset-controller",
    "Job": JOB_CONTROLLER,
    "ReplicaSet": _SETS,
    "StatefulSet": "statefulset-controller",
}

#: The job of a Workload or a pod, by (namespace, name).
Jobs = Mapping[tuple[str, str], Key]


class Told(NamedTuple):
    """One event as a component writes it."""

    about: Key
    reason: str
    message: str
    component: str
    warning: bool = False
    newer: bool = False  # written by events.k8s.io: no source, a reporting component


def told_by_makers(
    sandbox: Sandbox, events: list[Event], jobs: Jobs, sets: Mapping[Key, Set]
) -> Iterator[list[Told]]:
    """Yield for each event what controllers of several pods tell at that moment."""
    replicated = _ReplicaSets(sandbox, events, jobs, sets)
    numbered = _StatefulSets(sandbox, events, jobs)
    plain = _PlainMakers(jobs)
    for event, maker in zip(events, replicated.makers, strict=True):
        told = [*replicated.told(event, maker), *numbered.told(event)]
        yield [*told, *plain.told(event)]


class Set(NamedTuple):
    """The ReplicaSet that a Deployment has now."""

    key: Key
    uid: str
    is_first: bool  # whether the Deployment never had another template
    deployment: Key | None = None  # where it is an object here


def replica_sets(
    sandbox: Sandbox, jobs: Jobs, events: Iterable[Event]
) -> dict[Key, Set]:
    """Return the ReplicaSets that made pods of these events, of Deployments and here."""
    owners, found = Owners.stored(sandbox.pk), _sets_here(sandbox, jobs, events)
    for job in {one for one in jobs.values() if one.kind == "Deployment"}:
        if (known := owners.get("Deployment", job.namespace, job.name)) is None:
            continue
        made = replica_set(known)["metadata"]
        key = Key("ReplicaSet", job.namespace, made["name"])
        number = rollouts.number_of(known.manifest["metadata"])
        found[job] = Set(key, str(made.get("uid") or ""), number == 1)
    return found


class _ReplicaSets:
    """How many pods each ReplicaSet of a Deployment has, from event to event.

    Pods that start at one moment were made by one step of the Deployment. Of later
    templates only the pods are told of where no ReplicaSet is an object here: which step
    made them is not known.
    """

    def __init__(
        self, sandbox: Sandbox, events: list[Event], jobs: Jobs, sets: Mapping[Key, Set]
    ) -> None:
        self.sets = sets
        came = {one.subject for one in events if one.type == "Arrive"}
        self.makers = [_maker_of(event, jobs, came) for event in events]
        self.at_once: Counter[tuple[Key, int]] = Counter(
            (maker, event.t_ms)
            for event, maker in zip(events, self.makers, strict=True)
            if maker is not None
        )
        names = {
            event.subject.rpartition("/")[2]
            for event, maker in zip(events, self.makers, strict=True)
            if maker in sets
        }
        pods = table_of("Pod")._default_manager.filter(sandbox_id=sandbox.pk)
        rows = pods.filter(kind="Pod", name__in=names)
        self.there = {*rows.values_list("namespace", "name")}
        self.made: dict[Key, list[str]] = {}  # names, oldest first
        self.count: dict[Key, int] = {}
        self.said: set[tuple[Key, int]] = set()
        self.rolls: dict[str, Object] = {}  # Deployments that got another template
        before = _before_edits(sandbox, "Deployment", events)
        self.wanted = {str(key): _replicas(one) for key, one in before.items()}

    def told(self, event: Event, maker: Key | None) -> list[Told]:
        """Return what a Deployment and its ReplicaSet tell at an event."""
        if event.type == "Edit" and event.subject.startswith("Deployment/"):
            return [*self._shrunk(event), *self._rolled(event.subject)]
        if maker is None or (own := self.sets.get(maker)) is None:
            return []
        name = event.subject.rpartition("/")[2]
        self.made.setdefault(maker, []).append(name)
        told = [Told(own.key, "SuccessfulCreate", f"Created pod: {name}", _SETS)]
        if own.is_first and (maker, event.t_ms) not in self.said:
            self.said.add((maker, event.t_ms))
            before = self.count.get(maker, 0)
            after = before + self.at_once[maker, event.t_ms]
            most = self.wanted.get(str(own.deployment or maker), after)
            self.count[maker] = max(before, min(after, most))
            if self.count[maker] > before:  # else it has them in the place of others
                told.insert(0, self._step(maker, "up", before))
        return [*told, *self._rolled(str(own.deployment or maker))]

    def _step(self, maker: Key, way: str, before: int) -> Told:
        own, after = self.sets[maker], self.count[maker]
        said = f"Scaled {way} replica set {own.key.name} from {before} to {after}"
        return Told(own.deployment or maker, "ScalingReplicaSet", said, _DEPLOYMENTS)

    def _shrunk(self, event: Event) -> Iterator[Told]:
        """Yield that a ReplicaSet was scaled in, and which pods went.

        Its Deployment has one template and was scaled, or recreates its pods of another.
        """
        data, of = event.data or {}, event.subject
        if (given := data.get("after")) is not None:
            self.wanted[of] = _replicas(given)
        makers = [
            maker
            for maker, own in self.sets.items()
            if str(own.deployment or maker) == of and self.count.get(maker)
        ]
        if None in (data.get("before"), data.get("after")) or len(makers) != 1:
            return
        [maker] = makers
        was, now = (
            Object(key=Key(*of.split("/")), manifest=data[side])
            for side in ("before", "after")
        )
        after = wanted_of(now)
        if _template_of(was) != _template_of(now):
            if not is_recreated(now):
                self.rolls[of] = now
                return
            after = 0
        yield from self._shrink(maker, after)

    def _shrink(self, maker: Key, after: int) -> Iterator[Told]:
        """Yield that a ReplicaSet was scaled in, and which pods went."""
        before = self.count.get(maker, 0)
        if (fewer := before - after) <= 0:
            return
        self.count[maker] = after
        yield self._step(maker, "down", before)
        for name in self._gone(maker)[-fewer:][::-1]:
            self.made[maker].remove(name)
            said = f"Deleted pod: {name}"
            yield Told(self.sets[maker].key, "SuccessfulDelete", said, _SETS)

    def _gone(self, maker: Key) -> list[str]:
        """Return the pods of a ReplicaSet that are not there now, oldest first.

        A controller deletes the newest first: what goes later is older.
        """
        space = maker.namespace
        return [one for one in self.made[maker] if (space, one) not in self.there]

    def _rolled(self, of: str) -> Iterator[Told]:
        """Yield that ReplicaSets of older templates were scaled in by a roll.

        Pods of the present one count as available; if they are not, those of older
        ones are still there.
        """
        if (deployment := self.rolls.get(of)) is None:
            return
        present = _template_of(deployment)
        makers = {
            maker: _sized(maker, self.count.get(maker, 0))
            for maker, own in self.sets.items()
            if str(own.deployment or maker) == of
        }
        new = makers.pop(present, _sized(present, 0))
        every = {present: new, **makers}
        counts = {key: int(one.spec["replicas"]) for key, one in every.items()}
        roll = Rollout(deployment, new, [*makers.values()], counts)
        for maker, after in roll.counts_for(pods_are_left=True).items():
            if maker != present and counts[maker] - after <= len(self._gone_of(maker)):
                yield from self._shrink(maker, after)

    def _gone_of(self, maker: Key) -> list[str]:
        return self._gone(maker) if maker in self.made else []


def _before_edits(
    sandbox: Sandbox, kind: str, events: list[Event]
) -> dict[Key, Mapping[str, Any]]:
    """Return the manifests of a kind as they were before their first edit."""
    rows = table_of(kind)._default_manager.filter(sandbox_id=sandbox.pk, kind=kind)
    found: dict[Key, Mapping[str, Any]] = {
        Key(kind, row.namespace, row.name): row.manifest
        for row in rows.only("namespace", "name", "manifest")
    }
    for event in reversed(events):
        given = (event.data or {}).get("before") if event.type == "Edit" else None
        if given and event.subject.startswith(f"{kind}/"):
            found[Key(*event.subject.split("/"))] = given
    return found


def _replicas(manifest: Mapping[str, Any]) -> int:
    given = (manifest.get("spec") or {}).get("replicas")
    return 1 if given is None else int(given)


def _template_of(deployment: Object) -> Key:
    """Return the ReplicaSet of the template that a Deployment has."""
    managed = QUEUE in deployment.labels
    return replica_set_of(deployment, 0, managed=managed).key


def _maker_of(event: Event, jobs: Jobs, came: Collection[str]) -> Key | None:
    """Return the Deployment, or ReplicaSet, of which an event is the first of a pod."""
    kind, namespace, name = [*event.subject.split("/", 2), "", ""][:3]
    if kind != "Pod" or event.type not in ("Arrive", "Bind"):
        return None
    job = jobs.get((namespace, f"Pod/{name}"))
    if job is None or (event.type == "Bind") == (event.subject in came):
        return None
    return job if job.kind in ("Deployment", "ReplicaSet") else None


def _sized(replica_set: Key, replicas: int) -> Object:
    return Object(key=replica_set, manifest={"spec": {"replicas": replicas}})


def _sets_here(sandbox: Sandbox, jobs: Jobs, events: Iterable[Event]) -> dict[Key, Set]:
    """Return the ReplicaSets that are objects here and that a Deployment owns.

    Those that are gone with their Deployment, too.
    """
    made = {one for one in jobs.values() if one.kind == "ReplicaSet"}
    names = {one.name for one in made}
    edited = {event.subject for event in events if event.type == "Edit"}
    found = {}
    for one in made:
        above = Key("Deployment", one.namespace, one.name.rpartition("-")[0])
        if str(above) in edited:
            found[one] = Set(one, "", True, above)
    for (namespace, name), owners in owners_of(sandbox, "ReplicaSet", names).items():
        above = Key(owners[0]["kind"], namespace, owners[0]["name"])
        key = Key("ReplicaSet", namespace, name)
        found[key] = Set(key, "", True, above)
    return found


class _PlainMakers:
    """Which pods of Jobs and DaemonSets were told of since their job was stopped."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs
        self.made: dict[Key, set[str]] = {}
        self.waits: set[Key] = set()  # those whose Workload has no quota

    def told(self, event: Event) -> Iterator[Told]:
        """Yield that a pod was made, where this is the first that is heard of it."""
        kind, namespace, name = [*event.subject.split("/", 2), "", ""][:3]
        place = f"Pod/{name}" if kind == "Pod" else name
        owner = self.jobs.get((namespace, place))
        if owner is None or owner.kind not in ("DaemonSet", "Job"):
            return
        made = self.made.setdefault(owner, set())
        if kind == "Workload" and event.type in ("Arrive", "Admit", "Evict", "Preempt"):
            change = set.discard if event.type == "Admit" else set.add
            change(self.waits, owner)
        if kind == "Workload" and event.type in ("Evict", "Preempt", "Edit"):
            made.clear()
        elif kind == "Pod" and event.type in ("Bind", "Fail") and name not in made:
            made.add(name)
            said = f"Created pod: {name}"
            yield Told(owner, "SuccessfulCreate", said, MAKERS[owner.kind])
            if owner in self.waits and owner.kind == "Job":  # a person resumed it
                said = f"Deleted pod: {name}"
                yield Told(owner, "SuccessfulDelete", said, JOB_CONTROLLER)


class _StatefulSets:
    """Which pods each StatefulSet has, from event to event."""

    def __init__(self, sandbox: Sandbox, events: list[Event], jobs: Jobs) -> None:
        self.jobs = jobs
        before = _before_edits(sandbox, "StatefulSet", events)
        self.specs: dict[Key, Mapping[str, Any]] = {
            key: before.get(key, {}).get("spec") or {}
            for key in {*jobs.values()}
            if key.kind == "StatefulSet"
        }
        self.have: dict[Key, set[int]] = {}  # numbers of the pods of a set
        self.running: set[Key] = set()  # some pod of it has a node
        self.older: dict[Key, int] = {}  # where a set that rolls has come to
        self.held: dict[Key, int] = {}  # roll when so many pods have a node

    def told(self, event: Event) -> Iterator[Told]:
        """Yield what a controller of StatefulSets tells at an event."""
        kind, namespace, name = [*event.subject.split("/", 2), "", ""][:3]
        place = f"Pod/{name}" if kind == "Pod" else name
        key = Key(kind, namespace, name)
        owner = key if key in self.specs else self.jobs.get((namespace, place))
        if owner not in self.specs:
            return
        if kind == "Workload" and event.type in ("Arrive", "Evict", "Preempt"):
            waiting = self._waiting(owner)
            if event.type == "Arrive":  # its pods own the Workload, too
                said = f"Added {len(waiting)} owner reference(s)"
                yield Told(key, "OwnerReferencesAdded", said, "pod-kueue-controller")
            elif not self.have.get(owner, set()) - waiting:
                return  # none but those that wait is deleted
            self.have[owner] = waiting
            self.running.discard(owner)
            for number in sorted(waiting):
                yield _made(owner, number)
        elif kind == "Pod" and event.type == "Bind":
            if (bound := pod_number(name)) is not None:
                yield from self._bound(owner, bound)
        elif kind == "StatefulSet" and event.type == "Edit":
            yield from self._edited(owner, event.data or {})

    def _waiting(self, owner: Key) -> set[int]:
        """Return the numbers of the pods that wait for quota."""
        spec = self.specs[owner]
        replicas = int(spec.get("replicas", 1))
        at_once = spec.get("podManagementPolicy") == "Parallel"
        return {*range(replicas if at_once else min(1, replicas))}

    def _bound(self, owner: Key, number: int) -> Iterator[Told]:
        self.running.add(owner)
        have = self.have.setdefault(owner, set())
        if number not in have:
            have.add(number)
            yield _made(owner, number)
        if self.older.get(owner) == number:
            yield from self._next_anew(owner, number - 1)
        elif owner in self.held and len(have) >= self.held[owner]:
            del self.held[owner]
            yield from self._next_anew(owner, max(have))

    def _next_anew(self, owner: Key, number: int) -> Iterator[Told]:
        """Yield that a pod is deleted and made again of another template."""
        first = first_rolled(self.specs[owner])
        self.older.pop(owner, None)
        if first is not None and number >= first:
            self.older[owner] = number
            yield _deleted(owner, number)
            yield _made(owner, number)

    def _edited(self, owner: Key, data: Mapping[str, Any]) -> Iterator[Told]:
        before, after = (
            (data.get(side) or {}).get("spec") for side in ("before", "after")
        )
        if before is None or after is None:
            return
        self.specs[owner] = after
        if not (have := self.have.get(owner)):
            return
        replicas = int(after.get("replicas", 1))
        gone = {one for one in have if one >= replicas}
        for number in sorted(gone, reverse=True):
            yield _deleted(owner, number)
        have -= gone
        rolls = before.get("template") != after.get("template")
        if owner in self.held:
            self.held[owner] = replicas
        if rolls and have and owner in self.running:
            ordered = after.get("podManagementPolicy") != "Parallel"
            if ordered and len(have) < replicas:  # one of them waits for a node
                self.held[owner] = replicas
            else:
                yield from self._next_anew(owner, max(have))


def _made(owner: Key, number: int) -> Told:
    place = f"Pod {owner.name}-{number} in StatefulSet {owner.name}"
    said = f"Create {place} successful"
    return Told(owner, "SuccessfulCreate", said, MAKERS[owner.kind])


def _deleted(owner: Key, number: int) -> Told:
    place = f"Pod {owner.name}-{number} in StatefulSet {owner.name}"
    said = f"Delete {place} successful"
    return Told(owner, "SuccessfulDelete", said, MAKERS[owner.kind])
