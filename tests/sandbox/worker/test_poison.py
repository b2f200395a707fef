"""Work that costs whoever takes it up its process: counted before it begins, given up in time."""

from __future__ import annotations

import signal
import subprocess
import sys
from functools import partial

import pytest

from sandbox import actions
from sandbox.actions import tries
from sandbox.answers import work
from sandbox.base.database_time import database_seconds
from sandbox.base.errors import BusyError, InvalidError
from sandbox.forecasts import parts
from sandbox.models import ForecastPart, ImportTry, Question, Sandbox
from sandbox.process import watchdog
from sandbox.worker import tasks
from sandbox.world import leases
from tests.sandbox.answers.test_answers import missing
from tests.sandbox.conftest import contended, row
from tests.sandbox.process.test_calls import begin

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
    assert leases.take_to_tick(sandbox.pk, None, "worker") is not None
    Sandbox.objects.filter(pk=sandbox.pk).update(lease_until=0)


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


def lose_reader(files) -> None:
    """Read files as a web process does, which then is lost."""
    ImportTry.objects.create(
        files=tries._digest(files), lease_until=database_seconds() - 1
    )


FILES = [
    ("world.yaml", '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}')
]


def test_files_that_cost_two_processes_are_refused_and_others_are_read(
    person,
):
    for _ in range(tries.MOST_TRIES):
        lose_reader(FILES)
    with pytest.raises(InvalidError, match="ended 2 processes"):
        actions.do_create(person, files=FILES)
    assert actions.do_create(person, files=[("other.yaml", FILES[0][1])])


def test_files_that_cost_one_process_are_read(person):
    lose_reader(FILES)
    assert actions.do_create(person, files=FILES)


def test_what_was_read_leaves_no_try(person):
    actions.do_create(person, files=FILES)
    assert not ImportTry.objects.exists()


@pytest.fixture
def _ends_no_longer():
    yield
    watchdog._ending.clear()


@pytest.mark.usefixtures("_ends_no_longer")
def test_files_are_read_again_however_often_the_operator_ended_who_read_them():
    for _ in range(tries.MOST_TRIES + 1):
        ended = pytest.raises(BusyError, match="about to end")
        with ended, tries.counted(FILES):
            watchdog.end()
            sum(1 for _ in iter(int, 1))
    with tries.counted(FILES):
        pass


@pytest.mark.usefixtures("_ends_no_longer")
def test_a_process_that_is_killed_while_it_ends_leaves_no_try():
    row = tries._begin(tries._digest(FILES))
    watchdog.end()
    assert tries._renew(row) is False  # from its thread, during a call that goes on
    assert not ImportTry.objects.exists()


def a_part(busy, person):
    claim = parts.take(begin(busy, 1).pk)
    return partial(parts.renew, claim), ForecastPart


def a_question(busy, person):
    claim = work.take(missing(busy, person).pk)
    return partial(work.renew, claim), Question


def a_tick(busy, person):
    taken = leases.take_to_tick(busy.pk, None, "worker")
    return partial(leases.renew, taken.claim), Sandbox


@pytest.mark.usefixtures("_ends_no_longer")
@pytest.mark.parametrize("begun", [a_part, a_question, a_tick])
def test_what_a_process_is_at_that_its_operator_ends_does_not_count(
    begun, busy, person
):
    renew, table = begun(busy, person)
    assert table.objects.get().tries == 1
    watchdog.mark_ending()
    assert renew()
    assert table.objects.get().tries == 0


def test_reading_that_takes_too_long_is_stopped_with_a_sentence(settings):
    settings.STANDSTILL_S = 0.1
    stopped = pytest.raises(InvalidError, match=r"took more than 0\.1 s")
    with stopped, tries.counted(FILES):
        sum(1 for _ in iter(int, 1))
    assert ImportTry.objects.count() == 1
