"""Watches: a stream of what changed, one JSON line each, from a resourceVersion on.

A client gets every object that changed, once per state that it could have read:
states that came and went between two looks are left out, as nobody who lists
and watches may count on them. A resourceVersion that is too old is 410 Expired.
Source: <https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes>
"""

from __future__ import annotations

import asyncio
import copy
import time
import weakref
from collections.abc import AsyncIterator, Iterator
from typing import Any

import msgspec
from channels.db import database_sync_to_async
from django.db import DatabaseError
from django.db.models import Q
from django.http import StreamingHttpResponse
from rest_framework import exceptions
from rest_framework.request import Request

from api.cluster import ended, events, reading, refusals
from api.cluster.controlled import Owners
from api.cluster.presenting import bare
from api.cluster.resources import Resource, in_version
from api.cluster.tables import table
from api.views.base import flag
from sandbox.access import rights
from sandbox.access.people import Asker
from sandbox.base.errors import GoneError, SandboxError
from sandbox.models import Sandbox
from sandbox.world import history

LOOK_EVERY_S = 0.2
#: Watches of one sandbox that look within this time share one question.
SHARED_S = 0.05
BOOKMARK_EVERY_S = 60.0
BOOKMARK_BEFORE_END_S = 2.0
USUAL_SECONDS = 1800
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


class _State:
    """An object as it was last shown, packed; watches that showed it share it."""

    __slots__ = ("__weakref__", "packed", "revision")

    def __init__(self, document: Event, revision: int) -> None:
        self.packed = msgspec.msgpack.encode(document)
        self.revision = revision

    def document(self) -> Event:
        """Return the object."""
        found: Event = msgspec.msgpack.decode(self.packed)
        return found


_states: weakref.WeakValueDictionary[tuple[Any, ...], _State] = (
    weakref.WeakValueDictionary()
)


class Watch:
    """What one client watches, and what it was sent already."""

    def __init__(
        self,
        request: Request,
        sandbox: Sandbox,
        resource: Resource,
        namespace: str,
        name: str = "",
    ) -> None:
        self.sandbox = sandbox
        session = getattr(request, "session", None)
        self.asker = Asker.of_request(request.user.pk or 0, request.auth, session)
        self.resource = resource
        self.namespace = namespace
        self.test = reading.test_of(request, resource)
        self.name = name  # "" watches all of them
        self.first = False  # whether the next look is the first, at what is there
        self.wanted, self.include = reading.shape_of(request)
        given = reading.number_of(request, "timeoutSeconds")
        self.seconds = min(given, MOST_SECONDS) if given > 0 else USUAL_SECONDS
        if request.query_params.get("continue"):
            raise refusals.invalid_options(
                "ListOptions", [_forbidden("continue", _NO_PARTS)]
            )
        self.bookmarks = flag(request, "allowWatchBookmarks")
        self.revision = -1  # looked at last
        self.known: dict[NamespacedName, _State] = {}  # shown
        self.over: dict[NamespacedName, str] = {}  # ended pod of a Job -> its uid
        self.refused: Event | None = None  # said in the stream, as servers do
        self.closing = False  # whether a bookmark ends the first events
        self.columns = True  # whether a table still has to say its columns
        self._begin(request)

    def _begin(self, request: Request) -> None:
        version = request.query_params.get("resourceVersion", "")
        first = _initial_events(request)
        reading.check_version(version, self.sandbox)
        self.closing = first is True and self.bookmarks
        if first or (first is None and version in ("", "0")):
            self.first = True
            return
        present = self.sandbox.revision
        since = present if version in ("", "0") else int(version)
        if present - since > MOST_BEHIND:
            said = f"too old resource version: {since} ({present})"
            self.refused = {"type": "ERROR", "object": _expired(said)}
            return
        self._skip(since)

    def _skip(self, since: int) -> None:
        """Take what was there at a revision for shown."""
        self.revision = since
        if self.resource.is_events:
            return
        self.revision = -1 if since < self.sandbox.revision else since
        kind = self.resource.kind.kind
        world = history.world_at(self.sandbox, since)
        owners = Owners.of_world(world)
        for obj in list(world.objects.values()):
            if obj.key.kind == kind and self.namespace in ("", obj.key.namespace):
                kept = copy.deepcopy(obj.manifest)
                if obj.status:
                    kept["status"] = copy.deepcopy(obj.status)
                kept = in_version(kept, self.resource)
                document = reading.shown(kept, self.resource, owners)
                if self._picks(document):
                    place = (obj.key.namespace, obj.key.name)
                    self._show(place, document, since)
        for _ in self._ended(Q(revision__lte=since)):
            pass

    def _show(self, place: NamespacedName, document: Event, revision: int) -> None:
        key = (self.sandbox.pk, self.resource.group_version, self.resource.kind.kind)
        at = (*key, *place, revision)
        state = _states.get(at)
        if state is None:
            _states[at] = state = _State(document, revision)
        self.known[place] = state

    def _picks(self, document: Event) -> bool:
        named = self.name in ("", document["metadata"]["name"])
        return named and (self.test is None or self.test(document))

    def look(self) -> list[Event]:
        """Return what changed since the last look. Raises SandboxError when gone."""
        sandbox = Sandbox.objects.filter(pk=self.sandbox.pk).first()
        if sandbox is None:
            raise GoneError("the sandbox was deleted")
        found: list[Event] = []
        if sandbox.revision != self.revision:
            before, self.revision = self.revision, sandbox.revision
            self.sandbox = sandbox
            events_ = (
                self._happened(before)
                if self.resource.is_events
                else self._changes(before)
            )
            found = list(events_)
        if self.closing:
            self.closing = False
            found.append(self.bookmark(ends=True))
        return found

    def _happened(self, since: int) -> Iterator[Event]:
        """Yield what happened after a revision; Events are added and never change."""
        for document in events.documents(self.sandbox, self.namespace):
            late = int(document["metadata"]["resourceVersion"]) > since
            if late and self._picks(document):
                yield self._event("ADDED", document)

    def _ended(self, changed: Q) -> Iterator[Event]:
        """Yield the pods that ended, of Jobs that changed: they stay with their Job."""
        if self.resource.kind.kind != "Pod":
            return
        jobs = ended.jobs_with_some(self.sandbox, self.namespace, changed)
        owners = Owners.stored(self.sandbox.pk)
        for job, key, kept in ended.documents(self.sandbox, jobs, owners):
            place = (key.namespace, key.name)
            is_new = place not in self.over
            self.over[place] = job
            if not is_new:
                continue
            document = reading.shown(kept, self.resource, owners)
            known = place in self.known
            if self._picks(document):
                version = int(document["metadata"]["resourceVersion"])
                self._show(place, document, version)
                yield self._event("MODIFIED" if known else "ADDED", document)
            elif known:
                yield self._forget(place, self.revision)

    def _changes(self, before: int) -> Iterator[Event]:
        yield from self._ended(Q(revision__gt=before))
        present = reading.rows_of(sandbox_id=self.sandbox.pk, **self._where())
        heads = {
            (namespace, name): revision
            for namespace, name, revision in present.values_list(
                "namespace", "name", "revision"
            )
        }
        fresh = [p for p, revision in heads.items() if revision > self._seen(p)]
        yield from self._fresh(fresh, present)
        # Last: they bear the newest version, and who breaks off goes on behind it.
        gone = [place for place in self.known if place not in heads]
        jobs = ended.uids_of_jobs(self.sandbox) if self.over and gone else set()
        for place in gone:
            if self.over.get(place) not in jobs:
                self.over.pop(place, None)
                yield self._forget(place, self.revision)

    def _seen(self, place: NamespacedName) -> int:
        state = self.known.get(place)
        return -1 if state is None else state.revision

    def _where(self) -> dict[str, Any]:
        return {"resource": self.resource, "namespace": self.namespace}

    def _fresh(self, places: list[NamespacedName], present: Any) -> Iterator[Event]:
        """Yield the changed objects, the oldest first; by one query when they are many.

        What is there at the beginning comes in the order of its names.
        """
        wanted = set(places)
        if not wanted:
            return
        rows = present
        if len(wanted) < 200:
            rows = present.filter(name__in={name for _, name in wanted})
        order = ("namespace", "name")
        ordered = rows.order_by(*order if self.first else ("revision", *order))
        self.first = False
        for row, owners in reading.with_owners(ordered, self.resource, self.sandbox.pk):
            place = (row.namespace, row.name)
            if place not in wanted:
                continue
            document = reading.document_of(row, self.resource, owners)
            if self._picks(document):
                known = place in self.known
                self._show(place, document, row.revision)
                yield self._event("MODIFIED" if known else "ADDED", document)
            elif place in self.known:
                yield self._forget(place, row.revision)

    def _forget(self, place: NamespacedName, revision: int) -> Event:
        document = self.known.pop(place).document()
        document["metadata"]["resourceVersion"] = str(revision)
        return self._event("DELETED", document)

    def _event(self, type_: str, document: Event) -> Event:
        if self.wanted == "Table":
            document = table(
                self.resource,
                [document],
                now_us=reading.now_us(self.sandbox),
                include=self.include,
                metadata={"resourceVersion": document["metadata"]["resourceVersion"]},
            )
            if not self.columns:  # said with the first event
                document["columnDefinitions"] = None
            self.columns = False
        elif self.wanted:
            document = reading.metadata_of(document)
        return {"type": type_, "object": document}

    def bookmark(self, *, ends: bool = False) -> Event:
        """Return how far the client is; `ends` where the first events are all sent."""
        metadata: Event = {"resourceVersion": str(self.revision)}
        if ends:
            metadata["annotations"] = {"k8s.io/initial-events-end": "true"}
        return self._event("BOOKMARK", bare(self.resource, metadata))


def _initial_events(request: Request) -> bool | None:
    """Return sendInitialEvents; None where it is not given. Raises RefusalError.

    Source: <https://kubernetes.io/docs/reference/using-api/api-concepts/#streaming-lists>
    """
    query = request.query_params
    given, match = query.get("sendInitialEvents"), query.get("resourceVersionMatch")
    faults = []
    if given is None:
        if match is not None:
            why = "is forbidden for watch unless sendInitialEvents is provided"
            faults.append(_forbidden("resourceVersionMatch", why))
    elif match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        problem = f"Forbidden: {why}"
        faults.append(refusals.Fault("resourceVersionMatch", problem))
        if match is not None:
            known = f'"{match}": supported values: "NotOlderThan"'
            problem = f"Unsupported value: {known}"
            faults.append(refusals.Fault("resourceVersionMatch", problem))
    if faults:
        raise refusals.invalid_options("ListOptions", faults)
    return None if given is None else flag(request, "sendInitialEvents")


_NO_PARTS = "is forbidden for watch"


def _forbidden(field: str, why: str) -> refusals.Fault:
    return refusals.Fault(field, f"Forbidden: {field} {why}")


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
    if watch.refused is not None:
        yield watch.refused
        return
    end = time.monotonic() + watch.seconds
    mark = _next_mark(end)
    look = database_sync_to_async(watch.look)
    while time.monotonic() < end:
        try:
            fresh = await _revision(watch.sandbox.pk) != watch.revision
            fresh = fresh or watch.closing
            found = await look() if fresh else []
        except (SandboxError, DatabaseError) as error:
            yield {"type": "ERROR", "object": _expired(str(error))}
            return
        if right.done():
            yield {"type": "ERROR", "object": _ended(right.result())}
            return
        for event in found:
            yield event
        if watch.bookmarks and time.monotonic() > mark:
            mark = _next_mark(end)
            yield watch.bookmark()
        await asyncio.sleep(LOOK_EVERY_S)


def _next_mark(end: float) -> float:
    """Return when the next bookmark is due: at the latest shortly before the end."""
    now = time.monotonic()
    last = end - BOOKMARK_BEFORE_END_S
    return min(now + BOOKMARK_EVERY_S, last) if last > now else end


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
