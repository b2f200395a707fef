"""What is read of a cluster: every kind that decisions depend on, and no Secret."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from sandbox.following.cluster import Cluster, ClusterError
from scheduler.manifests.kinds import TABLE, Kind

#: Kinds of this project: no cluster has them.
_OURS = "quotalab.dev"
#: The ConfigMaps that hold schedulers' settings; no other is read.
SETTINGS = (
    ("kueue-system", "kueue-manager-config"),
    ("yunikorn", "yunikorn-configs"),
    ("yunikorn", "yunikorn-defaults"),
)


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
        if kind.level == "simulated" and kind.plural and kind.group != _OURS
    ]


def served(cluster: Cluster) -> tuple[list[Resource], dict[str, str]]:
    """Return what the cluster has of the kinds, and why the others are absent.

    Raises ClusterError when the cluster does not answer at all.
    """
    cluster.get("/version")
    found: list[Resource] = []
    absent: dict[str, str] = {}
    plurals: dict[str, frozenset[str] | str] = {}
    for kind in followed():
        for version in kind.versions:
            base = f"/apis/{kind.group}/{version}" if kind.group else f"/api/{version}"
            if base not in plurals:
                plurals[base] = _plurals(cluster, base)
            names = plurals[base]
            if not isinstance(names, str) and kind.plural in names:
                group_version = f"{kind.group}/{version}" if kind.group else version
                path = f"{base}/{kind.plural}"
                found.append(Resource(kind.kind, group_version, path))
                absent.pop(kind.kind, None)
                break
            absent[kind.kind] = names if isinstance(names, str) else "not served"
    return found, absent


def _plurals(cluster: Cluster, base: str) -> frozenset[str] | str:
    """Return the plurals of a group and version, or why there are none."""
    try:
        answer = cluster.get(base)
    except ClusterError as error:
        if error.code == 404:
            return "not served"
        if error.code in {401, 403}:
            return error.message
        raise
    return frozenset(item["name"] for item in answer["resources"])


def cluster_role(name: str = "quotalab-reader") -> str:
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
        "metadata": {"name": name},
        "rules": rules,
    }
    return str(yaml.safe_dump(document, sort_keys=False))
