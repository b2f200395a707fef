"""One object of the cluster: its manifest, its status, and the state of its schedulers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Key(NamedTuple):
    """The name of an object: kind, namespace ("" when cluster-wide), name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind}/{self.namespace}/{self.name}"

    @property
    def path(self) -> str:
        """Return `namespace/name`, or the bare name of a cluster-wide object."""
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


@dataclass(slots=True, kw_only=True)
class Object:
    """An object as stored: everything a stage needs to take it up again.

    `manifest` is the whole document as served (newest version, no status);
    `status` what the API would show; `state` what the stages keep for
    themselves, one entry per stage, plain msgpack values. Writing all objects
    and the header of a world, and loading them again, must change no decision.
    """

    key: Key
    manifest: dict[str, Any]
    status: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def metadata(self) -> dict[str, Any]:
        """Return the manifest's metadata."""
        metadata: dict[str, Any] = self.manifest["metadata"]
        return metadata

    @property
    def spec(self) -> dict[str, Any]:
        """Return the manifest's spec; empty for kinds without one."""
        spec: dict[str, Any] = self.manifest.get("spec") or {}
        return spec

    @property
    def uid(self) -> str:
        """Return the UID, which the world has filled in."""
        return str(self.metadata.get("uid", ""))

    @property
    def labels(self) -> dict[str, str]:
        """Return the labels; empty when there are none."""
        return self.metadata.get("labels") or {}

    @property
    def annotations(self) -> dict[str, str]:
        """Return the annotations; empty when there are none."""
        return self.metadata.get("annotations") or {}
