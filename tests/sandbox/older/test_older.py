"""What an earlier version wrote opens: its archives, its packing."""

from __future__ import annotations

import json
import zlib
from pathlib import Path

import msgspec
import pytest

from sandbox import actions
from sandbox.base.errors import GoneError, InvalidError
from sandbox.models import Diff, Event
from sandbox.page import packing
from sandbox.world import history
from tests.sandbox.conftest import row, tick

OLDER = Path(__file__).parent
#: What the version before said: now and at the fork; and where five more ticks lead.
NOW = "b1901d3ccdbbe68869146172de395a2e14443e9054d1486fbd0d090954d614fa"
LATER = "6dd6154b800e6dd28dc9fe080485990c81e8e5fc905c05356de52262f0fd84f3"


#: What the version of migration 0006 stored, and where five more ticks lead it.
SIX = {
    "Kueue": (
        "5dcca7a92cd26e5ad925c9440e4089b0c51b6f9b42cd4994f425b7b6a356a281",
        "f0c963a41384032edeadfe55decb58d30fea841bf3057c3a2b38645e0ee10c45",
    ),
    "Scheduler": (
        "b859a17e0afa9233ea3454677b9bacd9302e38c9be5724601ccf2fbf3e29c421",
        "6ce695e5e9dbfeff25d64bc4f1f30734ef7b7816c14053c3b6cfab0f423f0b0f",
    ),
    "YuniKorn": (
        "efb3d0fdc8d907ed54969d35b592b17eb8ba49ad1b760036f822a1cc63e767fd",
        "cd8e20e0af94d6a61fde58d9bb8b2eb10b573dac82df4e83a5735b9cdc5a6911",
    ),
}
STACKS = {"Kueue": "kueue", "Scheduler": "kube", "YuniKorn": "yunikorn"}


@pytest.mark.django_db
@pytest.mark.both_databases
@pytest.mark.parametrize("title", SIX)
def test_an_archive_of_the_second_format_opens_and_goes_on(person, title):
    file = (OLDER / f"format-2-{STACKS[title]}.quotalab").read_bytes()
    sandbox = actions.do_restore(person, file)
    stored, later = SIX[title]
    assert sandbox.hash == stored
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 5)
    assert row(sandbox).hash == later


@pytest.mark.django_db
@pytest.mark.both_databases
def test_an_archive_of_the_first_format_opens(person):
    sandbox = actions.do_restore(person, (OLDER / "format-1.quotalab").read_bytes())
    assert (sandbox.hash, sandbox.tick, sandbox.title) == (NOW, 12, "From before")
    for at in range(13):
        revision = history.revision_at(sandbox, at)
        assert history.page_at(sandbox, revision)["Sandbox//sandbox"]["tick"] == at
        assert history.world_at(sandbox, revision).tick == at
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 5)
    assert row(sandbox).hash == LATER


@pytest.mark.django_db
def test_the_edits_of_an_archive_of_the_first_format_have_their_codes(person):
    sandbox = actions.do_restore(person, (OLDER / "format-1.quotalab").read_bytes())
    edits = Event.objects.filter(sandbox=sandbox, type="Edit")
    assert edits.exists()
    assert all(one.said["text"] == one.message for one in edits)


@pytest.mark.django_db
def test_a_page_of_a_version_without_number_is_brought_forward():
    page = {"Sandbox//sandbox": {"kind": "Sandbox", "key": "Sandbox//sandbox"}}
    old = zlib.compress(msgspec.msgpack.encode(page), 1)
    assert packing.unpack_page(old)["Sandbox//sandbox"]["firstTick"] == 0
    assert packing.unpack_page(packing.pack_page(page)) == page


def test_a_workload_of_version_1_has_no_conditions_that_were_kept():
    row = {"kind": "Workload", "key": "Workload/team/job"}
    body = msgspec.msgpack.encode({row["key"]: row})
    old = bytes([1]) + zlib.compress(body, 1)
    assert packing.unpack_page(old)[row["key"]]["conditions"] == []


def test_bytes_of_a_later_version_are_refused():
    later = bytes([packing.VERSION + 1]) + zlib.compress(b"{}")
    with pytest.raises(packing.FormatError, match="update this program"):
        packing.unpack_patch(later)


@pytest.mark.django_db
def test_an_archive_of_the_first_format_that_is_cut_off_is_refused(person):
    file = (OLDER / "format-1.quotalab").read_bytes()
    with pytest.raises(InvalidError, match="cut off"):
        actions.do_restore(person, file[:-100])


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
    history._pages._pages.clear()
    with pytest.raises(GoneError, match="an older version of this program"):
        history.world_at(row(busy), revision)
    assert history.page_at(row(busy), revision)[first]["share"] == "12345"


def test_rows_and_changes_of_before_say_when_work_finished():
    ended = [{"type": "Finished", "status": True, "sinceMs": 7_000}]
    row_of = {"kind": "Workload", "key": "Workload/a/w", "conditions": ended}
    open_ = {"kind": "Workload", "key": "Workload/a/v", "conditions": []}
    diff = {
        "from": 1,
        "revision": 2,
        "added": [row_of, open_],
        "updated": {"Workload/a/u": {"conditions": ended}, "Node//n": {"held": {}}},
    }
    patch = packing.unpack_patch(b"\x06" + zlib.compress(json.dumps(diff).encode()))
    assert [one["finishedMs"] for one in patch.added] == [7_000, None]
    assert patch.updated["Workload/a/u"]["finishedMs"] == 7_000
    assert patch.updated["Node//n"] == {"held": {}}
