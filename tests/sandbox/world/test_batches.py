"""Ticks that share a commit: the history of each is what it is without."""

from __future__ import annotations

import asyncio

import pytest
import redis
from channels.layers import get_channel_layer

from sandbox import actions
from sandbox.actions import ticks
from sandbox.base.errors import OvertakenError
from sandbox.models import ALL_TABLES as TABLES
from sandbox.models import Event, Revision, Sample, Sandbox, StoredObject
from sandbox.page.rows.transport import KEY
from sandbox.worker import tasks
from sandbox.world import commits, history, leases
from tests.sandbox.conftest import check_rows, contended, row, tick

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
COUNT = 25


@pytest.fixture
def unwatched(monkeypatch):
    """Nobody has a socket open, and a batch has all the time that it wants."""
    monkeypatch.setattr(commits, "is_watched", lambda _: False)
    monkeypatch.setattr(ticks, "UNWATCHED_S", 60.0)


@pytest.fixture
def stepping(make, person):
    """Return a function that makes a sandbox which steps to tick 25."""

    def step() -> Sandbox:
        sandbox = make(*contended())
        actions.do_step(person, sandbox.pk, ticks=COUNT)
        return sandbox

    return step


def visit(sandbox: Sandbox, **options: object) -> list[int]:
    claim = leases.take(sandbox.pk)
    steps = actions.do_ticks(claim, **options)
    leases.release(claim)
    return [step.tick for step in steps]


def past(sandbox: Sandbox) -> dict[str, object]:
    """Return all that is kept of each tick."""
    numbers = Revision.objects.filter(sandbox=sandbox).order_by("number")
    events = Event.objects.filter(sandbox=sandbox).order_by("revision", "seq")
    samples = Sample.objects.filter(sandbox=sandbox).order_by("revision")
    pages = [
        history.page_at(row(sandbox), number)
        for number in numbers.values_list("number", flat=True)
    ]
    for page in pages:
        page[KEY] = {**page[KEY], "id": ""}
    return {
        "revisions": list(numbers.values_list("number", "tick", "t_ms", "kind")),
        "events": list(
            events.values_list("revision", "tick", "type", "subject", "data")
        ),
        "samples": list(samples.values_list("revision", "tick", "body")),
        "pages": pages,
        "objects": [versions(sandbox, table) for table in TABLES],
    }


def versions(sandbox: Sandbox, table: type[StoredObject]) -> list[tuple[object, ...]]:
    found = table._default_manager.filter(sandbox_id=sandbox.pk)
    return sorted(found.values_list("kind", "name", "revision", "manifest"), key=str)


def test_ticks_of_one_commit_leave_the_same_past_as_ticks_one_by_one(
    stepping, unwatched
):
    together, alone = stepping(), stepping()
    assert visit(together) == list(range(1, COUNT + 1))
    assert len(tick(alone, COUNT)) == COUNT
    assert past(together) == past(alone)
    assert row(together).hash == row(alone).hash
    check_rows(together)


def test_a_batch_ends_where_a_checkpoint_is_due(stepping, unwatched, monkeypatch):
    monkeypatch.setattr(commits, "CHECKPOINT_EVERY", 8)
    sandbox = stepping()
    assert visit(sandbox)[-1] + row(sandbox).revision - row(sandbox).tick == 8
    assert visit(sandbox)[-1] + row(sandbox).revision - row(sandbox).tick == 16


def test_a_batch_that_is_overtaken_writes_nothing(stepping, unwatched):
    sandbox = stepping()
    slow = leases.take(sandbox.pk, lease_s=-1)
    leases.take(sandbox.pk)
    with pytest.raises(OvertakenError):
        actions.do_ticks(slow)
    assert row(sandbox).tick == 0
    assert not Sample.objects.filter(sandbox=sandbox).exists()


def test_a_sandbox_with_a_pace_makes_its_ticks_one_by_one(busy, unwatched):
    assert visit(busy) == [1]


def test_a_sandbox_is_watched_while_somebody_has_joined_its_group(valkey):
    async def joined() -> bool:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        await layer.group_add(commits.group_of("a"), channel)
        return await asyncio.to_thread(commits.is_watched, "a")

    assert not commits.is_watched("a")
    assert asyncio.run(joined())


@pytest.mark.parametrize("server", [True, False])
def test_a_sandbox_whose_bus_is_away_is_taken_for_watched_unless_nobody_runs(
    monkeypatch, settings, server
):
    away = redis.Redis(unix_socket_path="/nowhere/bus.sock", retry=None)
    monkeypatch.setattr(commits, "_bus", lambda: away)
    settings.SERVER, settings.BUS_URL = server, "unix:///nowhere/bus.sock"
    assert commits.is_watched("a") is server


def test_ticks_before_one_that_fails_are_kept(stepping, unwatched, monkeypatch):
    sandbox, made = stepping(), ticks._make_tick

    def fails_at_four(claim, session):
        if session.sandbox.tick == 3:
            raise ZeroDivisionError
        return made(claim, session)

    monkeypatch.setattr(ticks, "_make_tick", fails_at_four)
    tasks.advance.apply((sandbox.pk,))
    assert (row(sandbox).tick, row(sandbox).playing) == (3, False)
    assert "ZeroDivisionError" in row(sandbox).problem


def test_who_looks_gets_every_diff_and_else_the_last_is_enough(
    stepping, unwatched, monkeypatch, django_capture_on_commit_callbacks
):
    sandbox, sent = stepping(), []
    monkeypatch.setattr(commits, "_publish", lambda _, m: sent.append(m["revision"]))
    with django_capture_on_commit_callbacks(execute=True):
        visit(sandbox, most=4)
    assert sent == [row(sandbox).revision]
    monkeypatch.setattr(commits, "is_watched", lambda _: True)
    monkeypatch.setattr(ticks, "WATCHED_S", 60.0)
    with django_capture_on_commit_callbacks(execute=True):
        visit(sandbox, most=3)
    assert sent[1:] == [row(sandbox).revision + n for n in (-2, -1, 0)]


def test_where_nobody_runs_nothing_is_sent_and_nothing_is_said(settings, caplog):
    settings.SERVER, settings.BUS_URL = False, "unix:///nowhere/bus.sock"
    commits._publish("a", {"type": "diff"})
    assert caplog.text == ""
