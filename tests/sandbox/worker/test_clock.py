"""The clock: one of many speaks, and a lost bus is waited out."""

from __future__ import annotations

import os
import threading
import time

import pytest

from sandbox import actions
from sandbox.models import Sandbox
from sandbox.process import idle_flag
from sandbox.worker import clock as clocks
from sandbox.worker import tasks
from sandbox.worker.clock import (
    LEASE,
    LONGEST_QUEUE,
    Clock,
)
from tests.services.bus import running_bus
from tests.services.default_run import wait_for

QUEUE = "celery"


@pytest.fixture
def clock(valkey):
    one = Clock()
    yield one
    one.resign()


def test_a_beat_puts_one_pulse_on_the_queue(valkey, clock):
    assert clock.beat()
    assert valkey.client().llen(QUEUE) == 1


def test_of_two_clocks_one_speaks(valkey, clock):
    clock.beat()
    other = Clock()
    assert other.beat()
    other.resign()
    assert valkey.client().llen(QUEUE) == 1


def test_when_a_clock_resigns_another_one_speaks(valkey, clock):
    clock.beat()
    valkey.client().delete(QUEUE)
    other = Clock()
    clock.resign()
    other.beat()
    other.resign()
    assert valkey.client().llen(QUEUE) == 1


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


def test_a_pulse_that_nobody_has_begun_is_not_followed_by_another(valkey, clock):
    for _ in range(3):
        clock.beat()
    assert valkey.client().llen(QUEUE) == 1
    valkey.client().lpush(QUEUE, "an advance")
    clock.beat()
    assert valkey.client().llen(QUEUE) == 3


def test_a_queue_that_nobody_reads_does_not_grow_for_ever(valkey, clock):
    valkey.client().rpush(QUEUE, *["waiting"] * LONGEST_QUEUE)
    clock.beat()
    assert valkey.client().llen(QUEUE) == LONGEST_QUEUE


@pytest.mark.django_db(transaction=True)
def test_while_nothing_plays_the_clock_speaks_seldom(valkey, clock):
    tasks.pulse()
    clock.beat()
    assert valkey.client().llen(QUEUE) == 0
    assert 0 < valkey.client().pttl(idle_flag.MARK) <= idle_flag.MARK_MS


@pytest.mark.django_db(transaction=True)
def test_who_plays_is_heard_at_the_next_beat(valkey, clock, make, person):
    sandbox = make()
    tasks.pulse()
    actions.do_play(person, sandbox.pk)
    clock.beat()
    assert valkey.client().llen(QUEUE) == 1


@pytest.mark.django_db(transaction=True)
def test_who_plays_ends_the_rest_of_the_clock(valkey, clock, make, person, monkeypatch):
    sandbox = make()
    tasks.pulse()
    clock.beat()
    assert clock.resting
    monkeypatch.setattr(clocks, "REST_S", 0)  # until it is woken, or all fails
    monkeypatch.setattr(idle_flag, "WAKE_MS", 60_000)
    actions.do_play(person, sandbox.pk)
    assert clock._rest()


@pytest.mark.django_db(transaction=True)
def test_a_mark_that_came_too_late_is_taken_away(valkey, make, monkeypatch):
    sandbox = make()
    ask = idle_flag._ask

    def play_and_ask(command):
        Sandbox.objects.filter(pk=sandbox.pk).update(playing=True)
        ask(command)

    monkeypatch.setattr(idle_flag, "_ask", play_and_ask)
    assert not idle_flag.mark_if_idle()
    assert not valkey.client().exists(idle_flag.MARK)


@pytest.mark.django_db(transaction=True)
def test_while_somebody_plays_there_is_no_mark(valkey, busy):
    assert not idle_flag.mark_if_idle()
    assert not valkey.client().exists(idle_flag.MARK)


def test_a_lost_bus_is_waited_out(tmp_path, settings):
    socket = tmp_path / "bus.sock"
    settings.BUS_URL = f"unix://{socket}"
    one = Clock()
    assert not one.beat()
    with running_bus(socket):
        assert one._speaks()
        one.resign()


def test_a_running_clock_shows_that_it_lives(valkey, tmp_path, monkeypatch):
    alive, stop = tmp_path / "alive", threading.Event()
    monkeypatch.setenv("ALIVE_FILE", str(alive))
    thread = threading.Thread(target=Clock().run, args=(stop,))
    thread.start()
    try:
        wait_for(alive.exists, "a sign of life")
        for _ in range(2):  # one waits at most: each comes once the other is taken
            wait_for(lambda: valkey.client().rpop(QUEUE), "a pulse")
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
