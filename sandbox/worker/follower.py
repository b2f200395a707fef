"""Follows a cluster into its sandbox: what is seen becomes ticks, each committed once.

Who follows is written in the sandbox's row; a follower that finds another name there
ends. What was committed is known by the objects' resourceVersions, so whoever takes
over goes on from there: the watches begin at the versions that were committed last, and
what a watch cannot give any longer is listed and compared.
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
from sandbox.base.refusals import NotNow
from sandbox.following.cluster import Cluster, ClusterError
from sandbox.following.reflector import Reflector
from sandbox.following.resources import Resource, served
from sandbox.models import Sandbox
from sandbox.models.fields import Sayings
from sandbox.twins import clusters
from sandbox.world import leases
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Observe, perform
from sandbox.world.seen import pack
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.problems import GivenUp
from scheduler.model.problems.forms import joined
from scheduler.model.sentence import Sentence, shortened
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


# ------------------------------------------------------------------------
# Follows a cluster into its sandbox: what is seen becomes ticks, each committed once.

logger = logging.getLogger(__name__)

#: Without news a tick is committed all the same, so that everybody sees that it lives.
HEARTBEAT_S = 2.0
#: Whether the owner may still follow it is looked at this often, as for every stream.
RIGHT_EVERY_S = 4.0
#: A follower that was not heard of for so long is replaced.
SILENT_S = 6.0
#: The first lists are waited for so long; what a cluster does not answer comes later.
FIRST_LISTS_S = 30.0


class SupersededError(Exception):
    """Somebody else follows now, or nobody is to."""


@dataclass(slots=True)
class Follower:
    """One process's following of one cluster, until it is superseded or stopped."""

    sandbox_id: str
    token: str
    cluster: Cluster
    stop: threading.Event = field(default_factory=threading.Event)
    received: Received = field(init=False)
    fresh: FreshNews = field(default_factory=FreshNews)
    committed_at: float = 0.0
    checked_at: float = 0.0

    def __post_init__(self) -> None:
        """Begin with nothing received."""
        self.received = Received(self.cluster, self.stop)

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
        received = self.received
        received.versions = dict(sandbox.source.get("versions") or {})
        known = {} if first else self._known()
        received.listing = {one.kind for one in resources} if first else set()
        for resource in resources:
            received.watch(resource, known.get(resource.kind, {}), first=first)
        until = time.monotonic() + FIRST_LISTS_S
        while not self.stop.is_set():
            self._check_right(sandbox)
            received.gather(sandbox.tick_ms / 1000)
            if received.listing and time.monotonic() < until:
                mine = Sandbox.objects.filter(
                    pk=self.sandbox_id, follower=self.token, playing=True
                )
                if mine.update(due_at=DatabaseTime() + SILENT_S) != 1:
                    raise SupersededError
                continue
            if received.pending or time.monotonic() - self.committed_at > HEARTBEAT_S:
                self._commit(listed=first)
                first, received.listing = False, set()

    def _check_right(self, sandbox: Sandbox) -> None:
        """End once the owner may not follow the cluster any longer. Raises NotFoundError."""
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
                self.received.skew_us = 1000 * self.cluster.skew_ms()
            except ClusterError as error:
                loss = Loss(self.received.now_us(), error.message)
                self.received.lost.setdefault("*", loss)
                self._commit(listed=False)
                self.stop.wait(HEARTBEAT_S)
            else:
                self.received.lost.pop("*", None)
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

    def _commit(self, *, listed: bool) -> None:
        """Commit what was seen as one tick; what cannot be now is kept for the next."""
        try:
            with self._session() as session:
                self._write(session, listed=listed)
        except (OvertakenError, BusyError, DatabaseError) as error:
            logger.warning("tick not committed, again: %s", error)
            self.stop.wait(0.2)
            return
        self.received.pending.clear()
        self.fresh.committed()
        self.committed_at = time.monotonic()

    def _write(self, session: EditSession, *, listed: bool) -> None:
        sandbox, world = session.sandbox, session.loaded.world
        received, now_us = self.received, self.received.now_us()
        start_us = durations.stamp_us(sandbox.source["startTime"])
        now_ms = max((now_us - start_us) // 1000, world.context.now_ms + 1)
        tick = max(-(-now_ms // sandbox.tick_ms), sandbox.tick + 1)
        seen = pack(list(self.fresh.changes(received.pending, world, start_us, now_ms)))
        away_us = received.away_since_us() or now_us
        first_us = min((news.at_us for news in received.pending), default=away_us)
        source = {
            **sandbox.source,
            "versions": received.newest() if listed or received.versions else {},
            "lagMs": max(0, now_us - first_us) // 1000,
        }
        operation = Observe(tick, now_ms, seen, listed=listed)
        perform(world, operation)
        sandbox.source = source
        columns = {"problem": self._problem(world), "due_at": DatabaseTime() + SILENT_S}
        with transaction.atomic():
            session.commit(CommitRequest(operation=operation, columns=columns))
            mine = Sandbox.objects.filter(pk=sandbox.pk, follower=self.token)
            if mine.update(source=source) != 1:
                raise OvertakenError(NotNow.ELSEWHERE.said())

    def _problem(self, world: World) -> Sayings:
        """Return what is not seen now, and what the engine gave up on."""
        found = [*self.received.missing(), *world.problems()]
        return Sayings([shortened(joined(found), 1000)] if found else [])

    @contextmanager
    def _session(self) -> Iterator[EditSession]:
        """Hold the sandbox while this follower is the one that is named there."""
        with leases.claimed(self.sandbox_id) as claim, open_session(claim) as session:
            if session.sandbox.follower != self.token or not session.sandbox.playing:
                raise SupersededError
            yield session
