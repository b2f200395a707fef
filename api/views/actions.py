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
from api.views.answers import ANSWER_WAIT, WAIT, answer_wait, waiting
from api.views.base import View, flag
from sandbox import actions
from sandbox.models import Sandbox
from sandbox.page.diffs import RevisionDiff
from scheduler.model.objects import Key
from scheduler.model.problems import Wanted, expected


def done(step: RevisionDiff) -> Response:
    """Answer with the revision that was made."""
    return Response({"revision": step.revision, "tick": step.tick})


class Play(View):
    """Let time run."""

    @extend_schema(request=bodies.PlaySerializer, responses=bodies.DoneSerializer)
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Start the clock of the sandbox."""
        given = self.read(bodies.PlaySerializer)
        return done(actions.do_play(self.user(), sandbox_id, speed=given["speed"]))


class Pause(View):
    """Hold time."""

    @extend_schema(request=None, responses=bodies.DoneSerializer)
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Pause after the current tick."""
        return done(actions.do_pause(self.user(), sandbox_id))


class Speed(View):
    """How fast time runs."""

    @extend_schema(request=bodies.SpeedSerializer, responses=bodies.DoneSerializer)
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Set the speed."""
        given = self.read(bodies.SpeedSerializer)
        return done(actions.do_speed(self.user(), sandbox_id, given["speed"]))


class StepAction(View):
    """Some ticks, then a pause."""

    @extend_schema(
        operation_id="sandboxes_actions_step_create",
        request=bodies.StepRequestSerializer,
        responses=bodies.SteppingSerializer,
        parameters=[WAIT],
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Run ticks, up to a tick or to an event; answers at once, or with `wait` when done."""
        given = self.read(bodies.StepRequestSerializer)
        with waiting(request) as wait:
            step, goal = actions.do_step(
                self.user(),
                sandbox_id,
                ticks=given["ticks"],
                until_tick=given["untilTick"],
                until_event=given["untilEvent"],
                speed=given["speed"],
            )
            plays = Sandbox.objects.filter(pk=sandbox_id, playing=True)
            wait(lambda: not plays.exists())
        found = self.sandbox(sandbox_id)
        at = step if found.playing else found
        body = {"revision": at.revision, "tick": at.tick, "untilTick": goal}
        return Response({**body, "done": not found.playing})


class Fork(View):
    """Another sandbox that goes on from here, or from an earlier tick."""

    @extend_schema(request=bodies.ForkSerializer, responses={201: SandboxSerializer})
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Fork the sandbox; everyone who may see it may fork it."""
        given = self.read(bodies.ForkSerializer)
        fork = actions.do_fork(
            self.user(), sandbox_id, tick=given["tick"], title=given["title"]
        )
        return self.shown(fork, 201)


class Rewind(View):
    """Back to an earlier tick."""

    @extend_schema(request=bodies.RewindSerializer, responses=bodies.RewoundSerializer)
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Continue from an earlier tick; the later history is kept as a fork."""
        given = self.read(bodies.RewindSerializer)
        step, fork = actions.do_rewind(self.user(), sandbox_id, tick=given["tick"])
        body = {"revision": step.revision, "tick": step.tick, "fork": fork.pk}
        return Response(body)


class Undo(View):
    """The last edit, taken back."""

    @extend_schema(
        request=bodies.SeenSerializer,
        responses=bodies.DoneSerializer,
        parameters=[ANSWER_WAIT],
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Undo the last edit: a worker runs again without it, up to the present tick.

        A 202 while it is at work, with `soFar: {done, of}`; a DELETE of its place stops it.
        """
        return _by_worker(self, request, sandbox_id, redo=False)


class Redo(View):
    """The last undone edit, done again."""

    @extend_schema(
        request=bodies.SeenSerializer,
        responses=bodies.DoneSerializer,
        parameters=[ANSWER_WAIT],
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Redo the edit that was undone last: a worker runs again with it, as an undo does."""
        return _by_worker(self, request, sandbox_id, redo=True)


def _by_worker(
    view: View, request: Request, sandbox_id: str, *, redo: bool
) -> Response:
    """Answer an undo or a redo: of the edit that it is of now, or of none."""
    sandbox, user = view.sandbox(sandbox_id), view.user()
    seen = view.read(bodies.SeenSerializer)["revision"]
    return view.by_workers(
        "redo" if redo else "undo",
        sandbox,
        wait_s=answer_wait(request),
        user=user.pk,
        edit=actions.to_take_back(user, sandbox, redo=redo, seen=seen),
        since=sandbox.revision,
    )


class ArchiveAction(View):
    """A sandbox that is not needed now, as one file."""

    @extend_schema(
        operation_id="sandboxes_actions_archive_create",
        request=None,
        responses=SandboxSerializer,
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Archive the sandbox into one file on the server and delete its rows."""
        return self.shown(actions.do_archive(self.user(), sandbox_id))


class UnarchiveAction(View):
    """An archived sandbox, as it was."""

    @extend_schema(
        operation_id="sandboxes_actions_unarchive_create",
        request=None,
        responses=SandboxSerializer,
    )
    @once
    def post(self, request: Request, sandbox_id: str) -> Response:
        """Restore an archived sandbox under its address, paused."""
        return self.shown(actions.do_unarchive(self.user(), sandbox_id))


# ------------------------------------------------------------------------
# The actions of a sandbox: one POST each.

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
        # The subject is "Kind/namespace/name"; anything else is a 422.
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
        findings = [bodies.finding_body(cause) for cause in made.findings]
        return self.shown(made.sandbox, 201, findings=findings, losses=made.losses)


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
