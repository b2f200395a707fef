"""Questions that change a sandbox: a worker does what was asked, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.models import User

from sandbox.actions.undo import do_redo, do_undo, taken_back
from sandbox.answers.work import Tell, answers
from sandbox.models import Sandbox
from sandbox.page.diffs import RevisionDiff
from sandbox.world.operations import Redo, Undo


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
