"""What 0.1.0 wrote opens: its database, its archives, its recording, its packing."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zlib

import pytest

from sandbox import actions
from sandbox.base.errors import GoneError, InvalidError
from sandbox.models import Diff
from sandbox.page import packing
from sandbox.world import history
from tests.sandbox.conftest import row, tick
from tests.sandbox.older.written import (
    DATABASE,
    EXPECTED,
    FURTHER,
    OLDER,
    RECORDING,
    STACKS,
    TICKS,
    run,
)

STORED, LATER = json.loads((OLDER / EXPECTED).read_text()).values()


def test_a_database_of_0_1_0_is_what_it_was_and_goes_on_as_it_did(tmp_path):
    database = sqlite3.connect(tmp_path / "quotalab.sqlite3")
    database.executescript(gzip.decompress((OLDER / DATABASE).read_bytes()).decode())
    database.close()
    found = run(tmp_path, "open")
    assert {title: one["hash"] for title, one in found.items()} == STORED
    assert all(all(one["same"]) for one in found.values())
    assert run(tmp_path, "further") == LATER


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("title", STACKS)
def test_an_archive_of_0_1_0_opens_and_goes_on_as_it_did(person, title):
    file = (OLDER / f"{title}.quotalab").read_bytes()
    sandbox = actions.do_restore(person, file)
    assert (sandbox.hash, sandbox.tick) == (STORED[title], TICKS)
    for at in range(TICKS + 1):
        revision = history.revision_at(sandbox, at)
        assert history.page_at(sandbox, revision)["Sandbox//sandbox"]["tick"] == at
        assert history.world_at(sandbox, revision).tick == at
    actions.do_play(person, sandbox.pk)
    tick(sandbox, FURTHER)
    assert row(sandbox).hash == LATER[title]


@pytest.mark.django_db
@pytest.mark.both_databases
def test_a_recording_of_0_1_0_is_shown_as_it_was(person):
    files = [(RECORDING, (OLDER / RECORDING).read_bytes())]
    sandbox = actions.do_play_recording(person, files)
    actions.do_play(person, sandbox.pk, speed=0)
    tick(sandbox, TICKS)
    assert row(sandbox).hash == STORED["twin"]


@pytest.mark.django_db
def test_an_archive_that_is_cut_off_is_refused(person):
    file = (OLDER / "kueue.quotalab").read_bytes()
    with pytest.raises(InvalidError, match="cut off"):
        actions.do_restore(person, file[:-100])


@pytest.mark.parametrize("first", [b"", b"x", bytes([packing.VERSION + 1])])
def test_bytes_of_another_version_are_refused(first):
    with pytest.raises(packing.FormatError, match="update this program"):
        packing.unpack_patch(first + zlib.compress(b"{}"))


@pytest.mark.django_db
def test_a_past_that_would_be_decided_otherwise_now_is_not_gone_on_from(busy):
    tick(busy, 5)
    revision = history.revision_at(row(busy), 4)
    stored = Diff.objects.get(sandbox=busy, revision=revision)
    step = packing.unpack_step(bytes(stored.body))
    step.updated["Sandbox//sandbox"]["hash"] = "0" * 16
    first = next(key for key in step.updated if key.startswith("ClusterQueue/"))
    step.updated[first]["share"] = "12345"
    stored.body = packing.pack_step(step)
    stored.save()
    history._pages.clear()
    with pytest.raises(GoneError, match="an older version of this program"):
        history.world_at(row(busy), revision)
    assert history.page_at(row(busy), revision)[first]["share"] == "12345"
