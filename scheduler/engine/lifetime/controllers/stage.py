"""All controllers of a lifetime: who is synced when."""

from __future__ import annotations

from collections import defaultdict

from scheduler.engine.lifetime.continuing import TaintEviction
from scheduler.engine.lifetime.controllers.deployments import (
    Rollout,
    is_made_here,
    is_recreated,
    reference_to,
    replica_set_of,
    replicas_of,
    resized,
    sync_cron_job,
    sync_daemon_set,
    sync_replica_set,
    wanted_of,
)
from scheduler.engine.lifetime.runs import Due
from scheduler.engine.lifetime.runtime_state import NODE, POD
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import has_ended

CRON_JOB = "CronJob"
REPLICA_SET = "ReplicaSet"
DAEMON_SET = "DaemonSet"
DEPLOYMENT = "Deployment"
#: Kinds whose controller makes other objects.
CONTROLLERS = (CRON_JOB, REPLICA_SET, DAEMON_SET)
_OWNERS = frozenset({*CONTROLLERS, DEPLOYMENT})
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
        controllers = self.lifetime.jobs.served_by(key)
        for controller in controllers:
            self.lifetime.context.journal.touch(controller)
        if (owner := self.owned.remove(key)) is not None:
            self._sync_later(owner)
        self.pod_moved(controllers)

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

    def deploy(self, deployment: Object, *, managed: bool) -> None:
        """Bring the ReplicaSets of a Deployment a step nearer to what it asks for.

        Of a `managed` one each pod is admitted as it is made. A Deployment without
        ReplicaSets gets one. Each pod that gets ready, or goes, is a next step.
        """
        self.next.pop(deployment.key, None)
        wanted = wanted_of(deployment)
        new = replica_set_of(deployment, wanted, managed=managed)
        sets = self.sets_of(deployment)
        if not sets:
            self.lifetime.jobs.put_admitted(new)
            return
        if not any(is_made_here(one) for one in sets):
            return
        known = [one for one in sets if one.key == new.key]
        old = [one for one in sets if one.key != new.key]
        if known:
            [new] = known
        elif deployment.spec.get("paused"):
            return
        else:
            new.manifest["spec"]["replicas"] = 0
        self._roll(deployment, new, old)
        if not known:
            self.lifetime.jobs.put_admitted(new)

    def _roll(self, deployment: Object, new: Object, old: list[Object]) -> None:
        """Give each ReplicaSet the pods that it is to have now."""
        if deployment.spec.get("paused") or not any(map(replicas_of, old)):
            pods_are_left = self._has_pods(old)
            if pods_are_left and is_recreated(deployment):
                return
            self._scale(new, wanted_of(deployment))
            return
        available = {one.key: self._available(deployment, one) for one in (new, *old)}
        rollout = Rollout(deployment, new, old, available)
        counts = rollout.counts_for(pods_are_left=self._has_pods(old))
        for one in (new, *old):
            self._scale(one, counts[one.key])

    def _has_pods(self, sets: list[Object]) -> bool:
        """Return whether pods of these exist that have not ended."""
        pods = (key for one in sets for key in self.owned.of(one))
        return any(not has_ended(self.host.objects[key].status) for key in pods)

    def _available(self, deployment: Object, replica_set: Object) -> int:
        """Return how many pods have been ready for as long as a Deployment wants.

        It is looked at again when the next one has.
        """
        lifetime, now = self.lifetime, self.lifetime.context.now_ms
        waits_ms = 1000 * int(deployment.spec.get("minReadySeconds") or 0)
        count = 0
        for key in self.owned.of(replica_set):
            run = lifetime.runs.get(lifetime.owners.get(key, key))
            if run is None or key not in run.ready or key in lifetime.terminating:
                continue
            at = (now if run.ready_ms is None else run.ready_ms) + waits_ms
            if at <= now:
                count += 1
            else:
                due = self.next.get(deployment.key, at)
                self.wait(deployment.key, at if due <= now else min(at, due))
        return count

    def sets_of(self, deployment: Object) -> list[Object]:
        """Return the ReplicaSets of a Deployment, the oldest first."""
        keys = (key for key in self.owned.of(deployment) if key.kind == REPLICA_SET)
        return sorted(
            (self.host.objects[key] for key in keys),
            key=lambda one: (one.metadata["creationTimestamp"], one.key),
        )

    def _scale(self, replica_set: Object, replicas: int) -> None:
        spec = replica_set.manifest["spec"]
        if int(spec.get("replicas", 1)) != replicas:
            spec["replicas"] = replicas
            if replica_set.key in self.host.objects:
                self.lifetime.context.journal.touch(replica_set.key)
                self._sync_later(replica_set.key)

    def pod_moved(self, controllers: list[Key]) -> None:
        """Let a Deployment that rolls go on: a pod of it came, got ready, or went."""
        for key in controllers:
            if (
                key.kind == DEPLOYMENT
                and len(self.owned.of(self.host.objects[key])) > 1
            ):
                self.lifetime.look_at(key)

    def template_changed(self, deployment: Object, before: Object) -> None:
        """Let a Deployment have ReplicaSets from its first other template on.

        The pods that a run of it made are those of a ReplicaSet of the template before,
        and the run is over.
        """
        lifetime, run = self.lifetime, self.lifetime.runs.get(deployment.key)
        if self.sets_of(deployment) or not (run and run.active and run.pods):
            return
        old = replica_set_of(before, wanted_of(before), managed=False)
        if not lifetime.jobs.put_admitted(old):
            return
        for pod in lifetime.part_with_pods(run):
            self._adopt(old, pod)
            lifetime.resume_pod(lifetime.run_of(pod.key), pod)

    def replicas_changed(self, deployment: Object, before: Object) -> None:
        """Let each ReplicaSet of a Deployment that rolls have its share of the change."""
        if wanted_of(deployment) == wanted_of(before):
            return
        sets = [one for one in self.sets_of(deployment) if replicas_of(one)]
        if len(sets) > 1 and not is_recreated(deployment):
            counts = resized(deployment, before, sets)
            for one in sets:
                self._scale(one, counts[one.key])

    def _adopt(self, owner: Object, pod: Object) -> None:
        """Let a ReplicaSet own a pod."""
        labels = owner.spec["template"]["metadata"]["labels"]
        pod.metadata["labels"] = {**pod.labels, **labels}
        pod.metadata["ownerReferences"] = [reference_to(owner)]
        self.owned.add(pod)
        self.lifetime.context.journal.touch(pod.key)

    def hand_on(self, job: Object) -> bool:
        """Leave a Deployment's pods to its ReplicaSets, where it has some.

        Where one that came with it has pods, it gets the replicas asked for.
        """
        sets = self.sets_of(job)
        if any(is_made_here(one) for one in sets):
            return True
        used = [one for one in sets if replicas_of(one)]
        if len(used) == 1:
            self._scale(used[0], wanted_of(job))
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
