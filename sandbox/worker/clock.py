"""The clock: asks the workers, many times a second, to advance what is due.

Any number of clocks may run; a lease on the bus lets one of them speak. Should two
ever speak at once, nothing is lost: of two pulses each sends what it marked. A worker
that makes ticks has no part in it.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time

import redis
from django.conf import settings
from django.db import InterfaceError, InternalError, OperationalError, connection
from kombu.exceptions import OperationalError as BusError

from sandbox.base.probe import show_life
from sandbox.process.celery import app
from sandbox.process.idle_flag import LOOKED, MARK, WAKE, mark_if_idle
from sandbox.process.services import bus_client
from sandbox.worker.pulses import pulse

logger = logging.getLogger(__name__)

#: The task that looks which parts wait to be run, and for forecasts that are due.
LOOK = "sandbox.look"
LEASE = "quotalab:clock"
LEASE_MS = 2000
#: Away or busy or full; its connection closed meanwhile; taking no changes (PostgreSQL).
DATABASE_AWAY = (OperationalError, InterfaceError, InternalError)
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
        self.looked = True  # somebody looked for parts less than a second ago
        self.is_free = False  # nothing that a clock asked for waits to be begun
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
        connection.close()

    def beat(self) -> bool:
        """Send what is due if this clock is the one that speaks; return whether it could."""
        try:
            if self._speaks():
                idle = not pulse() and mark_if_idle()
                if self.is_free and not (self.looked or idle):
                    app.send_task(LOOK, retry=False)
                # Have old history cleared away, once in a while.
                tidied_s = time.monotonic() - self.tidied_at
                if self.is_free and tidied_s > settings.TIDY_EVERY_S:
                    self.tidied_at = time.monotonic()
                    app.send_task("sandbox.tidy", retry=False)
        except (redis.RedisError, BusError, OSError, *DATABASE_AWAY) as problem:
            connection.close()  # the next beat opens another
            if not self.troubled:
                logger.warning("the clock stands", extra={"problem": problem})
            self.troubled = True
            return False
        if self.troubled:
            logger.warning("the clock goes on")
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
        """Return whether to send what is due; note what else the bus says."""
        with self.bus.pipeline(transaction=False) as ask:
            ask.set(LEASE, self.token, nx=True, px=LEASE_MS)
            ask.get(LEASE)
            ask.pttl(LEASE)
            ask.llen(app.conf.task_default_queue)
            ask.exists(LOOKED)
            ask.exists(MARK)
            _, holder, left_ms, waiting, looked, still = ask.execute()
        self.resting = holder == self.token and bool(still)
        self.looked, self.is_free = bool(looked), not waiting
        if holder != self.token:
            return False
        if left_ms < LEASE_MS - 1000 * REST_S / 2:
            self.bus.pexpire(LEASE, LEASE_MS)
        return not still
