"""DefaultBinder: gives the pod its node."""

from __future__ import annotations

from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.engine.kube.framework.status import OK, CycleState, Status, unresolvable
from scheduler.model.pod import Pod
from scheduler.model.registry import register


@register(
    "plugin", "DefaultBinder", label="Binder", help="Binds the pod to the chosen node."
)
class DefaultBinder(Plugin):
    """The write itself is the stage's; this point only says who binds."""

    name = "DefaultBinder"

    def bind(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Take the pod."""
        return OK


# ------------------------------------------------------------------------
# SchedulingGates: a pod with gates is not tried until they are gone.


@register(
    "plugin",
    "SchedulingGates",
    label="Scheduling gates",
    help="Holds a pod out of the queue while spec.schedulingGates is not empty.",
)
class SchedulingGates(Plugin):
    """Source: docs/semantics/kube-scheduler.md#extension-points."""

    name = "SchedulingGates"

    def pre_enqueue(self, pod: Pod) -> Status:
        """Refuse a pod with gates."""
        if not pod.shape.gates:
            return OK
        names = " ".join(pod.shape.gates)
        return unresolvable(f"waiting for scheduling gates: [{names}]")
