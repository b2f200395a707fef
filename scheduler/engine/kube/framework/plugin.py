"""What a plug-in is: one class, any of the framework's points, nothing else.

A new plug-in is one file in `scheduler/engine/kube/plugins/`: a subclass of `Plugin`
under `@register("plugin", ...)` that overrides the points it wants. Working
node by node (`filter`, `score`) is enough; `filter_rows` and `score_rows` do
the same for whole columns and are there for speed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import msgspec
import numpy as np

from scheduler.engine.kube.cache.node_info import NodeInfo
from scheduler.engine.kube.cache.node_table import (
    Codes,
    Ints,
    View,
)
from scheduler.engine.kube.framework.events import Event
from scheduler.engine.kube.framework.handle import Handle
from scheduler.engine.kube.framework.queued_pod import QueuedPodInfo
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    CycleState,
    Status,
)
from scheduler.engine.kube.framework.verdicts import Verdicts
from scheduler.model.kube.profiles import NoArgs
from scheduler.model.pod import Pod

MAX_SCORE = 100
MAX_PERMIT_MS = 15 * 60 * 1000

#: every extension point, in the order of a pod's way
POINTS = (
    "pre_enqueue",
    "sort_key",
    "pre_filter",
    "filter",
    "post_filter",
    "pre_score",
    "score",
    "normalize",
    "reserve",
    "permit",
    "pre_bind",
    "bind",
    "post_bind",
    "unreserve",
)

#: what verdicts depend on, beside the pod's shape: the Node object alone, the
#: node with its pods, or anything. Verdicts of the first two are kept and
#: only changed rows are asked again.
Scope = Literal["node", "row", "cluster"]

#: (pod that waits, event) -> whether it is worth trying again
Hint = Callable[[Pod, Event], bool]


class Plugin:
    """The base of plug-ins; each point here is the one that does nothing."""

    name: ClassVar[str] = ""
    args_type: ClassVar[type[msgspec.Struct]] = NoArgs
    scope: ClassVar[Scope] = "cluster"
    #: the only reason its Filter gives, when it has just one
    reason: ClassVar[str] = ""
    #: set when a normalized score depends on the raw one and the highest only
    normalizes_by_peak: ClassVar[bool] = False
    #: set when it does nothing for a pod without claims: such a pod skips it
    for_claims: ClassVar[bool] = False
    #: set when sort keys change while pods are queued
    changing_keys: ClassVar[bool] = False
    #: points at which a configuration may name it though nothing is done there
    idle_points: ClassVar[tuple[str, ...]] = ()
    points: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.points = frozenset(
            point for point in POINTS if getattr(cls, point) is not _BASE[point]
        )

    def __init__(self, args: Any, handle: Handle) -> None:
        self.args = args
        self.handle = handle

    # --- queue

    def pre_enqueue(self, pod: Pod) -> Status:
        """Return whether the pod may enter the active queue."""
        return OK

    def sort_key(self, queued: QueuedPodInfo) -> tuple[Any, ...]:
        """Return the sort key of the active queue, smallest first."""
        return ()

    def hints(self) -> dict[str, Hint | None]:
        """Return the events that may help a pod it rejected; None: always."""
        return {}

    # --- finding a node

    def fails_alike(self) -> bool:
        """Return whether a PostFilter without a result gives equal pods the same answer.

        Equal pods have the same shape and priority. Nothing that it reads changes but the
        nodes with their pods, and a failed attempt leaves nothing behind.
        """
        return False

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Prepare, or reject the pod; may name the only nodes to look at."""
        return OK, None

    def add_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Keep the state right when a dry run puts `other` on a node."""

    def remove_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Keep the state right when a dry run takes `other` off a node."""

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Return whether the pod may run on the node."""
        return OK

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Return the code of `filter` for every row of the view."""
        return view.each(
            lambda node_info: self.filter(state, pod, node_info).code, np.int8
        )

    def histogram(self, state: CycleState, pod: Pod, view: View) -> dict[str, int]:
        """Count the reasons of the rows of the view, which it rejected."""
        if self.reason:
            return {self.reason: view.size}
        counts: dict[str, int] = {}
        for node_info in view.node_infos:
            for reason in self.filter(state, pod, node_info).reasons:
                counts[reason] = counts.get(reason, 0) + 1
        return counts

    def post_filter(
        self, state: CycleState, pod: Pod, verdicts: Verdicts
    ) -> tuple[Status, str | None]:
        """Try to make room when no node is feasible; may nominate a node.

        The node is None for no opinion and "" to clear a nomination.
        """
        return OK, None

    # --- choosing a node

    def pre_score(self, state: CycleState, pod: Pod, view: View) -> Status:
        """Prepare for the feasible nodes, or skip the scoring."""
        return OK

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Return the raw score of a node."""
        return 0

    def score_rows(self, state: CycleState, pod: Pod, view: View) -> Ints:
        """Return the raw score of every row of the view."""
        return view.each(lambda node_info: self.score(state, pod, node_info), np.int64)

    def normalize(self, state: CycleState, pod: Pod, view: View, raw: Ints) -> Ints:
        """Bring the raw scores of the feasible nodes into 0..100."""
        return raw

    # --- taking the node

    def reserve(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Take what the pod needs beside the node's resources."""
        return OK

    def unreserve(self, state: CycleState, pod: Pod, node: str) -> None:
        """Give back; must bear being called without a matching `reserve`."""

    def permit(self, state: CycleState, pod: Pod, node: str) -> tuple[Status, int]:
        """Allow, reject, or make the pod wait for at most a number of milliseconds."""
        return OK, 0

    def pre_bind(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Do what must be done before the pod gets its node."""
        return OK

    def bind(self, state: CycleState, pod: Pod, node: str) -> Status:
        """Give the pod its node, or Skip to leave it to the next binder."""
        return SKIP

    def post_bind(self, state: CycleState, pod: Pod, node: str) -> None:
        """Tidy up after the pod got its node."""

    # --- state

    def found_bound(self, pod: Pod) -> None:
        """Note a pod that has a node when it is first seen."""

    def forget(self, pod: Pod) -> None:
        """Note that a pod is gone for good."""

    def dump_state(self) -> Any:
        """Return the state that must survive a restart, as small plain values; None without any."""
        return None

    def load_state(self, state: Any) -> None:
        """Take back what `dump_state` returned."""


_BASE = {point: getattr(Plugin, point) for point in POINTS}


class CountingPlugin(Plugin):
    """A plug-in whose state counts the pods on nodes, during a dry run as well."""

    def add_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Count a pod that is put on a node."""
        self.count(state, pod, other, node_info, 1)

    def remove_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Count a pod that is taken off its node."""
        self.count(state, pod, other, node_info, -1)

    def count(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo, by: int
    ) -> None:
        """Count `other` once more or less (`by` is 1 or -1)."""
        raise NotImplementedError
