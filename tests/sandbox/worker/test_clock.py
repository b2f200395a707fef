"""The clock: one of many speaks, and a lost bus is waited out."""

from __future__ import annotations

import os
import threading
import time

import pytest
from django.db import OperationalError

from sandbox import actions
from sandbox.models import Sandbox
from sandbox.process import idle_flag
from sandbox.process.celery import TICKS
from sandbox.worker import clock as clocks
from sandbox.worker.clock import (
    LEASE,
    Clock,
)
from tests.services.bus import running_bus
from tests.services.default_run import wait_for

QUEUE = "celery"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def clock(valkey):
    one = Clock()
    yield one
    one.resign()


def due_again() -> None:
    Sandbox.objects.update(due_at=0, queued_until=0)


def test_a_beat_sends_what_is_due(valkey, clock, busy):
    assert clock.beat()
    assert valkey.client().llen(TICKS) == 1


def test_of_two_clocks_one_speaks(valkey, clock, busy):
    clock.beat()
    other = Clock()
    due_again()
    assert other.beat()
    other.resign()
    assert valkey.client().llen(TICKS) == 1


def test_when_a_clock_resigns_another_one_speaks(valkey, clock, busy):
    clock.beat()
    due_again()
    other = Clock()
    clock.resign()
    other.beat()
    other.resign()
    assert valkey.client().llen(TICKS) == 2


def test_a_clock_gives_up_only_its_own_lease(valkey, clock):
    clock.beat()
    other = Clock()
    other.resign()
    assert valkey.client().get(LEASE) == clock.token


def test_a_lease_that_would_end_soon_after_a_rest_is_renewed(valkey, clock):
    clock.beat()
    valkey.client().pexpire(LEASE, int(1400 * clocks.REST_S))
    clock.beat()
    assert valkey.client().pttl(LEASE) > 1400 * clocks.REST_S


def test_who_shall_look_is_asked_once_until_somebody_begins(valkey, clock, busy):
    for _ in range(3):
        clock.beat()
    assert valkey.client().llen(QUEUE) == 1
    valkey.client().delete(QUEUE)
    clock.beat()
    assert valkey.client().llen(QUEUE) == 1


def test_nobody_is_asked_to_look_just_after_another_has(valkey, clock, busy):
    valkey.client().set(idle_flag.LOOKED, 1)
    clock.beat()
    assert valkey.client().llen(QUEUE) == 0


def test_while_nothing_plays_the_clock_speaks_seldom(valkey, clock):
    for _ in range(2):
        clock.beat()
    assert (valkey.client().llen(QUEUE), clock.resting) == (0, True)
    assert 0 < valkey.client().pttl(idle_flag.MARK) <= idle_flag.MARK_MS


def test_who_plays_is_heard_at_the_next_beat(valkey, clock, make, person):
    sandbox = make()
    clock.beat()
    actions.do_play(person, sandbox.pk)
    clock.beat()
    assert valkey.client().llen(TICKS) == 1


def test_who_plays_ends_the_rest_of_the_clock(valkey, clock, make, person, monkeypatch):
    sandbox = make()
    for _ in range(2):
        clock.beat()
    assert clock.resting
    monkeypatch.setattr(clocks, "REST_S", 0)  # until it is woken, or all fails
    monkeypatch.setattr(idle_flag, "WAKE_MS", 60_000)
    actions.do_play(person, sandbox.pk)
    assert clock._rest()


def test_a_mark_that_came_too_late_is_taken_away(valkey, make, monkeypatch):
    sandbox = make()
    ask = idle_flag._ask

    def play_and_ask(command):
        Sandbox.objects.filter(pk=sandbox.pk).update(playing=True)
        ask(command)

    monkeypatch.setattr(idle_flag, "_ask", play_and_ask)
    assert not idle_flag.mark_if_idle()
    assert not valkey.client().exists(idle_flag.MARK)


def test_while_somebody_plays_there_is_no_mark(valkey, busy):
    assert not idle_flag.mark_if_idle()
    assert not valkey.client().exists(idle_flag.MARK)


def test_a_database_that_is_away_is_waited_out(valkey, clock, busy, monkeypatch):
    def away():
        raise OperationalError("the connection is closed")

    with monkeypatch.context() as lost:
        lost.setattr(clocks, "pulse", away)
        assert not clock.beat()
    assert clock.beat()
    assert valkey.client().llen(TICKS) == 1


def test_a_lost_bus_is_waited_out(tmp_path, settings):
    socket = tmp_path / "bus.sock"
    settings.BUS_URL = f"unix://{socket}"
    one = Clock()
    assert not one.beat()
    with running_bus(socket):
        assert one._speaks()
        one.resign()


def test_a_running_clock_shows_that_it_lives(valkey, tmp_path, busy, monkeypatch):
    alive, stop = tmp_path / "alive", threading.Event()
    monkeypatch.setenv("ALIVE_FILE", str(alive))
    thread = threading.Thread(target=Clock().run, args=(stop,))
    thread.start()
    try:
        wait_for(alive.exists, "a sign of life")
        for _ in range(2):  # one waits at most: each comes once the other is taken
            wait_for(lambda: valkey.client().rpop(QUEUE), "a call to look")
    finally:
        stop.set()
        thread.join()
    assert valkey.client().get(LEASE) is None


def test_the_probe_distinguishes_old_signs_of_life_from_fresh_ones(
    tmp_path, monkeypatch
):
    from sandbox.base import probe

    alive = tmp_path / "alive"
    monkeypatch.setenv("ALIVE_FILE", str(alive))
    assert "No such file" in probe.alive()
    probe.show_life()
    assert probe.alive() == ""
    long_ago = time.time() - 60
    os.utime(alive, (long_ago, long_ago))
    assert "last sign of life 60 s ago" in probe.alive()
