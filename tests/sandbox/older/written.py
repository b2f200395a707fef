"""What 0.1.0 wrote, and what this version makes of it.

    python -m tests.sandbox.older.written

wrote the files beside this one with the program of 0.1.0: a database of SQLite, an
archive of a sandbox of each stack, a recording, and where each of them leads. From that
release on they stay as they are: another version of them would prove nothing.
"""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import django

OLDER = Path(__file__).parent
DATABASE, RECORDING, EXPECTED = "database.sql.gz", "cluster.qrec", "expected.json"
#: Where each sandbox was stored, and how much further it is followed.
TICKS, FURTHER = 12, 5
STACKS = {
    "kueue": "Kueue over kube-scheduler",
    "kube": "kube-scheduler alone",
    "yunikorn": "YuniKorn",
}


def run(data: Path, task: str) -> dict[str, Any]:
    """Do one of the tasks below in a process of its own, with its data in a folder."""
    ran = subprocess.run(
        [sys.executable, "-m", "tests.sandbox.older.written", task],
        cwd=OLDER.parents[2],
        env={**os.environ, "QUOTALAB_DATA": str(data), "LOG_LEVEL": "CRITICAL"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def main(words: list[str]) -> None:
    """Write the files, or do one task in the folder that QUOTALAB_DATA names."""
    if not words:
        with tempfile.TemporaryDirectory() as folder:
            _write_files(Path(folder))
        return
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    django.setup()
    from django.core.management import call_command

    call_command("migrate", verbosity=0, interactive=False)
    task = {"make": _make, "open": _open, "further": _further}[words[0]]
    sys.stdout.write(json.dumps(task()) + "\n")


def _write_files(data: Path) -> None:
    stored = run(data, "make")
    with sqlite3.connect(data / "quotalab.sqlite3") as database:
        text = "\n".join(database.iterdump())
    (OLDER / DATABASE).write_bytes(gzip.compress(text.encode(), mtime=0))
    expected = {"stored": stored, "further": run(data, "further")}
    (OLDER / EXPECTED).write_text(json.dumps(expected, indent=1) + "\n")


def _make() -> dict[str, str]:
    """Make a sandbox of each stack, one that was rewound, and one of a recording."""
    from sandbox import actions
    from sandbox.access.people import local_user
    from sandbox.models import Sandbox
    from sandbox.retention import archives
    from scheduler.recorded.twin.played import recording_of
    from tests.builders import assembled
    from tests.sandbox.actions import test_stacks
    from tests.sandbox.conftest import contended, text_of, tick

    user = local_user()
    for title, name in STACKS.items():
        manifests, policy = test_stacks.STACKS[name]
        files = [("world.yaml", text_of(*manifests))]
        made = actions.do_create(user, files=files, policy=policy, title=title).sandbox
        actions.do_play(user, made.pk)
        tick(made, TICKS // 2)
        actions.do_add_node(user, made.pk, "late", allocatable={"cpu": "4"})
        tick(made, TICKS // 2)
        actions.do_pause(user, made.pk)
        (OLDER / f"{title}.quotalab").write_bytes(archives.write(made.pk))
    fork = actions.do_fork(user, Sandbox.objects.get(title="kueue").pk)
    Sandbox.objects.filter(pk=fork.pk).update(title="fork")
    actions.do_rewind(user, fork.pk, tick=4)
    Sandbox.objects.filter(title__startswith="fork (").update(
        title="left by the rewind"
    )
    (OLDER / RECORDING).write_bytes(
        recording_of(assembled(*contended()).world, TICKS * 2_000)
    )
    recording = [(RECORDING, (OLDER / RECORDING).read_bytes())]
    twin = actions.do_play_recording(user, recording, title="twin")
    actions.do_play(user, twin.pk, speed=0)
    tick(twin, TICKS)
    actions.do_pause(user, twin.pk)
    return {one.title: one.hash for one in Sandbox.objects.all()}


def _open() -> dict[str, Any]:
    """Return of each sandbox the hash of its rows, and whether each tick is whole."""
    from sandbox.models import Sandbox
    from sandbox.page.rows import page_of
    from sandbox.page.rows.transport import KEY
    from sandbox.world import history, worlds

    found = {}
    for sandbox in Sandbox.objects.all():
        same = []
        for at in range(sandbox.tick + 1):
            revision = history.revision_at(sandbox, at)
            page = history.page_at(sandbox, revision)
            made = page_of(history.world_at(sandbox, revision), sandbox)
            same.append(made | {KEY: None} == page | {KEY: None})
        found[sandbox.title] = {"hash": worlds.fresh(sandbox).hash(), "same": same}
    return found


def _further() -> dict[str, str]:
    """Play each sandbox further and return its hash then; undo the edit it has."""
    from sandbox import actions
    from sandbox.access.people import local_user
    from sandbox.models import Sandbox
    from sandbox.retention import archives
    from tests.sandbox.conftest import row, tick

    found = {}
    for sandbox in Sandbox.objects.order_by("title"):
        actions.do_play(local_user(), sandbox.pk)
        tick(sandbox, FURTHER)
        found[sandbox.title] = row(sandbox).hash
        if sandbox.title in STACKS:
            actions.do_undo(local_user(), sandbox.pk)
            found[f"{sandbox.title} undone"] = row(sandbox).hash
        again = actions.do_restore(local_user(), archives.write(sandbox.pk))
        assert again.hash == row(sandbox).hash
    return found


if __name__ == "__main__":
    main(sys.argv[1:])
