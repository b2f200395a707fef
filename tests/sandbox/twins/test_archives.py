"""A twin in a file: what was recorded travels with it, and is measured before it is unpacked."""

from __future__ import annotations

import tracemalloc
import zlib

import pytest

from sandbox import actions
from sandbox.base.errors import InvalidError
from sandbox.models import RecordedTick, Sandbox
from sandbox.retention import archives, restoring
from sandbox.world import worlds
from scheduler.recorded.qrec.reading import stamp
from tests.sandbox.conftest import row, tick
from tests.sandbox.twins.conftest import BEGIN_US, TICKS, Played, _conditions

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
HALF = TICKS // 2


@pytest.fixture
def twin(person, played: Played) -> Sandbox:
    sandbox = actions.do_play_recording(person, [("prod.qrec", played.file())])
    actions.do_play(person, sandbox.pk, speed=0)
    tick(sandbox, HALF)
    return sandbox


def shows_the_rest(sandbox: Sandbox, played: Played) -> bool:
    """Play on to the end; return whether it shows there what the cluster was."""
    tick(sandbox, TICKS)
    world = worlds.fresh(row(sandbox))
    found = {
        str(key): _conditions(world.get(key).status) for key in world.keys("Workload")
    }
    return (row(sandbox).tick, found) == (TICKS, played.states[TICKS])


def test_a_file_of_a_twin_is_a_twin_again(person, twin, played):
    copy = actions.do_restore(person, archives.write(twin.pk))
    assert (copy.source, copy.hash) == (row(twin).source, row(twin).hash)
    actions.do_play(person, copy.pk, speed=0)
    assert shows_the_rest(copy, played)


def test_a_twin_that_was_archived_goes_on_where_it_was(person, twin, played):
    actions.do_archive(person, twin.pk)
    assert not RecordedTick.objects.filter(sandbox=twin).exists()
    actions.do_unarchive(person, twin.pk)
    actions.do_play(person, twin.pk, speed=0)
    assert shows_the_rest(twin, played)


@pytest.fixture
def following(twin) -> Sandbox:
    """The twin, as one that follows a cluster."""
    actions.do_pause(twin.owner, twin.pk)
    source = {"kind": "cluster", "name": "prod", "startTime": stamp(BEGIN_US)}
    Sandbox.objects.filter(pk=twin.pk).update(source=source, cluster="prod")
    return row(twin)


def test_a_cluster_whose_sandbox_was_archived_may_be_followed_by_another(
    person, following
):
    actions.do_archive(person, following.pk)
    assert not Sandbox.objects.filter(cluster="prod").exists()
    actions.do_unarchive(person, following.pk)
    assert row(following).cluster == "prod"


def test_a_sandbox_whose_cluster_another_follows_by_now_shows_what_it_saw(
    person, following, make
):
    actions.do_archive(person, following.pk)
    Sandbox.objects.filter(pk=make().pk).update(cluster="prod")
    actions.do_unarchive(person, following.pk)
    opened = row(following)
    assert (opened.cluster, opened.source["lastTick"]) == ("", following.tick)
    assert "prod" in opened.problem


@pytest.mark.parametrize("where", ["recorded", "revisions"])
def test_a_bomb_in_what_was_seen_is_refused_before_it_is_unpacked(twin, where):
    archive = archives.unseal(archives.write(twin.pk), archives.LARGEST)
    bomb = zlib.compress(bytes(80 * 2**20))
    if where == "recorded":
        archive.recorded[-1] = (archive.recorded[-1][0], bomb)
    else:
        line = next(one for one in archive.revisions if one.operation.get("seen"))
        line.operation["seen"] = bomb
    tracemalloc.start()
    with pytest.raises(InvalidError, match="when opened"):
        restoring.check(archive, 2**26, Sandbox())
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 32 * 2**20


def test_a_recording_in_a_file_is_checked_as_one_that_is_uploaded(twin):
    archive = archives.unseal(archives.write(twin.pk), archives.LARGEST)
    archive.recorded[-1] = (archive.recorded[0][0], archive.recorded[-1][1])
    with pytest.raises(InvalidError, match="do not count up"):
        restoring.check(archive, archives.LARGEST, Sandbox())
