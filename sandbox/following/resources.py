"""What is read of a cluster: every kind that decisions depend on, and no Secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sandbox.following.cluster import Cluster, ClusterError
from scheduler.input.manifests.kinds import TABLE, Kind
from scheduler.model.texts.plain_text import write

#: Groups whose kinds no follower lists: no cluster serves the first, and webhooks decide
#: nothing where pods are recorded as they came.
_NOT_LISTED = frozenset({"quotalab.dev", "admissionregistration.k8s.io"})
#: The ConfigMaps that hold schedulers' settings; no other is read.
SETTINGS = (
    ("kueue-system", "kueue-manager-config"),
    ("yunikorn", "yunikorn-configs"),
    ("yunikorn", "yunikorn-defaults"),
)
#: Answers that no later try changes by itself.
_REFUSED = frozenset({401, 403, 405})
_NOT_FOUND = 404
#: Why a kind is absent that the cluster does not have.
NOT_SERVED = "not served"


@dataclass(frozen=True, slots=True)
class Resource:
    """A kind as this cluster serves it."""

    kind: str
    api_version: str
    path: str


def followed() -> list[Kind]:
    """Return the kinds that are listed and watched where a cluster has them."""
    return [
        kind
        for kind in TABLE
        if kind.level == "simulated" and kind.plural and kind.group not in _NOT_LISTED
    ]


def served(cluster: Cluster) -> tuple[list[Resource], dict[str, str]]:
    """Return which of the kinds the cluster serves, and why the others are absent.

    A kind is asked for once: what may not be listed is absent too. Raises
    ClusterError when the cluster does not answer at all, or has no kind to follow.
    """
    cluster.get("/version")
    found: list[Resource] = []
    absent: dict[str, str] = {}
    plurals: dict[str, frozenset[str] | str] = {}
    for kind in followed():
        one = _served(cluster, kind, plurals)
        why = one if isinstance(one, str) else _refusal(cluster, one.path)
        if why or isinstance(one, str):
            absent[kind.kind] = why
        else:
            found.append(one)
    if not found:
        why = next((why for why in absent.values() if why != NOT_SERVED), NOT_SERVED)
        raise ClusterError(
            f"no kind to follow: {why}; --print-role has the rights that this needs"
        )
    return found, absent


def _served(
    cluster: Cluster, kind: Kind, plurals: dict[str, frozenset[str] | str]
) -> Resource | str:
    """Return a kind in its newest version that is served, or why there is none."""
    why = NOT_SERVED
    for version in kind.versions:
        base = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
        if base not in plurals:
            plurals[base] = _plurals(cluster, base)
        names = plurals[base]
        if isinstance(names, str):
            why = names
        elif kind.plural in names:
            group_version = f"{kind.group}/{version}" if kind.group else version
            return Resource(kind.kind, group_version, f"{base}/{kind.plural}")
    return why


def _refusal(cluster: Cluster, path: str) -> str:
    """Return why a kind may not be listed; "" where it may."""
    try:
        cluster.get(path, limit="1")
    except ClusterError as error:
        if error.code in {*_REFUSED, _NOT_FOUND}:
            return error.message
        raise
    return ""


def _plurals(cluster: Cluster, base: str) -> frozenset[str] | str:
    """Return the plurals of a group and version, or why there are none."""
    try:
        answer = cluster.get(base)
    except ClusterError as error:
        if error.code == _NOT_FOUND:
            return NOT_SERVED
        if error.code in _REFUSED:
            return error.message
        raise
    return frozenset(item["name"] for item in answer["resources"])


def scheduler_settings(cluster: Cluster) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return the schedulers' ConfigMaps, and why others could not be read.

    A cluster has those of few schedulers: what does not exist is no failure.
    """
    found: list[dict[str, Any]] = []
    failed: dict[str, str] = {}
    for namespace, name in SETTINGS:
        try:
            path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
            manifest = cluster.get(path)
        except ClusterError as error:
            if error.code != _NOT_FOUND:
                failed[f"ConfigMap {namespace}/{name}"] = error.message
            continue
        found.append({**manifest, "apiVersion": "v1", "kind": "ConfigMap"})
    return found, failed


def cluster_role() -> str:
    """Return the ClusterRole that following needs, as YAML: get, list and watch only."""
    groups: dict[str, list[str]] = {}
    for kind in followed():
        groups.setdefault(kind.group, []).append(kind.plural)
    rules = [
        {"apiGroups": [group], "resources": sorted(plurals), "verbs": ["list", "watch"]}
        for group, plurals in sorted(groups.items())
    ]
    names = sorted({name for _, name in SETTINGS})
    rules.append(
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": names,
            "verbs": ["get"],
        }
    )
    document = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "quotalab-reader"},
        "rules": rules,
    }
    return write(document)
