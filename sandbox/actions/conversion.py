"""Conversion: a sandbox for the other stack, files for the stack of a sandbox."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
from django.contrib.auth.models import User

from sandbox.access import limits as limited
from sandbox.actions.sandboxes import do_create
from sandbox.actions.tries import counted
from sandbox.base.errors import (
    Cause,
    ConflictError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
)
from sandbox.base.refusals import Absent, NotTaken, Refused
from sandbox.models import Sandbox
from sandbox.process import watchdog
from sandbox.world import worlds
from sandbox.world.findings import causes_of
from scheduler.analysis.conversion.converting import convert, report
from scheduler.analysis.conversion.files import (
    ConvertedFiles,
    convert_files,
    document_of,
)
from scheduler.assembly import InputError
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Object

_TITLES = {"kueue": "Kueue", "yunikorn": "YuniKorn"}


class Conversion(NamedTuple):
    """A sandbox made of another, and what the other stack cannot say."""

    sandbox: Sandbox
    findings: list[Cause]
    losses: list[dict[str, Any]]  # subject and lost, a row each


def do_convert(
    user: User, sandbox_id: str, stack: str, *, title: str = ""
) -> Conversion:
    """Make a sandbox that runs these objects under the other stack; paused.

    Whoever may fork a sandbox may; what was made is theirs. It starts at tick 0
    from the manifests: nothing has run. Raises ConflictError for a stack that
    there is no way to, InvalidError when what comes out cannot be taken.
    """
    given = Sandbox.objects.visible_to(user).filter(pk=sandbox_id).first()
    if given is None:
        raise NotFoundError(Absent.SANDBOX.said(sandbox=sandbox_id))
    if not Sandbox.objects.forkable_by(user).filter(pk=sandbox_id).exists():
        raise ForbiddenError(Refused.NO_CONVERT_BY_LINK.said())
    watchdog.leave_to_worker()
    world, row = worlds.copy_of(sandbox_id)
    try:
        found = convert(world.objects.values(), world.policy, stack=stack)
    except SchedulerError as error:
        raise ConflictError(error.said) from error
    policy = {"simulation": msgspec.to_builtins(world.policy.spec.simulation)}
    made = do_create(
        user,
        title=title or f"{row.title} ({_TITLES[stack]})"[:200],
        files=[("converted.yaml", _text(found.objects))],
        seed=world.context.seed,
        policy={**policy, **found.policy},
    )
    return Conversion(made.sandbox, made.findings, report(found))


def _text(objects: list[Object]) -> str:
    """Return the objects as documents: the importer's checks hold here too."""
    return "".join(
        f"---\n{msgspec.json.encode(document_of(obj)).decode()}\n" for obj in objects
    )


def convert_files_for(
    user: User, files: Sequence[tuple[str, str]], *, into: str = "", stack: str = ""
) -> ConvertedFiles:
    """Return files in the terms of a stack; nothing changes.

    With `into` the stack is that sandbox's unless one is given, and its nodes count
    beside those of the files. Raises InvalidError for what cannot be converted,
    NotFoundError for a sandbox that does not exist.
    """
    limited.check_bytes(files)
    nodes: list[dict[str, Any]] = []
    if into:
        if not Sandbox.objects.visible_to(user).filter(pk=into).exists():
            raise NotFoundError(Absent.SANDBOX.said(sandbox=into))
        world, row = worlds.copy_of(into)
        nodes = [
            {**obj.manifest, "status": obj.status}
            for obj in world.objects.values()
            if obj.key.kind == "Node"
        ]
        stack = stack or row.stack
    try:
        with counted(files):
            return convert_files(
                files, stack=stack or "kueue", nodes=nodes, limits=limited.of_texts()
            )
    except InputError as error:
        causes = causes_of(error.loaded.findings)
        raise InvalidError(NotTaken.CONVERTED.said(), causes=causes) from error
    except SchedulerError as error:
        raise InvalidError(error.said, causes=[Cause(problem=error.said)]) from error
