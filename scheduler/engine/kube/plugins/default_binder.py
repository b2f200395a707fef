"""DefaultBinder: gives the pod its node."""

from __future__ import annotations

from scheduler.engine.kube.framework.plugin import Plugin
from scheduler.engine.kube.framework.status import (
    OK,
    CycleState,
    Status,
)
from scheduler.model.pod import Pod
from scheduler.model.registry import register


@register(
    "plugin",
    "DefaultBinder",
    label="Binder",
    help="Binds the pod to the chosen node.",
)
class DefaultBinder(Plugin):
    """The write itself is the stage's; this point only says who binds."""

    name = "DefaultBinder"

    def bind(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Take the pod."""
        return OK
