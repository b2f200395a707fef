"""Watches: a stream of what changed, one JSON line each, from a resourceVersion on.

A client gets every object that changed, once per state that it could have read:
states that came and went between two looks are left out, as nobody who lists
and watches may count on them. A resourceVersion that is too old is 410 Expired.
Source: <https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes>
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
from channels.db import database_sync_to_async
from django.db import DatabaseError
from django.http import StreamingHttpResponse
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.serializers import ValidationError

from api.cluster import events, reading
from api.cluster.resources import Resource
from api.cluster.tables import table
from api.cluster.versions import in_version
from api.views.base import clamped_number, flag
from sandbox.base.errors import GoneError, SandboxError
from sandbox.live import rights
from sandbox.live.people import Asker
from sandbox.models import Sandbox
from sandbox.world import history
from scheduler.model.amounts import is_whole

LOOK_EVERY_S = 0.2
#: Watches of one sandbox that look within this time share one question.
SHARED_S = 0.05
BOOKMARK_EVERY_S = 5.0
MOST_SECONDS = 3600
#: A watch may begin this many revisions back; who is later lists again.
MOST_BEHIND = 512
#: Watches of one process at a time.
MOST_WATCHES = 256

_open = 0
_Asked = tuple[float, asyncio.Task[int | None]]  # monotonic seconds, the answer
_newest: dict[tuple[asyncio.AbstractEventLoop, str], _Asked] = {}
_encode = msgspec.json.Encoder().encode
NamespacedName = tuple[str, str]  # namespace, name
Event = dict[str, Any]


class Watch:
    """What one client watches, and what it was sent already."""

    def __init__(
        self, request: Request, sandbox: Sandbox, resource: Resource, namespace: str
    ) -> None:
        self.sandbox = sandbox
        session = getattr(request, "session", None)
        self.asker = Asker.of_request(request.user.pk or 0, request.auth, session)
        self.resource = resource
        self.namespace = namespace
        self.test = reading.test_of(request)
        self.wanted, self.include = reading.shape_of(request)
        self.seconds = clamped_number(
            request, "timeoutSeconds", 1800, most=MOST_SECONDS
        )
        self.bookmarks = flag(request, "allowWatchBookmarks")
        self.revision = -1  # looked at last
        self.known: dict[NamespacedName, int] = {}  # shown, with its revision
        self.gone: dict[NamespacedName, Event] = {}  # the shown ones' last metadata
        self._begin(request.query_params.get("resourceVersion", ""))

    def _begin(self, version: str) -> None:
        if version in ("", "0"):
            return
        if not is_whole(version) or len(version) > 18:
            problem = f"expected a resourceVersion of a list, got {version!r}"
            raise ValidationError({"resourceVersion": problem})
        since, present = int(version), self.sandbox.revision
        if not 0 <= present - since <= MOST_BEHIND:
            raise GoneError(f"too old resource version: {since} ({present})")
        if self.resource.is_events:
            self.revision = since
            return
        kind = self.resource.kind.kind
        world = history.world_at(self.sandbox, since)
        for obj in list(world.objects.values()):
            if obj.key.kind == kind and self.namespace in ("", obj.key.namespace):
                document = {**obj.manifest, "status": obj.status}
                if self._picks(in_version(document, self.resource)):
                    place = (obj.key.namespace, obj.key.name)
                    self.known[place] = since
                    self.gone[place] = dict(obj.manifest["metadata"])

    def _picks(self, document: Event) -> bool:
        return self.test is None or self.test(document)

    def look(self) -> list[Event]:
        """Return what changed since the last look. Raises SandboxError when gone."""
        sandbox = Sandbox.objects.filter(pk=self.sandbox.pk).first()
        if sandbox is None:
            raise GoneError("the sandbox was deleted")
        if sandbox.revision == self.revision:
            return []
        before, self.sandbox, self.revision = self.revision, sandbox, sandbox.revision
        if self.resource.is_events:
            return list(self._happened(before))
        return list(self._changes())

    def _happened(self, since: int) -> Iterator[Event]:
        """Yield what happened after a revision; Events are added and never change."""
        for document in events.documents(self.sandbox, self.namespace):
            late = int(document["metadata"]["resourceVersion"]) > since
            if late and self._picks(document):
                yield self._event("ADDED", document)

    def _changes(self) -> Iterator[Event]:
        present = reading.rows_of(sandbox_id=self.sandbox.pk, **self._where())
        heads = {
            (namespace, name): revision
            for namespace, name, revision in present.values_list(
                "namespace", "name", "revision"
            )
        }
        fresh = [p for p, revision in heads.items() if revision > self.known.get(p, -1)]
        yield from self._fresh(fresh, present)
        # Last: they bear the newest version, and who breaks off goes on behind it.
        for place in [place for place in self.known if place not in heads]:
            yield self._forget(place, self.revision)

    def _where(self) -> dict[str, Any]:
        return {"resource": self.resource, "namespace": self.namespace}

    def _fresh(self, places: list[NamespacedName], present: Any) -> Iterator[Event]:
        """Yield the changed objects, the oldest first; by one query when they are many."""
        wanted = set(places)
        if not wanted:
            return
        rows = present
        if len(wanted) < 200:
            rows = present.filter(name__in={name for _, name in wanted})
        for row in rows.order_by("revision", "namespace", "name").iterator():
            place = (row.namespace, row.name)
            if place not in wanted:
                continue
            document = reading.document_of(row, self.resource)
            if self._picks(document):
                known = place in self.known
                self.known[place] = row.revision
                self.gone[place] = document["metadata"]
                yield self._event("MODIFIED" if known else "ADDED", document)
            elif place in self.known:
                yield self._forget(place, row.revision)

    def _forget(self, place: NamespacedName, revision: int) -> Event:
        del self.known[place]
        metadata = {**self.gone.pop(place), "resourceVersion": str(revision)}
        document = {
            "apiVersion": self.resource.group_version,
            "kind": self.resource.kind.kind,
            "metadata": metadata,
            "spec": {},
        }
        return self._event("DELETED", document)

    def _event(self, type_: str, document: Event) -> Event:
        if self.wanted == "Table":
            document = table(
                self.resource.kind.kind,
                [document],
                now_us=reading.now_us(self.sandbox),
                include=self.include,
                metadata={"resourceVersion": document["metadata"]["resourceVersion"]},
            )
        return {"type": type_, "object": document}

    def bookmark(self) -> Event:
        """Return a sign of life that says how far the client is."""
        document = {
            "apiVersion": self.resource.group_version,
            "kind": self.resource.kind.kind,
            "metadata": {"resourceVersion": str(self.revision)},
        }
        return {"type": "BOOKMARK", "object": document}


def watch_response(watch: Watch) -> StreamingHttpResponse:
    """Answer with the stream. Raises Throttled when too many are open."""
    if _open >= MOST_WATCHES:
        raise exceptions.Throttled(wait=5, detail="too many watches are open")
    return StreamingHttpResponse(_lines(watch), content_type="application/json")


async def _lines(watch: Watch) -> AsyncIterator[bytes]:
    global _open
    _open += 1
    try:
        async for event in _events(watch):
            yield _encode(event) + b"\n"
    finally:
        _open -= 1


async def _events(watch: Watch) -> AsyncIterator[Event]:
    """Look until the time is over; a client that goes away ends this too."""
    right = asyncio.create_task(rights.lost(watch.asker, watch.sandbox.pk))
    try:
        async for event in _while_allowed(watch, right):
            yield event
    finally:
        right.cancel()


async def _revision(sandbox_id: str) -> int | None:
    """Return a sandbox's revision, not older than SHARED_S; None when it is gone."""
    now = time.monotonic()
    place = asyncio.get_running_loop(), sandbox_id
    asked = _newest.get(place)
    if asked is None or now - asked[0] > SHARED_S:
        for old in [one for one, (at, _) in _newest.items() if now - at > 1]:
            del _newest[old]
        asked = now, asyncio.create_task(_read_revision(sandbox_id))
        _newest[place] = asked
    return await asyncio.shield(asked[1])


@database_sync_to_async
def _read_revision(sandbox_id: str) -> int | None:
    row = Sandbox.objects.filter(pk=sandbox_id).values_list("revision", flat=True)
    return row.first()


async def _while_allowed(
    watch: Watch, right: asyncio.Task[str]
) -> AsyncIterator[Event]:
    end = time.monotonic() + watch.seconds
    marked = time.monotonic()
    look = database_sync_to_async(watch.look)
    while time.monotonic() < end:
        try:
            fresh = await _revision(watch.sandbox.pk) != watch.revision
            found = await look() if fresh else []
        except (SandboxError, DatabaseError) as error:
            yield {"type": "ERROR", "object": _expired(str(error))}
            return
        if right.done():
            yield {"type": "ERROR", "object": _ended(right.result())}
            return
        for event in found:
            yield event
        if watch.bookmarks and time.monotonic() - marked > BOOKMARK_EVERY_S:
            marked = time.monotonic()
            yield watch.bookmark()
        await asyncio.sleep(LOOK_EVERY_S)


def _ended(message: str) -> Event:
    return {**_expired(message), "reason": "Forbidden", "code": 403}


def _expired(message: str) -> Event:
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": "Expired",
        "code": 410,
    }
