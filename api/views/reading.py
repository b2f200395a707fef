"""What is, what was, and what happened: tables, states, events, samples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import Any, Literal, get_args, get_origin

import msgspec
from django.db.models import F, Q
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import invalid
from api.serializers.reading import (
    EventListSerializer,
    HashSerializer,
    SampleListSerializer,
    TableSerializer,
)
from api.serializers.wrong_values import no_choice
from api.views.base import View, flag, number, whole
from sandbox.base.errors import NotFoundError
from sandbox.live import pages
from sandbox.models import Event, Sample, Sandbox
from sandbox.page.diffs import Row
from sandbox.page.wire import AnyRow
from sandbox.world import history
from sandbox.world.worlds import schedulers
from scheduler.model import ranges
from scheduler.model.amounts import is_whole
from scheduler.model.decisions import NAMES
from scheduler.model.problems import Form, Problem, RequestProblem

#: Amounts are sums of 64-bit numbers.
LONGEST_AMOUNT = 40
#: Table name -> kind of its rows.
TABLES = {
    "workloads": "Workload",
    "pods": "Pod",
    "nodes": "Node",
    "clusterqueues": "ClusterQueue",
    "localqueues": "LocalQueue",
    "cohorts": "Cohort",
    "resourceflavors": "ResourceFlavor",
    "multikueueclusters": "MultiKueueCluster",
    "queues": "Queue",
    "applications": "Application",
}
#: Of events: decisions, and what marks a point of a scenario.
EVENT_TYPES = (*NAMES, "Checkpoint")
#: Counted by the engine, and not on the live page.
_SCHEDULERS = "schedulers"
_TICK = OpenApiParameter("tick", int, description="As it was at this tick; now.")


def _revision(request: Request, sandbox: Sandbox) -> int:
    tick = request.query_params.get("tick")
    if tick is None:
        return sandbox.revision
    return history.revision_at(
        sandbox, number(request, "tick", 0, most=ranges.REVISION.most)
    )


class Table(View):
    """Rows of one kind, searched, sorted and paged."""

    @extend_schema(
        operation_id="tables_read",
        responses=TableSerializer,
        parameters=[
            _TICK,
            OpenApiParameter("search", str, description="In name and namespace."),
            OpenApiParameter("sort", str, description="Field, -field = descending."),
            OpenApiParameter(
                "group",
                str,
                description="Field whose values part the rows; `groups` counts them.",
            ),
            OpenApiParameter("limit", int),
            OpenApiParameter("offset", int),
            OpenApiParameter(
                "fields",
                {"type": "object", "additionalProperties": {"type": "string"}},
                style="form",
                explode=True,
                description="Any field of the rows: those with this value only. "
                "phase=pending finds inadmissible Workloads, too; active leaves them out.",
            ),
        ],
    )
    def get(self, request: Request, sandbox_id: str, table: str) -> Response:
        """Return a page of the table."""
        sandbox = self.sandbox(sandbox_id)
        if table not in (*TABLES, _SCHEDULERS):
            known = ", ".join((*TABLES, _SCHEDULERS))
            raise NotFoundError(
                RequestProblem.NO_TABLE.said(name=repr(table), known=known)
            )
        revision = _revision(request, sandbox)
        rows = _select(table, _table(sandbox, table, revision), request)
        offset = number(request, "offset", 0, most=10**9)
        limit = number(request, "limit", 50, most=5000)
        return Response(
            {
                "items": rows[offset : offset + limit],
                "total": len(rows),
                "groups": _groups(rows, request.query_params.get("group", "")),
                "offset": offset,
                "revision": revision,
            }
        )


def _groups(rows: list[Row], field: str) -> list[dict[str, Any]]:
    """Return the values of a field with their counts, in the order of the rows."""
    if not field:
        return []
    counts = Counter(str(row[field]) for row in rows)
    return [{"value": value, "count": count} for value, count in counts.items()]


def _table(sandbox: Sandbox, table: str, revision: int) -> list[Row]:
    if table == _SCHEDULERS:
        return schedulers(sandbox, revision)
    page = history.page_at(sandbox, revision)
    return [row for row in page.values() if row["kind"] == TABLES[table]]


_RESERVED = frozenset({"search", "sort", "group", "limit", "offset", "tick", "format"})


#: What waits is pending, also where its ClusterQueue has put it aside; active is the rest.
_PHASES = {"pending": ("pending", "inadmissible"), "active": ("pending",)}


@cache
def _fields(table: str) -> dict[str, tuple[str, ...]]:
    """Return field -> its values where it has only some, of the rows of a table."""
    for kind in get_args(AnyRow):
        if kind.__struct_config__.tag == TABLES.get(table):
            fields = msgspec.structs.fields(kind)
            return {"kind": ()} | {f.encode_name: _values(f.type) for f in fields}
    return {}


def _values(hint: Any) -> tuple[str, ...]:
    return get_args(hint) if get_origin(hint) is Literal else ()


def _meant(table: str, name: str, value: str) -> tuple[str, ...]:
    """Return the values that a value of a field stands for; 422 for an unknown value."""
    groups = _PHASES if (table, name) == ("workloads", "phase") else {}
    known = _fields(table).get(name)
    if known and value not in (*known, *groups):
        raise invalid({name: no_choice(value, [*known, *groups])})
    return groups.get(value, (value,))


def _select(table: str, rows: list[Row], request: Request) -> list[Row]:
    fields = rows[0].keys() if rows else _fields(table).keys()
    for name, value in request.query_params.items():
        if name in _RESERVED:
            continue
        if fields and name not in fields:
            raise invalid({name: Form.NO_SUCH_FIELD.said(known=", ".join(fields))})
        meant = _meant(table, name, str(value))
        rows = [row for row in rows if str(row[name]) in meant]
    if not rows:
        return rows
    words = request.query_params.get("search", "").lower().split()
    rows = [row for row in rows if all(word in _text(row) for word in words)]
    sort = request.query_params.get("sort", "key")
    field = sort.removeprefix("-")
    if field not in fields:
        raise invalid({"sort": Form.NO_SUCH_FIELD.said(known=", ".join(fields))})
    rows = sorted(rows, key=lambda row: _rank(row[field]), reverse=sort[0] == "-")
    group = request.query_params.get("group", "")
    if group and group not in fields:
        raise invalid({"group": Form.NO_SUCH_FIELD.said(known=", ".join(fields))})
    return sorted(rows, key=lambda row: _rank(row[group])) if group else rows


def _text(row: Row) -> str:
    return f"{row['namespace']}/{row['name']}".lower()


def _rank(value: Any) -> tuple[int, Any]:
    """Return a key by which values of any type sort: none, numbers, texts."""
    if value is None:
        return 0, 0
    if isinstance(value, bool | int | float):
        return 1, value
    text = str(value)
    if is_whole(text.removeprefix("-")) and len(text) < LONGEST_AMOUNT:
        return 1, int(text)
    return 2, text


class State(View):
    """Everything at one tick: the message `page_state` of the socket."""

    @extend_schema(
        operation_id="state_read", responses=OpenApiTypes.OBJECT, parameters=[_TICK]
    )
    def get(self, request: Request, sandbox_id: str) -> HttpResponse:
        """Return every row of the page at a tick."""
        sandbox = self.sandbox(sandbox_id)
        revision = _revision(request, sandbox)
        text = pages.page_state(sandbox, revision)
        return HttpResponse(
            text, content_type="application/json", headers={"ETag": f'"{revision}"'}
        )


_WHICH = (
    OpenApiParameter("after", str, description='"revision.seq"; "next".'),
    OpenApiParameter("subject", str, description="Key: kind/namespace/name."),
    OpenApiParameter("fromTick", int),
    OpenApiParameter("toTick", int),
    OpenApiParameter("newest", bool, description="The last ones, in order."),
    OpenApiParameter("limit", int),
)


class Events(View):
    """What was decided and edited."""

    @extend_schema(
        operation_id="events_read",
        responses=EventListSerializer,
        parameters=[
            *_WHICH,
            OpenApiParameter("type", str, description="One or several, by commas."),
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return events in order."""
        sandbox = self.sandbox(sandbox_id)
        return Response(_events(request, sandbox, ()))


class Preemptions(View):
    """Preemptions: victim, preemptor and reason."""

    @extend_schema(
        operation_id="preemptions_read",
        responses=EventListSerializer,
        parameters=[*_WHICH],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the preemptions in order."""
        return Response(_events(request, self.sandbox(sandbox_id), ("Preempt",)))


def _events(
    request: Request, sandbox: Sandbox, types: Iterable[str]
) -> dict[str, object]:
    query = history.events(sandbox)
    given = [t for t in request.query_params.get("type", "").split(",") if t]
    for one in given:
        if one not in EVENT_TYPES:
            raise invalid({"type": no_choice(one, EVENT_TYPES)})
    if wanted := [*types] or given:
        query = query.filter(type__in=wanted)
    if subject := request.query_params.get("subject"):
        query = query.filter(subject=subject)
    if "fromTick" in request.query_params:
        query = query.filter(
            tick__gte=number(request, "fromTick", 0, most=ranges.REVISION.most)
        )
    if "toTick" in request.query_params:
        query = query.filter(
            tick__lte=number(request, "toTick", 0, most=ranges.REVISION.most)
        )
    limit = max(1, number(request, "limit", 200, most=5000))
    if flag(request, "newest"):
        found = list(query.order_by("-revision", "-seq")[:limit])[::-1]
        return {"items": [_event(event) for event in found], "next": ""}
    query = _after(query, request.query_params.get("after", ""))
    found = list(query.order_by("revision", "seq")[: limit + 1])
    more = len(found) > limit
    found = found[:limit]
    last = f"{found[-1].revision}.{found[-1].seq}" if more else ""
    return {"items": [_event(event) for event in found], "next": last}


def _after(query: Any, place: str) -> Any:
    if not place:
        return query
    revision, _, seq = place.partition(".")
    at, rank = whole(revision), whole(seq or "0")
    if at is None or rank is None:
        raise invalid({"after": Problem.REVISION.said(given=repr(place[:40]))})
    rank = min(rank, ranges.OFFSET.most)
    same = Q(revision=at, seq__gt=rank) if seq else Q(pk__in=())
    return query.filter(Q(revision__gt=at) | same)


def _event(event: Event) -> dict[str, object]:
    return {**pages.event_line(event), "data": event.data}


class Samples(View):
    """The curves."""

    @extend_schema(
        operation_id="samples_read",
        responses=SampleListSerializer,
        parameters=[
            OpenApiParameter("fromTick", int),
            OpenApiParameter("toTick", int),
            OpenApiParameter("limit", int, description="Thinned out evenly to this."),
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return samples in order, thinned when there are more than `limit`."""
        sandbox = self.sandbox(sandbox_id)
        query = history.rows_of(Sample, sandbox).filter(
            tick__gte=number(request, "fromTick", 0, most=ranges.REVISION.most),
            tick__lte=number(
                request, "toTick", ranges.REVISION.most, most=ranges.REVISION.most
            ),
        )
        limit = max(1, number(request, "limit", 600, most=20_000))
        apart = -(-query.count() // limit) or 1
        if apart > 1:
            query = query.annotate(rest=F("tick") % apart).filter(rest=0)
        return Response({"items": [s.body for s in query.order_by("revision")]})


class Hash(View):
    """The hash of the world."""

    @extend_schema(
        operation_id="hash_read", responses=HashSerializer, parameters=[_TICK]
    )
    def get(self, request: Request, sandbox_id: str) -> Response:
        """Return the SHA-256 of the world at the last commit, or at a tick."""
        sandbox = self.sandbox(sandbox_id)
        if request.query_params.get("tick") is None:
            found, revision, tick = sandbox.hash, sandbox.revision, sandbox.tick
        else:
            revision = _revision(request, sandbox)
            world = history.world_at(sandbox, revision)
            found, tick = world.hash(), world.tick
        return Response({"hash": found, "revision": revision, "tick": tick})
