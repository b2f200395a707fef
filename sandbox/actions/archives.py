"""A sandbox from a file, into a file, and out of it again."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model
from django.utils import timezone

from sandbox.access import limits
from sandbox.actions.access import note
from sandbox.actions.sessions import allowed
from sandbox.actions.tries import counted
from sandbox.base.errors import ConflictError, ForbiddenError, InvalidError
from sandbox.base.refusals import Denied, NotNow, Refused
from sandbox.models import (
    ALL_TABLES,
    Checkpoint,
    Diff,
    Event,
    RecordedTick,
    Revision,
    Sample,
    Sandbox,
    Stored,
)
from sandbox.retention import archives, restoring
from sandbox.world import commits, leases, worlds
from scheduler.model.sentence import Items

_ROWS: tuple[type[Model], ...] = (
    Event,
    Diff,
    Sample,
    Checkpoint,
    Revision,
    RecordedTick,
)


def do_restore(user: User, data: bytes) -> Sandbox:
    """Make a sandbox of an archive: world, policy and history; paused.

    Of its revisions the user's own are credited, those of other names to nobody.
    Raises InvalidError for what is no archive, is cut off, too large, or does not
    fit together; then nothing is made.
    """
    limits.check_sandboxes(user)
    with counted([("archive", data)]):
        most = settings.LIMITS["bytes_per_archive"]
        archive = archives.unseal(data, most)
        found = restoring.check(archive, most, Sandbox(owner=user))
        limits.check_objects(len(found.world.objects))
        with transaction.atomic():
            found.sandbox.save(force_insert=True)
            restoring.insert(found, people={user.username: user.pk})
        return found.sandbox


def do_archive(user: User, sandbox_id: str) -> Sandbox:
    """Put the sandbox into one file, kept in its row's place; its rows go.

    It can be opened again as it was; meanwhile another may follow its cluster. Raises
    ConflictError while forks show a part of its history: that would go with it.
    """
    _owned(user, sandbox_id)
    with leases.lineage_claimed(sandbox_id), worlds.lock(sandbox_id):
        sandbox = Sandbox.objects.get(pk=sandbox_id)
        if sandbox.archived_at is not None:
            raise ConflictError(Refused.ARCHIVED_ALREADY.said())
        # Name the forks that the owner may see; how the others are called is not theirs.
        forks = Sandbox.objects.filter(parent=sandbox, archived_at=None).order_by(
            "branch"
        )
        seen = forks.visible_to(user)
        names = [f"{fork.title} ({fork.branch})" for fork in seen[:5]]
        if hidden := forks.count() - seen.count():
            names.append(f"{hidden} of other people")
        if names:
            raise ConflictError(
                Refused.HAS_FORKS.said(names=Items(tuple(names), all=True))
            )
        body = archives.write(sandbox_id)
        # Read the file back before any row goes that only it would hold.
        try:
            archive = archives.unseal(body, archives.LARGEST)
            restoring.check(archive, archives.LARGEST, Sandbox(id=sandbox_id))
        except InvalidError as error:
            raise ConflictError(NotNow.ARCHIVE.said(error=str(error))) from error
        with transaction.atomic():
            Stored.objects.create(sandbox=sandbox, body=body)
            _delete_rows(sandbox)
            Sandbox.objects.filter(pk=sandbox_id).update(
                archived_at=timezone.now(),
                playing=False,
                until={},
                cluster="",
                follower="",
            )
            note(user, "archive", sandbox=sandbox_id, subject=sandbox.title)
            commits.gone(sandbox_id)
    worlds.drop(sandbox_id)
    sandbox.refresh_from_db()
    return sandbox


def _owned(user: User, sandbox_id: str) -> None:
    allowed(user, sandbox_id)
    if not Sandbox.objects.filter(pk=sandbox_id, owner_id=user.pk).exists():
        raise ForbiddenError(Denied.ARCHIVE.said())


def _delete_rows(sandbox: Sandbox) -> None:
    for table in (*_ROWS, *ALL_TABLES):
        table._default_manager.filter(sandbox=sandbox).delete()


def do_unarchive(user: User, sandbox_id: str) -> Sandbox:
    """Open an archived sandbox again, under its own name and address; paused.

    The past that it shared with a parent comes from the file when the parent has
    it no more. It follows its cluster again, unless another sandbox does by now.
    """
    _owned(user, sandbox_id)
    with leases.lineage_claimed(sandbox_id), worlds.lock(sandbox_id):
        sandbox = Sandbox.objects.select_related("parent").get(pk=sandbox_id)
        if sandbox.archived_at is None:
            raise ConflictError(Refused.OPEN.said())
        # It was written here, so only the database says how large it may be.
        archive = archives.unseal(bytes(sandbox.stored.body), archives.LARGEST)
        own = Sandbox(id=sandbox_id, owner=sandbox.owner)
        found = restoring.check(archive, archives.LARGEST, own)
        with transaction.atomic():
            after = _inherited(sandbox)
            people = archives.people_of(archive)
            restoring.insert(found, people=people, after=after)
            Sandbox.objects.filter(pk=sandbox_id).update(
                archived_at=None,
                header=own.header,
                parent=sandbox.parent if after else None,
                kept_revision=own.kept_revision,
                kept_tick=own.kept_tick,
                **_followed_again(sandbox),
            )
            Stored.objects.filter(sandbox=sandbox).delete()
            note(user, "unarchive", sandbox=sandbox_id, subject=sandbox.title)
    sandbox.refresh_from_db()
    return sandbox


def _followed_again(sandbox: Sandbox) -> dict[str, Any]:
    """Return the columns of its cluster; another's is shown as far as it was seen."""
    name = sandbox.source.get("name")
    if sandbox.source.get("kind") != "cluster":
        return {}
    if not Sandbox.objects.filter(cluster=name).exists():
        return {"cluster": name}
    return {
        "source": {**sandbox.source, "lastTick": sandbox.tick},
        "problem": f"another sandbox follows {name} now; this one shows what it saw",
    }


def _inherited(sandbox: Sandbox) -> int:
    """Return the revision up to which the past is still the parent's; 0 = none."""
    parent = sandbox.parent
    if parent is None or parent.archived_at is not None:
        return 0
    if parent.kept_revision > sandbox.kept_revision:
        return 0
    return sandbox.parent_revision
