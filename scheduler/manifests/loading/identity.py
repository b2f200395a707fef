"""Which kind a document is of, and which object: or why it is none."""

from __future__ import annotations

import difflib
import re
from dataclasses import replace
from typing import Any

from scheduler.manifests import kinds, yunikorn
from scheduler.manifests.documents import (
    Document,
)
from scheduler.manifests.generator import is_generator
from scheduler.manifests.loading.loaded import Finding, Loaded
from scheduler.records.annotations import CLUSTER
from scheduler.records.objects import COLON_NAMES, MARK, Key, qualified

#: Of files that lie beside manifests: a tool's configuration, a dashboard.
NO_MANIFEST = "not an object of a cluster: not taken"
#: The files beside it count, and as they stand.
KUSTOMIZATION = (
    "a kustomization, which is not applied: the files beside it are taken as they are; "
    "render it first, e.g. with `kubectl kustomize`"
)
ASIDE = (NO_MANIFEST, KUSTOMIZATION)
_CLUSTER_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")


def no_manifest(document: Document) -> str:
    """Return why a document is no object of a cluster; "" when it may be one.

    A kind of a group that is known whole is one, whatever it lacks.
    """
    if _is_kustomization(document):
        return KUSTOMIZATION
    if not document.kind and not document.api_version:
        known = yunikorn.holds_queues(document) or is_generator(document.data)
        return "" if known or values_of(document) else "neither apiVersion nor kind"
    if not document.kind and not document.metadata:
        return f"apiVersion {document.api_version} and no kind"
    named = document.metadata.get("name") or document.metadata.get("generateName")
    group = kinds.split(document.api_version)[0]
    if named or document.kind in kinds.BY_KIND or group in kinds.GROUPS:
        return ""
    return f"a {document.kind or 'document'} of {group or 'no group'} without a name"


def _is_kustomization(document: Document) -> bool:
    """Return whether Kustomize reads it; apiVersion and kind may be left out there."""
    if kinds.split(document.api_version)[0] == "kustomize.config.k8s.io":
        return True
    named = document.file.rsplit("/", 1)[-1] in _KUSTOMIZATIONS
    return named and not document.kind and not document.api_version


def leave_aside(loaded: Loaded, document: Document, problem: str) -> None:
    """Say that a document is no object of a cluster, and why."""
    sort = problem
    if problem != KUSTOMIZATION:
        problem += ", so it is no object of a cluster: not taken"
        sort = NO_MANIFEST
    place = document.place("kind")
    loaded.findings.append(
        Finding(level="unsupported", place=place, problem=problem, sort=sort)
    )
    loaded.outcomes[document.file, document.kind or "no kind", "refused"] += 1


def values_of(document: Document) -> str:
    """Return the queues.yaml of a bare `queues.yaml: |`, as in a ConfigMap's data."""
    text = document.data.get(yunikorn.FILE)
    return text if isinstance(text, str) else ""


def kind_of(document: Document) -> kinds.Kind | None:
    """Return the table's entry; None for a queues.yaml or a generator file."""
    if not document.kind and not document.api_version:
        return None
    for name in ("apiVersion", "kind"):
        if not isinstance(document.data.get(name), str) or not document.data[name]:
            raise document.error(name, "expected a text, found none")
    entry = kinds.BY_KIND.get(document.kind)
    group, version = kinds.split(document.api_version)
    if entry is None and group in KNOWN_WHOLE:
        raise document.error("kind", _unknown_kind(document.kind, group))
    of_group = kinds.BY_KIND.get(f"{document.kind}.{group}")
    if of_group is not None:
        read = version in of_group.versions
        return of_group if read else _unread(document, of_group, version)
    if entry is None or (group != entry.group and group not in kinds.GROUPS):
        return _unknown(document, group, version)
    if group != entry.group:
        raise document.error(
            "apiVersion",
            f"{entry.kind} is of {entry.api_version}, got {document.api_version!r}",
        )
    versions = (*entry.versions, *kinds.FORMER.get(entry.kind, ()))
    if entry.level == "kept" or version in versions:
        return entry
    return _unread(document, entry, version)


def _unread(document: Document, entry: kinds.Kind, version: str) -> kinds.Kind:
    """Return an entry for a version that is not read: kept as it is."""
    known = ", ".join(entry.versions)
    problem = f"version {version!r} of {document.kind} is not read; known: {known}"
    if entry.level == "configuration" or entry.group in KNOWN_WHOLE:
        raise document.error("apiVersion", problem)
    return replace(_unknown(document, entry.group, version), note=problem)


#: Groups of which every kind is in the table: another one is a slip of the pen.
KNOWN_WHOLE = frozenset(
    {kinds.KUEUE, "config.kueue.x-k8s.io", "quotalab.dev", "batch", "apps", ""}
)


def _unknown(document: Document, group: str, version: str) -> kinds.Kind:
    """Return an entry for a kind that is not in the table: kept as it is.

    A kind of a name that the table has for another group keeps its group in it.
    """
    known = document.kind in kinds.BY_KIND
    return kinds.Kind(
        kind=f"{document.kind}.{group}" if known else document.kind,
        group=group,
        versions=(version,),
        plural=f"{document.kind.lower()}s",
        level="kept",
        namespaced="namespace" in document.metadata,
        note=f"a kind of {group} that decides nothing here{_way(group)}",
    )


#: Groups of systems whose manifests can be converted.
_CONVERTED = ("volcano.sh", "run.ai", "armadaproject.io")


def _way(group: str) -> str:
    """Return how a kind of another scheduler comes to decide something."""
    if group.endswith(_CONVERTED):
        return "; `quotalab convert` writes it in Kueue's terms"
    return ""


def _unknown_kind(kind: str, group: str) -> str:
    same_group = [e.kind for e in kinds.TABLE if e.group == group]
    near = difflib.get_close_matches(kind, same_group or list(kinds.BY_KIND), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"unknown kind {kind!r} of group {group or 'core'!r}{hint}"


def key_of(document: Document, kind: kinds.Kind) -> Key:
    """Return which object a document is. Raises ManifestError for no name."""
    metadata = document.data.get("metadata")
    if not isinstance(metadata, dict):
        raise document.error("metadata", "expected an object with a name")
    name = metadata.get("name") or _generated(document, metadata)
    if not isinstance(name, str) or not name:
        raise document.error("metadata.name", f"expected a name, got {name!r}")
    marked = MARK in name and kind.kind not in COLON_NAMES
    if len(name) > 253 or marked or any(c in name for c in "/%\x00\n\t "):
        raise document.error("metadata.name", f"not a name: {name[:80]!r}")
    namespace = metadata.get("namespace") or "default"
    if not isinstance(namespace, str) or "/" in namespace or len(namespace) > 63:
        raise document.error("metadata.namespace", f"not a namespace: {namespace!r}")
    key = Key(kind.kind, namespace if kind.namespaced else "", name)
    return qualified(key, _cluster(document))


def _cluster(document: Document) -> str:
    """Return the worker cluster that a document names; "" for the manager."""
    annotations = document.metadata.get("annotations")
    cluster = annotations.get(CLUSTER) if isinstance(annotations, dict) else None
    if not cluster:
        return ""
    if not isinstance(cluster, str) or not _CLUSTER_NAME.fullmatch(cluster):
        raise document.error(
            f"metadata.annotations.{CLUSTER}",
            "expected the name of a MultiKueueCluster (lower-case letters, digits, "
            f"- and .), got {str(cluster)[:80]!r}",
        )
    return cluster


def _generated(document: Document, metadata: dict[str, Any]) -> str | None:
    """Return a stable name for `generateName`: its place in the file counts."""
    prefix = metadata.get("generateName")
    if not isinstance(prefix, str) or not prefix:
        return None
    return f"{prefix}{document.place().line:05d}"
