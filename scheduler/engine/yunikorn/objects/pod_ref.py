"""What an ask keeps of the Pod that it stands for."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.model.objects import Key
from scheduler.model.pod import Shape


@dataclass(slots=True)
class PodRef:
    """The Pod of an ask, and when it got its node."""

    key: Key
    shape: Shape
    queue: str  # as asked for
    submit_ms: int  # of its application when the pod came
    since_ms: int | None = None  # placed at
