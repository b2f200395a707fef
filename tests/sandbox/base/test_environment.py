"""Environment: variables, the data folder, the secret and the bus's folder."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from sandbox.base import environment


def test_a_database_url_becomes_settings():
    found = environment.database("postgresql://ann:p%40ss@db.example:5433/lab")
    assert found["NAME"] == "lab"
    assert (found["USER"], found["PASSWORD"]) == ("ann", "p@ss")
    assert (found["HOST"], found["PORT"]) == ("db.example", "5433")


def test_a_database_url_may_name_a_unix_socket_and_options():
    found = environment.database("postgres://u@/lab?host=/run/pg&sslmode=require")
    assert found["HOST"] == "/run/pg"
    assert found["OPTIONS"] == {"sslmode": "require"}


def test_another_kind_of_database_is_refused():
    with pytest.raises(ImproperlyConfigured, match=r"expected postgresql://.*mysql"):
        environment.database("mysql://u@h/lab")


@pytest.mark.parametrize(
    ("url", "broker"),
    [
        ("redis://bus:6379/0", "redis://bus:6379/0"),
        ("unix:///run/bus.sock", "redis+socket:///run/bus.sock"),
    ],
)
def test_celery_gets_the_bus_in_its_own_words(url, broker):
    assert environment.broker(url) == broker


@pytest.mark.parametrize(
    ("word", "meaning"), [("on", True), ("0", False), ("No", False), ("", True)]
)
def test_a_flag_reads_common_words(monkeypatch, word, meaning):
    monkeypatch.setenv("HTTPS", word)
    assert environment.flag("HTTPS", default=True) is meaning


def test_a_flag_that_is_no_word_is_refused(monkeypatch):
    monkeypatch.setenv("HTTPS", "perhaps")
    with pytest.raises(ImproperlyConfigured, match="HTTPS: expected on or off"):
        environment.flag("HTTPS", default=True)


def test_a_number_that_is_none_is_refused(monkeypatch):
    monkeypatch.setenv("HSTS_SECONDS", "-1")
    with pytest.raises(ImproperlyConfigured, match="whole number"):
        environment.number("HSTS_SECONDS", 0)


def test_the_secret_is_drawn_once(tmp_path):
    first = environment.local_secret(tmp_path)
    assert environment.local_secret(tmp_path) == first
    assert [path.name for path in tmp_path.iterdir()] == ["secret-key"]


def test_the_buss_socket_path_is_short_whatever_the_data_folder(monkeypatch, tmp_path):
    monkeypatch.setattr("tempfile.tempdir", "/somewhere" * 12)
    folder = environment.bus_folder(tmp_path / ("deep/" * 40))
    assert len(bytes(folder / "bus.sock")) <= environment.LONGEST_SOCKET_PATH


def test_two_data_folders_have_two_buses():
    folders = {environment.bus_folder(Path(name)) for name in ("/one", "/two")}
    assert len(folders) == 2


def test_a_database_and_what_is_beside_it_is_for_this_user_alone(tmp_path):
    files = [tmp_path / f"db.sqlite3{tail}" for tail in ("", "-wal", "-shm")]
    files[1].touch(mode=0o644)
    environment.sqlite(files[0])
    with contextlib.closing(sqlite3.connect(files[0])) as database:
        database.execute("PRAGMA journal_mode=WAL")
        database.execute("CREATE TABLE t (x)")
        assert all(file.exists() for file in files)
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


def test_a_folder_that_is_a_link_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(ImproperlyConfigured, match="belongs to somebody else"):
        environment.make_private(tmp_path / "link")
