"""A sandbox from a file that was exported."""

from __future__ import annotations

from django.contrib.auth.models import User

from sandbox import archives
from sandbox.models import Sandbox


def do_restore(user: User, data: bytes) -> Sandbox:
    """Make a sandbox of an archive: world, policy and history; paused."""
    return archives.read(user, data)
