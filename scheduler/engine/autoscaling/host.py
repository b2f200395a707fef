"""What the autoscaler needs of the world that it lives in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from scheduler.model.objects import Key, Object
from scheduler.model.sentence import Sentence

if TYPE_CHECKING:
    from scheduler.engine.kube.stage import KubeStage
    from scheduler.engine.kueue.stage import KueueStage
    from scheduler.engine.yunikorn.stage import YunikornStage


class NodeLosing(Protocol):
    """What ends the pods of a node that is gone."""

    def lose_node(self, node: str, why: Sentence) -> None:
        """Take every pod off this node."""


class AutoscalingHost(Protocol):
    """A world, as the autoscaler sees it."""

    objects: dict[Key, Object]
    kube: KubeStage | None
    kueue: KueueStage | None
    yunikorn: YunikornStage | None

    @property
    def lifetime(self) -> NodeLosing:
        """Return the stage that ends the pods of lost nodes."""

    def put(self, obj: Object) -> Object:
        """Take a new object."""

    def delete(self, key: Key) -> None:
        """Remove an object."""
