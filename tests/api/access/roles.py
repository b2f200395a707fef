"""What a person may do with a sandbox, by how one was let into it."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils import timezone

from sandbox import actions
from sandbox.models import Sandbox, ShareLink

NOBODY = "aaaaaaaaaaaa"  # an id that no sandbox has


#: Role -> what it may do with the sandbox that it was let into.
ROLES: dict[str, set[str]] = {
    "owner": {"look", "fork", "edit", "own"},
    "editor": {"look", "fork", "edit"},
    "viewer": {"look", "fork"},
    "link to look": {"look"},
    "link to look and fork": {"look", "fork"},
    "lesson that ended": set(),
    "follower": {"look"},
    "stranger": set(),
    "link that expired": set(),
}


def let_in(sandbox: Sandbox, user: User, role: str) -> None:
    owner, key = sandbox.owner, sandbox.pk
    if role in ("editor", "viewer"):
        actions.do_member(owner, key, user.username, role)
    elif "link" in role:
        fork = role.endswith("fork")
        link, secret = actions.do_share(owner, key, may_fork=fork, expires_at=None)
        actions.do_open(user, secret)
        if "expired" in role:
            ShareLink.objects.filter(pk=link.pk).update(expires_at=timezone.now())
    elif role in ("follower", "lesson that ended"):
        lesson = actions.do_start_lesson(owner, key)
        actions.do_join(user, lesson.code)
        if role != "follower":
            actions.do_end_lesson(owner, key)
