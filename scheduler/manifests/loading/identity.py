"""Which kind a document is of, or why it is none."""

from __future__ import annotations

import difflib
from dataclasses import replace

from scheduler.manifests import kinds, yunikorn
from scheduler.manifests.documents import (
    Document,
)
from scheduler.manifests.effects import Effect
from scheduler.manifests.generator import is_generator
from scheduler.manifests.loading.loaded import Finding, Loaded

#: Of files that lie beside manifests: a tool's configuration, a dashboard.
NO_MANIFEST = "not an object of a cluster: not taken"
#: The files beside it count, and as they stand.
KUSTOMIZATION = (
    "a kustomization, which is not applied: the files beside it are taken as they are; "
    "render it first, e.g. with `kubectl kustomize`"
)
#: Jobs of another scheduler, which no cluster takes as they are.
ARMADA = (
    "jobs of Armada, so no object of a cluster: not taken; `quotalab convert` writes "
    "them in Kueue's terms"
)
#: Why a document is left aside -> what that changes.
ASIDE = {
    NO_MANIFEST: Effect.NOT_TAKEN,
    KUSTOMIZATION: Effect.NO_KUSTOMIZE,
    ARMADA: Effect.NO_ARMADA,
}
_KUSTOMIZATIONS = ("kustomization.yaml", "kustomization.yml", "Kustomization")


#: Of the core group's version, and yet no objects.
_ASIDE_OF_CORE = {
    "Config": "a kubeconfig, which names clusters and their credentials",
    "Status": "an answer of an API server",
}


def no_manifest(document: Document) -> str:
    """Return why a document is no object of a cluster; "" when it may be one.

    A kind of a group that is known whole is one, whatever it lacks.
    """
    if _is_kustomization(document):
        return KUSTOMIZATION
    if document.api_version == "v1" and document.kind in _ASIDE_OF_CORE:
        return _ASIDE_OF_CORE[document.kind]
    if not document.kind and not document.api_version:
        if "jobSetId" in document.data and "queue" in document.data:
            return ARMADA
        known = yunikorn.holds_queues(document) or is_generator(document.data)
        return "" if known or values_of(document) else "neither apiVersion nor kind"
    if not document.kind and not document.metadata:
        return f"apiVersion {document.api_version} and no kind"
    named = document.metadata.get("name") or document.metadata.get("generateName")
    group = kinds.split(document.api_version)[0]
    entry = kinds.BY_KIND.get(document.kind)
    of_other = entry is not None and entry.level == "configuration"
    if named or group in kinds.GROUPS or (entry is not None and not of_other):
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
    if problem not in ASIDE:
        problem += ", so it is no object of a cluster: not taken"
        sort = NO_MANIFEST
    place = document.place("kind")
    loaded.findings.append(
        Finding(
            level="unsupported",
            place=place,
            problem=problem,
            sort=sort,
            effect=ASIDE[sort],
        )
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
    group = kinds.FORMER_GROUPS.get((document.kind, group), group)
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
    unknown = _unknown(document, entry.group, version)
    return replace(unknown, note=problem, effect=Effect.NOTHING_COUNTS)


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
        note=f"a kind of {group} that decides nothing here{_way(document.kind, group)}",
        effect=Effect.NOBODY_KNOWS,
    )


#: Groups of systems whose manifests can be converted.
_CONVERTED = ("volcano.sh", "run.ai", "armadaproject.io")


def _way(kind: str, group: str) -> str:
    """Return how a kind of another scheduler comes to decide something."""
    if group.endswith(_CONVERTED):
        return "; `quotalab convert` writes it in Kueue's terms"
    entry = kinds.BY_KIND.get(kind)
    if entry is not None and entry.level == "simulated":
        return f"; {kind} of {entry.api_version} is simulated"
    return ""


def _unknown_kind(kind: str, group: str) -> str:
    same_group = [e.kind for e in kinds.TABLE if e.group == group]
    near = difflib.get_close_matches(kind, same_group or list(kinds.BY_KIND), n=1)
    hint = f"; did you mean {near[0]}?" if near else ""
    return f"unknown kind {kind!r} of group {group or 'core'!r}{hint}"
