"""One object: checked by its kind, and as it is served."""

from __future__ import annotations

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
from scheduler.input.manifests.documents import (
    Document,
)
from scheduler.input.manifests.loading.identity import kind_of
from scheduler.input.manifests.loading.naming import key_of
from scheduler.input.manifests.loading.nulls import may_hold_nulls, without_nulls
from scheduler.input.manifests.loading.shapes import check_shape, packed
from scheduler.model.annotations import PREFIX, read_timing
from scheduler.model.errors import (
    QuantityError,
)
from scheduler.model.objects import Key, plain
from scheduler.model.problems import Wanted, expected

Check = Callable[[Document], dict[str, Any]]
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


def checked(document: Document, kind: kinds.Kind) -> tuple[Key, dict[str, Any]]:
    """Return key and manifest as checked by the kind. Raises ManifestError."""
    key = key_of(document, kind)
    if may_hold_nulls(packed(document)):
        # Of what decides nothing the rest is kept as given.
        parts = () if kind.level == "simulated" else ("metadata",)
        document = replace(document, data=without_nulls(document.data, parts))
    check_shape(document, status=kind.level == "simulated")
    _check_annotations(document)
    # A Job of Volcano is none of batch, a version that is not read is not checked.
    check = CHECKS.get(kind.kind) if kind.level == "simulated" else None
    return key, check(document) if check else dict(document.data)


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
                    f"metadata.{part}.{name}",
                    expected(Wanted.QUOTED, value),
                )
    if not any(name.startswith(PREFIX) for name in annotations):
        return
    try:
        read_timing(annotations)
    except QuantityError as error:
        raise document.error("metadata.annotations", error.said) from error
