"""ImageLocality: prefers nodes that already hold the pod's images."""

from __future__ import annotations

import numpy as np

from scheduler.engine.kube.cache.node_info import Ints, NodeInfo, View
from scheduler.engine.kube.framework.plugin import MAX_SCORE, Handle, Plugin
from scheduler.engine.kube.framework.status import CycleState
from scheduler.model.node import Node
from scheduler.model.pod import Pod
from scheduler.model.registry import register
from scheduler.model.releases.rules import IMAGE_VOLUMES

_MIB = 2**20
_LEAST = 23 * _MIB
_MOST_PER_CONTAINER = 1000 * _MIB


@register(
    "plugin",
    "ImageLocality",
    label="Images at hand",
    help="Prefers nodes that have the pod's container images, weighted by size and "
    "by how many nodes have them.",
)
class ImageLocality(Plugin):
    """Source: docs/semantics/kube-scheduler.md#imagelocality."""

    name = "ImageLocality"
    scope = "node"

    def __init__(self, args: object, handle: Handle) -> None:
        super().__init__(args, handle)
        self.counts_volumes = IMAGE_VOLUMES.holds(handle.context.decides_as)

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return 0 for little at hand, 100 for all."""
        containers = pod.shape.containers
        total = sum(self._worth(one, node_info.node) for one in self._images(pod))
        most = _MOST_PER_CONTAINER * len(containers)
        held = min(max(total, _LEAST), most)
        return MAX_SCORE * (held - _LEAST) // (most - _LEAST) if containers else 0

    def _images(self, pod: Pod) -> list[str]:
        volumes = pod.shape.image_volumes if self.counts_volumes else ()
        return [*(c.image for c in pod.shape.containers), *volumes]

    def _worth(self, image: str, node: Node) -> int:
        if all(name != image for name, _ in node.images):
            return 0
        size, count = self.handle.cluster.images[image]
        return int(float(size) * (count / len(self.handle.cluster.node_infos)))

    def score_rows(self, state: CycleState, pod: Pod, view: View) -> Ints:
        """Score every row; most clusters list no image that a pod wants."""
        known = self.handle.cluster.images
        if known.keys().isdisjoint(self._images(pod)):
            return view.full(0)
        return view.each(lambda node_info: self.score(state, pod, node_info), np.int64)
