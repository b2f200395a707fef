"""The read paths: what each answers, and the view that all of them share."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.urls import URLPattern, path
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response

from api.cluster.base import ClusterView, Encodings
from api.cluster.yunikorn import history, records
from api.cluster.yunikorn.partition_view import PartitionView
from api.cluster.yunikorn.records import ENDED, PARTITION, usage
from api.renderers import dump
from api.views.base import clamped_number
from sandbox.access import limits
from sandbox.base.errors import NotFoundError
from sandbox.retention import exports
from sandbox.world import worlds
from scheduler.engine.yunikorn.objects.model import Application
from scheduler.input.manifests.load import load
from scheduler.model.problems import ApiServer

Places = dict[str, str]
Answer = Callable[[PartitionView, Places, Request], Any]


class YuniKornView(ClusterView):
    """One read path; `answer` says what it answers."""

    answer: Answer | None = None

    def get(self, request: Request, sandbox_id: str, **places: str) -> Response:
        """Return what the path names."""
        sandbox = self.sandbox(sandbox_id)
        partition = places.get("partition", PARTITION).removeprefix("[mycluster]")
        with worlds.reading(sandbox) as world:
            view = PartitionView(sandbox, world, partition)
            assert self.answer is not None  # given to as_view
            return Response(self.answer(view, places, request))


def _in_state(
    view: PartitionView, apps: Iterable[Application], state: str
) -> list[dict[str, Any]]:
    """Return the applications in a state; `active` is all that have not ended."""
    wanted = state.lower()
    return [
        view.application(app)
        for app in apps
        if wanted == str(app.state).lower()
        or (wanted == "active" and str(app.state) not in ENDED)
    ]


def _of_partition(view: PartitionView, places: Places, request: Request) -> Any:
    if places["state"].lower() == "rejected":
        return view.rejected()
    found = _in_state(view, view.partition.apps.values(), places["state"])
    return view.ended(places["state"].lower()) + found


def _of_queue(view: PartitionView, places: Places, request: Request) -> Any:
    apps = view.find_queue(places["queue"]).apps.values()
    return _in_state(view, apps, places.get("state", "active"))


def _application(view: PartitionView, places: Places, request: Request) -> Any:
    app = view.find_application(places["application"])
    if app.queue.path != places.get("queue", app.queue.path):
        raise NotFoundError(ApiServer.NO_APPLICATION.said(name=app.id))
    return view.application(app)


def _queue(view: PartitionView, places: Places, request: Request) -> Any:
    deep = "subtree" in request.query_params
    return view.queue(view.find_queue(places["queue"]), deep=deep)


def _one_of(holder: str, title: str) -> Answer:
    def answer(view: PartitionView, places: Places, request: Request) -> Any:
        for record in usage(view.partition, holder):
            if record[f"{holder}Name"] == places["name"]:
                return record
        raise NotFoundError(f"{title} not found")

    return answer


def _utilization(view: PartitionView, places: Places, request: Request) -> Any:
    kind = request.query_params.get("name", "vcore")
    return view.utilization(kind)


def _utilizations(view: PartitionView, places: Places, request: Request) -> Any:
    kinds = sorted(view.partition.root.max or {})
    found = [view.utilization(kind) for kind in kinds]
    return [{"clusterId": "quotalab", "partition": PARTITION, "utilizations": found}]


def _events(view: PartitionView, places: Places, request: Request) -> Any:
    start = clamped_number(request, "start", 0, most=10**12)
    return history.batch(
        view, start, clamped_number(request, "count", 10_000, most=10_000)
    )


def _queues(view: PartitionView) -> Any:
    return view.queue(view.partition.root, deep=True)


def _dump(view: PartitionView, places: Places, request: Request) -> Any:
    """Return everything at once, for a report of a problem."""
    apps = view.partition.apps.values()
    nodes = view.partition.nodes.by_name.values()
    return {
        "timestamp": view.nanoseconds(view.sandbox.now_ms),
        "partitions": [view.info()],
        "applications": [view.application(app) for app in apps],
        "appHistory": history.applications(view),
        "nodes": [
            {"partitionName": PARTITION, "nodesInfo": [view.node(n) for n in nodes]}
        ],
        "clusterInfo": [view.cluster()],
        "containerHistory": history.containers(view),
        "queues": [_queues(view)],
        "rmDiagnostics": {},
        "logLevel": "INFO",
        "config": {"queues.yaml": dump(exports.queues(view.sandbox))},
        "placementRules": [records.rules(view.partition)],
        "eventStreams": [],
    }


#: Path below ws/v1/ (or debug/) -> what it answers.
PATHS: dict[str, Answer] = {
    "ws/v1/clusters": lambda view, *_: [view.cluster()],
    "ws/v1/partitions": lambda view, *_: [view.info(), *view.others()],
    "ws/v1/partition/<str:partition>/queues": lambda view, *_: _queues(view),
    "ws/v1/partition/<str:partition>/queue/<str:queue>": _queue,
    "ws/v1/partition/<str:partition>/queue/<str:queue>/applications": _of_queue,
    "ws/v1/partition/<str:partition>/queue/<str:queue>/applications/<str:state>": (
        _of_queue
    ),
    "ws/v1/partition/<str:partition>/queue/<str:queue>/application/<str:application>": (
        _application
    ),
    "ws/v1/partition/<str:partition>/application/<str:application>": _application,
    "ws/v1/partition/<str:partition>/applications/<str:state>": _of_partition,
    "ws/v1/partition/<str:partition>/nodes": lambda view, *_: [
        view.node(node) for node in view.partition.nodes.by_name.values()
    ],
    "ws/v1/partition/<str:partition>/node/<str:name>": lambda view, places, _: (
        view.node(view.find_node(places["name"]))
    ),
    "ws/v1/partition/<str:partition>/placementrules": lambda view, *_: records.rules(
        view.partition
    ),
    "ws/v1/partition/<str:partition>/usage/users": lambda view, *_: usage(
        view.partition, "user"
    ),
    "ws/v1/partition/<str:partition>/usage/user/<str:name>": _one_of("user", "User"),
    "ws/v1/partition/<str:partition>/usage/groups": lambda view, *_: usage(
        view.partition, "group"
    ),
    "ws/v1/partition/<str:partition>/usage/group/<str:name>": _one_of("group", "Group"),
    "ws/v1/scheduler/healthcheck": lambda view, *_: records.health(
        view.partition, str(view.sandbox.problem)
    ),
    "ws/v1/scheduler/node-utilization": _utilization,
    "ws/v1/scheduler/node-utilizations": _utilizations,
    "ws/v1/history/apps": lambda view, *_: history.applications(view),
    "ws/v1/history/containers": lambda view, *_: history.containers(view),
    "ws/v1/events/batch": _events,
    "ws/v1/fullstatedump": _dump,
    "debug/fullstatedump": _dump,
}


class Config(ClusterView):
    """GET /ws/v1/config."""

    def get(self, request: Request, sandbox_id: str) -> Response | HttpResponseBase:
        """Return queues.yaml, as YAML or as JSON."""
        found = exports.queues(self.sandbox(sandbox_id))
        if request.headers.get("Accept", "").startswith("application/json"):
            return Response(found)
        return HttpResponse(dump(found), content_type="application/yaml")


class AnyText(BaseParser):
    """A body as text, whatever it is said to be."""

    media_type = "*/*"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Any = None
    ) -> dict[str, str]:
        """Return the body as text; bytes that are not UTF-8 are replaced."""
        return {"text": stream.read().decode("utf-8", "replace")}


class AnyBody(Encodings):
    """Takes the one parser there is."""

    def select_parser(
        self, request: Request, parsers: Iterable[BaseParser]
    ) -> BaseParser | None:
        """Return the first parser, whatever the request says."""
        return next(iter(parsers))


class ValidateConf(ClusterView):
    """POST /ws/v1/validate-conf: a queues.yaml is read and not taken."""

    scope = "read"
    content_negotiation_class: Any = AnyBody
    parser_classes: Any = (AnyText,)

    def post(self, request: Request, sandbox_id: str) -> Response:
        """Return whether it would be taken, and why not."""
        self.sandbox(sandbox_id)
        text = str(dict(request.data).get("text", ""))
        loaded = load([("queues.yaml", text)], limits=limits.of_texts())
        why = "; ".join(str(error) for error in loaded.errors)
        return Response({"allowed": not loaded.errors, "reason": why})


def _view(answer: Answer) -> Any:
    return YuniKornView.as_view(answer=answer)


urlpatterns: list[URLPattern] = [
    *(path(route, _view(answer)) for route, answer in PATHS.items()),
    path("ws/v1/config", Config.as_view()),
    path("ws/v1/validate-conf", ValidateConf.as_view()),
]
