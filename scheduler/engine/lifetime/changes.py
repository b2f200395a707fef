"""Changes that a scenario brings at their time: patches, deletions, lost nodes."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from scheduler.engine.lifetime.node_loss import NodeLoss
from scheduler.model.decisions import Edit
from scheduler.model.errors import ManifestError
from scheduler.model.event_words import PLANNED, node_lost
from scheduler.model.kueue.reclaimable import check_reclaimable
from scheduler.model.objects import Key, Object
from scheduler.model.patches import merge
from scheduler.model.problems import GivenUp

CHANGE = "Change"
#: What the node controller puts on a node that does not answer.
UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}


def target_of(change: Object) -> Key:
    """Return the key of the object that a Change is about."""
    target = change.spec["target"]
    return Key(target["kind"], target.get("namespace", ""), target["name"])


def carry_out(lifetime: NodeLoss, change: Object) -> None:
    """Do what a Change says, once, as an administrator would at this instant.

    A target that does not exist is reported as a problem and changes nothing.
    """
    key = target_of(change)
    known = lifetime.host.objects.get(key)
    if known is None:
        lifetime.context.journal.complain(
            GivenUp.NOT_THERE.said(key=change.key, other=key)
        )
        return
    known = lifetime.host.get(key)
    if change.spec.get("delete"):
        _record_edit(lifetime, change, key, "Delete", known.manifest, None)
        lifetime.host.delete(key)
    elif "node" in change.spec:
        _change_node(lifetime, change, known, change.spec["node"])
    else:
        _patch(lifetime, change, known, change.spec["patch"])


def _patch(
    lifetime: NodeLoss, change: Object, known: Object, patch: dict[str, Any]
) -> None:
    before = {**known.manifest, "status": known.status}
    after = merge(before, patch)
    if "reclaimablePods" in (patch.get("status") or {}):
        try:
            check_reclaimable(known, after["status"].get("reclaimablePods") or ())
        except ManifestError as error:
            problem = GivenUp.NOT_DONE.said(key=change.key, what=error.said)
            lifetime.context.journal.complain(problem)
            return
    _record_edit(lifetime, change, known.key, "Patch", None, patch)
    known.status = after.pop("status")
    _put(lifetime, known, after)


def _change_node(lifetime: NodeLoss, change: Object, node: Object, action: str) -> None:
    _record_edit(lifetime, change, node.key, action.capitalize(), None, None)
    lifetime.host.put(changed_node(node, action))
    if action in TAKING:
        lifetime.lose_node(node.key.name, node_lost(action))


def changed_node(node: Object, action: str) -> Object:
    """Return the node as an operator, or a power cut, leaves it.

    A node that fails keeps its cordon and is not Ready; its pods are lost
    apart from this, as those of a drained node are.
    """
    taints = [t for t in node.spec.get("taints") or () if t != UNREACHABLE]
    if action == "fail":
        taints.append(UNREACHABLE)
    spec = {**node.spec, "taints": taints, "unschedulable": action in _CLOSING}
    if action == "fail":
        spec["unschedulable"] = bool(node.spec.get("unschedulable"))
    kept = {name: value for name, value in spec.items() if value not in (False, [])}
    manifest = {**node.manifest, "metadata": dict(node.metadata), "spec": kept}
    return Object(key=node.key, manifest=manifest, status=_heard_from(node, action))


def _heard_from(node: Object, action: str) -> dict[str, Any]:
    """Return the status that changes: Ready goes when the node falls silent."""
    if action not in ("fail", "recover"):
        return {}
    others = [c for c in node.status.get("conditions") or () if c["type"] != "Ready"]
    return {"conditions": [*others, dict(_SILENT if action == "fail" else _HEARD)]}


_CLOSING = ("cordon", "drain")
#: What takes the pods off a node.
TAKING = ("drain", "fail")
_SILENT = {
    "type": "Ready",
    "status": "Unknown",
    "reason": "NodeStatusUnknown",
    "message": "Kubelet stopped posting node status.",
}
_HEARD = {
    "type": "Ready",
    "status": "True",
    "reason": "KubeletReady",
    "message": "kubelet is posting ready status",
}


def _put(lifetime: NodeLoss, known: Object, manifest: dict[str, Any]) -> None:
    """Put an edited manifest; the world writes identity into metadata."""
    own = {**manifest, "metadata": dict(manifest["metadata"])}
    lifetime.host.put(Object(key=known.key, manifest=own))


def _record_edit(
    lifetime: NodeLoss, change: Object, key: Key, action: str, before: Any, after: Any
) -> None:
    note = change.annotations.get("description", "")
    said = PLANNED[action].said(object=str(key))
    lifetime.context.journal.emit(
        Edit(
            at_ms=lifetime.context.now_ms,
            subject=key,
            by=change.key,
            reason=action,
            message=note or said.text,
            said=UNSET if note else said,
            action=action,
            before=before,
            after=after,
        )
    )
