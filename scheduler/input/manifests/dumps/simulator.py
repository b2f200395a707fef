"""Exports of the kube-scheduler-simulator: lists of objects that do not name their kind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

#: Field of the export -> apiVersion and kind of its items.
#: Source: <https://github.com/kubernetes-sigs/kube-scheduler-simulator/tree/master/simulator>
_LISTS: Mapping[str, tuple[str, str]] = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "nodes": ("v1", "Node"),
    "pvs": ("v1", "PersistentVolume"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pods": ("v1", "Pod"),
}
_CONFIGURATION = "schedulerConfig"
_API = "kubescheduler.config.k8s.io/v1"


def is_export(data: Mapping[str, Any]) -> bool:
    """Return whether a document is an export: its lists and nothing else."""
    if not (data.keys() & {"pods", "nodes"}) or data.keys() - {*_LISTS, _CONFIGURATION}:
        return False
    return all(isinstance(data[n], list | None) for n in data if n != _CONFIGURATION)


def items(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield (path, object with apiVersion and kind) of everything in an export."""
    for field, (version, kind) in _LISTS.items():
        for index, item in enumerate(data.get(field) or ()):
            named = {"apiVersion": version, "kind": kind}
            filled = {**named, **item} if isinstance(item, dict) else item
            yield f"{field}[{index}]", filled
    given = data.get(_CONFIGURATION)
    if isinstance(given, dict):
        named = {"apiVersion": _API, "kind": "KubeSchedulerConfiguration"}
        yield _CONFIGURATION, {**named, **given}
