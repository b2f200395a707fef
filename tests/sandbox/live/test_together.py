"""Many sockets ask the database together, each gets its own answer."""

from __future__ import annotations

import asyncio

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sandbox.access import rights
from sandbox.access.people import Asker
from sandbox.base.threads import one_of_many
from sandbox.live import pages, subscription
from sandbox.live.subscription import Client, SandboxSubscription

pytestmark = [pytest.mark.django_db(transaction=True)]


async def test_each_who_asks_gets_its_own_answer_of_one_call():
    calls = []

    def lengths(names: list[str]) -> dict[str, int]:
        calls.append(names)
        return {name: len(name) for name in names if name}

    asked = (one_of_many(lengths, item=item) for item in ("a", "bb", "", "a"))
    assert await asyncio.gather(*asked) == [1, 2, None, 1]
    assert calls == [["", "a", "bb"]]


async def test_who_asks_while_others_are_answered_is_asked_for_anew():
    calls = []

    def count(names: list[str]) -> dict[str, int]:
        calls.append(names)
        return dict.fromkeys(names, len(calls))

    first = await one_of_many(count, item="a")
    assert (first, await one_of_many(count, item="a")) == (1, 2)


async def test_an_error_reaches_everybody_who_asked():
    def away(names: list[str]) -> dict[str, int]:
        raise OSError(f"nobody answers about {len(names)}")

    asked = [one_of_many(away, item=str(n)) for n in range(3)]
    found = await asyncio.gather(*asked, return_exceptions=True)
    assert [str(error) for error in found] == ["nobody answers about 3"] * 3


def test_rights_and_revisions_of_many_sandboxes_cost_what_those_of_one_cost(make):
    few, many = [make().pk], [make().pk for _ in range(4)]
    for ask in (lambda ids: rights.who_sees(Asker(), ids), pages.newest_revisions):
        ask(few)  # the first question of all looks whether the schema is new enough
        costs = []
        for ids in (few, many):
            with CaptureQueriesContext(connection) as queries:
                assert set(ask(ids)) == set(ids)
            costs.append(len(queries))
        assert costs[0] == costs[1]


async def test_a_bus_that_is_away_is_asked_once_for_all(no_bus, caplog):
    found = await asyncio.gather(*(subscription.bus_problem() for _ in range(50)))
    assert len(set(found)) == 1
    assert found[0]
    assert len(caplog.records) == 1


async def test_who_missed_the_newest_revision_takes_it_from_history():
    """Though nothing is committed any more; who is still sending at one look is let be."""
    subscription = SandboxSubscription("a")
    missed, sending = Client(_nothing, _nothing, 3), Client(_nothing, _nothing, 4)
    subscription.clients = {missed, sending}
    subscription.newest = 5
    subscription.catch_up(5)
    assert [c for c in subscription.clients if c.page_wanted] == []
    sending.revision = 5
    subscription.catch_up(5)
    assert [c for c in subscription.clients if c.page_wanted] == [missed]


async def _nothing(_: object) -> None:
    """Neither sends nor closes."""
