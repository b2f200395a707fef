"""Work that costs whoever takes it up its process: counted before it begins, given up in time."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from sandbox import actions
from sandbox.forecasts import parts
from sandbox.models import ForecastPart, Sandbox
from sandbox.worker import tasks
from sandbox.world import leases
from tests.sandbox.conftest import contended, row

pytestmark = pytest.mark.django_db(transaction=True)

FOR_EVER = """
from sandbox.process import watchdog
with watchdog.ended_after(0.3):
    {signs}
    sum(1 for _ in iter(int, 1))
"""


class LostError(BaseException):
    """Stands for the end of the process: nothing after it is done."""


def lose_worker(sandbox: Sandbox) -> None:
    """Begin a visit as a worker does, which then is lost."""
    claim = leases.take(sandbox.pk, lease_s=-1)
    assert claim is not None
    tasks._count_try(claim, "worker")


def ended(signs: str = "pass") -> int:
    code = FOR_EVER.format(signs=signs)
    return subprocess.run([sys.executable, "-c", code], check=False).returncode


def test_a_tick_that_cost_two_workers_pauses_its_sandbox_with_a_sentence(busy, valkey):
    for _ in range(tasks.MOST_TRIES):
        lose_worker(busy)
    assert tasks.advance(busy.pk) == 0
    found = row(busy)
    assert not found.playing
    assert "its worker was lost" in found.problem


def test_others_go_on_beside_a_sandbox_that_was_given_up(busy, make, person, valkey):
    other = make(*contended())
    actions.do_play(person, other.pk)
    for _ in range(tasks.MOST_TRIES + 1):
        lose_worker(busy)
    tasks.advance(busy.pk)
    assert tasks.advance(other.pk) > 0


def test_a_worker_that_was_lost_once_costs_nothing(busy, valkey):
    lose_worker(busy)
    assert tasks.advance(busy.pk) > 0
    assert row(busy).tries == 0


def test_tries_are_counted_anew_where_something_was_committed(busy, person, valkey):
    for _ in range(tasks.MOST_TRIES):
        lose_worker(busy)
    actions.do_play(person, busy.pk)
    assert tasks.advance(busy.pk) > 0


def test_who_stands_still_is_ended_by_the_kernel():
    assert ended() == -signal.SIGALRM


def test_a_sign_of_life_begins_the_time_anew():
    signs = "watchdog.goes_on(0); import sys; sys.exit(7)"
    assert ended(signs) == 7


def test_futures_that_cost_two_workers_fail_their_forecast_with_a_sentence(make):
    from tests.sandbox.process.test_calls import begin

    kept = begin(make(), 2)
    for _ in range(parts.MOST_TRIES):
        assert parts.take(kept.pk) is not None
        ForecastPart.objects.filter(number=0).update(lease_until=0)
    ForecastPart.objects.filter(number=1).update(lease_until=9e12)
    assert parts.take(kept.pk) is None
    kept.refresh_from_db()
    assert (kept.state, kept.error) == (
        "failed",
        "given up: its worker was lost 2 times",
    )
