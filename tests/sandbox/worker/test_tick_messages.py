"""Messages about ticks: at most one to all for each sandbox, and none is lost for good."""

from __future__ import annotations

import base64
import json
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sandbox import actions
from sandbox.actions.lessons import do_start_lesson
from sandbox.models import Sandbox
from sandbox.process.celery import LESSONS, TICKS, own_queue
from sandbox.worker import pulses
from tests.sandbox.conftest import contended

pytestmark = pytest.mark.django_db(transaction=True)
COUNT = 4


@pytest.fixture
def due(make, person, monkeypatch):
    """Sandboxes that play; each message to all counts as lost at once, if it can be."""
    monkeypatch.setattr(pulses, "EXPIRES_S", -1.0)
    monkeypatch.setattr(pulses, "EXPIRES_FOR_ALL_S", -1.0)
    keys = [make(*contended()).pk for _ in range(COUNT)]
    for key in keys:
        actions.do_play(person, key)
    return keys


def start_again(bus) -> None:
    bus.delete(TICKS, LESSONS)
    Sandbox.objects.update(due_at=0, queued_until=0, lease_until=0, warm="")


def sandbox_and_ticket(message: bytes) -> tuple[str, float]:
    (sandbox, ticket), *_ = json.loads(base64.b64decode(json.loads(message)["body"]))
    return sandbox, ticket


def is_newest(sandbox: str, ticket: float) -> bool:
    return Sandbox.objects.filter(pk=sandbox, queued_until=ticket).exists()


def test_who_waits_long_keeps_its_place_and_has_one_message(due, valkey):
    bus = valkey.client()
    start_again(bus)
    pulses.pulse()
    first = bus.lrange(TICKS, 0, -1)
    for _ in range(5):
        pulses.pulse()
    assert bus.lrange(TICKS, 0, -1) == first
    assert {sandbox_and_ticket(one)[0] for one in first} == {*due}


def test_a_lesson_that_is_held_waits_behind_no_other_tick(due, valkey, person):
    bus, other = valkey.client(), due[1]
    do_start_lesson(person, due[0])
    Sandbox.objects.filter(pk=other).update(warm="0.7@here")
    start_again(bus)
    pulses.pulse()
    assert [sandbox_and_ticket(one)[0] for one in bus.lrange(LESSONS, 0, -1)] == due[:1]
    assert bus.llen(TICKS) == COUNT - 1
    pulses.send(other, "0.7@here", 1.0, lesson=True)
    assert bus.llen(own_queue("0.7@here", lesson=True)) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(
    steps=st.lists(st.sampled_from(["pulse", "lose first", "lose last"]), max_size=12)
)
def test_whatever_is_lost_the_queue_ends_with_one_message_that_counts_for_each(
    due, valkey, steps
):
    bus = valkey.client()
    start_again(bus)
    for step in steps:
        if step == "pulse":
            pulses.pulse()
        elif step == "lose first":
            bus.rpop(TICKS)
        else:
            bus.lpop(TICKS)
        assert bus.llen(TICKS) <= COUNT
    for _ in range(2 * COUNT):  # a message that counts for nothing is taken off
        pulses.pulse()
        kept = bus.lrange(TICKS, 0, -1)
        worth = [one for one in kept if is_newest(*sandbox_and_ticket(one))]
        bus.delete(TICKS)
        if worth:
            bus.rpush(TICKS, *worth)
    found = Counter(sandbox_and_ticket(one)[0] for one in bus.lrange(TICKS, 0, -1))
    assert found == dict.fromkeys(due, 1)
