"""Seats of a worker: not more than there are, and gone with who held them."""

from __future__ import annotations

import os
import signal

from sandbox.experiments import seats
from sandbox.experiments.seats import Seats


def seated_child(places: Seats) -> int:
    """Fork a process that holds a seat until it is killed; return its id."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with places.one() as seated:
            os.write(writing, b"1" if seated else b"0")
            signal.pause()
    assert os.read(reading, 1) == b"1"
    os.close(reading)
    os.close(writing)
    return child


def test_a_seat_that_another_process_holds_is_not_free():
    places = Seats(1)
    child = seated_child(places)
    with places.one() as seated:
        assert not seated
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)


def test_the_seat_of_a_killed_process_is_free_again():
    places = Seats(1)
    child = seated_child(places)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with places.one() as seated:
        assert seated


def test_outside_of_a_worker_there_is_always_a_seat():
    with seats.one() as seated:
        assert seated


def test_one_process_of_a_worker_is_left_for_ticks(monkeypatch):
    monkeypatch.setattr(seats, "_seats", None)
    seats.provide(4)
    assert seats._seats is not None
    assert seats._seats.count == 3
