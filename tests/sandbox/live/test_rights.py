"""The checks of streams: whom a notice reaches, and that none is left behind."""

from __future__ import annotations

import asyncio

import pytest
from asgiref.sync import sync_to_async
from django.db import OperationalError

from sandbox import actions
from sandbox.access import rights
from sandbox.access.people import Asker
from sandbox.models import Member, Sandbox

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _by_notice_alone(settings, monkeypatch):
    """No right is checked by the clock while a test lasts."""
    settings.SERVER = True
    monkeypatch.setattr(rights, "CHECK_EVERY_S", 1000)


@pytest.fixture
def viewer(make, stranger) -> tuple[Asker, Sandbox]:
    """Somebody who may look at a sandbox, by what they open a stream."""
    sandbox = make()
    actions.do_member(sandbox.owner, sandbox.pk, stranger.username, "viewer")
    return Asker(user_id=stranger.pk), sandbox


async def stream(asker: Asker, sandbox: Sandbox) -> asyncio.Task[str]:
    """Open one; its check has begun."""
    task = asyncio.create_task(rights.lost(asker, sandbox.pk))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task


def check_of(asker: Asker) -> rights._Watched:
    (found,) = (w for (_, who, _), w in rights._watched.items() if who == asker)
    return found


async def checked(asker: Asker) -> None:
    """Let the first check find out who it is."""
    found = check_of(asker)
    found.changed.set()
    async with asyncio.timeout(10):
        while found.person is None:  # noqa: ASYNC110 - nothing says it
            await asyncio.sleep(0)


def shut_out(user_id: int) -> None:
    Member.objects.filter(user_id=user_id).delete()


async def test_a_notice_of_a_person_who_is_known_ends_their_streams(viewer):
    asker, sandbox = viewer
    task = await stream(asker, sandbox)
    await checked(asker)
    await sync_to_async(shut_out)(asker.user_id)
    rights.note_person(asker.user_id)
    assert "no longer see this sandbox" in await asyncio.wait_for(task, 10)
    assert not rights._watched


async def test_a_notice_of_somebody_else_checks_nobody(viewer):
    asker, sandbox = viewer
    task = await stream(asker, sandbox)
    await checked(asker)
    found = check_of(asker)
    rights.note_person(asker.user_id + 1)
    rights.note_changed("another")
    assert not found.changed.is_set()
    rights.note_changed(sandbox.pk)
    assert found.changed.is_set()
    task.cancel()
    await asyncio.wait([task, found.check], timeout=5)


async def test_who_leaves_takes_the_check_of_others_along_only_when_last(viewer):
    asker, sandbox = viewer
    first, second = await stream(asker, sandbox), await stream(asker, sandbox)
    check = check_of(asker).check
    first.cancel()
    await asyncio.wait([first])
    assert not second.done()
    assert check_of(asker).check is check
    second.cancel()
    await asyncio.wait([second, check])
    assert check.cancelled()
    assert not rights._watched


async def test_who_comes_as_the_last_stream_leaves_is_checked_anew(viewer):
    asker, sandbox = viewer
    first = await stream(asker, sandbox)
    left = check_of(asker).check
    first.cancel()
    second = await stream(asker, sandbox)  # before the check that was left has ended
    await asyncio.wait([first, left], timeout=5)
    assert not second.done()
    second.cancel()
    await asyncio.wait([second, check_of(asker).check], timeout=5)


def away(*_: object) -> None:
    raise OperationalError("the database is away")


async def test_who_cannot_be_checked_is_told_to_connect_again(viewer, monkeypatch):
    asker, sandbox = viewer
    monkeypatch.setattr(rights, "who_sees", away)
    task = await stream(asker, sandbox)
    rights.note_changed(sandbox.pk)
    answer = await asyncio.wait_for(task, 10)
    assert answer == "your right could not be checked; connect again"


def test_who_is_nobody_by_now_has_no_stream_of_a_public_sandbox(make, person):
    sandbox = make()
    actions.do_set_visibility(person, sandbox.pk, "public")
    known = rights.who_sees(Asker(user_id=person.pk), [sandbox.pk])
    assert known == {sandbox.pk: person.pk}
    assert rights.who_sees(Asker(token="revoked"), [sandbox.pk]) == {}


@pytest.mark.parametrize("turns", range(3))
async def test_a_stream_that_ends_as_a_notice_comes_leaves_no_check_behind(
    viewer, turns
):
    """Whichever of the two is first, and however near."""
    asker, sandbox = viewer
    task = await stream(asker, sandbox)
    check = check_of(asker).check
    rights.note_changed(sandbox.pk)
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task, check], timeout=5)
    assert check.done()
