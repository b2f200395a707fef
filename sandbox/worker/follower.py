"""Follows a cluster into its sandbox: what is seen becomes ticks, each committed once.

Who follows is written in the sandbox's row; a follower that finds another name there
ends. What was committed is known by the objects' resourceVersions, so whoever takes
over goes on from there: the watches begin at the versions that were committed last, and
what a watch cannot give any longer is listed and compared.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import DatabaseError, connection, transaction

from sandbox.actions.sessions import EditSession, open_session
from sandbox.base.database_time import DatabaseTime
from sandbox.base.errors import BusyError, OvertakenError, SandboxError
from sandbox.base.refusals import NotNow
from sandbox.following.cluster import Cluster, ClusterError
from sandbox.following.resources import Resource, served
from sandbox.models import Sandbox
from sandbox.models.fields import Sayings
from sandbox.twins import clusters
from sandbox.worker.received import FreshNews, Loss, Received
from sandbox.world import leases
from sandbox.world.commits import CommitRequest
from sandbox.world.operations import Observe, perform
from sandbox.world.seen import pack
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.problems.forms import joined
from scheduler.model.sentence import shortened
from scheduler.recorded.twin.observing import version_of

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
