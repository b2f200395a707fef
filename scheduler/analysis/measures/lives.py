"""The life of a unit of work in one run: it waits, runs somewhere, is stopped, ends.

1. A unit is a Workload (Kueue), or for pods that belong to none what `units.py` says.
2. `LifeReader` begins with the world before a change, so that both runs of a pair begin
   with the same lives, and hears the decisions of one run, in order.
3. `LifeReader.lives` gives every life up to an instant.

All that is said of a run's units (starts, ends, evictions, work lost, sums by team, why)
is made of these lives; nothing else defines them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec

from scheduler.analysis.forecast.workloads import created_ms
from scheduler.analysis.measures.subjects import Subject, read_subject
from scheduler.analysis.measures.units import (
    STOPS,
    Amounts,
    Life,
    Stretch,
    joined,
    unit_of,
)
from scheduler.analysis.measures.waits import Waits, waits_of
from scheduler.engine.kueue.workload.families import is_variant
from scheduler.engine.world import World
from scheduler.engine.yunikorn.shim.pods import user_of
from scheduler.model.amounts import canonical
from scheduler.model.decisions import (
    Admit,
    Arrive,
    Bind,
    Checkpoint,
    Decision,
    Evict,
    Fail,
    Finish,
    PodSetAdmission,
    Preempt,
)
from scheduler.model.objects import Key, Object, cluster_of, plain
from scheduler.model.reasons import has_ended, is_true


class Traits(NamedTuple):
    """Whose a unit is, and what it asks for."""

    queue: str  # ClusterQueue, YuniKorn's leaf, or the namespace; "": none
    cohort: str  # of the ClusterQueue; the parent of a leaf
    namespace: str
    priority_class: str
    user: str


class Lives(NamedTuple):
    """All lives of one run up to an instant."""

    from_ms: int
    to_ms: int
    tick_ms: int
    units: Mapping[Key, Life]
    pods: Mapping[Key, Life]  # of units that are no pods
    owners: Mapping[Key, Key]  # such a pod -> its unit
    traits: Mapping[Key, Traits]
    makers: Mapping[Key, Key]  # a unit -> what it is made of in the end: its Job
    changed: frozenset[Key]  # what the change adds, edits or takes away
    members: Mapping[Key, list[Key]]  # a gang or an application -> its pods

    def waits(self, keys: Iterable[Key] | None = None) -> Waits:
        """Return how long units waited, or some: of those that waited at the begin or came since.

        From when each came to when it first runs, or to the end of these lives.
        """
        lives = (
            self.units.values() if keys is None else map(self.units.__getitem__, keys)
        )
        came = [(one.came_ms, one.started_ms) for one in lives]
        return waits_of(
            ((at, start) for at, start in came if at is not None), self.to_ms
        )


def with_given_nodes(decisions: Sequence[Decision], world: World) -> Iterator[Decision]:
    """Yield decisions, and a Bind after the arrival of a pod that was made with its node.

    No scheduler binds such a pod: it starts where it arrives. The world stands where the
    decisions were made. O(decisions).
    """
    bound: set[Key] | None = None
    for one in decisions:
        yield one
        key = one.subject
        if not isinstance(one, Arrive) or key.kind != "Pod":
            continue
        obj = world.objects.get(key)
        node = obj.spec.get("nodeName") if obj is not None else None
        if node and bound is None:
            bound = {two.subject for two in decisions if isinstance(two, Bind)}
        if node and bound is not None and key not in bound:
            yield Bind(at_ms=one.at_ms, subject=key, node=node)


class LifeReader:
    """Follows the units of one run. `world` is that of the begin, before any change."""

    def __init__(self, world: World) -> None:
        self.from_ms = world.context.now_ms
        self.tick_ms = world.policy.spec.simulation.tick_ms
        self._units: dict[Key, Life] = {}
        self._pods: dict[Key, Life] = {}
        self._owners: dict[Key, Key] = {}
        self._members: dict[Key, list[Key]] = {}
        self._traits: dict[Key, Traits] = {}
        self.subjects: dict[Key, Subject] = {}  # as they came
        self._makers: dict[Key, Key] = {}
        #: A pod that no Workload stands for -> its unit, and how many pods that needs.
        self._unit_of: dict[Key, tuple[Key, int | None]] = {}
        self._changed: frozenset[Key] = frozenset()
        #: A pod that is made anew -> the one that was lost, whose life it goes on with.
        self._follows: dict[Key, Key] = {}
        self._newest: dict[Key, Key] = {}  # the other way round
        self._heard = 0
        self._objects = len(world.objects)
        self._removals = -1  # of the journal: how many were looked at
        there = world.lifetime.arrived | world.lifetime.owners.keys()
        for key in sorted(there):
            obj = world.objects.get(key)
            if obj is not None and key.kind in _KINDS and not cluster_of(key):
                self._begin(world, key, obj)

    def hear(self, decisions: Iterable[Decision], world: World) -> None:
        """Take decisions, in order, while the world stands where they were made."""
        for decision in with_given_nodes([*decisions], world):
            self._heard += 1
            key = decision.subject
            if cluster_of(key):
                if isinstance(decision, Checkpoint):
                    self._keep(decision, plain(key))
                continue
            match decision:
                case Fail():  # most are of pods that are known
                    if decision.node:
                        self._stop(decision, "failed")
                    elif key.kind == "Pod" and key not in self._pods:
                        self._come(world, key, decision.at_ms)
                case Arrive() if key.kind in _KINDS:
                    self._come(world, key, decision.at_ms)
                case Admit(pod_sets=pod_sets) if key.kind == "Workload":
                    place = admitted_to(decision.queue, pod_sets)
                    self._start(world, decision, place, _quota(pod_sets))
                case Bind() if key.kind == "Pod":
                    self._start(world, decision, decision.node, None)
                case Preempt():
                    self._stop(decision, "preempted")
                case Evict():
                    self._stop(decision, "evicted")
                case Finish():
                    self._finish(decision)
                case Checkpoint():
                    self._keep(decision, key)
                case _:
                    pass
        if len(world.objects) != self._objects:
            self._objects = len(world.objects)
            self._let_go(world)

    def change(self, before: World, after: World) -> None:
        """Take what a change made of the world before it: what it added and took away."""
        self._heard += 1
        old, new = before.own_objects(), after.own_objects()
        changed = {
            key
            for key in old.keys() | new.keys()
            if not _same(old.get(key), new.get(key))
        }
        documents = before.policy.document(), after.policy.document()
        if documents[0] != documents[1]:
            changed |= {POLICY, *changed_queues(*(one["spec"] for one in documents))}
        self._changed = frozenset(changed)
        for key, life in list(self._units.items()):
            last = life.stretches[-1]
            evicted = len(life.stretches) > 1 and not last.runs
            if key not in new and not evicted:
                del self._units[key]
                self._traits.pop(key, None)
            elif key.kind == "Pod" and last.runs and key not in after.lifetime.placed:
                self._stop(Evict(at_ms=self.from_ms, subject=key), "evicted")
        for key in sorted(changed & new.keys()):
            if key in self._units:
                self._know(after, key)
            elif key.kind in _KINDS and key in after.lifetime.arrived:
                self._come(after, key, self.from_ms)
        if any(key.kind in _QUEUES for key in changed) or POLICY in changed:
            for key in self._units.keys() & new.keys():
                self._traits[key] = traits_of(after, key)

    def lives(self, until_ms: int, world: World) -> Lives:
        """Return all lives up to an instant, at which the world stands, or later."""
        for key in sorted(world.lifetime.owners):
            if key.kind == "Pod" and not cluster_of(key):
                self._come(world, key)
        units = {key: _until(life, until_ms) for key, life in self._units.items()}
        pods = {key: _until(life, until_ms) for key, life in self._pods.items()}
        traits = {key: one for key, one in self._traits.items() if key in units}
        owners = dict(self._owners)
        members = self._members_of(units)
        for unit, keys in members.items():
            lives = [units.pop(key) for key in keys]
            needs = [least for key in keys if (least := self._unit_of[key][1])]
            units[unit] = joined(lives, max(needs, default=None), self.from_ms)
            traits[unit] = traits[keys[0]]
            pods.update(zip(keys, lives, strict=True))
            owners.update(dict.fromkeys(keys, unit))
        return Lives(
            self.from_ms,
            until_ms,
            self.tick_ms,
            units,
            pods,
            owners,
            traits,
            dict(self._makers),
            self._changed,
            members,
        )

    def _members_of(self, units: Mapping[Key, Life]) -> dict[Key, list[Key]]:
        """Return the pods of each gang and of each application, those first that came first."""
        found: dict[Key, list[Key]] = {}
        for key in sorted(units, key=lambda key: (units[key].orders[0], key)):
            unit, _ = self._unit_of.get(key, (key, None))
            if unit != key:
                found.setdefault(unit, []).append(key)
        return found

    # -- being there -----------------------------------------------------

    def _begin(self, world: World, key: Key, obj: Object) -> None:
        """Enter what is there at the begin: it runs, or waits."""
        if key.kind == "Workload":
            kueue = world.kueue
            work = None if kueue is None else kueue.cluster.workloads.get(key)
            if work is None or work.finished or work.parent is not None:
                return
            obj = world.get(key)
            node, runs = "", is_true(obj.status, "Admitted")
        elif has_ended(obj.status):
            return
        else:
            node = world.lifetime.placed.get(key, "")
            runs = bool(node)
        self._come(world, key, self.from_ms)
        life = self._life(key)
        if life is None:
            return
        evicted = any(
            one.get("type") == "Evicted" for one in obj.status.get("conditions") or ()
        )
        life.came_ms = None if runs or evicted else created_ms(world, obj)
        if not runs:
            return
        run = world.lifetime.runs.get(world.lifetime.owners.get(key, key))
        since = None
        if run is not None and run.active:
            # A pod's run begins with its arrival: its work began when it was ready.
            since = run.started_ms if key.kind == "Workload" else run.ready_ms
        first = life.stretches[0]
        first.runs, first.end = True, ""
        first.from_ms = self.from_ms if since is None else since
        if key.kind == "Workload":
            given = obj.status.get("admission") or {}
            pod_sets = tuple(_pod_sets(given))
            first.place = admitted_to(str(given.get("clusterQueue", "")), pod_sets)
            life.held[0] = _quota(pod_sets)
        else:
            first.place, life.held[0] = node, self._asked(world, key)

    def _come(self, world: World, key: Key, at_ms: int | None = None) -> None:
        """Let a unit be there from an instant, or from its creation, if it is not yet."""
        obj = world.objects.get(key)
        if obj is None:
            return
        of = self._lives_of(world, key, obj)
        if of is None or key in of or key in self._follows:
            return
        if at_ms is None:
            if has_ended(obj.status):
                return
            at_ms = max(self.from_ms, created_ms(world, obj))
        owner = world.lifetime.owners.get(key, key)
        if key.kind == "Pod" and owner != key:
            if (lost := self._lost(world, owner, of)) is not None:
                self._follows[key], self._newest[lost] = lost, key
                return
            self._members.setdefault(owner, []).append(key)
        wait = Stretch(runs=False, from_ms=at_ms, to_ms=at_ms)
        of[key] = Life(stretches=[wait], orders=[self._heard], held=[{}], came_ms=at_ms)
        if of is self._units:
            self._know(world, key)
            self._makers[key] = _maker(world, obj)

    def _know(self, world: World, key: Key) -> None:
        """Take whose a unit is, and of a pod what unit it is of."""
        subject = self.subjects[key] = read_subject(world, key)
        self._traits[key] = traits_of(world, key, subject)
        if key.kind == "Pod":
            self._unit_of[key] = unit_of(world, world.objects[key])

    def _lives_of(self, world: World, key: Key, obj: Object) -> dict[Key, Life] | None:
        """Return where the life of this is kept; None for what is no unit, nor a pod of one."""
        if key.kind == "Workload":
            return None if is_variant(obj) else self._units
        owner = world.lifetime.owners.get(key, key)
        if owner.kind == "Workload":
            self._owners[key] = owner
            self._units.pop(key, None)
            return self._pods
        if world.kueue is not None and _QUEUED & obj.labels.keys():
            return None  # its Workload is
        return self._units

    def _life(self, key: Key) -> Life | None:
        key = self._follows.get(key, key)
        return self._units.get(key) or self._pods.get(key)

    def _lost(self, world: World, owner: Key, of: Mapping[Key, Life]) -> Key | None:
        """Return a pod of this owner that lost its place and is gone: the next is in its stead."""
        for key in self._members.get(owner, ()):
            life = of.get(key)
            if life is None or life.ended or life.stretches[-1].runs:
                continue
            if (
                len(life.stretches) > 1
                and self._newest.get(key, key) not in world.objects
            ):
                return key
        return None

    def _asked(self, world: World, key: Key) -> Amounts:
        found = read_subject(world, key).totals
        return {("", resource): amount for resource, amount in found.items()}

    # -- its parts -------------------------------------------------------

    def _start(
        self, world: World, decision: Decision, place: str, held: Amounts | None
    ) -> None:
        key = decision.subject
        self._come(world, key, decision.at_ms)
        life = self._life(key)
        if life is None or life.ended:
            return
        holds = self._asked(world, key) if held is None else held
        last = life.stretches[-1]
        if not last.runs or last.place != place:
            how = "restarts" if last.runs else "starts"
            self._next(life, decision.at_ms, how, runs=True)
        life.stretches[-1].place, life.held[-1] = place, holds

    def _stop(self, decision: Decision, how: str) -> None:
        for key in self._with_members(decision.subject):
            life = self._life(key)
            if life is None or not life.stretches[-1].runs or life.ended:
                continue
            last = life.stretches[-1]
            last.lost_ms = max(0, decision.at_ms - last.from_ms - last.kept_ms)
            last.by, last.reason = str(decision.by or ""), decision.reason
            self._next(life, decision.at_ms, how, runs=False)

    def _finish(self, decision: Finish) -> None:
        for key in self._with_members(decision.subject):
            life = self._life(key)
            if life is None or life.ended:
                continue
            life.ended = "failed" if "Fail" in decision.reason else "finished"
            life.stretches[-1].to_ms = decision.at_ms
            life.stretches[-1].end = life.ended
            life.orders.append(self._heard)
        self._members.pop(decision.subject, None)

    def _let_go(self, world: World) -> None:
        """End the lives of what was deleted before it ended."""
        for key in self._removed(world):
            life = self._units.get(key)
            if (
                life is None
                or life.ended
                or self._newest.get(key, key) in world.objects
            ):
                continue
            last = life.stretches[-1]
            if key.kind == "Pod" and len(life.stretches) > 1 and not last.runs:
                continue  # its owner may make it anew
            life.ended, last.end = "deleted", "deleted"
            last.to_ms = max(world.context.now_ms, last.from_ms)
            life.orders.append(self._heard)

    def _removed(self, world: World) -> Iterable[Key]:
        """Return the units that may be gone since the last look: all where that is not known."""
        journal, seen = world.context.journal, self._removals
        self._removals = journal.removals
        fresh = [
            self._follows.get(key, key)
            for key, number in takewhile(
                lambda one: one[1] > seen, reversed(journal.removed.items())
            )
        ]
        known = seen >= 0 and len(fresh) == journal.removals - seen
        return fresh if known else self._units

    def _keep(self, decision: Checkpoint, key: Key) -> None:
        """Enter what is kept of a stopped run; or a run that begins again at its place."""
        for each in (decision.by, key):
            life = None if each is None else self._life(each)
            if life is None:
                continue
            last = life.stretches[-1]
            if each == key and last.runs and decision.reason.startswith("Pod"):
                last.lost_ms += decision.lost_ms  # its other pods go on
                return
            if decision.by is not None and each == key and last.runs:
                last.lost_ms, last.by = decision.lost_ms, str(decision.by)
                place, held = last.place, life.held[-1]
                self._next(life, decision.at_ms, "restarts", runs=True)
                life.stretches[-1].place, life.held[-1] = place, held
                return
            stopped = [one for one in life.stretches if one.end in STOPS]
            if stopped and each is not None and each in self._units:
                stopped[-1].lost_ms = max(0, stopped[-1].lost_ms - decision.kept_ms)
                return
            if last.runs and each in self._units:
                last.kept_ms += decision.kept_ms  # heard before its eviction
                return

    def _next(self, life: Life, at_ms: int, end: str, *, runs: bool) -> None:
        last = life.stretches[-1]
        last.to_ms, last.end = at_ms, end
        life.stretches.append(Stretch(runs=runs, from_ms=at_ms, to_ms=at_ms))
        life.orders.append(self._heard)
        life.held.append({})

    def _with_members(self, key: Key) -> Iterator[Key]:
        """Yield a subject, and the pods that end and lose with it."""
        yield key
        yield from self._members.get(key, ())


POLICY = Key("Policy", "", "policy")
_KINDS = frozenset({"Workload", "Pod"})
_QUEUES = frozenset({"ClusterQueue", "LocalQueue", "Cohort"})
_QUEUED = frozenset({"kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/managed"})
_USERS = ("yunikorn.apache.org/username", "user")


def changed_queues(before: Mapping[str, Any], after: Mapping[str, Any]) -> set[Key]:
    """Return YuniKorn's queues that two specs of a policy say otherwise, each by itself."""
    one, other = (dict(_queues_in(spec)) for spec in (before, after))
    names = {name for name in {*one, *other} if one.get(name) != other.get(name)}
    return {queue_key(name) for name in names}


def queue_key(name: str) -> Key:
    """Return the key by which a change names a queue of YuniKorn."""
    return Key("Queue", "", name)


def _queues_in(spec: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield each queue of the policy by its whole name, without those below it."""
    queues = (spec.get("yunikorn") or {}).get("queues") or {}
    left = [
        ("", queue)
        for partition in queues.get("partitions") or ()
        for queue in partition.get("queues") or ()
    ]
    while left:
        above, queue = left.pop()
        name = f"{above}.{queue['name']}" if above else queue["name"]
        yield name, {key: value for key, value in queue.items() if key != "queues"}
        left += [(name, inner) for inner in queue.get("queues") or ()]


def admitted_to(queue: str, pod_sets: Iterable[PodSetAdmission]) -> str:
    """Return the place that an admission gives: the queue, and its flavors."""
    flavors = sorted({name for part in pod_sets for name in part.flavors.values()})
    return f"{queue} ({', '.join(flavors)})"


def traits_of(world: World, key: Key, subject: Subject | None = None) -> Traits:
    """Return whose a unit is as the world stands; its record where that is read already."""
    subject, obj = subject or read_subject(world, key), world.objects[key]
    queue, cohort = subject.queue, ""
    if world.kueue is not None:
        if key.kind == "Pod":
            queue = ""
        found = world.objects.get(Key("ClusterQueue", "", queue))
        spec = {} if found is None else found.spec
        cohort = str(spec.get("cohortName") or spec.get("cohort") or "")
    elif world.yunikorn is not None:
        cohort = queue.rpartition(".")[0]
    named = (str(obj.labels[one]) for one in _USERS if one in obj.labels)
    user = next(named, "")
    if not user and world.yunikorn is not None and key.kind == "Pod":
        user = user_of(obj)[0]
    return Traits(queue, cohort, key.namespace, subject.priority_class, user)


def _pod_sets(admission: Mapping[str, Any]) -> Iterator[PodSetAdmission]:
    """Yield what an admission in a status gives each pod set."""
    for part in admission.get("podSetAssignments") or ():
        usage = {
            resource: canonical(resource, text)
            for resource, text in (part.get("resourceUsage") or {}).items()
        }
        count = int(part.get("count") or 0)
        yield PodSetAdmission(part["name"], count, part.get("flavors") or {}, usage)


def _maker(world: World, obj: Object) -> Key:
    """Return what an object is made of in the end, by its owner references; else itself."""
    above: dict[Key, None] = {}
    owner: Object | None = obj
    while owner is not None and owner.key not in above:
        above[owner.key] = None
        for one in (owner.metadata.get("ownerReferences") or ())[:1]:
            owner = world.objects.get(Key(one["kind"], obj.key.namespace, one["name"]))
    return next(reversed(above))


def _same(one: Object | None, other: Object | None) -> bool:
    if one is None or other is None:
        return one is other
    equal = one.manifest == other.manifest
    # What a node can hold is in its status.
    return equal and (one.key.kind != "Node" or one.status == other.status)


def _quota(pod_sets: Iterable[PodSetAdmission]) -> Amounts:
    found: dict[tuple[str, str], int] = {}
    for part in pod_sets:
        for resource, flavor in part.flavors.items():
            amount = part.usage.get(resource, 0)
            found[flavor, resource] = found.get((flavor, resource), 0) + amount
    return found


def _until(life: Life, until_ms: int) -> Life:
    """Return a life up to an instant; what goes on there lasts to it."""
    *before, last = life.stretches
    if not life.ended:
        last = msgspec.structs.replace(last, to_ms=max(until_ms, last.from_ms))
    return Life(
        stretches=[*before, last],
        ended=life.ended,
        orders=list(life.orders),
        held=list(life.held),
        came_ms=life.came_ms,
    )
