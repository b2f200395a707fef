"""Revisions of pod templates: what `rollout history` lists and `rollout undo` goes back to.

A write that changes the template of a Deployment, a StatefulSet or a DaemonSet leaves
the one before in `metadata.revisions`, which is kept with the object and shown to
nobody: clients see the ReplicaSets and the ControllerRevisions that a control plane
would have made. Going back to a template gives it a new number, and its old one goes.

Source: <https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-back-a-deployment>
"""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterator
from typing import Any

from api.cluster.presenting import fill_pod_spec
from scheduler.model.pod import template_hash

Document = dict[str, Any]
KEPT = "revisions"  # of the metadata: old ones first, the present one last
KINDS = frozenset({"DaemonSet", "Deployment", "StatefulSet"})
_USUAL_LIMIT = 10
_NOT_HANDED = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})


def after(before: Document | None, document: Document, at: str) -> list[Document]:
    """Return the revisions of an object that a write leaves; none while there is one.

    `at` is the time of the write. The present revision has no template of its own.
    """
    known = copy.deepcopy((before or {}).get("metadata", {}).get(KEPT) or [])
    if before is None:
        return []
    old, new = _template(before), _template(document)
    if _filled(old) == _filled(new):
        return list(known)
    present = known.pop() if known else {"revision": 1}
    made = {"at": before["metadata"].get("creationTimestamp"), **present}
    known.append({**made, "template": old, "noted": noted(before)})
    number = int(made["revision"]) + 1
    now = {"revision": number, "at": at}
    for one in known:
        if _filled(one["template"]) == _filled(new):
            was = [*one.get("was", ()), one["revision"]]
            now = {**now, "at": one.get("at"), "was": was}
    others = [one for one in known if _filled(one["template"]) != _filled(new)]
    limit = (document.get("spec") or {}).get("revisionHistoryLimit")
    most = limit if isinstance(limit, int) and limit >= 0 else _USUAL_LIMIT
    return [*others[max(0, len(others) - most) :], now]


def number_of(metadata: Document) -> int:
    """Return the number of the present revision."""
    known = metadata.get(KEPT)
    return int(known[-1]["revision"]) if known else 1


def present(metadata: Document) -> Document:
    """Return what is kept of the present revision: its number, since when, what it was."""
    known = metadata.get(KEPT)
    return dict(known[-1]) if known else {"revision": 1}


def old(manifest: Document) -> Iterator[tuple[Document, Document]]:
    """Yield (what is kept of it, the object as it was) of each revision that is over."""
    metadata = manifest["metadata"]
    for one in (metadata.get(KEPT) or ())[:-1]:
        annotations = {**one.get("noted", {})}
        spec = {**(manifest.get("spec") or {}), "template": one["template"]}
        was = {**metadata, "annotations": annotations}
        yield one, {**manifest, "metadata": was, "spec": spec}


def noted(manifest: Document) -> dict[str, str]:
    """Return the annotations that a Deployment hands on to its ReplicaSet."""
    given = manifest["metadata"].get("annotations") or {}
    return {n: v for n, v in given.items() if n not in _NOT_HANDED}


def controller_revisions(manifest: Document, version: str) -> Iterator[Document]:
    """Yield the ControllerRevisions of a StatefulSet or a DaemonSet, the oldest first."""
    for one, was in old(manifest):
        yield _controller_revision(was, one, version)
    yield _controller_revision(manifest, present(manifest["metadata"]), version)


def _controller_revision(
    manifest: Document, revision: Document, version: str
) -> Document:
    metadata, template = manifest["metadata"], _template(manifest)
    number = template_hash(template)
    name, uid = f"{metadata['name']}-{number}", str(metadata.get("uid") or "")
    inner = copy.deepcopy(template)
    inner.setdefault("metadata", {})
    fill_pod_spec(inner.setdefault("spec", {}))
    for container in inner["spec"].get("containers") or ():
        container.setdefault("resources", {})
    labels = (template.get("metadata") or {}).get("labels") or {}
    given = manifest["metadata"].get("annotations") or {}
    return {
        "apiVersion": "apps/v1",
        "kind": "ControllerRevision",
        "metadata": {
            "name": name,
            "namespace": metadata.get("namespace", ""),
            "uid": str(uuid.uuid5(uuid.UUID(uid), name)) if uid else "",
            "resourceVersion": version,
            "creationTimestamp": revision.get("at")
            or metadata.get("creationTimestamp"),
            "labels": {
                **labels,
                "controller-revision-hash"
                if manifest["kind"] == "DaemonSet"
                else "controller.kubernetes.io/hash": number,
            },
            **({"annotations": dict(given)} if given else {}),
            "ownerReferences": [
                {
                    "apiVersion": "apps/v1",
                    "kind": manifest["kind"],
                    "name": metadata["name"],
                    "uid": uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        },
        "data": {"spec": {"template": {"$patch": "replace", **inner}}},
        "revision": int(revision["revision"]),
    }


def _template(manifest: Document) -> Document:
    found: Document = (manifest.get("spec") or {}).get("template") or {}
    return found


def _filled(template: Document) -> Document:
    """Return a template with its defaults, so that two of the same pods are equal."""
    found = copy.deepcopy(template)
    metadata = found.setdefault("metadata", {})
    for name in [name for name, value in metadata.items() if not value]:
        del metadata[name]
    fill_pod_spec(found.setdefault("spec", {}))
    for container in found["spec"].get("containers") or ():
        if not container.get("resources"):
            container.pop("resources", None)
    return found
