"""Conversion: a sandbox's world as a new sandbox of the other stack."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec
from django.contrib.auth.models import User

from sandbox.actions.sandboxes import do_create
from sandbox.base.errors import (
    Cause,
    ConflictError,
    ForbiddenError,
    NotFoundError,
)
from sandbox.models import Sandbox
from sandbox.world import worlds
from scheduler.conversion.converting import convert, report
from scheduler.errors import SchedulerError
from scheduler.records.objects import Object

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
        raise NotFoundError(f"sandbox {sandbox_id} is not there")
    if not Sandbox.objects.forkable_by(user).filter(pk=sandbox_id).exists():
        raise ForbiddenError("the link that you opened is to look, not to convert")
    world, row = worlds.copy_of(sandbox_id)
    try:
        found = convert(world.objects.values(), world.policy, stack=stack)
    except SchedulerError as error:
        raise ConflictError(str(error)) from error
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
        f"---\n{msgspec.json.encode(_document(obj)).decode()}\n" for obj in objects
    )


def _document(obj: Object) -> dict[str, Any]:
    metadata = {
        name: value
        for name, value in obj.metadata.items()
        if name not in ("uid", "creationTimestamp", "generation")
    }
    document = {**obj.manifest, "metadata": metadata}
    return {**document, "status": obj.status} if obj.status else document
