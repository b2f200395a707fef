"""`run ID --ticks N`: make ticks here and now, with no worker and no clock."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from sandbox import actions
from sandbox.access.people import local_user
from sandbox.base.commands import CommandError
from sandbox.base.errors import BusyError, SandboxError
from sandbox.base.refusals import NotNow
from sandbox.models import Sandbox
from sandbox.world import leases

#: How long to wait for somebody else who holds the sandbox.
PATIENCE_S = 10.0


class Command(BaseCommand):
    """Tick a sandbox in this process."""

    help = "Make ticks of a sandbox in this process."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the arguments."""
        parser.add_argument("sandbox", metavar="ID")
        parser.add_argument("--ticks", type=int, default=1)
        parser.add_argument("--json", action="store_true", help="answer in JSON")
        parser.add_argument("--quiet", action="store_true", help="no progress bar")

    def handle(self, *args: object, **options: Any) -> None:
        """Run, and print where it came to."""
        key, count = options["sandbox"], options["ticks"]
        try:
            show = sys.stderr.isatty() and not options["quiet"]
            for done in make_ticks(key, count):
                if show:
                    self._bar(done, count)
        except SandboxError as error:
            raise CommandError(str(error)) from error
        sandbox = Sandbox.objects.get(pk=key)
        if sandbox.problem:
            raise CommandError(sandbox.problem)
        body = {
            "id": key,
            "tick": sandbox.tick,
            "tMs": sandbox.now_ms,
            "hash": sandbox.hash,
        }
        words = f"tick {sandbox.tick}  {sandbox.hash}"
        self.stdout.write(json.dumps(body) if options["json"] else words)

    def _bar(self, done: int, count: int) -> None:
        filled = 30 * done // count
        end = "\n" if done == count else ""
        bar = "█" * filled + "·" * (30 - filled)
        self.stderr.write(f"\r{bar} {done}/{count}", ending=end)


def make_ticks(key: str, count: int) -> Iterator[int]:
    """Make ticks in this process; yield how many now and then, until it stops itself.

    A worker that lives beside it makes some of them. Raises SandboxError when it
    may not, and when somebody else holds it for long.
    """
    _, goal = actions.do_step(local_user(), key, ticks=count)
    while (tick := _ticks(key)) is not None:
        yield max(0, count - (goal or tick) + tick)


def _ticks(key: str) -> int | None:
    """Make some ticks and return the last one's number; None when the sandbox stands."""
    deadline = time.monotonic() + PATIENCE_S
    while (claim := leases.take(key)) is None:
        if time.monotonic() > deadline:
            raise BusyError(NotNow.HELD.said())
        time.sleep(0.05)
    try:
        steps = actions.do_ticks(claim)
    finally:
        leases.release(claim)
    return steps[-1].tick if steps else None
