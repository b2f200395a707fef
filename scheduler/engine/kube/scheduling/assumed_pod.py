"""A pod with a node that it is not bound to yet."""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler.engine.kube.framework.framework import Framework
from scheduler.engine.kube.framework.queued_pod import QueuedPodInfo
from scheduler.engine.kube.framework.status import CycleState
from scheduler.model.pod import Pod


@dataclass(slots=True, kw_only=True, eq=False)
class AssumedPod:
    """A pod with a node that it is not bound to yet."""

    queued: QueuedPodInfo
    node: str
    framework: Framework
    state: CycleState = field(default_factory=CycleState)
    waits: dict[str, int] = field(default_factory=dict)  # plug-in -> deadline (ms)
    waited_ms: dict[str, int] = field(default_factory=dict)  # plug-in -> its timeout
    bind_at: int | None = None  # when the binding is written
    seen: int = 0  # how often others had changed the node when it was chosen
    read: int = 1  # version of the node then
    deleted: bool = False  # while it waited: ends once its rejection is through
    order: int = 0  # which of the assumed ones came first

    @property
    def pod(self) -> Pod:
        """Return the pod."""
        return self.queued.pod
