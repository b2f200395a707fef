"""Claims of pods in a recording that has none: its pods must not wait for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.qrec.entries import Manifest

_VOLUMES = ("persistentVolumeClaim", "ephemeral")
KINDS = frozenset({"PersistentVolumeClaim", "ResourceClaim"})


def recorded_claims(manifests: Iterable[Manifest]) -> set[str]:
    """Return which kinds of claims were recorded."""
    return {manifest["kind"] for manifest in manifests} & KINDS


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
