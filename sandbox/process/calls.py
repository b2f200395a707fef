"""Workers are called to what waits: runs of experiments, futures of forecasts, questions.

A job has parts that anybody may take up. A call is a message on the bus that names no
job: whoever takes it runs parts that wait. Whoever sends looks first at what is in the
queue, so that no more calls wait there than parts wait to be run, however many jobs
there are and however long nobody takes a message.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import redis
from django.conf import settings
from django.db.models import QuerySet
from kombu.exceptions import OperationalError

from sandbox.process import watchdog
from sandbox.process.celery import EXPERIMENTS, app
from sandbox.process.idle_flag import LOOKED
from sandbox.process.services import bus_client

logger = logging.getLogger(__name__)

#: One visit: then ticks that wait are served. A part that was begun is ended.
VISIT_S = 0.3
#: How often somebody looks where parts wait; what begins is looked at at once.
LOOK_EVERY_MS = 1000
#: Calls of one kind that wait in the queue, however many parts wait.
MOST_CALLS = 16
#: The right to write what comes of a part.
Claim = TypeVar("Claim")
#: With so many messages in the queue nobody counts whose they are, or sends more.
LONGEST_QUEUE = 200
#: Held while somebody counts and sends; one who was killed holds it for no longer.
SENDING = "quotalab:sending:{}"
SENDING_MS = 2000


@dataclass(frozen=True, slots=True)
class PartWork(Generic[Claim]):
    """One kind of work: who runs it, the jobs that run, the parts to take up.

    A visit is the Celery task of this name; it may be delivered twice.
    """

    task: str
    #: Takes up a part that waits, any unless a job is named; None when none may be.
    take: Callable[[Any], Claim | None]
    #: Works a part out and writes what came of it; False when it came to nothing.
    execute: Callable[[Claim], bool]
    running: Callable[[], QuerySet[Any]]
    open_parts: Callable[[], QuerySet[Any]]
    queue: str = EXPERIMENTS
    #: Ends, in one UPDATE, the jobs that nobody wants any longer.
    end_lapsed: Callable[[], object] = lambda: None
    #: Goes on with the job, or all, where no part waits; True when parts wait again.
    go_on: Callable[[Any], bool] = lambda job: False

    def __post_init__(self) -> None:
        app.task(self.visit, name=self.task, ignore_result=True)

    def visit(self) -> int:
        """Run waiting parts for one visit; return how many ended."""
        self.end_lapsed()
        with watchdog.ended_after(settings.STANDSTILL_S):
            ended = self.work(VISIT_S)
        if ended:
            self.call()
        return ended

    def work(self, seconds: float, job: Any = None) -> int:
        """Take up parts, one after the other, for about so long; return how many ended.

        A part that was begun is brought to its end.
        """
        end, ended = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            claim = self.take(job)
            if claim is not None:
                ended += self.execute(claim)
            elif not self.go_on(job):
                break
        return ended

    def call(self, least: int = 0) -> int:
        """Ask worker processes for visits to what waits; return how many were asked.

        Never so many that more calls are in the queue than parts wait (or `least`), or
        than MOST_CALLS. A bus that is away is waited for.
        """
        waiting = len(self.open_parts().values_list("pk")[:MOST_CALLS])
        return _send(self.queue, self.task, max(waiting, least))

    def look(self) -> None:
        """End what nobody wants any longer, and call workers to parts that wait or go on."""
        self.end_lapsed()
        # One where no part waits: those that ended may wait to be put together.
        self.call(int(self.running().exists()))


def look(works: Sequence[PartWork[Any]]) -> None:
    """Call workers to what runs and has parts that wait or are lost.

    Once in LOOK_EVERY_MS, whoever asks; one question to the bus in between.
    """
    bus = bus_client(settings.BUS_URL)
    try:
        first = bus.set(LOOKED, 1, nx=True, px=LOOK_EVERY_MS)
    except (redis.RedisError, OSError) as problem:
        logger.debug("nobody was called", extra={"problem": problem})
        return
    finally:
        bus.close()
    if first:
        for work in works:
            work.look()


def _send(queue: str, task: str, wanted: int) -> int:
    """Send calls until so many are in the queue; return how many were sent.

    None while somebody else sends: two who counted at once would send twice as many.
    """
    bus, own, sent = bus_client(settings.BUS_URL), secrets.token_hex(8).encode(), 0
    sending = SENDING.format(task)
    try:
        if wanted and bus.set(sending, own, nx=True, px=SENDING_MS):
            for _ in range(wanted - _queued(bus, queue, task)):
                app.send_task(task, retry=False, queue=queue)
                sent += 1
            if bus.get(sending) == own:
                bus.delete(sending)
    except (redis.RedisError, OperationalError, OSError) as problem:
        logger.debug("nobody was called", extra={"problem": problem})
    finally:
        bus.close()
    return sent


def _queued(bus: redis.Redis, queue: str, task: str) -> int:
    """Return how many calls of a task are in the queue; one that is too long is full."""
    if bus.llen(queue) > LONGEST_QUEUE:
        return LONGEST_QUEUE
    messages = cast("list[bytes]", bus.lrange(queue, 0, LONGEST_QUEUE))
    return sum(f'"{task}"'.encode() in message for message in messages)
