"""A sandbox in a file is complete; what is wrong with a file is said, and nothing made."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import msgspec
import pytest

from sandbox import actions
from sandbox.access import limits
from sandbox.base.errors import (
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
)
from sandbox.models import (
    ALL_TABLES,
    Checkpoint,
    Diff,
    Event,
    Revision,
    Sample,
    Sandbox,
    Stored,
)
from sandbox.page import packing
from sandbox.retention import archives, disk
from sandbox.retention.archives import Archive
from sandbox.world import history, worlds
from scheduler.model.objects import Key
from tests.builders import job
from tests.sandbox.conftest import check_rows, contended, row, tick
from tests.sandbox.world.test_history import QUICKER, hashes
from tests.scheduler.autoscaling.test_node_groups import group
from tests.scheduler.autoscaling.test_node_pools import instance, pool

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

HISTORY = (Event, Diff, Sample, Checkpoint, Revision)


@pytest.fixture
def lived(busy, person):
    """A sandbox with edits, an undone one, and another policy behind it."""
    tick(busy, 10)
    actions.do_policy(person, busy.pk, QUICKER, patch=True)
    tick(busy, 5)
    actions.do_delete(person, busy.pk, [Key("Job", "default", "job-03")])
    actions.do_undo(person, busy.pk)
    tick(busy, 5)
    return busy


def reported(sandbox: Sandbox) -> dict[str, list[tuple]]:
    """Return all that is kept of its past, without row ids."""
    found = {}
    for model in HISTORY:
        skipped = ("id", "sandbox")
        names = [f.name for f in model._meta.concrete_fields if f.name not in skipped]
        rows = history.rows_of(model, sandbox, whole=True).values_list(*names)
        found[model.__name__] = sorted(
            [
                tuple(bytes(v) if isinstance(v, memoryview) else v for v in r)
                for r in rows
            ],
            key=repr,
        )
    found["Checkpoint"] = [
        (*line[:-1], shown(line[-1])) for line in found["Checkpoint"]
    ]
    return found


def shown(page: bytes) -> dict[str, dict]:
    """Return a stored page without what differs by the sandbox that shows it."""
    own = ("id", "title", "firstTick")
    rows = packing.unpack_page(page)
    kept = {k: v for k, v in rows["Sandbox//sandbox"].items() if k not in own}
    return {**rows, "Sandbox//sandbox": kept}


def test_nothing_is_missing_in_the_file(lived, person):
    again = actions.do_restore(person, archives.write(lived.pk))
    present = row(lived)
    ours, theirs = reported(present), reported(again)
    extra = [c for c in theirs["Checkpoint"] if c not in ours["Checkpoint"]]
    assert {line[0] for line in extra} <= {present.revision}
    theirs["Checkpoint"] = [c for c in theirs["Checkpoint"] if c not in extra]
    assert ours == theirs
    for name in ("hash", "seed", "tick", "now_ms", "start_policy", "stack", "speed"):
        assert getattr(again, name) == getattr(present, name)
    check_rows(again)


def test_its_lesson_is_in_the_file(busy, person):
    stop = {"at": "4s", "say": {"en": "Who goes?"}}
    script = {"title": {"en": "A lesson"}, "checkpoints": [stop]}
    written = actions.do_write_script(person, busy.pk, script)
    again = actions.do_restore(person, archives.write(busy.pk))
    assert row(again).script == written.script
    assert written.script["title"] == {"en": "A lesson"}


def test_a_file_with_what_is_no_lesson_is_refused(busy, person):
    archive = archives.unseal(archives.write(busy.pk), archives.LARGEST)
    archive.script = {"title": {"en": "A lesson"}, "checkpoints": [{"at": "soon"}]}
    with pytest.raises(InvalidError, match="damaged"):
        actions.do_restore(person, archives.seal(archive))


def test_the_past_is_the_same_after_import(lived, person):
    again = actions.do_restore(person, archives.write(lived.pk))
    for at in (1, 7, 12, 19):
        ours, theirs = (
            (history.world_at(s, n), history.page_at(s, n))
            for s in (row(lived), row(again))
            for n in (history.revision_at(s, at),)
        )
        assert ours[0].hash() == theirs[0].hash()
        for page in (ours[1], theirs[1]):
            page["Sandbox//sandbox"].pop("id")
        assert ours[1] == theirs[1]


def test_an_imported_edit_is_undone_as_the_first_was(lived, person):
    again = actions.do_restore(person, archives.write(lived.pk))
    for sandbox in (lived, again):
        actions.do_undo(person, sandbox.pk)
    assert row(again).hash == row(lived).hash


def test_an_edit_that_was_undone_is_redone_from_the_file(lived, person):
    again = actions.do_restore(person, archives.write(lived.pk))
    for sandbox in (lived, again):
        actions.do_redo(person, sandbox.pk)
    assert row(again).hash == row(lived).hash
    check_rows(again)


def test_it_is_written_while_the_clock_runs_on(lived):
    stale = row(lived)
    tick(lived)
    worlds.forget_all()
    archive = archives.unseal(archives.write(stale.pk), 1 << 30)
    assert archive.columns.revision == row(lived).revision


def test_a_history_that_was_let_go_is_not_asked_for(busy, person):
    from sandbox.worker import tasks

    tick(busy, 80)
    actions.do_set_retention(person, busy.pk, ticks=10)
    tasks.tidy()
    again = actions.do_restore(person, archives.write(busy.pk))
    assert row(again).kept_tick == row(busy).kept_tick > 0
    check_rows(again)


# ------------------------------------------------------------- what is refused


def changed(change: Callable[[Archive], object]) -> Callable[[bytes], bytes]:
    """Return what changes an archive inside its file."""

    def do(file: bytes) -> bytes:
        archive = archives.unseal(file, 1 << 30)
        change(archive)
        return archives.seal(archive)

    return do


def raw(change: Callable[[dict], object]) -> Callable[[bytes], bytes]:
    """Return what changes a file in ways that its types forbid."""

    def do(file: bytes) -> bytes:
        head, _, rest = file.partition(b"\n")
        body = msgspec.msgpack.decode(zlib.decompress(rest))
        change(body)
        return head + b"\n" + zlib.compress(msgspec.msgpack.encode(body))

    return do


def bomb(archive: Archive) -> None:
    number, _ = archive.diffs[0]
    archive.diffs[0] = (
        number,
        bytes([packing.VERSION]) + zlib.compress(bytes(1 << 26)),
    )


WRONG = {
    "nothing": (lambda f: b"", "expected a sandbox"),
    "a zip": (lambda f: b"PK\x03\x04" + f, "expected a sandbox"),
    "cut off": (lambda f: f[: len(f) // 2], "cut off"),
    "more behind it": (lambda f: f + b"more", "4 bytes follow"),
    "a later format": (
        lambda f: f.replace(f" {archives.FORMAT}\n".encode(), b" 9\n", 1),
        "update this program",
    ),
    "noise": (lambda f: f[:19] + bytes(200), "damaged"),
    "another hash": (
        changed(lambda a: setattr(a.columns, "hash", "0" * 64)),
        "hash differs",
    ),
    "a hole in the diffs": (changed(lambda a: a.diffs.pop(5)), "is missing"),
    "a hole in the revisions": (
        changed(lambda a: a.revisions.pop(5)),
        "there is a gap",
    ),
    "no checkpoint": (changed(lambda a: a.checkpoints.clear()), "no checkpoint"),
    "an event twice": (changed(lambda a: a.events.append(a.events[0])), "are others"),
    "a diff that is a bomb": (changed(bomb), "bytes when opened"),
    "a world of noise": (changed(lambda a: setattr(a, "world", b"\x93\x01")), "world"),
    "a checkpoint of noise": (
        changed(lambda a: setattr(a.checkpoints[0], "world", zlib.compress(b"\x01"))),
        "damaged",
    ),
    "a title that is a number": (raw(lambda b: b["columns"].update(title=5)), "title"),
    "a speed below zero": (raw(lambda b: b["columns"].update(speed=-1)), "speed"),
    "an operation that is not one": (
        raw(lambda b: b["revisions"][3].__setitem__(4, {"do": "rm"})),
        "damaged",
    ),
}


@pytest.mark.parametrize(("damage", "said"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_with_a_file_is_said_and_nothing_made(
    damage, said, busy, person, settings
):
    settings.LIMITS = {**settings.LIMITS, "bytes_per_archive": 1 << 24}
    tick(busy, 8)
    file = damage(archives.write(busy.pk))
    before = [model.objects.count() for model in (Sandbox, *HISTORY, *ALL_TABLES)]
    with pytest.raises(InvalidError, match=said):
        actions.do_restore(person, file)
    after = [model.objects.count() for model in (Sandbox, *HISTORY, *ALL_TABLES)]
    assert after == before


def test_whoever_has_as_many_as_allowed_gets_no_more(busy, person, settings):
    file = archives.write(busy.pk)
    settings.LIMITS = {**limits.settings.LIMITS, "sandboxes_per_user": 1}
    with pytest.raises(ForbiddenError, match="as many as allowed"):
        actions.do_restore(person, file)


# ---------------------------------------------------------------- put away


def test_an_archived_sandbox_has_no_rows_and_comes_back_as_it_was(lived, person):
    before = reported(row(lived))
    known = row(lived)
    actions.do_archive(person, lived.pk)
    for model in (*HISTORY, *ALL_TABLES):
        assert not model.objects.filter(sandbox=lived).exists()
    assert row(lived).archived_at is not None
    again = actions.do_unarchive(person, lived.pk)
    assert (again.hash, again.tick, again.playing) == (known.hash, known.tick, False)
    after = reported(again)
    after["Checkpoint"] = [c for c in after["Checkpoint"] if c in before["Checkpoint"]]
    assert after == before
    assert not Stored.objects.exists()
    check_rows(again)


def tick_around_an_archive(person, sandbox, count: int) -> None:
    """Make so many ticks, archive it and take it out again, and make as many more."""
    tick(sandbox, count)
    actions.do_archive(person, sandbox.pk)
    actions.do_unarchive(person, sandbox.pk)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, count)


def test_an_archived_sandbox_goes_on_where_it_was(busy, make, person):
    other = make(*contended())
    actions.do_play(person, other.pk)
    tick(other, 20)
    tick_around_an_archive(person, busy, 10)
    assert row(busy).hash == row(other).hash


def test_an_archived_sandbox_whose_nodes_come_and_go_goes_on_where_it_was(make, person):
    keen = pool(disruption={"consolidateAfter": "20s"}, limits={"cpu": "8"})
    offers = [{"pricePerHour": 1, "capacityType": "spot", "interruptionsPerHour": 60}]
    works = [job(f"w{i}", cpu=2, runtime="90s", arrival=f"{9 * i}s") for i in range(8)]
    group_of_one = group(maxNodes=1, scaleDownDelay="30s", bootTime="exp(30s)")
    objects = [keen, instance("spot", 4, 0, offerings=offers), group_of_one, *works]
    one, other = (make(*objects, policy={"stack": "kube"}) for _ in range(2))
    for sandbox in (one, other):
        actions.do_play(person, sandbox.pk)
    tick(other, 24)
    tick_around_an_archive(person, one, 12)
    world, _ = worlds.copy_of(one.pk)
    assert world.autoscaling is not None
    assert world.autoscaling.cost() > 0
    assert row(one).hash == row(other).hash


ASKED = {
    "play": lambda p, s: actions.do_play(p, s.pk),
    "fork": lambda p, s: actions.do_fork(p, s.pk),
    "rewind": lambda p, s: actions.do_rewind(p, s.pk, tick=1),
    "page": lambda p, s: history.page_at(row(s), 1),
    "world": lambda p, s: worlds.copy_of(s.pk),
    "archive": lambda p, s: actions.do_archive(p, s.pk),
}


@pytest.mark.parametrize("ask", ASKED.values(), ids=ASKED)
def test_nothing_is_done_to_an_archived_sandbox(ask, busy, person):
    actions.do_archive(person, busy.pk)
    with pytest.raises((ConflictError, GoneError), match="archived"):
        ask(person, busy)


def test_a_parent_waits_for_its_forks(busy, person):
    tick(busy, 5)
    fork = actions.do_fork(person, busy.pk, tick=3)
    with pytest.raises(ConflictError, match="forks share its history"):
        actions.do_archive(person, busy.pk)
    actions.do_archive(person, fork.pk)
    actions.do_archive(person, busy.pk)
    assert row(busy).archived_at


def test_the_forks_of_others_are_counted_and_not_named(busy, person, stranger):
    actions.do_set_visibility(person, busy.pk, "public")
    fork = actions.do_fork(stranger, busy.pk, title="of nobody's business")
    with pytest.raises(ConflictError, match=r"1 of other people") as refused:
        actions.do_archive(person, busy.pk)
    assert fork.title not in str(refused.value)


def test_a_fork_comes_back_below_its_parent(busy, person):
    known = hashes(busy, 6)
    fork = actions.do_fork(person, busy.pk, tick=4)
    actions.do_archive(person, fork.pk)
    again = actions.do_unarchive(person, fork.pk)
    assert again.parent_id == busy.pk
    assert Revision.objects.filter(sandbox=fork).count() == 1
    past = history.world_at(row(again), history.revision_at(row(again), 2))
    assert past.hash() == known[2]
    check_rows(again)


def test_a_fork_whose_parent_is_gone_brings_its_own_past(busy, person):
    known = hashes(busy, 6)
    fork = actions.do_fork(person, busy.pk, tick=4)
    actions.do_archive(person, fork.pk)
    actions.do_delete_sandbox(person, busy.pk)
    again = actions.do_unarchive(person, fork.pk)
    past = history.world_at(row(again), history.revision_at(row(again), 2))
    assert past.hash() == known[2]
    check_rows(again)


def test_a_fork_left_by_its_parent_says_where_its_history_begins(busy, person):
    tick(busy, 6)
    fork = actions.do_fork(person, busy.pk, tick=4)
    second = actions.do_fork(person, fork.pk, tick=2)
    actions.do_delete_sandbox(person, busy.pk)
    assert (row(fork).kept_tick, row(second).kept_tick) == (4, 2)
    with pytest.raises(GoneError, match="begins at tick 4"):
        history.revision_at(row(fork), 3)
    for sandbox in (fork, second):
        worlds.forget_all()
        history._pages.clear()
        check_rows(sandbox)


def test_only_the_owner_archives(busy, stranger):
    Sandbox.objects.filter(pk=busy.pk).update(visibility="public")
    with pytest.raises(ForbiddenError):
        actions.do_archive(stranger, busy.pk)


def test_a_file_credits_who_reads_it_in_and_nobody_else_of_the_same_name(
    lived, person, stranger
):
    """Otherwise a file that somebody wrote would speak for everybody here."""
    body = archives.whole(row(lived))
    credited = [
        set(
            Revision.objects.filter(sandbox=actions.do_restore(reader, body))
            .exclude(who=None)
            .values_list("who", flat=True)
        )
        for reader in (person, stranger)
    ]
    assert credited == [{person.pk}, set()]


# -------------------------------------------------------------------- on disk


def test_what_a_sandbox_takes_is_reported_by_what_it_is_for(lived, person):
    use = disk.use_of([row(lived)])[lived.pk]
    assert {"objects", "events", "diffs", "checkpoints", "operations"} <= set(use.parts)
    bodies = Diff.objects.filter(sandbox=lived).values_list("body", flat=True)
    assert use.parts["diffs"] >= sum(len(bytes(body)) for body in bodies) * 0.9
    assert disk.database_bytes() > 0


def test_what_is_archived_takes_less(lived, person):
    before = disk.use_of([row(lived)])[lived.pk].total
    actions.do_archive(person, lived.pk)
    use = disk.use_of([row(lived)])[lived.pk]
    assert set(use.parts) == {"archive"}
    assert use.total < before * 0.6
