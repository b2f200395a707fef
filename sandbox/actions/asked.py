"""Questions that change a sandbox or make one: a worker does what was asked, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from django.contrib.auth.models import User

from sandbox.actions.import_plan import Imported
from sandbox.actions.objects import do_import
from sandbox.actions.sandboxes import do_create
from sandbox.actions.undo import do_redo, do_undo, taken_back
from sandbox.answers.work import Tell, answers
from sandbox.models import Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.world.operations import Redo, Undo
from scheduler.input.traces.options import TraceOptions


@answers("undo", tells=True)
def _undo(sandbox: Sandbox, **asked: Any) -> Any:
    return _taken_back(do_undo, Undo(asked["edit"]), sandbox, **asked)


@answers("redo", tells=True)
def _redo(sandbox: Sandbox, **asked: Any) -> Any:
    return _taken_back(do_redo, Redo(asked["edit"]), sandbox, **asked)


def _taken_back(
    act: Callable[..., RevisionDiff],
    operation: Undo | Redo,
    sandbox: Sandbox,
    *,
    user: int,
    edit: int,
    since: int,
    tell: Tell,
) -> Any:
    """Do it, unless a worker that was lost had committed it; `since` is when it was asked."""
    made = taken_back(sandbox, operation, since)
    if made is not None:
        return {"revision": made.number, "tick": made.tick}
    step = act(
        User.objects.get(pk=user),
        sandbox.pk,
        asked=edit,
        progress=lambda done, of: tell({"done": done, "of": of}),
    )
    return {"revision": step.revision, "tick": step.tick}


@answers("import", tells=True)
def _import(
    sandbox: Sandbox, *, user: int, files: Any, traces: Any, tell: Tell, **asked: Any
) -> Imported:
    """Import files; of a worker that was lost after its commit nothing is left to change."""
    return do_import(
        User.objects.get(pk=user),
        sandbox.pk,
        [(name, text) for name, text in files],
        traces=msgspec.convert(traces, TraceOptions),
        **asked,
    )


@answers("create", tells=True)
def _create(
    *, user: int, sandbox: str, files: Any, traces: Any, tell: Tell, **asked: Any
) -> dict[str, Any]:
    """Make a sandbox of files, unless a worker that was lost had made it."""
    if Sandbox.objects.filter(pk=sandbox, owner_id=user).exists():
        return {"sandbox": sandbox, "findings": [], "report": None}
    made = do_create(
        User.objects.get(pk=user),
        files=[(name, text) for name, text in files],
        traces=msgspec.convert(traces, TraceOptions),
        sandbox_id=sandbox,
        **asked,
    )
    return {"sandbox": sandbox, "findings": made.findings, "report": made.report}
