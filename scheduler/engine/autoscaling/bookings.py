"""Capacity that is kept for ProvisioningRequests until their pods are there.

Source: docs/semantics/capacity.md#provisioningrequests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scheduler.engine.autoscaling.packing import Alike, NodeSpace, place
from scheduler.engine.autoscaling.supply import AutoscalingHost
from scheduler.engine.provisioning.controller import RequestController, owner_of
from scheduler.engine.provisioning.request import TEMPLATE, is_booked
from scheduler.model.objects import Key, Object
from scheduler.model.pod import read_pod
from scheduler.model.reasons import ADMITTED


class Bookings:
    """The requests that hold capacity, and the pods that each stands for."""

    def __init__(self, host: AutoscalingHost, controller: RequestController) -> None:
        self.host = host
        self.controller = controller

    def take(self, spaces: Sequence[NodeSpace]) -> set[str]:
        """Take what is booked off the spaces; return the nodes that have some of it."""
        used: set[str] = set()
        for request in self._held():
            for group in pods_of(request, self.host.objects):
                before = {space.node.name: dict(space.free) for space in spaces}
                place(group, spaces)
                used |= {s.node.name for s in spaces if s.free != before[s.node.name]}
        return used

    def _held(self) -> Iterator[Object]:
        """Yield the requests with capacity whose pods do not exist yet."""
        for key in sorted(self.controller.requests):
            request = self.host.objects[key]
            if is_booked(request) and not self._admitted(request):
                yield request

    def _admitted(self, request: Object) -> bool:
        """Return whether the workload runs: its pods speak for themselves then."""
        owner, kueue = owner_of(request), self.host.kueue
        work = (
            None
            if owner is None or kueue is None
            else kueue.cluster.workloads.get(owner)
        )
        return work is not None and work.has_condition(ADMITTED)


def pods_of(request: Object, objects: Mapping[Key, Object]) -> list[Alike]:
    """Return the pods that a request stands for, by pod set.

    A PodTemplate that does not exist gives none. Raises QuantityError.
    """
    groups = []
    for part in request.spec.get("podSets") or ():
        reference = part["podTemplateRef"]["name"]
        template = objects.get(Key(TEMPLATE, request.key.namespace, reference))
        if template is not None:
            manifest = {
                "metadata": {"name": reference},
                **template.manifest["template"],
            }
            groups.append(Alike([read_pod(manifest, {})] * int(part["count"])))
    return groups
