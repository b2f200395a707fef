"""A sandbox as files: everything in it, as the real systems read it, and its tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request

from api.errors import invalid
from api.renderers import YAML, OneShape, dump, dump_all, saved
from api.views.base import View, flag
from sandbox.base import csv_text
from sandbox.models import Sandbox
from sandbox.retention import exports
from sandbox.world import history, manifests
from scheduler.model.problems import RequestProblem, Wanted, expected

DOCUMENTS = ("all", "objects", "policy", "queues")
LINES = ("workloads", "events", "samples")
_OUTPUTS = ("yaml", "json", "csv")
_TYPES = {"yaml": YAML, "json": "application/json", "csv": "text/csv; charset=utf-8"}


class Export(View):
    """Manifests, policy, or both; what was decided, line by line."""

    content_negotiation_class = OneShape

    @extend_schema(
        operation_id="export_read",
        responses={
            (200, YAML): OpenApiTypes.ANY,
            (200, "text/csv"): OpenApiTypes.STR,
            (200, "application/json"): OpenApiTypes.ANY,
        },
        parameters=[
            OpenApiParameter(
                "what",
                str,
                enum=[*DOCUMENTS, *LINES],
                description="all: policy and objects; queues: YuniKorn's queues.yaml.",
            ),
            OpenApiParameter(
                "output",
                str,
                enum=list(_OUTPUTS),
                description="yaml or json of documents; csv (the default) or json "
                "of lines. JSON documents are one List, which loads again.",
            ),
            OpenApiParameter("status", bool, description="With statuses."),
        ],
    )
    def get(self, request: Request, sandbox_id: str) -> HttpResponse:
        """Return files that load again, or tables."""
        sandbox = self.sandbox(sandbox_id)
        what = request.query_params.get("what", "all")
        if what not in (*DOCUMENTS, *LINES):
            known = ", ".join((*DOCUMENTS, *LINES))
            raise invalid({"what": expected(Wanted.ONE_OF.said(known=known))})
        output = request.query_params.get("output", "csv" if what in LINES else "yaml")
        if output not in ("json", "csv" if what in LINES else "yaml"):
            problem = RequestProblem.COMES_AS.said(
                name=what, first="csv" if what in LINES else "yaml", last="json"
            )
            raise invalid({"output": problem})
        text = (
            _lines_text(sandbox, what, output)
            if what in LINES
            else _documents_text(sandbox, what, output, status=flag(request, "status"))
        )
        return saved(f"{sandbox.pk}-{what}.{output}", text, _TYPES[output])


def _documents_text(sandbox: Sandbox, what: str, output: str, *, status: bool) -> str:
    if what == "queues":
        found = exports.queues(sandbox)
        return _json(found) if output == "json" else dump(found)
    if output == "yaml":
        manifests.leave_large(sandbox.pk, times=2)
    documents = exports.documents(sandbox, what, status=status)
    if output == "yaml":
        return dump_all(documents)
    return _json({"apiVersion": "v1", "kind": "List", "items": documents})


def _json(value: Any) -> str:
    return msgspec.json.format(msgspec.json.encode(value)).decode()


def _lines_text(sandbox: Sandbox, what: str, output: str) -> str:
    rows = list(_rows(sandbox, what))
    if output == "json":
        return _json(rows)
    if what == "samples":
        rows = [line for row in rows for line in _by_queue(row)]
    return _csv([_flat(row) for row in rows])


_EVENT = ("revision", "seq", "tick", "t_ms", "type", "subject", "by", "reason")


def _rows(sandbox: Sandbox, what: str) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a table, oldest first."""
    if what == "workloads":
        page = history.page_at(sandbox, sandbox.revision)
        yield from (row for row in page.values() if row["kind"] == "Workload")
    elif what == "events":
        found = history.events(sandbox).filter(revision__lte=sandbox.revision)
        yield from found.order_by("revision", "seq").values(*_EVENT, "message")
    else:
        for sample in history.newest_samples(sandbox, sandbox.revision, 10**6):
            yield sample.body


def _by_queue(sample: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a row per queue of a tick, with what the whole world had at it.

    A tick of a world without queues is one row.
    """
    world = dict(sample)
    time = {name: world.pop(name) for name in ("tick", "tMs")}
    for queue in world.pop("queues") or [{"queue": ""}]:
        yield {**time, **queue, "world": world}


def _flat(row: Mapping[str, Any], head: str = "") -> dict[str, Any]:
    """Return a row with a column per leaf: usage.cpu, usage.memory."""
    found: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            found |= _flat(value, f"{head}{name}.")
        elif isinstance(value, list):
            found[head + name] = msgspec.json.encode(value).decode()
        else:
            found[head + name] = value
    return found


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[row.get(name) for name in columns] for row in rows]
    return csv_text.write([columns, *cells])
