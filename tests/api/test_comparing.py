"""Two branches compared; a sandbox taken out as a file and brought back."""

from __future__ import annotations

import zlib

import pytest

from api.views.comparing import ARCHIVE
from sandbox import actions
from sandbox.models import Sample, Sandbox
from sandbox.retention import archives
from sandbox.world import history
from tests.builders import cluster_queue
from tests.sandbox.conftest import check_rows, row, text_of, tick

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


@pytest.fixture
def branches(busy, person):
    """The same run twice from tick 4 on, once with more quota."""
    tick(busy, 4)
    fork = actions.do_fork(person, busy.pk)
    more = cluster_queue(
        "a", cohort="team", cpu=20, within="LowerPriority", reclaim="Any"
    )
    actions.do_import(person, fork.pk, [("a.yaml", text_of(more))])
    actions.do_play(person, fork.pk)
    tick(busy, 10)
    tick(fork, 10)
    return busy, fork


def test_branches_are_distinguished_from_their_first_difference(call, branches):
    one, other = branches
    body = call("get", one, f"/compare?with={other.pk}").json()
    assert (body["fromTick"], body["toTick"]) == (4, 14)
    [difference] = body["differences"]
    assert difference["tick"] == 5
    [counts] = body["counts"]
    assert counts["earlier"] > 0
    totals = {line["measure"]: line for line in body["totals"]}
    assert totals["started"]["deltas"][0] >= 0
    for measure in ("searches", "candidatesLookedAt", "simulations"):
        assert totals[measure]["better"] == "low"
    assert totals["searches"]["values"][0] > 0
    assert totals["timeToFairMs"]["better"] == "low"
    assert totals["unfairSpans"]["deltas"][0] is not None


def test_what_older_ticks_did_not_count_is_no_zero(call, branches):
    one, other = branches
    sample = Sample.objects.filter(sandbox=other).order_by("-tick").first()
    sample.body = {n: v for n, v in sample.body.items() if n != "searches"}
    sample.save()
    body = call("get", one, f"/compare?with={other.pk}").json()
    totals = {line["measure"]: line for line in body["totals"]}
    assert totals["searches"]["values"][1] is None
    assert totals["searches"]["deltas"] == [None]
    assert totals["simulations"]["values"][1] is not None


def test_a_sandbox_does_not_differ_from_itself(call, branches):
    one, _ = branches
    body = call("get", one, f"/compare?with={one.pk}").json()
    assert body["differences"] == [None]
    assert body["workloads"] == []
    assert all(
        delta in (0, None) for line in body["totals"] for delta in line["deltas"]
    )


def test_a_comparison_needs_a_sandbox_that_you_may_see(call, branches):
    assert call("get", branches[0], "/compare").status_code == 422
    assert call("get", branches[0], "/compare?with=aaaaaaaaaaaa").status_code == 404


def test_a_fork_taken_out_and_brought_back_is_the_same(call, client, branches, person):
    _, fork = branches
    file = call("get", fork, "/archive").content
    made = client.post("/api/v1/archives", file, content_type=ARCHIVE)
    assert made.status_code == 201
    again = Sandbox.objects.get(pk=made.json()["id"])
    present = row(fork)
    assert (again.hash, again.tick, again.parent) == (present.hash, present.tick, None)
    check_rows(again)
    for at in (2, 9):
        old, new = (
            history.world_at(s, history.revision_at(s, at)) for s in (present, again)
        )
        assert old.hash() == new.hash()
    for sandbox in (fork, again):
        actions.do_play(person, sandbox.pk)
        tick(sandbox, 5)
    assert row(again).hash == row(fork).hash


_FORMAT = b"sandbox %d\n" % archives.FORMAT
DAMAGE = {
    "no archive": lambda file: b"PK\x03\x04" + file,
    "cut off": lambda file: file[: len(file) // 2],
    "another format": lambda file: file.replace(_FORMAT, b"sandbox 999\n", 1),
    "another world": lambda file: _with_another_hash(file),
    "nothing": lambda _: b"",
    "noise": lambda file: file[:20] + bytes(200),
}


def _with_another_hash(file: bytes) -> bytes:
    head, _, rest = file.partition(b"\n")
    archive = archives._decode(zlib.decompress(rest))
    archive.columns.hash = "0" * 64
    return head + b"\n" + zlib.compress(archives._encode(archive))


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_a_damaged_file_is_refused_and_makes_nothing(damage, call, client, busy):
    file = damage(call("get", busy, "/archive").content)
    answer = client.post("/api/v1/archives", file, content_type=ARCHIVE)
    assert (answer.status_code, answer.json()["reason"]) == (422, "Invalid")
    assert Sandbox.objects.count() == 1
