"""NodeAffinity: nodeSelector and node affinity, required and preferred."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from scheduler.engine.kube.cache.node_info import Codes, Ints, Mask, NodeInfo, View
from scheduler.engine.kube.framework import plugin
from scheduler.engine.kube.framework.plugin import (
    MAX_SCORE,
    Event,
    Handle,
    Hint,
    Plugin,
)
from scheduler.engine.kube.framework.status import (
    OK,
    SKIP,
    Code,
    CycleState,
    Status,
    error,
    unresolvable,
)
from scheduler.model.errors import PolicyError
from scheduler.model.node import Node
from scheduler.model.node_admission import MISMATCH
from scheduler.model.pod import Pod, read_preferred_nodes
from scheduler.model.problems import Form, in_field
from scheduler.model.registry import register
from scheduler.model.selectors import NodeTerm, Taint, read_node_term, tolerated

ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
CONFLICT = "pod affinity terms conflict"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


class NodeAffinityArgs(msgspec.Struct, rename="camel", forbid_unknown_fields=True):
    """Affinity that the profile adds to that of every pod."""

    api_version: str = ""
    kind: str = ""
    added_affinity: dict[str, Any] | None = None


@register(
    "plugin",
    "NodeAffinity",
    label="Node affinity",
    help="Filters by nodeSelector and required node affinity; prefers nodes that "
    "match more weight of the preferred terms. addedAffinity holds a profile to "
    "its own pool of nodes.",
    parameters=NodeAffinityArgs,
)
class NodeAffinity(Plugin):
    """Source: docs/semantics/kube-scheduler.md#node-selection."""

    name = "NodeAffinity"
    args_type = NodeAffinityArgs
    scope = "node"
    normalizes_by_peak = True

    def __init__(self, args: NodeAffinityArgs, handle: Handle) -> None:
        super().__init__(args, handle)
        added = args.added_affinity or {}
        unknown = sorted(set(added) - {_REQUIRED, _PREFERRED})
        if unknown:
            raise PolicyError(
                in_field("addedAffinity", Form.ONLY_KEY.said(key=repr(unknown[0]))),
                "NodeAffinity",
            )
        required = added.get(_REQUIRED)
        self._added: tuple[NodeTerm, ...] | None = None
        if required is not None:
            terms = required.get("nodeSelectorTerms") or ()
            self._added = tuple(read_node_term(term) for term in terms)
        self._preferred = read_preferred_nodes(added.get(_PREFERRED))

    def pre_filter(
        self, state: CycleState, pod: Pod
    ) -> tuple[Status, frozenset[str] | None]:
        """Narrow to the named nodes when every required term names some."""
        shape = pod.shape
        free = not shape.node_selector and shape.node_required is None
        if free and self._added is None:
            return SKIP, None
        terms = shape.node_required
        if not terms:
            return OK, None
        names: set[str] = set()
        for term in terms:
            only = term.names()
            if only is None:
                return OK, None
            names |= only
        return (OK, frozenset(names)) if names else (unresolvable(CONFLICT), None)

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node that the profile or the pod does not want."""
        node = node_info.node
        if self._added is not None and not _any(self._added, node):
            return unresolvable(ENFORCED)
        return (
            OK if pod.shape.selects(node.name, node.labels) else unresolvable(MISMATCH)
        )

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Reject the rows that are not wanted."""
        good = selected(pod, view)
        if self._added is not None:
            good &= _any_rows(self._added, view)
        return (~good).astype(np.int8) * np.int8(Code.UNRESOLVABLE)

    def pre_score(self, state: CycleState, pod: Pod, view: View) -> Status:
        """Skip without preferences; a term that cannot be read is an error."""
        terms = pod.shape.node_preferred
        if not terms and not self._preferred:
            return SKIP
        for term in terms:
            if term.weight and not term.empty and not term.valid:
                return error("a preferred node affinity term cannot be evaluated")
        return OK

    def score(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> int:
        """Sum the weights of the preferred terms that the node matches."""
        node = node_info.node
        return sum(
            term.weight
            for term in (*self._preferred, *pod.shape.node_preferred)
            if term.matches(node.name, node.labels)
        )

    def score_rows(self, state: CycleState, pod: Pod, view: View) -> Ints:
        """Return for each node the sum of the weights of the preferences that it meets."""
        total: Ints = view.full(0)
        for term in (*self._preferred, *pod.shape.node_preferred):
            total += matching(term, view).astype(np.int64) * term.weight
        return total

    def normalize(self, state: CycleState, pod: Pod, view: View, raw: Ints) -> Ints:
        """Scale to the highest; all 0 stays 0."""
        peak = int(raw.max(initial=0))
        return raw if peak == 0 else MAX_SCORE * raw // peak

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a node's labels became right."""
        return {plugin.NODE_ADDED: self._matches, plugin.NODE_CHANGED: self._matches}

    def _matches(self, pod: Pod, event: Event) -> bool:
        before = event.old_node
        if before is not None and pod.shape.selects(before.name, before.labels):
            return False
        return pod.shape.selects(event.node.name, event.node.labels)


def _any(terms: tuple[NodeTerm, ...], node: Node) -> bool:
    return any(term.matches(node.name, node.labels) for term in terms)


def selected(pod: Pod, view: View) -> Mask:
    """Return which rows the pod's own selector and required affinity allow."""
    good: Mask = view.full(1, np.bool_)
    for key, value in pod.shape.node_selector:
        good &= view.by_label(key, lambda held, value=value: held == value, np.bool_)  # type: ignore[misc]
    if pod.shape.node_required is not None:
        good &= _any_rows(pod.shape.node_required, view)
    return good


def _any_rows(terms: tuple[NodeTerm, ...], view: View) -> Mask:
    good: Mask = view.full(0, np.bool_)
    for term in terms:
        good |= matching(term, view)
    return good


def matching(term: NodeTerm, view: View) -> Mask:
    """Return which rows match a term; expressions are read once per label value."""
    if term.empty or not term.valid:
        empty: Mask = view.full(0, np.bool_)
        return empty
    if term.fields:
        return view.each(
            lambda node_info: term.matches(node_info.node.name, node_info.node.labels),
            np.bool_,
        )
    good: Mask = view.full(1, np.bool_)
    for need in term.expressions:
        good &= view.meets(need)
    return good


# ------------------------------------------------------------------------
# NodeName: a pod that names its node goes nowhere else.


@register(
    "plugin",
    "NodeName",
    label="Named node",
    help="Filters out every node but the one in spec.nodeName, when that is set.",
)
class NodeName(Plugin):
    """Source: docs/semantics/kube-scheduler.md#filters."""

    name = "NodeName"
    scope = "node"
    reason = "node(s) didn't match the requested node name"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a node of another name."""
        if not pod.wanted_node or pod.wanted_node == node_info.node.name:
            return OK
        return unresolvable(self.reason)

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Reject the rows of other names."""
        if not pod.wanted_node:
            return view.full(0, np.int8)
        wrong = int(Code.UNRESOLVABLE)
        return view.each(
            lambda node_info: 0 if node_info.node.name == pod.wanted_node else wrong,
            np.int8,
        )

    def hints(self) -> dict[str, Hint | None]:
        """Try again when the named node comes."""
        return {
            plugin.NODE_ADDED: lambda pod, event: event.node.name == pod.wanted_node
        }


# ------------------------------------------------------------------------
# NodeUnschedulable: a cordoned node takes no pod that does not tolerate it.


CORDON = Taint("node.kubernetes.io/unschedulable", "", "NoSchedule")


@register(
    "plugin",
    "NodeUnschedulable",
    label="Cordoned nodes",
    help="Filters out nodes with spec.unschedulable, unless the pod tolerates it.",
)
class NodeUnschedulable(Plugin):
    """Source: docs/semantics/kube-scheduler.md#filters."""

    name = "NodeUnschedulable"
    scope = "node"
    reason = "node(s) were unschedulable"

    def filter(self, state: CycleState, pod: Pod, node_info: NodeInfo) -> Status:
        """Reject a cordoned node."""
        if not node_info.node.unschedulable or tolerated(CORDON, pod.shape.tolerations):
            return OK
        return unresolvable(self.reason)

    def filter_rows(self, state: CycleState, pod: Pod, view: View) -> Codes:
        """Reject the cordoned rows."""
        if tolerated(CORDON, pod.shape.tolerations):
            return view.full(0, np.int8)
        return view.unschedulable.astype(np.int8) * np.int8(Code.UNRESOLVABLE)

    def hints(self) -> dict[str, Hint | None]:
        """Try again when a node comes or is uncordoned."""
        return {plugin.NODE_ADDED: _open, plugin.NODE_CHANGED: _open}


def _open(pod: Pod, event: Event) -> bool:
    before = event.old_node
    return not event.node.unschedulable and (before is None or before.unschedulable)
