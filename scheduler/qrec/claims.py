"""Claims of pods in a recording that has none: its pods must not wait for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.qrec.entries import Manifest

#: What a pod holds of a kind -> the kind whose absence takes it out.
_VOLUMES = ("persistentVolumeClaim", "ephemeral")
_CLAIM = "PersistentVolumeClaim"


def has_claims(manifests: Iterable[Manifest]) -> bool:
    """Return whether PersistentVolumeClaims were recorded."""
    return any(manifest["kind"] == _CLAIM for manifest in manifests)


def without_claims(manifest: Manifest) -> Manifest:
    """Return an object without the volumes of its pods that come from claims.

    Itself where there are none. Cost: that of its size, of a Pod that of its volumes.
    """
    if manifest["kind"] == "Pod":
        spec = manifest.get("spec")
        kept = _pod(spec) if isinstance(spec, dict) else spec
        return manifest if kept is spec else {**manifest, "spec": kept}
    found: Manifest = _anything(manifest)
    return found


def _pod(spec: dict[str, Any]) -> dict[str, Any]:
    volumes = spec.get("volumes")
    if not isinstance(volumes, list):
        return spec
    kept = [one for one in volumes if not any(name in one for name in _VOLUMES)]
    return spec if len(kept) == len(volumes) else {**spec, "volumes": kept}


def _anything(value: Any) -> Any:
    if isinstance(value, list):
        items = [_anything(item) for item in value]
        same = all(a is b for a, b in zip(items, value, strict=True))
        return value if same else items
    if not isinstance(value, dict):
        return value
    found = {name: _anything(part) for name, part in value.items()}
    if any(found[name] is not part for name, part in value.items()):
        value = found
    return _pod(value) if "containers" in value else value
