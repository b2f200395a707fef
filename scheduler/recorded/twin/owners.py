"""Whose pods are: a job's Workload, by the UIDs that the cluster gave."""

from __future__ import annotations

from functools import cached_property

from scheduler.engine.world import World
from scheduler.model.objects import Key, Object


class Owners:
    """Which Workload each pod and each UID belongs to, asked while changes are put in."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.pods: list[Key] = []

    @cached_property
    def _workloads(self) -> dict[str, Key]:
        """Return the Workload of each UID: its own, and its owners'."""
        found: dict[str, Key] = {}
        for key, obj in self.world.objects.items():
            if key.kind == "Workload":
                self._note(found, obj)
        return found

    @staticmethod
    def _note(found: dict[str, Key], obj: Object) -> None:
        found[obj.uid] = obj.key
        for owner in obj.metadata.get("ownerReferences") or ():
            found[str(owner.get("uid", ""))] = obj.key

    def came(self, obj: Object) -> None:
        """Note an object that is put in."""
        if obj.key.kind == "Workload":
            self._note(self._workloads, obj)
        elif obj.key.kind == "Pod":
            self.pods.append(obj.key)

    def of_uid(self, uid: str) -> Key | None:
        """Return the Workload with this UID, or that an object with it owns."""
        return self._workloads.get(uid)

    def link(self) -> None:
        """Say of the pods that came whose they are."""
        owners = self.world.lifetime.owners
        for pod in self.pods:
            obj = self.world.objects.get(pod)
            for reference in (obj.metadata.get("ownerReferences") or ()) if obj else ():
                found = self.of_uid(str(reference.get("uid", "")))
                if found is not None:
                    owners[pod] = found
                    self.world.touch(pod)
