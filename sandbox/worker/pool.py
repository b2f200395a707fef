"""A worker: processes forked from one that has loaded everything, a task each at a time.

Every process has a name and a queue of its own, so that a sandbox's ticks go where
its world is in memory. The parent opens no connection and runs no task: it fills the
place of whoever ends, and ends all when a signal asks for it.
"""

from __future__ import annotations

import gc
import logging
import os
import platform
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn

from celery import bootsteps
from celery.signals import task_postrun, task_prerun, worker_shutting_down
from celery.worker import state
from celery.worker.consumer.tasks import Tasks
from django.db import close_old_connections, connection

from sandbox.base import counters
from sandbox.process import schema_version, services, watchdog
from sandbox.process.celery import ANSWERS, EXPERIMENTS, LESSONS, TICKS, app

logger = logging.getLogger(__name__)

#: A process that lived shorter than this is started again after a pause of as long.
STEADY_S = 1.0
#: Of the machine's name; the whole must fit where the sandbox's row notes it.
LONGEST_HOST = 40
MOST_REVOKED = 500
#: Added to the nice value of processes that compute for long: the web process and the
#: ticks of others, which take milliseconds, come first where processors are few.
LONG_WORK_NICE = 5
#: A connection is kept so long: to open one takes longer than the statements of a tick.
CONNECTION_S = 60
#: A process that finds a database which a newer version migrated ends so, and all with it.
OUTDATED = os.EX_CONFIG
END_SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: What a process has begun may take so long to come to its end; then it is killed, and
#: what it was at goes on elsewhere, without a count against it.
END_WITHIN_S = 25


class WorkerPool:
    """So many processes, by place. The first is for ticks alone, the last for answers.

    A run of an experiment may take minutes, and neither ticks nor who waits for an
    answer must wait for it.
    """

    def __init__(self, width: int, answering: int = 0) -> None:
        """Take the number of places, and how many more work answers out and nothing else.

        With one alone, ticks and runs take turns; with none for answers all take them.
        """
        self.width = width
        self.answering = answering
        self.running: dict[int, int] = {}  # process id -> place
        self.started_at: dict[int, float] = {}  # place -> monotonic seconds
        self.stopping = False
        self.outdated = False
        # Nobody writes. Only the parent keeps the end for it, so reading ends with it.
        self.reading, self.writing = os.pipe()

    def run(self) -> None:
        """Keep every place filled until SIGTERM or SIGINT, then end all.

        Raises ImproperlyConfigured when a newer version migrated the database meanwhile.
        """
        load()
        for number in END_SIGNALS:
            signal.signal(number, self._stop)
        for place in range(self.width + self.answering):
            self._start(place)
        while self.running:
            process, status = os.waitpid(-1, 0)
            place, code = self.running.pop(process), os.waitstatus_to_exitcode(status)
            if code == OUTDATED and not self.outdated:
                self.outdated = True
                self._stop()
            if not self.stopping:
                self._refill(place, code)
        if self.outdated:
            schema_version.refuse_newer_database("worker")

    def _stop(self, _number: int = 0, _frame: FrameType | None = None) -> None:
        self.stopping = True
        signal.signal(signal.SIGALRM, self._kill)
        signal.alarm(END_WITHIN_S)
        for process in self.running:
            os.kill(process, signal.SIGTERM)

    def _kill(self, _number: int, _frame: FrameType | None) -> None:
        for process in self.running:
            os.kill(process, signal.SIGKILL)

    def _refill(self, place: int, status: int) -> None:
        lived_s = time.monotonic() - self.started_at[place]
        logger.warning(
            "a process of the worker ended, starting it again",
            extra={"place": place, "status": status, "lived_s": lived_s},
        )
        if lived_s < STEADY_S:
            time.sleep(STEADY_S)
        if not self.stopping:
            self._start(place)

    def _start(self, place: int) -> None:
        self.started_at[place] = time.monotonic()
        with _signals_blocked():  # or a process could miss that all shall end
            process = os.fork()
            if process != 0:
                self.running[process] = place
                return
            for number in END_SIGNALS:
                signal.signal(number, signal.SIG_DFL)
        self._serve(place)

    def queues_of(self, place: int) -> list[str]:
        """Return the queues that the process of a place reads, beside its own."""
        if place >= self.width:
            return [ANSWERS]
        runs = [EXPERIMENTS] * (place > 0 or self.width == 1)
        answers = [ANSWERS] * (not self.answering)
        return [app.conf.task_default_queue, TICKS, LESSONS, *answers, *runs]

    def _serve(self, place: int) -> NoReturn:
        """Be the process of a place, to its end."""
        status = 1
        try:
            os.close(self.writing)
            watch = threading.Thread(target=_end_with, args=(self.reading,))
            watch.daemon = True
            watch.start()
            connection.settings_dict["CONN_MAX_AGE"] = CONNECTION_S
            connection.settings_dict["OPTIONS"].pop("pool", None)  # of a web process
            if place > 0:
                os.nice(LONG_WORK_NICE)
            status = work(name_of(place), self.queues_of(place))
        except Exception:
            logger.exception("a process of the worker failed")
        finally:
            os._exit(status)


def load() -> None:
    """Load every task and what it needs, once, in memory that all share."""
    app.finalize()
    app.loader.import_default_modules()
    app.steps["consumer"].add(GiveUpLostAcks)
    os.environ["CELERY_SKIP_CHECKS"] = "1"  # they were just made
    # Tasks that expired are remembered, 50,000 of them unless limited.
    state.revoked.maxlen = MOST_REVOKED
    gc.collect()
    # Looked at no more, so that the pages stay the same and are not copied.
    gc.freeze()


def name_of(place: int) -> str:
    """Return the name of this process: of its place, under this parent and machine."""
    return f"{place}.{os.getppid()}@{platform.node()[:LONGEST_HOST]}"


def work(name: str, queues: list[str]) -> int:
    """Take tasks until a signal ends it; return the exit status."""
    # Being root is no more of a risk here than for the process that started this.
    warnings.filterwarnings("ignore", message="You're running the worker with superu")
    worker = app.Worker(
        hostname=name,
        pool="solo",
        queues=queues,
        quiet=True,
        without_gossip=True,
        without_mingle=True,
        without_heartbeat="ALIVE_FILE" not in os.environ,
    )
    services.start()
    task_prerun.connect(close_old_connections)
    task_prerun.connect(_end_if_outdated)
    worker.start()
    return int(worker.exitcode or 0)


def _end_if_outdated(**_: object) -> None:
    """End this process before a task that would write what a newer version cannot read."""
    if schema_version.problem_now():
        os._exit(OUTDATED)


#: Processor seconds of this process and of what it started, when its task began.
_begun_at = 0.0


@task_prerun.connect
def _note_begin(**_: object) -> None:
    global _begun_at
    _begun_at = sum(os.times()[:4])


@task_postrun.connect
def _count_seconds(task: Any, **_: object) -> None:
    work = task.name.removeprefix("sandbox.")
    counters.count(f"cpu_{work}", sum(os.times()[:4]) - _begun_at)


@worker_shutting_down.connect
def _mark_ending(**_: object) -> None:
    watchdog.mark_ending()


def _end_with(reading: int) -> None:
    """Ask this process to end when the parent has gone."""
    os.read(reading, 1)
    os.kill(os.getpid(), signal.SIGTERM)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Keep signals to end for after the block."""
    signal.pthread_sigmask(signal.SIG_BLOCK, END_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, END_SIGNALS)


# ------------------------------------------------------------------------
# A connection that holds a message it could not acknowledge is given up.


LOOK_EVERY_S = 1.0


class GiveUpLostAcks(bootsteps.StartStopStep):
    """A step of Celery's consumer: looks once a second between tasks (solo pool only)."""

    requires = (Tasks,)

    def start(self, consumer: Any) -> None:
        """Begin to look, at the channel of this connection."""
        channel = consumer.task_consumer.channel
        self.look = consumer.timer.call_repeatedly(
            LOOK_EVERY_S, refuse_full, (channel,)
        )

    def stop(self, consumer: Any) -> None:
        """End to look; the next connection begins with a channel of its own."""
        self.look.cancel()


def refuse_full(channel: Any) -> None:
    """Do nothing while `channel`, a kombu one, has room for a message.

    Errors: ConnectionError, which Celery mends by connecting again.
    """
    if not channel.qos.can_consume():
        raise ConnectionError("a message could not be acknowledged; connecting again")
