"""All controllers of a lifetime: who is synced when."""

from __future__ import annotations

from collections import defaultdict

from scheduler.engine.lifetime.continuing import TaintEviction
from scheduler.engine.lifetime.controllers.deployments import (
    is_made_here,
    replica_set_of,
    sync_cron_job,
    sync_daemon_set,
    sync_replica_set,
    wanted_of,
)
from scheduler.engine.lifetime.runs import Due
from scheduler.engine.lifetime.runtime_state import NODE, POD
from scheduler.model.objects import Key, Object

# ------------------------------------------------------------------------
# All controllers of a lifetime: who is synced when.


CRON_JOB = "CronJob"
REPLICA_SET = "ReplicaSet"
DAEMON_SET = "DaemonSet"
#: Kinds whose controller makes other objects.
CONTROLLERS = (CRON_JOB, REPLICA_SET, DAEMON_SET)
_OWNERS = frozenset({*CONTROLLERS, "Deployment"})
_OWNED = frozenset({"Job", REPLICA_SET, POD})


class Controllers:
    """Brings what controllers own in line with what they ask for.

    A sync changes nothing where nothing changed, so that one too many does no harm.
    """

    def __init__(self, lifetime: TaintEviction) -> None:
        self.lifetime = lifetime
        self.host = lifetime.host
        self.owned = OwnedObjects(_OWNERS, _OWNED)
        lifetime.made_by_controllers = self.owned.owners
        self.daemon_sets: dict[Key, None] = {}
        self.next: dict[Key, int] = {}  # CronJob, who lacks pods -> when it is synced

    def note(self, obj: Object) -> None:
        """Keep whose an object is."""
        self.owned.add(obj)
        if obj.key.kind == DAEMON_SET:
            self.daemon_sets[obj.key] = None

    def forget(self, key: Key) -> None:
        """Forget a deleted object; with a controller goes what it made."""
        self.next.pop(key, None)
        self.daemon_sets.pop(key, None)
        if key.kind in _OWNERS:
            self._delete_owned(self.host.objects[key])
        if key.kind == NODE:
            self.nodes_changed()
        for controller in self.lifetime.jobs.served_by(key):
            self.lifetime.context.journal.touch(controller)
        if (owner := self.owned.remove(key)) is not None:
            self._sync_later(owner)

    def _delete_owned(self, controller: Object) -> None:
        """Delete what a controller made; a run deletes the pods of its Deployment."""
        for owned in self.owned.of(controller):
            if owned.kind == POD and controller.key.kind not in CONTROLLERS:
                continue
            self.owned.remove(owned)
            self.host.delete(owned)

    def nodes_changed(self) -> None:
        """Let every DaemonSet look at the nodes again."""
        for key in self.daemon_sets:
            self._sync_later(key)

    def changed(self, key: Key) -> None:
        """Let the owner of an object see at this instant that it ended."""
        if (owner := self.owned.owner_of(key)) is not None:
            self._sync_later(owner)

    def sync(self, controller: Object) -> None:
        """Make what a controller lacks now, and delete what it has too many."""
        owned = [self.host.get(key) for key in self.owned.of(controller)]
        self.lifetime.context.journal.touch(controller.key)
        self.next.pop(controller.key, None)
        if controller.key.kind == REPLICA_SET:
            sync_replica_set(self.lifetime, controller, owned)
        elif controller.key.kind == DAEMON_SET:
            sync_daemon_set(self.lifetime, controller, owned)
        else:
            self._sync_cron_job(controller, owned)

    def deploy(self, deployment: Object) -> None:
        """Make the ReplicaSet of a Deployment, with so many pods; others have none.

        One whose ReplicaSet came with it keeps that. Its pods are replaced at once when
        its template changes.
        """
        made = replica_set_of(deployment)
        sets = [key for key in self.owned.of(deployment) if key.kind == REPLICA_SET]
        if not sets:
            self.lifetime.jobs.put_admitted(made)
            return
        if not all(is_made_here(self.host.objects[key]) for key in sets):
            return
        for key in sets:
            self._scale(key, wanted_of(deployment) if key == made.key else 0)
        if made.key not in sets:
            self.lifetime.jobs.put_admitted(made)

    def _scale(self, replica_set: Key, replicas: int) -> None:
        spec = self.host.objects[replica_set].manifest["spec"]
        if int(spec.get("replicas", 1)) != replicas:
            spec["replicas"] = replicas
            self.lifetime.context.journal.touch(replica_set)
            self._sync_later(replica_set)

    def hand_on(self, job: Object) -> bool:
        """Leave a Deployment's pods to its ReplicaSet, where that came with it.

        Where one has pods, it gets the replicas that the Deployment asks for.
        """
        sets = [key for key in self.owned.of(job) if key.kind == REPLICA_SET]
        used = [
            one
            for one in (self.host.objects[key] for key in sets)
            if int(one.spec.get("replicas", 1))
        ]
        wanted = int(job.spec.get("replicas", 1))
        if len(used) == 1 and int(used[0].spec.get("replicas", 1)) != wanted:
            used[0].manifest["spec"]["replicas"] = wanted
            self._sync_later(used[0].key)
        return bool(sets)

    def _sync_cron_job(self, controller: Object, jobs: list[Object]) -> None:
        at = sync_cron_job(self.lifetime, controller, jobs)
        if at is not None:
            self.wait(controller.key, at)

    def wait(self, controller: Key, at_ms: int) -> None:
        """Sync a CronJob, or who lacks pods for a quota, again at this instant."""
        self.next[controller] = at_ms
        self.lifetime.timers.add(at_ms, Due.SCHEDULE, controller)

    def _sync_later(self, owner: Key) -> None:
        """Sync at this instant, unless the owner is gone or did not come yet."""
        if owner.kind not in CONTROLLERS:
            return
        if owner in self.host.objects and owner in self.lifetime.arrived:
            self.lifetime.look_at(owner)


# ------------------------------------------------------------------------
# What controllers own: objects by the uid of the owner that made them.


class OwnedObjects:
    """The objects of each controller, by the references that they carry.

    By uid: what a controller of an earlier time made is not that of a later one
    of its name. Cost: that of a dictionary.
    """

    def __init__(self, owners: frozenset[str], owned: frozenset[str]) -> None:
        self._owners, self._kinds = owners, owned
        self._owned: dict[str, dict[Key, None]] = defaultdict(dict)
        self.owners: dict[Key, tuple[Key, str]] = {}  # what is owned -> owner, its uid

    def add(self, obj: Object) -> None:
        """Note whose an object is; kinds that no controller makes are nobody's."""
        if obj.key.kind not in self._kinds:
            return
        self.remove(obj.key)
        for reference in obj.metadata.get("ownerReferences") or []:
            kind, uid = reference.get("kind"), reference.get("uid")
            if kind in self._owners and uid:
                owner = Key(kind, obj.key.namespace, str(reference.get("name")))
                self._owned[uid][obj.key] = None
                self.owners[obj.key] = owner, uid

    def remove(self, key: Key) -> Key | None:
        """Forget an object; return whose it was."""
        owner, uid = self.owners.pop(key, (None, ""))
        self._owned.get(uid, {}).pop(key, None)
        return owner

    def owner_of(self, key: Key) -> Key | None:
        """Return the controller that made an object."""
        return self.owners.get(key, (None, ""))[0]

    def of(self, owner: Object) -> list[Key]:
        """Return the objects that a controller owns, sorted."""
        return sorted(self._owned.get(owner.uid, ()))
