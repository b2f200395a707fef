"""The clock: asks the workers, many times a second, to advance what is due.

Any number of clocks may run; a lease on the bus lets one of them speak. Should two
ever speak at once, nothing is lost: a pulse only looks what is due.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time

import redis
from django.conf import settings
from kombu.exceptions import OperationalError

from sandbox.base.probe import show_life
from sandbox.process.celery import app
from sandbox.process.idle_flag import MARK, WAKE
from sandbox.process.services import bus_client

logger = logging.getLogger(__name__)

PULSE = "sandbox.pulse"
LEASE = "quotalab:clock"
LEASE_MS = 2000
# With this many tasks waiting no worker is keeping up; more pulses would not help.
LONGEST_QUEUE = 200
PAUSE_AFTER_TROUBLE_S = 0.25
#: While nothing plays the clock looks this seldom, unless it is woken.
REST_S = 1.0


class Clock:
    """One candidate for the lease, with its own connection to the bus."""

    def __init__(self) -> None:
        self.token = secrets.token_hex(8).encode()
        self.bus = bus_client(settings.BUS_URL)
        self.troubled = False
        self.resting = False  # it is the one that speaks, and nothing plays
        self.shown_at = 0.0  # monotonic seconds
        self.tidied_at = time.monotonic()

    def run(self, stop: threading.Event) -> None:
        """Beat every PULSE_EVERY_S until `stop`, more seldom while nothing plays.

        A lost bus is waited out.
        """
        due = time.monotonic()
        while not stop.wait(max(0.0, due - time.monotonic())):
            # After a halt the missed beats are skipped, not made up for.
            due = max(due + settings.PULSE_EVERY_S, time.monotonic())
            try:
                well = self.beat() and self._rest()
            except Exception:
                # Whatever it was: without a clock every sandbox would stand still.
                logger.exception("beat failed")
                well = False
            if not well:
                stop.wait(PAUSE_AFTER_TROUBLE_S)
        self.resign()

    def beat(self) -> bool:
        """Send one pulse if this clock is the one that sends; return whether the bus answered."""
        try:
            if self._speaks():
                app.send_task(PULSE, retry=False)
                # Have old history cleared away, once in a while.
                if time.monotonic() - self.tidied_at > settings.TIDY_EVERY_S:
                    self.tidied_at = time.monotonic()
                    app.send_task("sandbox.tidy", retry=False)
        except (redis.RedisError, OperationalError, OSError) as problem:
            if not self.troubled:
                logger.warning("clock cannot reach the bus", extra={"problem": problem})
            self.troubled = True
            return False
        if self.troubled:
            logger.warning("clock reaches the bus again")
        self.troubled = False
        # Once a second is often enough for a health check.
        if time.monotonic() - self.shown_at > 1.0:
            self.shown_at = time.monotonic()
            show_life()
        return True

    def _rest(self) -> bool:
        """Wait until something plays, for REST_S; return whether the bus answered."""
        if self.resting:
            try:
                self.bus.blpop([WAKE], timeout=REST_S)
            except (redis.RedisError, OSError):
                return False
        return True

    def resign(self) -> None:
        """Give the lease up, so that another clock need not wait for its end."""
        try:
            if self.bus.get(LEASE) == self.token:
                self.bus.delete(LEASE)
        except (redis.RedisError, OSError) as problem:
            logger.debug("lease not given up", extra={"problem": problem})
        finally:
            self.bus.close()

    def _speaks(self) -> bool:
        """Return whether to send a pulse: never behind another that still waits.

        It would find nothing more, and where pulses take longer than they are apart, what
        they send would wait behind so many that it is too old when its turn comes.
        """
        queue = app.conf.task_default_queue
        with self.bus.pipeline(transaction=False) as ask:
            ask.set(LEASE, self.token, nx=True, px=LEASE_MS)
            ask.get(LEASE)
            ask.pttl(LEASE)
            ask.llen(queue)
            ask.lindex(queue, 0)
            ask.exists(MARK)
            _, holder, left_ms, waiting, last, still = ask.execute()
        self.resting = holder == self.token and bool(still)
        if holder != self.token:
            return False
        if left_ms < LEASE_MS - 1000 * REST_S / 2:
            self.bus.pexpire(LEASE, LEASE_MS)
        follows_one = f'"{PULSE}"'.encode() in (last or b"")
        return bool(waiting < LONGEST_QUEUE and not still and not follows_one)
