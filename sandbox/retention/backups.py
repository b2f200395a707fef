"""The whole database as one file, while everything runs on, and back.

SQLite by its own online backup, PostgreSQL by pg_dump and pg_restore. Both see one
committed state, so a backup that was made between two ticks goes on from there.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.migrations.loader import MigrationLoader

from sandbox.base.commands import CommandError


def write(file: Path) -> int:
    """Write the database to a new file; return its bytes. Nobody has to wait for it."""
    if file.exists():
        raise CommandError(f"{file} is there already; name a file that is not")
    with _draft(file) as draft:
        if connection.vendor == "postgresql":
            _run("pg_dump", "--format=custom", "--no-owner", f"--file={draft}")
        else:
            with contextlib.closing(sqlite3.connect(draft)) as copy:
                _opened().backup(copy, pages=2000)
            check(draft)
        draft.replace(file)
    return file.stat().st_size


@contextlib.contextmanager
def _draft(file: Path) -> Iterator[Path]:
    """Lend a private file beside `file`: what is cut off never has its name."""
    number, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
    os.close(number)
    draft = Path(name)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def check(file: Path) -> None:
    """Refuse a file that is no whole backup, or of a newer program."""
    if not file.is_file():
        raise CommandError(f"{file} does not exist")
    if connection.vendor == "postgresql":
        _run("pg_restore", "--list", str(file), database=False)
        return
    try:
        with contextlib.closing(
            sqlite3.connect(f"file:{file}?mode=ro", uri=True)
        ) as db:
            (found,) = db.execute("PRAGMA quick_check").fetchone()
            rows = db.execute("SELECT app, name FROM django_migrations").fetchall()
    except sqlite3.DatabaseError as error:
        raise CommandError(f"{file} is no backup of this program: {error}") from error
    if found != "ok":
        raise CommandError(f"{file} is damaged: {found}")
    known = set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    newer = sorted(
        name for app, name in rows if app == "sandbox" and (app, name) not in known
    )
    if newer:
        raise CommandError(f"{file} is of a newer version: it has {', '.join(newer)}")


def connected() -> list[str]:
    """Return who else is connected to the database: process, program, address."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid, application_name, client_addr FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() "
            "AND backend_type = 'client backend' ORDER BY pid"
        )
        rows = cursor.fetchall()
    return [
        f"process {pid} {name or 'unnamed'} at {address or 'this machine'}"
        for pid, name, address in rows
    ]


def read(file: Path) -> None:
    """Put the database into the state of the file. The caller has checked it."""
    if connection.vendor == "postgresql":
        _run(
            "pg_restore",
            "--clean",
            "--if-exists",
            "--no-owner",
            "--single-transaction",
            str(file),
        )
        return
    with contextlib.closing(sqlite3.connect(file)) as copy:
        copy.backup(_opened())


def _opened() -> sqlite3.Connection:
    connection.ensure_connection()
    found: sqlite3.Connection = connection.connection
    return found


def _run(program: str, *words: str, database: bool = True) -> None:
    path = shutil.which(program)
    if path is None:
        raise CommandError(f"{program} is not on the PATH; install PostgreSQL's client")
    given: dict[str, Any] = connection.settings_dict
    named = {
        "PGHOST": given["HOST"],
        "PGPORT": given["PORT"],
        "PGUSER": given["USER"],
        "PGPASSWORD": given["PASSWORD"],
    }
    environment = {**os.environ, **{n: str(v) for n, v in named.items() if v}}
    to = [f"--dbname={given['NAME']}"] if database else []
    done = subprocess.run(
        [path, *to, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise CommandError(f"{program} failed: {done.stderr.strip()[-2000:]}")
