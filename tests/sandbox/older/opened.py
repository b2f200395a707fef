"""Run against a database of an earlier version: prints what it is now, as JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import django


def main() -> None:
    """Bring the database of QUOTALAB_DATA up to date, open all of it, and tick."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    from sandbox import actions
    from sandbox.live.people import local_user
    from sandbox.models import Sandbox
    from sandbox.retention import archives
    from tests.sandbox.conftest import tick

    found: dict[str, Any] = {}
    for sandbox in Sandbox.objects.order_by("created_at"):
        found[sandbox.title] = opened(sandbox)
    for title in sys.argv[1:]:
        first = Sandbox.objects.get(title=title)
        actions.do_play(local_user(), first.pk)
        tick(first, 5)
        found[title]["later"] = Sandbox.objects.get(pk=first.pk).hash
        if title == "From before":
            actions.do_undo(local_user(), first.pk)
        again = actions.do_restore(local_user(), archives.write(first.pk))
        found[title]["again"] = again.hash == Sandbox.objects.get(pk=first.pk).hash
    sys.stdout.write(json.dumps(found) + "\n")


def opened(sandbox: Any) -> dict[str, Any]:
    """Return the hash, rows and worlds of a sandbox at each of its ticks."""
    from sandbox.page.rows import page_of
    from sandbox.world import history, worlds

    pages = [
        history.page_at(sandbox, history.revision_at(sandbox, at))
        for at in range(sandbox.tick + 1)
    ]
    worlds_then = [
        history.world_at(sandbox, history.revision_at(sandbox, at))
        for at in range(sandbox.tick + 1)
    ]
    same = [
        without(page_of(world, sandbox), at) == without(page, at)
        for at, (world, page) in enumerate(zip(worlds_then, pages, strict=True))
    ]
    return {
        "hash": worlds.fresh(sandbox).hash(),
        "stored": sandbox.hash,
        "rows": [len(page) for page in pages],
        "worlds": same,
        "events": history.events(sandbox).count(),
        "firstTick": [page["Sandbox//sandbox"]["firstTick"] for page in pages],
    }


def without(page: dict[str, Any], tick: int) -> dict[str, Any]:
    """Return the page without the clock's own row, and what pages then had not yet.

    Since then jobs have cards before the first tick, and are counted.
    """
    since = {"conditions", "finishedMs"} | ({"counts"} if tick == 0 else set())
    return {
        key: {name: value for name, value in row.items() if name not in since}
        for key, row in page.items()
        if key != "Sandbox//sandbox" and row.get("uid") != ""
    }


if __name__ == "__main__":
    main()
