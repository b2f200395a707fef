"""What an operator meets: a newer database, Redis away, a killed web process, old rows."""

from __future__ import annotations

import logging
import math
import subprocess
import sys
from datetime import timedelta

import psycopg
import pytest
from django.contrib.sessions.models import Session
from django.core.cache import caches
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from api import health
from api.errors import answer
from api.idempotency import FREE_AFTER
from sandbox import actions
from sandbox.access import rights
from sandbox.access.people import Asker
from sandbox.base.commands import run_command
from sandbox.models import Answer, Audit
from sandbox.process import schema_version
from sandbox.process.schema_version import refuse_newer_database
from sandbox.worker import tasks

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def newer(db):
    MigrationRecorder.Migration.objects.create(app="sandbox", name="0999_later")


def test_a_database_of_this_version_is_taken(db):
    refuse_newer_database()


def test_an_older_worker_ends_as_refused_and_not_as_a_fault_of_the_program(
    newer, capsys
):
    assert run_command(["manage.py", "worker"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("upgrade this worker: the database is newer")
    assert "fault of the program" not in said


@pytest.mark.parametrize("command", ["worker", "clock"])
def test_a_newer_database_is_refused_with_a_sentence(newer, command):
    with pytest.raises(
        ImproperlyConfigured, match=rf"upgrade this {command}.*newer.*0999_later"
    ):
        call_command(command)


def test_a_newer_database_is_not_ready(newer):
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["database"] == "newer than this program"


def test_a_process_that_an_upgrade_left_behind_refuses_its_requests(busy, monkeypatch):
    monkeypatch.setattr(schema_version._Look, "at", -math.inf)
    monkeypatch.setattr(schema_version._Look, "problem", "")
    assert Client().get(f"/api/v1/sandboxes/{busy.pk}").status_code == 200
    MigrationRecorder.Migration.objects.create(app="sandbox", name="0999_later")
    monkeypatch.setattr(schema_version._Look, "at", -math.inf)
    answer = Client().get(f"/api/v1/sandboxes/{busy.pk}")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "60")
    assert "0999_later" in answer.json()["message"]
    assert Client().get("/healthz").status_code == 200
    assert not rights.who_sees(Asker(), [busy.pk]), "its streams end"


def test_a_database_that_takes_no_changes_is_read_and_said_to_be_so(busy):
    file = connection.connection  # itself: Django asks nothing after an error
    file.execute("PRAGMA query_only=ON")
    try:
        url = f"/api/v1/sandboxes/{busy.pk}"
        read = Client().get(url)
        written = Client().post(f"{url}/actions/pause", "", "application/json")
    finally:
        file.execute("PRAGMA query_only=OFF")
    assert (read.status_code, written.status_code) == (200, 503)
    assert "takes no changes" in written.json()["message"]


def test_a_database_without_the_right_to_write_is_not_ready(db, monkeypatch):
    monkeypatch.setattr(health, "_is_read_only", lambda: True)
    assert Client().get("/readyz").json()["database"] == "read-only"


@pytest.mark.parametrize("error", tasks.DATABASE_AWAY)
def test_a_tick_that_the_database_did_not_take_is_asked_for_again(
    busy, monkeypatch, error
):
    """A sandbox is paused for a fault of its own only."""

    def fails(*_: object, **__: object) -> None:
        raise error("no")

    monkeypatch.setattr(tasks, "do_ticks", fails)
    assert tasks.advance(busy.pk) == 0
    busy.refresh_from_db()
    assert (busy.playing, busy.problem) == (True, "")


@pytest.mark.parametrize("full", ["database or disk is full", "could not extend file"])
def test_a_change_on_a_full_disk_says_so(full):
    cause = psycopg.errors.DiskFull(full) if "extend" in full else Exception(full)
    error = OperationalError(full)
    error.__cause__ = cause
    answered = answer(error, {})
    assert answered.status_code == 503
    assert "the disk of the database is full" in answered.data["message"]


def test_a_full_disk_is_not_ready(db, monkeypatch):
    monkeypatch.setattr(health, "LEAST_FREE_BYTES", 1 << 62)
    answer = Client().get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["disk"].startswith("full")


def test_while_redis_is_away_limits_are_counted_in_the_process(settings, caplog):
    settings.CACHES = {
        "default": {
            "BACKEND": "sandbox.process.fallback_cache.FallbackCache",
            "LOCATION": "redis://127.0.0.1:9/0",  # nobody listens there
            "OPTIONS": {"socket_connect_timeout": 1, "socket_timeout": 1},
        }
    }
    cache = caches["default"]
    with caplog.at_level(logging.WARNING):
        assert cache.add("tries", 0, timeout=60)
        assert [cache.incr("tries") for _ in range(2)] == [1, 2]
        cache.set_many({"a": 1, "b": 2}, 60)
        assert cache.get_many(["a", "b"]) == {"a": 1, "b": 2}
        cache.delete("a")
        assert cache.get("a") is None
    assert len([r for r in caplog.records if "Redis is away" in r.message]) == 1


@pytest.mark.parametrize("server", [False, True])
def test_a_flood_of_films_drops_no_counter(server, tmp_path):
    code = """
import django
django.setup()
from django.core.cache import caches
for cache in caches.all():
    cache.set("tries", 1)
for n in range(1000):
    caches["kept"].set(f"film-{n}", "frames")
print(caches["default"].get("tries"), caches["kept"].get("tries"))
"""
    run = {"QUOTALAB_DATA": str(tmp_path)}
    if server:  # whose Redis is away: nobody listens there
        run = {
            "DATABASE_URL": "postgres://nobody@127.0.0.1:9/none",
            "REDIS_URL": "redis://127.0.0.1:9/0",
            "SECRET_KEY": "of a test" * 9,
            "ALLOWED_HOSTS": "localhost",
        }
    run = {**run, "DJANGO_SETTINGS_MODULE": "sandbox.settings"}
    said = subprocess.check_output([sys.executable, "-c", code], env=run, text=True)
    assert said.split() == ["1", "None"]


def test_the_key_of_a_request_that_was_killed_is_free_again(busy):
    client = Client(headers={"Idempotency-Key": "once"})
    url = f"/api/v1/sandboxes/{busy.pk}/actions/pause"
    first = client.post(url, "{}", content_type="application/json")
    assert first.status_code == 200
    # As a process leaves it that ends before its answer.
    Answer.objects.update(status=0, body={})
    assert client.post(url, "{}", content_type="application/json").status_code == 409
    Answer.objects.update(at=timezone.now() - FREE_AFTER - timedelta(seconds=1))
    again = client.post(url, "{}", content_type="application/json")
    assert again.status_code == 200
    assert again.json()["revision"] > first.json()["revision"]


def test_old_answers_audit_lines_and_sessions_go(person, busy, settings):
    settings.AUDIT_DAYS, settings.ANSWERS_DAYS = 30, 2
    old = timezone.now() - timedelta(days=31)
    for key, end in (("ended", old), ("living", timezone.now() + timedelta(days=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=end)
    for key in ("old", "new"):
        Answer.objects.create(user=person, key=key, request="", status=200, body={})
        Audit.objects.create(who="x", action=key, detail={})
    Answer.objects.filter(key="old").update(at=old)
    Audit.objects.filter(action="old").update(at=old)
    assert tasks.tidy() == 3
    assert [one.pk for one in Session.objects.all()] == ["living"]
    assert not Answer.objects.filter(key="old").exists()
    assert not Audit.objects.filter(action="old").exists()
    assert Audit.objects.filter(action="new").exists()
    actions.do_pause(person, busy.pk)
