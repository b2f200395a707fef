"""Claims of pods in a recording that lacks them: its pods must not wait for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.recorded.qrec.entries import Manifest

_VOLUMES = ("persistentVolumeClaim", "ephemeral")
_DEVICES = frozenset({"ResourceClaim", "DeviceClass", "ResourceSlice"})


def lacking_claims(manifests: Iterable[Manifest]) -> frozenset[str]:
    """Return the kinds of claims without which the pods are to be taken.

    Those that were not recorded, or not what they are bound to: who may list a
    namespace's claims need not be allowed to list volumes, classes and slices.
    """
    kinds, bound = set(), False
    for manifest in manifests:
        kinds.add(manifest["kind"])
        if manifest["kind"] == "PersistentVolumeClaim":
            bound = bound or bool((manifest.get("spec") or {}).get("volumeName"))
    volumes = {"PersistentVolumeClaim", *(("PersistentVolume",) if bound else ())}
    needed = {"PersistentVolumeClaim": volumes, "ResourceClaim": _DEVICES}
    return frozenset(kind for kind, all_of in needed.items() if not all_of <= kinds)


def without_claims(manifest: Manifest, absent: frozenset[str]) -> Manifest:
    """Return an object without what its pods claim of the absent kinds.

    Itself where there is nothing. Cost: that of its size, of a Pod that of its claims.
    """
    if manifest["kind"] == "Pod":
        spec = manifest.get("spec")
        kept = _pod(spec, absent) if isinstance(spec, dict) else spec
        return manifest if kept is spec else {**manifest, "spec": kept}
    found: Manifest = _anything(manifest, absent)
    return found


def _pod(spec: dict[str, Any], absent: frozenset[str]) -> dict[str, Any]:
    if "ResourceClaim" in absent and spec.get("resourceClaims"):
        spec = {n: part for n, part in spec.items() if n != "resourceClaims"}
    volumes = spec.get("volumes")
    if "PersistentVolumeClaim" not in absent or not isinstance(volumes, list):
        return spec
    kept = [one for one in volumes if not any(name in one for name in _VOLUMES)]
    return spec if len(kept) == len(volumes) else {**spec, "volumes": kept}


def _anything(value: Any, absent: frozenset[str]) -> Any:
    if isinstance(value, list):
        items = [_anything(item, absent) for item in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else items
    if not isinstance(value, dict):
        return value
    found = {name: _anything(part, absent) for name, part in value.items()}
    if any(found[name] is not part for name, part in value.items()):
        value = found
    return _pod(value, absent) if "containers" in value else value
