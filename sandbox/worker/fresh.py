"""Which news a world has not seen: each version once, and no heartbeat of a Node."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sandbox.worker.received import News
from scheduler.engine.world import World
from scheduler.recorded.twin.observing import ObservedChange, key_of, version_of


@dataclass(slots=True)
class FreshNews:
    """What was committed of Nodes, so that a report without changes is dropped."""

    nodes: dict[str, bytes] = field(default_factory=dict)  # digests, as committed
    staged: dict[str, bytes] = field(default_factory=dict)  # as of this tick

    def changes(
        self, pending: Iterable[News], world: World, start_us: int, now_ms: int
    ) -> Iterator[ObservedChange]:
        """Yield what is not in the world yet: what was committed comes once only."""
        versions: dict[Any, str] = {}
        self.staged = {}
        last_ms = world.context.now_ms
        for news in pending:
            manifest = news.manifest()
            key, gone = key_of(manifest), news.type == "DELETED"
            known = world.objects.get(key)
            before = versions.get(key, version_of(known) if known else "")
            version = manifest["metadata"].get("resourceVersion", "")
            if (gone and not before) or (not gone and version and before == version):
                continue
            versions[key] = "" if gone else version
            if not gone and self._is_heartbeat(manifest):
                continue
            at_ms = (news.at_us - start_us) // 1000
            yield ObservedChange(min(max(at_ms, last_ms), now_ms), manifest, gone)

    def _is_heartbeat(self, manifest: dict[str, Any]) -> bool:
        """Return whether a Node reports what it reported before."""
        if manifest["kind"] != "Node":
            return False
        metadata = {**manifest["metadata"], "resourceVersion": ""}
        body = msgspec.json.encode({**manifest, "metadata": metadata})
        digest = hashlib.blake2b(body, digest_size=8).digest()
        before = self.staged.get(metadata["name"], self.nodes.get(metadata["name"]))
        self.staged[metadata["name"]] = digest
        return before == digest

    def committed(self) -> None:
        """Note that the changes which were yielded last are committed."""
        self.nodes.update(self.staged)
