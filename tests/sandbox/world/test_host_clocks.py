"""Hosts whose clocks are an hour off: the database's clock decides who may, and when."""

from __future__ import annotations

import json
import random
import time
from datetime import timedelta

import pytest
from django.conf import settings
from django.db.models.functions import Now
from django.test import Client
from django.utils import timezone

from api.idempotency import FREE_AFTER
from sandbox import actions
from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.models import Answer, Sandbox
from sandbox.worker import pulses, tasks
from sandbox.world import leases
from tests.sandbox.conftest import row

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

HOUR = 3600
really, truly = time.time, timezone.now


@pytest.fixture
def host(monkeypatch):
    """Be the host whose clock is so many seconds ahead."""

    def be(ahead: float) -> None:
        monkeypatch.setattr(time, "time", lambda: really() + ahead)
        later = timedelta(seconds=ahead)
        monkeypatch.setattr(timezone, "now", lambda: truly() + later)

    return be


def make_due(sandbox: Sandbox) -> None:
    Sandbox.objects.filter(pk=sandbox.pk).update(due_at=DatabaseTime(), queued_until=0)


def test_hosts_of_any_clock_take_turns_and_keep_the_pace(busy, person, host):
    actions.do_speed(person, busy.pk, 4)
    draw = random.Random(20)
    for _ in range(12):
        mine, theirs = draw.sample((-HOUR, 0, HOUR), 2)
        host(mine)
        make_due(busy)
        claim = leases.take(busy.pk)
        assert claim is not None, "a lease that was given back is free for every clock"
        host(theirs)
        assert leases.take(busy.pk) is None, "who is ahead does not take it"
        host(mine)
        before = row(busy).tick
        actions.do_tick(claim)
        leases.release(claim)
        ahead = row(busy).due_at - database_seconds()
        assert (row(busy).tick, ahead) == (before + 1, pytest.approx(0.25, abs=0.25))


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_lease_that_ended_is_free_for_every_clock(busy, host, ahead):
    leases.take(busy.pk, lease_s=-0.01)
    host(ahead)
    assert leases.take(busy.pk) is not None


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_pulse_of_any_clock_sends_what_is_due_and_once(
    busy, host, ahead, monkeypatch
):
    sent = []
    monkeypatch.setattr(pulses, "send", lambda *a, **_: sent.append(a[0]))
    make_due(busy)
    host(ahead)
    pulses.pulse()
    host(0)
    pulses.pulse()
    assert sent == [busy.pk]


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_an_edit_keeps_ticks_away_for_a_moment_whatever_the_clock(busy, host, ahead):
    claim = leases.take(busy.pk)
    make_due(busy)
    Sandbox.objects.update(waiting_until=DatabaseTime() + leases.WAITING_S)
    host(ahead)
    assert tasks._await_due(claim, time.monotonic() + 1) is False
    Sandbox.objects.update(waiting_until=DatabaseTime() - 0.01)
    assert tasks._await_due(claim, time.monotonic() + 1) is True


def test_a_message_that_was_sent_again_is_worth_nothing(busy):
    make_due(busy)
    Sandbox.objects.update(queued_until=2.5)
    assert tasks.advance.apply((busy.pk, 1.5)).get() == 0
    assert tasks.advance.apply((busy.pk, 2.5)).get() > 0


def test_no_message_ends_by_the_clock_of_who_takes_it(busy, valkey):
    Sandbox.objects.filter(pk=busy.pk).update(warm="")
    make_due(busy)
    pulses.pulse()
    (message,) = valkey.client().lrange("ticks", 0, -1)
    assert json.loads(message)["headers"]["expires"] is None


def test_times_further_ahead_than_any_can_be_are_mended(busy):
    names = ("due_at", "lease_until", "waiting_until", "queued_until")
    Sandbox.objects.update(**dict.fromkeys(names, DatabaseTime() + HOUR))
    assert tasks.tidy() == 0
    now = database_seconds()
    assert all(getattr(row(busy), name) <= now for name in names)


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_request_that_is_being_answered_is_so_to_hosts_of_any_clock(
    busy, person, host, ahead
):
    """Its Idempotency-Key is taken, and taken over two minutes after, by one clock."""
    client = Client(headers={"Idempotency-Key": "once"})
    if settings.SERVER:
        client.force_login(person)
    url = f"/api/v1/sandboxes/{busy.pk}/actions/pause"

    def ask() -> int:
        return client.post(url, "{}", content_type="application/json").status_code

    host(ahead)
    assert ask() == 200
    Answer.objects.update(status=0)  # as while it is being answered
    host(-ahead)
    assert ask() == 409
    Answer.objects.update(at=Now() - FREE_AFTER)
    assert ask() == 200
