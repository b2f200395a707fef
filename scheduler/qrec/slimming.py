"""What of an object is written: nothing that decisions do not read, no secret.

The list is in docs/recording.md#what-is-read-and-never-written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Manifest = dict[str, Any]

#: Annotations of these domains and of what is below them are kept.
_DOMAINS = (
    "kueue.x-k8s.io",
    "yunikorn.apache.org",
    "scheduling.x-k8s.io",
    "scheduling.sigs.k8s.io",
    "scheduling.k8s.io",
    "batch.kubernetes.io",
    "jobset.sigs.k8s.io",
    "leaderworkerset.sigs.k8s.io",
    "cluster-autoscaler.kubernetes.io",
    "quotalab.dev",
)
_METADATA = ("managedFields", "selfLink")
#: Of a container: whatever may hold a secret, or says nothing of scheduling.
_CONTAINER = (
    "env",
    "envFrom",
    "args",
    "command",
    "lifecycle",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "securityContext",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "volumeMounts",
    "volumeDevices",
    "workingDir",
)
_POD = ("hostAliases", "dnsConfig", "imagePullSecrets", "securityContext")
_CONTAINERS = ("containers", "initContainers", "ephemeralContainers")
#: Sources of volumes that decide where a pod can run; of others the name is kept.
_VOLUMES = ("persistentVolumeClaim", "ephemeral", "csi")


def slim(manifest: Manifest) -> Manifest:
    """Return what is written of an object. Cost: that of the object's size.

    A Secret is never written, a ConfigMap without what is not a scheduler's.
    """
    return {name: _SLIM.get(name, _part)(part) for name, part in manifest.items()}


def _metadata(given: Any) -> Any:
    kept = {name: part for name, part in given.items() if name not in _METADATA}
    if found := given.get("annotations"):
        kept["annotations"] = {
            name: text for name, text in found.items() if _is_kept(name)
        }
    return kept


def _is_kept(annotation: str) -> bool:
    domain = annotation.partition("/")[0]
    return any(domain == kept or domain.endswith(f".{kept}") for kept in _DOMAINS)


def _part(given: Any) -> Any:
    """Return a part of a document with every pod and metadata in it made slim."""
    if isinstance(given, list):
        return [_part(item) for item in given]
    if not isinstance(given, dict):
        return given
    found = {
        name: _within(name, part)
        for name, part in given.items()
        if name != "lastHeartbeatTime"
    }
    return _pod(found) if "containers" in given else found


def _within(name: str, part: Any) -> Any:
    if name == "metadata" and isinstance(part, dict):
        return _metadata(part)
    return _part(part)


def _pod(spec: dict[str, Any]) -> dict[str, Any]:
    kept = {name: part for name, part in spec.items() if name not in _POD}
    for name in _CONTAINERS:
        if isinstance(kept.get(name), list):
            kept[name] = [_without(item, _CONTAINER) for item in kept[name]]
    if isinstance(kept.get("volumes"), list):
        kept["volumes"] = [_volume(item) for item in kept["volumes"]]
    return kept


def _volume(given: Mapping[str, Any]) -> Manifest:
    kept = ("name", *_VOLUMES)
    return {name: part for name, part in given.items() if name in kept}


def _without(given: Any, left_out: tuple[str, ...]) -> Any:
    if not isinstance(given, dict):
        return given
    return {name: part for name, part in given.items() if name not in left_out}


_SLIM = {"metadata": _metadata}
