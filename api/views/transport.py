"""Time and history of a sandbox: play, step, rewind, fork, put away; one POST each."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from api.idempotency import once
from api.serializers import actions as bodies
from api.serializers.sandboxes import SandboxSerializer
from api.views.answers import ANSWER_WAIT, WAIT, answer_wait, waiting
from api.views.base import View
from sandbox import actions
from sandbox.models import Sandbox
from sandbox.page.diffs import RevisionDiff


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
        body = SandboxSerializer(fork, context={"request": request}).data
        return Response(body, status=201)


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
        sandbox = actions.do_archive(self.user(), sandbox_id)
        body = SandboxSerializer(sandbox, context={"request": request}).data
        return Response(body)


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
        sandbox = actions.do_unarchive(self.user(), sandbox_id)
        body = SandboxSerializer(sandbox, context={"request": request}).data
        return Response(body)
