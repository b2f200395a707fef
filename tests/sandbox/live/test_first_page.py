"""The first page: made once, brought forward by what the bus brings, never with a gap."""

from __future__ import annotations

import json

import pytest
from asgiref.sync import sync_to_async

from sandbox.live.subscription import FirstPage, Message
from sandbox.models import Sandbox
from sandbox.page.diffs import encode_step
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db(transaction=True)]


async def message_of(sandbox: Sandbox) -> Message:
    """Make a tick; return its diff as the bus brings it."""
    (step,) = await sync_to_async(tick)(sandbox)
    return Message(step.from_revision, step.revision, encode_step(step))


async def test_who_comes_later_gets_the_same_page_and_the_diffs_since(busy):
    first = FirstPage(busy.pk)
    frames, begun = await first.get(0)
    brought = [await message_of(busy) for _ in range(2)]
    for message in brought:
        first.take(message)
    later, revision = await first.get(brought[-1].revision)
    assert later[0] is frames[0]
    assert [json.loads(frame)["from"] for frame in later[1:]] == [begun, begun + 1]
    assert revision == (await sync_to_async(row)(busy)).revision


async def test_a_diff_that_the_bus_lost_makes_the_page_anew(busy):
    first = FirstPage(busy.pk)
    frames, begun = await first.get(0)
    await message_of(busy)  # lost
    first.take(await message_of(busy))
    later, revision = await first.get(begun + 2)
    assert len(later) == 1
    assert later[0] is not frames[0]
    assert revision == begun + 2


async def test_a_newer_revision_that_only_the_database_has_makes_it_anew(busy):
    first = FirstPage(busy.pk)
    _, begun = await first.get(0)
    await message_of(busy)
    _, revision = await first.get(begun + 1)
    assert revision == begun + 1


async def test_a_page_from_before_a_rewind_is_made_anew(busy):
    first = FirstPage(busy.pk)
    kept, begun = await first.get(0)
    ticked = await message_of(busy)
    first.take(ticked._replace(rewrites=True))
    later, revision = await first.get(ticked.revision)
    assert len(later) == 1
    assert later[0] is not kept[0]
    assert revision == begun + 1
