"""Claims that pods name and nothing has, and volumes and classes that claims name.

A dump of pods alone is the usual case: its pending pods would wait without a word.
Source: docs/semantics/kube-scheduler.md#volumes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.input.manifests.simulation_gaps.unfollowed import pod_specs
from scheduler.model.objects import Key, cluster_of, plain, qualified
from scheduler.model.storage.claims import CLAIM, STORAGE_CLASS, VOLUME
from scheduler.words.effects import Effect
from scheduler.words.findings import Missing

Manifest = Mapping[str, Any]
Manifests = Mapping[Key, Manifest]
Names = Iterator[tuple[str, Key]]  # field, what it names

_DEVICE_CLAIM, _TEMPLATE = "ResourceClaim", "ResourceClaimTemplate"
_DEVICE_CLASS = "DeviceClass"
_REMEDIES = dict.fromkeys((CLAIM, VOLUME, STORAGE_CLASS), Missing.VOLUMES)


def missing_claims(
    manifests: Manifests, places: Mapping[Key, Document]
) -> Iterator[Finding]:
    """Yield a warning for each thing that pods need for their claims and lack.

    Nothing is said of pods that have a node or are over. Cost: O(objects).
    """
    classes = {
        (cluster_of(key), str(_object(one.get("spec")).get("storageClassName")))
        for key, one in manifests.items()
        if plain(key).kind == VOLUME
    }
    for key, document in places.items():
        if key not in manifests or _is_over(document.data):
            continue
        cluster = cluster_of(key)
        for path, inside in _names(plain(key), document.data):
            target = qualified(inside, cluster)
            by_class = inside.kind == STORAGE_CLASS
            if target in manifests or (by_class and (cluster, inside.name) in classes):
                continue
            yield _finding(document, path, inside)


def _finding(document: Document, path: str, named: Key) -> Finding:
    remedy = _REMEDIES.get(named.kind, Missing.DEVICES).said()
    return Finding(
        "warning",
        document.place(path),
        Missing.CLAIM.said(kind=named.kind, name=named.path, remedy=remedy),
        sort=Missing.CLAIMS.said(kind=named.kind, remedy=remedy),
        effect=Effect.WAITS_FOR_CLAIM,
    )


def _is_over(manifest: Manifest) -> bool:
    """Return whether no pod will be placed for this any longer."""
    status = _object(manifest.get("status"))
    if manifest.get("kind") == "Pod" and _object(manifest.get("spec")).get("nodeName"):
        return True
    ended = status.get("phase") in ("Succeeded", "Failed")
    return ended or any(
        one.get("type") in ("Complete", "Failed") and one.get("status") == "True"
        for _, one in _items(status, "conditions")
    )


def _names(key: Key, manifest: Manifest) -> Names:
    """Yield what pods, volume claims and device claims name."""
    spec, status = _object(manifest.get("spec")), _object(manifest.get("status"))
    if key.kind == CLAIM:
        if name := spec.get("volumeName"):
            yield "spec.volumeName", Key(VOLUME, "", str(name))
        elif name := spec.get("storageClassName"):
            yield "spec.storageClassName", Key(STORAGE_CLASS, "", str(name))
    elif key.kind in (_DEVICE_CLAIM, _TEMPLATE):
        if not status.get("allocation"):
            yield from _of_devices(spec)
    elif key.namespace:
        made = {
            one.get("name"): one.get("resourceClaimName")
            for _, one in _items(status, "resourceClaimStatuses")
        }
        for path, pod in pod_specs(manifest):
            yield from _of_volumes(path, pod, key.namespace)
            yield from _of_device_claims(path, pod, key.namespace, made)


def _of_devices(spec: Manifest) -> Names:
    start = "spec.spec" if "spec" in spec else "spec"
    devices = _object(_object(spec.get("spec", spec)).get("devices"))
    for index, request in _items(devices, "requests"):
        path = f"{start}.devices.requests[{index}]"
        inner = _object(request.get("exactly", request))
        if name := inner.get("deviceClassName"):
            yield f"{path}.deviceClassName", Key(_DEVICE_CLASS, "", str(name))


def _of_volumes(path: str, pod: Manifest, namespace: str) -> Names:
    for index, volume in _items(pod, "volumes"):
        where = f"{path}.volumes[{index}]"
        if name := _object(volume.get("persistentVolumeClaim")).get("claimName"):
            yield f"{where}.persistentVolumeClaim", Key(CLAIM, namespace, str(name))
        template = _object(volume.get("ephemeral")).get("volumeClaimTemplate")
        if name := _object(_object(template).get("spec")).get("storageClassName"):
            yield f"{where}.ephemeral", Key(STORAGE_CLASS, "", str(name))


def _of_device_claims(
    path: str, pod: Manifest, namespace: str, made: Mapping[Any, Any]
) -> Names:
    for index, entry in _items(pod, "resourceClaims"):
        where = f"{path}.resourceClaims[{index}]"
        if name := entry.get("resourceClaimName") or made.get(entry.get("name")):
            yield where, Key(_DEVICE_CLAIM, namespace, str(name))
        elif name := entry.get("resourceClaimTemplateName"):
            yield where, Key(_TEMPLATE, namespace, str(name))


def _items(holder: Manifest, name: str) -> Iterator[tuple[int, Manifest]]:
    """Yield the objects of a list that may be anything, as nobody checked it."""
    given = holder.get(name)
    for index, one in enumerate(given if isinstance(given, list) else ()):
        if isinstance(one, Mapping):
            yield index, one


def _object(given: Any) -> Manifest:
    return given if isinstance(given, Mapping) else {}
