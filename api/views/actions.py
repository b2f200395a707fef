"""The actions of a sandbox: one POST each."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.errors import invalid
from api.idempotency import once
from api.renderers import StorableJSONParser, YAMLTextParser
from api.serializers import actions as bodies
from api.serializers.sandboxes import SandboxSerializer
from api.uploads import FilesParser, converted_texts, run_times, traces
from api.views.base import View, flag
from api.views.transport import (
    ArchiveAction,
    Fork,
    Pause,
    Play,
    Redo,
    Rewind,
    Speed,
    StepAction,
    UnarchiveAction,
    Undo,
    done,
)
from sandbox import actions
from scheduler.model.objects import Key
from scheduler.model.problems import Wanted, expected

_DRY = OpenApiParameter("dryRun", str, description="All: change nothing.")


class Import(View):
    """Manifests in: files by drop, YAML bodies, JSON objects."""

    parser_classes = (StorableJSONParser, YAMLTextParser, FilesParser)

    @extend_schema(
        request={
            "application/json": bodies.ImportSerializer,
            "application/yaml": str,
            "multipart/form-data": bodies.ImportSerializer,
        },
        responses=bodies.ImportedSerializer,
        parameters=[_DRY, OpenApiParameter("skipErrors", bool)],
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Create and change objects; an error changes nothing, unless skipErrors is set."""
        given = self.read(bodies.ImportSerializer)
        files, said = converted_texts(self.user(), given, into=sandbox_id)
        objects = [(f"objects[{n}]", one) for n, one in enumerate(given["objects"])]
        imported = actions.do_import(
            self.user(),
            sandbox_id,
            files,
            objects=objects,
            skip_errors=given["skipErrors"] or flag(request, "skipErrors"),
            dry_run=given["dryRun"] or flag(request, "dryRun"),
            seen=given["revision"],
            traces=traces(given["traces"]),
            run_times=run_times(given["runTimes"]),
            said=said,
        )
        return Response(bodies.imported_body(imported))


class Delete(View):
    """Objects out."""

    @extend_schema(request=bodies.DeleteSerializer, responses=bodies.DoneSerializer)
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Delete objects; their running work stops."""
        given = self.read(bodies.DeleteSerializer)
        keys = [Key(o["kind"], o["namespace"], o["name"]) for o in given["objects"]]
        seen = given["revision"]
        return done(actions.do_delete(self.user(), sandbox_id, keys, seen=seen))


class Move(View):
    """A Workload to another queue, a queue to another cohort."""

    @extend_schema(request=bodies.MoveSerializer, responses=bodies.DoneSerializer)
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Move a workload to another queue. A what-if shows the effect beforehand."""
        given = self.read(bodies.MoveSerializer)
        subject, target = _subject(given), _target(given["to"])
        seen = given["revision"]
        step = actions.do_move(self.user(), sandbox_id, subject, target, seen=seen)
        return done(step)


def _subject(given: dict[str, Any]) -> Key:
    if given["object"]:
        # Return the key of "Kind/namespace/name"; 422 for anything else.
        text = given["object"]
        parts = text.split("/")
        if len(parts) != 3:
            raise invalid(
                {"": expected(Wanted.LITERAL.said(literal="Kind/namespace/name"), text)}
            )
        return Key(*parts)
    namespace, slash, name = given["workload"].rpartition("/")
    if not slash:
        raise invalid({"workload": expected(Wanted.PATH)})
    return Key("Workload", namespace, name)


def _target(text: str) -> Key:
    kind, slash, name = text.rpartition("/")
    return Key(kind.rstrip("/"), "", name) if slash else Key("LocalQueue", "", text)


class NodeAction(View):
    """Add, cordon, drain, fail, recover."""

    @extend_schema(request=bodies.NodeActionSerializer, responses=bodies.DoneSerializer)
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Change a node: cordon, uncordon, drain, fail or recover."""
        given = self.read(bodies.NodeActionSerializer)
        name, change, seen = given["name"], given["change"], given["revision"]
        if change != "add":
            step = actions.do_node(self.user(), sandbox_id, name, change, seen=seen)
            return done(step)
        step = actions.do_add_node(
            self.user(),
            sandbox_id,
            name,
            like=given["like"],
            labels=given["labels"],
            allocatable=given["allocatable"],
        )
        return done(step)


class ClusterAction(View):
    """Lose a worker cluster, or reach it again."""

    @extend_schema(
        request=bodies.ClusterActionSerializer, responses=bodies.DoneSerializer
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Disconnect a worker cluster from the manager, or connect it again."""
        given = self.read(bodies.ClusterActionSerializer)
        name, change, seen = given["name"], given["change"], given["revision"]
        step = actions.do_cluster(self.user(), sandbox_id, name, change, seen=seen)
        return done(step)


class Pin(View):
    """A pod on one node and no other."""

    @extend_schema(request=bodies.PinSerializer, responses=bodies.DoneSerializer)
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Pin a pod to a node, or unpin it. A what-if shows the effect beforehand."""
        given = self.read(bodies.PinSerializer)
        namespace, slash, name = given["pod"].partition("/")
        if not slash:
            raise invalid({"pod": expected(Wanted.PATH)})
        node, seen = given["node"], given["revision"]
        pinned = actions.do_pin(
            self.user(), sandbox_id, namespace, name, node, seen=seen
        )
        return done(pinned)


class Convert(View):
    """The same objects under the other stack, as a new sandbox."""

    @extend_schema(
        request=bodies.ConvertSerializer, responses={201: bodies.ConvertedSerializer}
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Convert Kueue to YuniKorn or back; every setting that is lost is named."""
        given = self.read(bodies.ConvertSerializer)
        made = actions.do_convert(
            self.user(), sandbox_id, given["stack"], title=given["title"]
        )
        body = {
            **SandboxSerializer(made.sandbox, context={"request": request}).data,
            "findings": [bodies.finding_body(cause) for cause in made.findings],
            "losses": made.losses,
        }
        return Response(body, status=201)


ACTIONS: dict[str, Any] = {
    "play": Play,
    "pause": Pause,
    "speed": Speed,
    "step": StepAction,
    "import": Import,
    "apply": Import,
    "delete": Delete,
    "move": Move,
    "node": NodeAction,
    "cluster": ClusterAction,
    "pin": Pin,
    "fork": Fork,
    "convert": Convert,
    "rewind": Rewind,
    "undo": Undo,
    "redo": Redo,
    "archive": ArchiveAction,
    "unarchive": UnarchiveAction,
}
