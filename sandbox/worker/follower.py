"""Follows a cluster into its sandbox: what is seen becomes ticks, each committed once.

Who follows is written in the sandbox's row; a follower that finds another name there
ends. What was committed is known by the objects' resourceVersions, so whoever takes
over goes on from there: the watches begin at the versions that were committed last, and
what a watch cannot give any more is listed and compared.
"""

from __future__ import annotations

import hashlib
import logging
import queue
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction

from sandbox.actions.sessions import EditSession, open_session
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import BusyError, OvertakenError, SandboxError
from sandbox.following.cluster import Cluster, ClusterError
from sandbox.following.reflector import Reflector
from sandbox.following.resources import Resource, served
from sandbox.models import Sandbox
from sandbox.twins import clusters
from sandbox.world import leases
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Observe, perform
from sandbox.world.seen import pack
from scheduler import durations
from scheduler.qrec.entries import Type
from scheduler.qrec.slimming import slim
from scheduler.twin.observing import ObservedChange, key_of, version_of
from scheduler.world import World

logger = logging.getLogger(__name__)

#: Without news a tick is committed all the same, so that everybody sees that it lives.
HEARTBEAT_S = 2.0
#: Whether the owner may still follow it is looked at this often, as for every stream.
RIGHT_EVERY_S = 4.0
#: A follower that was not heard of for so long is replaced.
SILENT_S = 6.0
#: The first lists are waited for so long; what a cluster does not answer comes later.
FIRST_LISTS_S = 30.0
_WAITING = 20_000
Json = dict[str, Any]
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Json).decode


class SupersededError(Exception):
    """Somebody else follows now, or nobody is to."""


@dataclass(slots=True)
class _News:
    """One line of a watch, with the time of its receipt."""

    at_us: int
    type: Type
    kind: str
    object: Json | None
    message: str = ""
    version: str = ""  # where its kind's watch goes on behind it
    kept: bytes = b""  # what is kept of the object; a first list is large


@dataclass(slots=True)
class Follower:
    """One process's following of one cluster, until it is superseded or stopped."""

    sandbox_id: str
    token: str
    cluster: Cluster
    stop: threading.Event = field(default_factory=threading.Event)
    skew_us: int = 0
    pending: list[_News] = field(default_factory=list)
    lost: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)  # kind -> resourceVersion
    reached: dict[str, str] = field(default_factory=dict)  # by what is pending
    listing: set[str] = field(default_factory=set)  # kinds whose first list is not here
    nodes: dict[str, bytes] = field(default_factory=dict)  # digests, as committed
    staged: dict[str, bytes] = field(default_factory=dict)  # as of this tick
    committed_at: float = 0.0
    checked_at: float = 0.0
    seen: queue.Queue[_News] = field(default_factory=lambda: queue.Queue(_WAITING))

    def run(self) -> None:
        """Follow until superseded. A cluster that is away is waited for."""
        try:
            self._follow()
        except SupersededError:
            logger.info("followed elsewhere", extra={"sandbox": self.sandbox_id})
        except (ClusterError, SandboxError, DatabaseError) as error:
            # Whoever takes over in a few seconds says it on the page.
            logger.warning("not followed: %s", error)
        finally:
            self.stop.set()
            self.cluster.end_watches()
            connection.close()

    def _follow(self) -> None:
        sandbox = Sandbox.objects.get(pk=self.sandbox_id)
        resources = self._resources(sandbox)
        first = not sandbox.source.get("versions")
        self.versions = dict(sandbox.source.get("versions") or {})
        known = {} if first else self._known()
        self.listing = {one.kind for one in resources} if first else set()
        for resource in resources:
            self._begin(resource, known.get(resource.kind, {}), first=first)
        until = time.monotonic() + FIRST_LISTS_S
        while not self.stop.is_set():
            self._check_right(sandbox)
            self._gather(sandbox.tick_ms / 1000)
            if self.listing and time.monotonic() < until:
                self._alive()
                continue
            if self.pending or time.monotonic() - self.committed_at > HEARTBEAT_S:
                self._commit(listed=first)
                first, self.listing = False, set()

    def _check_right(self, sandbox: Sandbox) -> None:
        """End once the owner may not follow the cluster any more. Raises NotFoundError."""
        if time.monotonic() < self.checked_at + RIGHT_EVERY_S:
            return
        self.checked_at = time.monotonic()
        owner = User.objects.get(pk=sandbox.owner_id)
        clusters.of_owner(sandbox.cluster, owner)

    def _resources(self, sandbox: Sandbox) -> list[Resource]:
        """Return the kinds to follow; a cluster that is away is said and waited for."""
        while not self.stop.is_set():
            try:
                found, _ = served(self.cluster)
                self.skew_us = 1000 * self.cluster.skew_ms()
            except ClusterError as error:
                self.lost["*"] = error.message
                self._commit(listed=False)
                self.stop.wait(HEARTBEAT_S)
                self.lost.pop("*", None)
            else:
                return found
        raise SupersededError

    def _known(self) -> dict[str, dict[tuple[str, str], str]]:
        """Return the versions of what was committed: kind -> place -> version."""
        found: dict[str, dict[tuple[str, str], str]] = {}
        with self._session() as session:
            for key, obj in session.loaded.world.objects.items():
                if version := version_of(obj):
                    places = found.setdefault(key.kind, {})
                    places[key.namespace, key.name] = version
        return found

    def _begin(
        self, resource: Resource, known: dict[tuple[str, str], str], *, first: bool
    ) -> None:
        def take(kind: Type, manifest: Json | None, message: str) -> None:
            at_us = time.time_ns() // 1000 + self.skew_us
            news = _News(
                at_us, kind, resource.kind, manifest, message, reflector.version
            )
            while not self.stop.is_set():
                with suppress(queue.Full):
                    self.seen.put(news, timeout=1)
                    return

        reflector = Reflector(self.cluster, resource, take, self.stop)
        reflector.first = first
        reflector.known = known
        reflector.version = self.versions.get(resource.kind, "")
        name = f"follow-{resource.kind}"
        threading.Thread(target=reflector.run, name=name, daemon=True).start()

    def _gather(self, seconds: float) -> None:
        """Take what comes within a tick."""
        end = time.monotonic() + seconds
        while (rest := end - time.monotonic()) > 0 and not self.stop.is_set():
            try:
                self._take(self.seen.get(timeout=rest))
            except queue.Empty:
                return

    def _take(self, news: _News) -> None:
        if news.version and news.type != "LOST":
            self.reached[news.kind] = news.version
        if news.type == "LOST":
            self.lost[news.kind] = news.message
            self.listing.discard(news.kind)
        elif news.type in ("BACK", "SYNCED"):
            self.lost.pop(news.kind, None)
            self.listing.discard(news.kind)
        elif news.object is not None:
            news.kept, news.object = _encode(slim(news.object)), None
            self.pending.append(news)

    def _commit(self, *, listed: bool) -> None:
        """Commit what was seen as one tick; what cannot be now is kept for the next."""
        try:
            with self._session() as session:
                self._write(session, listed=listed)
        except (OvertakenError, BusyError, DatabaseError) as error:
            logger.warning("tick not committed, again: %s", error)
            self.stop.wait(0.2)
            return
        self.pending.clear()
        self.nodes.update(self.staged)
        self.committed_at = time.monotonic()

    def _write(self, session: EditSession, *, listed: bool) -> None:
        sandbox, world = session.sandbox, session.loaded.world
        start_us = durations.stamp_us(sandbox.source["startTime"])
        now_us = time.time_ns() // 1000 + self.skew_us
        now_ms = max((now_us - start_us) // 1000, world.context.now_ms + 1)
        tick = max(-(-now_ms // sandbox.tick_ms), sandbox.tick + 1)
        seen = pack(list(self._fresh(world, start_us, now_ms)))
        first_us = min((news.at_us for news in self.pending), default=now_us)
        source = {
            **sandbox.source,
            "versions": self._newest() if listed or self.versions else {},
            "lagMs": max(0, now_us - first_us) // 1000,
        }
        operation = Observe(tick, now_ms, seen, listed=listed)
        perform(world, operation)
        sandbox.source = source
        lost = [
            f"{kind} not seen now: {why}" for kind, why in sorted(self.lost.items())
        ]
        problem = "; ".join([*lost, *world.problems()])
        with transaction.atomic():
            session.commit(
                CommitRequest(
                    operation=operation,
                    columns={
                        "problem": problem[:1000],
                        "due_at": DatabaseTime() + SILENT_S,
                    },
                )
            )
            mine = Sandbox.objects.filter(pk=sandbox.pk, follower=self.token)
            if mine.update(source=source) != 1:
                raise OvertakenError("followed elsewhere")

    def _fresh(
        self, world: World, start_us: int, now_ms: int
    ) -> Iterable[ObservedChange]:
        """Yield what is not in the world yet: what was committed comes once only."""
        versions: dict[Any, str] = {}
        self.staged = {}
        last_ms = world.context.now_ms
        for news in self.pending:
            manifest = _decode(news.kept)
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

    def _is_heartbeat(self, manifest: Json) -> bool:
        """Return whether a Node reports what it reported before."""
        if manifest["kind"] != "Node":
            return False
        metadata = {**manifest["metadata"], "resourceVersion": ""}
        body = msgspec.json.encode({**manifest, "metadata": metadata})
        digest = hashlib.blake2b(body, digest_size=8).digest()
        before = self.staged.get(metadata["name"], self.nodes.get(metadata["name"]))
        self.staged[metadata["name"]] = digest
        return before == digest

    def _newest(self) -> dict[str, str]:
        """Return where each kind's watch goes on behind what is committed now."""
        self.versions = {"": "followed", **self.versions, **self.reached}
        return self.versions

    def _alive(self) -> None:
        mine = Sandbox.objects.filter(
            pk=self.sandbox_id, follower=self.token, playing=True
        )
        if mine.update(due_at=DatabaseTime() + SILENT_S) != 1:
            raise SupersededError

    @contextmanager
    def _session(self) -> Iterator[EditSession]:
        """Hold the sandbox while this follower is the one that is named there."""
        with leases.claimed(self.sandbox_id) as claim, open_session(claim) as session:
            if session.sandbox.follower != self.token or not session.sandbox.playing:
                raise SupersededError
            yield session
