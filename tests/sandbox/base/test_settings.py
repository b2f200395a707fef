"""Settings: what each of the two ways to run gets, and what it refuses."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.conf import settings
from django.db import connection

from tests.services.default_run import ROOT
from tests.services.postgres import server_environment

SERVER = server_environment("postgresql://u:p@db.example/quotalab", "redis://bus:6379")


def manage(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_server_run_passes_the_check_for_deployment():
    done = manage(
        {**SERVER, "HTTPS": "on"}, "check", "--deploy", "--fail-level", "WARNING"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["REDIS_URL", "SECRET_KEY", "ALLOWED_HOSTS"])
def test_the_server_run_names_the_variable_that_is_missing(name):
    done = manage({**SERVER, name: ""}, "check")
    assert f"{name} is not set" in done.stderr


def test_the_default_run_is_not_started_where_a_server_is_set_up():
    done = manage(SERVER, "up", "--no-open")
    assert (done.returncode, "DATABASE_URL is set" in done.stderr) == (2, True)


def test_the_default_run_draws_one_secret_and_keeps_it(tmp_path):
    ask = ["shell", "-v", "0", "-c"]
    ask += ["from django.conf import settings; print(settings.SECRET_KEY)"]
    alone = {"PATH": os.environ["PATH"], "QUOTALAB_DATA": str(tmp_path)}
    first, second = manage(alone, *ask).stdout, manage(alone, *ask).stdout
    assert first == second
    assert len(first) > 60
    assert (tmp_path / "secret-key").stat().st_mode & 0o777 == 0o600


@pytest.mark.both_databases
@pytest.mark.django_db
def test_the_database_is_the_one_that_the_environment_names():
    wanted = "postgresql" if settings.SERVER else "sqlite"
    assert connection.vendor == wanted


@pytest.mark.skipif(settings.SERVER, reason="about SQLite alone")
@pytest.mark.django_db(transaction=True)
def test_sqlite_writes_ahead_and_takes_the_lock_at_the_start():
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA journal_mode")
        assert cursor.fetchone() == ("wal",)
    assert connection.transaction_mode == "IMMEDIATE"
