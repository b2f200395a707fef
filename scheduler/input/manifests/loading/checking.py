"""One object: checked by its kind, and as it is served."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from scheduler.input.manifests import (
    capacity,
    changes,
    claims,
    job_shapes,
    kinds,
    kubernetes,
    kueue,
)
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    check_structure,
    check_values,
    expect_items,
    expect_object,
)
from scheduler.input.manifests.loading.identity import kind_of
from scheduler.input.manifests.loading.shapes import check_shape, packed
from scheduler.model import schemas
from scheduler.model.annotations import CLUSTER, PREFIX, read_timing
from scheduler.model.errors import ManifestError, QuantityError
from scheduler.model.objects import COLON_NAMES, MARK, Key, plain, qualified
from scheduler.model.problems import Form, Wanted, expected

# ------------------------------------------------------------------------
# Names of objects: which one a document is, and texts spelt as Kubernetes takes them.


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


# ------------------------------------------------------------------------
# One object: checked by its kind, and as it is served.


Manifest = dict[str, Any]
Check = Callable[[Document], Manifest]
CHECKS: Mapping[str, Check] = {
    **kubernetes.CHECKS,
    **job_shapes.CHECKS,
    **kueue.CHECKS,
    **capacity.CHECKS,
    **claims.CHECKS,
    "Change": changes.check_change,
}


def check_object(document: Document) -> None:
    """Check an object as it is checked when it is taken. Raises ManifestError."""
    kind = kind_of(document)
    if kind is not None and kind.level != "configuration":
        checked(document, kind)


#: Shown as they are where they are of another shape, as kinds that are only kept: who
#: reads them takes what is of its shape.
MAY_BE_ODD = frozenset({"ResourceQuota"})


def checked(document: Document, kind: kinds.Kind) -> tuple[Key, dict[str, Any]]:
    """Return key and manifest as checked by the kind. Raises ManifestError."""
    key = key_of(document, kind)
    return key, _as_kind(document, kind)


def _as_kind(document: Document, kind: kinds.Kind) -> Manifest:
    """Return the manifest as checked by the kind, whatever it is called."""
    simulated = kind.level == "simulated"
    if may_hold_nulls(packed(document)):
        # What decides nothing is kept as given; in a patch null takes a field away.
        whole = simulated and kind.kind != "Change"
        parts = () if whole else ("metadata",)
        document = replace(document, data=without_nulls(document.data, parts))
    check_shape(document, status=simulated)
    if not simulated:
        _check_annotations(document)
        return dict(document.data)
    expect_object(document, document.data, "spec")
    odd = kind.kind in MAY_BE_ODD
    found = [] if odd else check_structure(document, _type_of(document, kind))
    _check_annotations(document)
    if kind.kind == "AppWrapper":
        _check_wrapped(document)
    # A Job of Volcano is none of batch, a version that is not read is not checked.
    check = CHECKS.get(kind.kind)
    made = check(document) if check else dict(document.data)
    check_values(document, found)
    job_shapes.check_made(document)
    return made


def _check_wrapped(document: Document) -> None:
    """Check the objects that an AppWrapper holds, each as one of its own kind."""
    spec = expect_object(document, document.data, "spec")
    for path, component in expect_items(document, spec, "spec.components"):
        holder = expect_object(document, component, f"{path}.template", needed=True)
        expect_object(document, holder, f"{path}.template.metadata", needed=True)
        inner = replace(document, data=holder)
        try:
            kind = kind_of(inner)
            if kind is not None and kind.level == "simulated":
                _as_kind(inner, kind)
        except ManifestError as error:
            field = f"{path}.template.{error.place.field if error.place else ''}"
            raise document.error(field.rstrip("."), error.problem) from error


def _type_of(document: Document, kind: kinds.Kind) -> str:
    """Return the type of an object, in its version or where that is unknown the newest."""
    known = schemas.named(*kinds.split(document.api_version), kind.kind)
    return known or schemas.read_of(kind.group, kind.kind)


def served(manifest: dict[str, Any], key: Key, kind: kinds.Kind) -> dict[str, Any]:
    """Return the manifest as served: newest version, names in, noise out."""
    metadata = {
        name: value
        for name, value in (manifest.get("metadata") or {}).items()
        if name not in ("managedFields", "generateName", "resourceVersion", "selfLink")
    }
    metadata["name"] = plain(key).name
    if key.namespace:
        metadata["namespace"] = key.namespace
    version = kind.api_version if kind.level == "simulated" else manifest["apiVersion"]
    rest = {
        name: value
        for name, value in manifest.items()
        if name not in ("apiVersion", "kind", "metadata", "status")
    }
    return {
        "apiVersion": version,
        "kind": manifest["kind"],
        "metadata": metadata,
        **rest,
    }


def _check_annotations(document: Document) -> None:
    annotations = document.metadata.get("annotations") or {}
    for part in ("annotations", "labels"):
        given = document.metadata.get(part) or {}
        if not isinstance(given, dict):
            raise document.error(f"metadata.{part}", expected(Wanted.OBJECT_OF_TEXTS))
        for name, value in given.items():
            if not isinstance(value, str):
                raise document.error(
                    f"metadata.{part}.{name}", expected(Wanted.QUOTED, value)
                )
    if not any(name.startswith(PREFIX) for name in annotations):
        return
    try:
        read_timing(annotations)
    except QuantityError as error:
        raise document.error("metadata.annotations", error.said) from error


# ------------------------------------------------------------------------
# Null values: what an API server makes of them, as of Helm's empty ones.


#: Maps of texts: null is the empty text.
_TEXTS = frozenset({"annotations", "labels", "matchLabels", "nodeSelector"})
#: Maps of amounts, in `resources`: null is none of it.
_AMOUNTS = frozenset({"limits", "requests"})
#: Maps of which each key is a name: who reads them says what is wrong with a null.
_NAMED = frozenset(
    [
        *("hard", "max", "min", "default", "defaultRequest", "maxLimitRequestRatio"),
        *("allocatable", "capacity", "podFixed", "minResources", "data", "parameters"),
    ]
)
#: What is written by a server has none.
_SERVERS = frozenset({"managedFields", "status"})


def may_hold_nulls(packed: bytes) -> bool:
    """Return False where an object that msgpack packed has no null for certain."""
    return b"\xc0" in packed


def without_nulls(manifest: Manifest, parts: tuple[str, ...] = ()) -> Manifest:
    """Return an object without null: a field that is null is one that is not given.

    Of `parts` only, where they are given; a null in a list or a map of names stays. What was given is not changed, and is
    returned itself where there is nothing to do. Cost: O(fields).
    """
    found = manifest
    if not parts and None in manifest.values():
        found = {name: part for name, part in manifest.items() if part is not None}
    for name in parts or manifest.keys() - _SERVERS:
        filled = _filled(manifest.get(name), name, "")
        if filled is not manifest.get(name):
            found = {**found, name: filled}
    return found


def _filled(value: Any, name: str, above: str) -> Any:
    if isinstance(value, list):
        items = [_filled(item, name, above) for item in value]
        changed = any(map(operator.is_not, items, value))
        return items if changed else value
    if not isinstance(value, dict) or name in _NAMED:
        return value
    if name in _TEXTS:
        return _with(value, "")
    if name in _AMOUNTS and above == "resources":
        return _with(value, "0")
    inner = {
        key: filled
        for key, part in value.items()
        if key not in _SERVERS and (filled := _filled(part, key, name)) is not part
    }
    if not inner and not any(
        part is None and key not in _SERVERS for key, part in value.items()
    ):
        return value
    return {
        key: inner.get(key, part)
        for key, part in value.items()
        if part is not None or key in _SERVERS
    }


def _with(given: Mapping[str, Any], instead: str) -> Mapping[str, Any]:
    if None not in given.values():
        return given
    return {key: instead if one is None else one for key, one in given.items()}
