"""What a plug-in is: one class, any of the framework's points, nothing else.

A new plug-in is one file in `scheduler/engine/kube/plugins/`: a subclass of `Plugin`
under `@register("plugin", ...)` that overrides the points it wants. Working
node by node (`filter`, `score`) is enough; `filter_rows` and `score_rows` do
the same for whole columns and are there for speed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import msgspec
import numpy as np

from scheduler.engine.kube.cache.cluster import ClusterCache
from scheduler.engine.kube.cache.node_info import (
    Codes,
    Ints,
    NodeInfo,
    Nominations,
    View,
)
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    CycleState,
    Status,
    Verdicts,
)
from scheduler.engine.stage import Context
from scheduler.model.kube.profiles import NoArgs
from scheduler.model.node import Node
from scheduler.model.objects import Key
from scheduler.model.pod import Pod

# ------------------------------------------------------------------------
# What a plug-in may see and do of the scheduler that runs it.


class PodFilters(Protocol):
    """The filters of a profile, and the pods they take into account."""

    def filter_with(
        self, state: CycleState, pod: Pod, node_info: NodeInfo, others: list[Pod]
    ) -> Status:
        """Return the first rejection, with the nominated pods and without them."""

    def add_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Put a pod on the node, in the plug-ins' state as well."""

    def remove_pod(
        self, state: CycleState, pod: Pod, other: Pod, node_info: NodeInfo
    ) -> None:
        """Take a pod off the node, in the plug-ins' state as well."""


class Handle(Protocol):
    """What a plug-in may see and do of the scheduler that runs it."""

    context: Context
    cluster: ClusterCache
    nominations: Nominations
    framework: PodFilters

    def waiting(self) -> Iterable[Pod]:
        """Yield the pods that wait at Permit, in key order."""

    def allow(self, key: Key, plugin: str) -> None:
        """Allow a waiting pod on behalf of this plug-in."""

    def reject(self, key: Key, plugin: str, reason: str) -> None:
        """Reject a waiting pod."""

    def activate(self, keys: Iterable[Key]) -> None:
        """Move waiting-to-be-tried pods to the active queue at once."""

    def members(self, group: Key) -> Iterable[Pod]:
        """Return the known pods of a PodGroup or gang, finished ones not."""

    def ask_extenders(self, pod: Pod, candidates: list[Candidate]) -> list[Candidate]:
        """Let the extenders that preempt drop candidates or change victims."""

    def bind_volumes(self, pod: Key) -> None:
        """Bind the claims of a pod to the volumes that were assumed for it."""

    def bind_devices(self, pod: Pod) -> None:
        """Give a pod's claims the devices that were assumed for it."""

    def clear_nomination(self, pod: Pod) -> None:
        """Take a pod's nomination away, so that it is tried again."""

    def evict(self, victim: Pod, node: str, preemptor: Pod, plugin: str) -> None:
        """Remove a pod from its node to make room, as a plug-in chose."""


# ------------------------------------------------------------------------
# A node that preemption could free, and the victims that it would take.


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and who would have to go, the most important first."""

    node: str
    victims: tuple[Pod, ...]
    violations: int = 0  # victims that a disruption budget protects


# ------------------------------------------------------------------------
# What happens in the cluster that may make a waiting pod schedulable.


POD_ADDED = "AssignedPodAdd"
POD_CHANGED = "AssignedPodUpdate"
POD_DELETED = "AssignedPodDelete"
PENDING_ADDED = "UnscheduledPodAdd"
PENDING_DELETED = "UnscheduledPodDelete"
NODE_ADDED = "NodeAdd"
NODE_CHANGED = "NodeUpdate"
NODE_DELETED = "NodeDelete"
GROUP_ADDED = "PodGroupAdd"
GROUP_CHANGED = "PodGroupUpdate"
NODE_UNLOCKED = "NodeUnlock"  # ours: only under pessimistic locking
CLAIM_ADDED = "PersistentVolumeClaimAdd"
CLAIM_CHANGED = "PersistentVolumeClaimUpdate"
VOLUME_ADDED = "PersistentVolumeAdd"
VOLUME_CHANGED = "PersistentVolumeUpdate"
CLASS_ADDED = "StorageClassAdd"
CLASS_CHANGED = "StorageClassUpdate"
CSI_NODE_ADDED = "CSINodeAdd"
CSI_NODE_CHANGED = "CSINodeUpdate"
DEVICE_CLAIM_ADDED = "ResourceClaimAdd"
DEVICE_CLAIM_CHANGED = "ResourceClaimUpdate"
DEVICE_CLASS_ADDED = "DeviceClassAdd"
DEVICE_CLASS_CHANGED = "DeviceClassUpdate"
SLICE_ADDED = "ResourceSliceAdd"
SLICE_CHANGED = "ResourceSliceUpdate"
GANG_ADDED = "GangAdd"  # a PodGroup or Workload of scheduling.k8s.io
GANG_CHANGED = "GangUpdate"
QUOTA_CHANGED = "ElasticQuotaUpdate"  # or added, or deleted
TOPOLOGY_CHANGED = "NodeResourceTopologyUpdate"  # or added, or deleted
NAMESPACE_CHANGED = "NamespaceUpdate"


class Event(NamedTuple):
    """One event: its name, and the object as it was and as it is."""

    name: str
    old: Any = None
    new: Any = None

    @property
    def node(self) -> Node:
        """Return the node as it is now."""
        node: Node = self.new
        return node

    @property
    def old_node(self) -> Node | None:
        """Return the node as it was; None when it was added."""
        node: Node | None = self.old
        return node

    @property
    def pod(self) -> Pod:
        """Return the pod the event is about."""
        pod: Pod = self.new if self.new is not None else self.old
        return pod


# ------------------------------------------------------------------------
# What a plug-in is: one class, any of the framework's points, nothing else.


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

    def prepares_alike(self, pod: Pod) -> bool:
        """Return whether PreFilter says the same of each pod of this shape and priority.

        As long as no node and no pod on a node changes. One that looks at more than the
        shape does not, unless it knows better.
        """
        return self.scope != "cluster" or "pre_filter" not in self.points

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


# ------------------------------------------------------------------------
# A pod in the scheduling queue, and what its attempts came to.


#: active: to be tried; backoff, error: tried again later; pool: until an event
#: helps; gated: PreEnqueue said no; flight: being tried or bound
QueuePlace = Literal["active", "backoff", "error", "pool", "gated", "flight"]

MAX_FAILURES = 8  # different messages that are counted per pod


@dataclass(slots=True, kw_only=True, eq=False)
class QueuedPodInfo:
    """A pod in the queue and what its attempts came to."""

    pod: Pod
    timestamp_us: int = 0  # of the last queueing
    first_us: int | None = None  # when it first entered the active queue
    seq: int = 0  # parts pods that were queued at one instant
    place: QueuePlace = "flight"
    attempts: int = 0
    rejections: int = 0
    errors: int = 0  # in a row
    ready_ms: int = 0  # when a backoff ends
    rejectors: set[str] = field(default_factory=set)
    waiting_on: set[str] = field(default_factory=set)  # rejected as Pending
    woken: set[str] = field(default_factory=set)  # plug-ins an event helped in flight
    attempt_ms: int = -1  # instant of the last attempt
    tried_before_ms: int = -1  # and of the one before
    message: str = ""
    reason: str = ""
    #: message of a failure -> how often, and since when (ms); the last few only
    failures: dict[str, tuple[int, int]] = field(default_factory=dict)

    def note_failure(self, message: str, now_ms: int) -> tuple[int, int]:
        """Count a failure; return how often it happened, and since when (ms)."""
        count, since = self.failures.pop(message, (0, now_ms))
        self.failures[message] = count + 1, since
        while len(self.failures) > MAX_FAILURES:
            del self.failures[next(iter(self.failures))]
        return self.failures[message]
