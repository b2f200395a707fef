"""Names of objects: which one a document is, and texts spelt as Kubernetes takes them."""

from __future__ import annotations

import re
from typing import Any

from scheduler.input.manifests import kinds
from scheduler.input.manifests.documents import Document
from scheduler.model.annotations import CLUSTER
from scheduler.model.objects import COLON_NAMES, MARK, Key, qualified
from scheduler.model.problems import Form, Wanted, expected

_LABEL = "[a-z0-9](?:[a-z0-9-]*[a-z0-9])?"
_NAMESPACE = re.compile(_LABEL)
_NAME = re.compile(rf"{_LABEL}(?:\.{_LABEL})*")
_CLUSTER_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")


def key_of(document: Document, kind: kinds.Kind) -> Key:
    """Return which object a document is. Raises ManifestError for no name."""
    metadata = document.data.get("metadata")
    if not isinstance(metadata, dict):
        raise document.error("metadata", expected(Wanted.NAMED_OBJECT))
    name = metadata.get("name") or _generated(document, metadata)
    if not isinstance(name, str) or not name:
        raise document.error("metadata.name", expected(Wanted.NAME, name))
    refused = "/%\x00\n\t" if kind.kind in COLON_NAMES else f"/%\x00\n\t {MARK}"
    if len(name) > 253 or any(c in name for c in refused):
        raise document.error(
            "metadata.name", Form.NOT_A_NAME.said(given=repr(name[:80]))
        )
    _check_spelling(document, kind, name)
    namespace = metadata.get("namespace") or "default"
    if not isinstance(namespace, str) or not _is_namespace(namespace):
        problem = Form.NOT_A_NAMESPACE.said(given=repr(str(namespace)[:80]))
        raise document.error("metadata.namespace", problem)
    key = Key(kind.kind, namespace if kind.namespaced else "", name)
    return qualified(key, _cluster(document))


def _check_spelling(document: Document, kind: kinds.Kind, name: str) -> None:
    """Raise for a name that no API server takes; kinds that decide nothing may differ.

    Source: <https://kubernetes.io/docs/concepts/overview/working-with-objects/names/>
    """
    if kind.level != "simulated":
        return
    said = None
    if kind.kind == "Namespace" and not _is_namespace(name):
        said = Form.NOT_A_NAMESPACE_NAME
    elif not _NAME.fullmatch(name):
        said = Form.NOT_A_SPELLING
    if said is not None:
        raise document.error("metadata.name", said.said(given=repr(name[:80])))


def _is_namespace(name: str) -> bool:
    return len(name) <= 63 and _NAMESPACE.fullmatch(name) is not None


def _cluster(document: Document) -> str:
    """Return the worker cluster that a document names; "" for the manager."""
    annotations = document.metadata.get("annotations")
    cluster = annotations.get(CLUSTER) if isinstance(annotations, dict) else None
    if not cluster:
        return ""
    if not isinstance(cluster, str) or not _CLUSTER_NAME.fullmatch(cluster):
        raise document.error(
            f"metadata.annotations.{CLUSTER}",
            expected(Wanted.CLUSTER, str(cluster)[:80]),
        )
    return cluster


def _generated(document: Document, metadata: dict[str, Any]) -> str | None:
    """Return a stable name for `generateName`: its place in the file counts."""
    prefix = metadata.get("generateName")
    if not isinstance(prefix, str) or not prefix:
        return None
    return f"{prefix}{document.place().line:05d}"


def label_of(text: str) -> str:
    """Return a text as a name of Kubernetes: small letters, digits, dashes."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:50].strip("-")


def apart(name: str, taken: set[str]) -> str:
    """Return a name that nobody has: itself, or with the next free number behind it.

    `taken` are the names so far; what is returned is added.
    """
    chosen, number = name, 1
    while chosen in taken:
        number += 1
        chosen = f"{name}-{number}"
    taken.add(chosen)
    return chosen
