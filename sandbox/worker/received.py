"""What the watches of a cluster reported, in order, until a tick has it.

A thread per kind watches; the follower takes what came. Where each watch goes on is
known once by what is committed and once by what waits for it.
"""

from __future__ import annotations

import hashlib
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec

from sandbox.following.cluster import Cluster
from sandbox.following.reflector import Reflector
from sandbox.following.resources import Resource
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.problems import GivenUp
from scheduler.model.sentence import Sentence
from scheduler.recorded.qrec.frames import slim
from scheduler.recorded.qrec.reading import Type
from scheduler.recorded.twin.observing import ObservedChange, key_of, version_of

_WAITING = 20_000
Json = dict[str, Any]
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Json).decode


@dataclass(slots=True)
class News:
    """One line of a watch, with the time of its receipt."""

    at_us: int
    type: Type
    kind: str
    object: Json | None
    message: str = ""
    version: str = ""  # where its kind's watch goes on behind it
    kept: bytes = b""  # what is kept of the object; a first list is large

    def manifest(self) -> Json:
        """Return the object as it is kept."""
        return _decode(self.kept)


@dataclass(frozen=True, slots=True)
class Loss:
    """Since when, by the cluster's clock, a kind is not seen, and why."""

    since_us: int
    why: str


@dataclass(slots=True)
class Received:
    """The news of one follower that no tick has yet."""

    cluster: Cluster
    stop: threading.Event
    skew_us: int = 0  # how far the cluster's clock is before ours
    pending: list[News] = field(default_factory=list)
    lost: dict[str, Loss] = field(default_factory=dict)  # by kind; "*": all of them
    watched: set[str] = field(default_factory=set)  # kinds
    versions: dict[str, str] = field(default_factory=dict)  # kind -> resourceVersion
    reached: dict[str, str] = field(default_factory=dict)  # by what is pending
    listing: set[str] = field(default_factory=set)  # kinds whose first list is not here
    seen: queue.Queue[News] = field(default_factory=lambda: queue.Queue(_WAITING))

    def now_us(self) -> int:
        """Return the present instant by the cluster's clock."""
        return time.time_ns() // 1000 + self.skew_us

    def watch(
        self, resource: Resource, known: dict[tuple[str, str], str], *, first: bool
    ) -> None:
        """Begin to watch a kind, of which these versions are known by place."""

        def take(kind: Type, manifest: Json | None, message: str) -> None:
            news = News(
                self.now_us(), kind, resource.kind, manifest, message, reflector.version
            )
            while not self.stop.is_set():
                with suppress(queue.Full):
                    self.seen.put(news, timeout=1)
                    return

        self.watched.add(resource.kind)
        reflector = Reflector(self.cluster, resource, take, self.stop)
        reflector.first = first
        reflector.known = known
        reflector.version = self.versions.get(resource.kind, "")
        name = f"follow-{resource.kind}"
        threading.Thread(target=reflector.run, name=name, daemon=True).start()

    def gather(self, seconds: float) -> None:
        """Take what comes within these seconds."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0 and not self.stop.is_set():
            try:
                self._take(self.seen.get(timeout=rest))
            except queue.Empty:
                return

    def _take(self, news: News) -> None:
        if news.version and news.type != "LOST":
            self.reached[news.kind] = news.version
        if news.type == "LOST":
            self.lost[news.kind] = Loss(news.at_us, news.message)
            self.listing.discard(news.kind)
        elif news.type in ("BACK", "SYNCED"):
            self.lost.pop(news.kind, None)
            self.listing.discard(news.kind)
        elif news.object is not None:
            news.kept, news.object = _encode(slim(news.object)), None
            self.pending.append(news)

    def newest(self) -> dict[str, str]:
        """Return where each kind's watch goes on behind what is pending now."""
        self.versions = {"": "followed", **self.versions, **self.reached}
        return self.versions

    def away_since_us(self) -> int | None:
        """Return since when nothing of the cluster is seen; None while a kind is."""
        if self.lost and ("*" in self.lost or self.watched <= self.lost.keys()):
            return max(one.since_us for one in self.lost.values())
        return None

    def missing(self) -> list[Sentence]:
        """Return what is not seen now, since when and why; one sentence if it is all."""
        away_us = self.away_since_us()
        if away_us is not None:
            why = next(one.why for one in self.lost.values() if one.since_us == away_us)
            since = _second(away_us)
            return [GivenUp.UNREACHED.said(since=since, problem=why)]
        return [
            GivenUp.UNSEEN.said(kind=kind, since=_second(one.since_us), problem=one.why)
            for kind, one in sorted(self.lost.items())
        ]


def _second(us: int) -> str:
    return durations.stamp_text(us - us % 1_000_000)


# ------------------------------------------------------------------------
# Which news a world has not seen: each version once, and no heartbeat of a Node.


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
