"""What is known at an instant of a log: what finished, runs, waits, and the waits before."""

from __future__ import annotations

from collections import defaultdict

from scheduler.analysis.forecast.run_times import RunTimes
from tests.backtest.arrivals import Arrivals
from tests.backtest.log import Log


class Past:
    """A log up to an instant; it only goes on."""

    def __init__(self, log: Log) -> None:
        self.log = log
        self.now_ms = 0
        self.arrivals = Arrivals(hour_ms=log.hour_ms)
        self.run_times = RunTimes()
        self.wait_times = RunTimes()
        self.waits: dict[str, list[int]] = defaultdict(list)  # by queue, newest last
        self.waiting: dict[int, None] = {}
        self.running: dict[int, None] = {}
        self.finished: dict[int, int] = {}  # run times
        self.changes = sorted(_changes(log), reverse=True)

    def advance(self, now_ms: int) -> list[int]:
        """Advance to an instant; return the workloads that started since."""
        self.now_ms = now_ms
        started = []
        while self.changes and self.changes[-1][0] <= now_ms:
            _, change, ident = self.changes.pop()
            if change == _SUBMIT:
                self._submit(ident)
            elif change == _START:
                self._start(ident)
                started.append(ident)
            else:
                self._end(ident)
        return started

    def _submit(self, ident: int) -> None:
        work = self.log.works[ident]
        self.arrivals.add(work)
        self.waiting[ident] = None
        self.wait_times.begin(work, work.submit_ms)

    def _start(self, ident: int) -> None:
        work, start = self.log.works[ident], self.log.starts[ident]
        del self.waiting[ident]
        self.running[ident] = None
        self.run_times.begin(work, start)
        self.wait_times.add(work, start - work.submit_ms)
        self.waits[work.queue].append(start - work.submit_ms)

    def _end(self, ident: int) -> None:
        del self.running[ident]
        run = self.finished[ident] = self.log.runs[ident]
        self.run_times.add(self.log.works[ident], run)


_SUBMIT, _START, _END = range(3)


def _changes(log: Log) -> list[tuple[int, int, int]]:
    found = []
    for work, start, run in zip(log.works, log.starts, log.runs, strict=True):
        found.append((work.submit_ms, _SUBMIT, work.ident))
        found.append((start, _START, work.ident))
        found.append((start + run, _END, work.ident))
    return found
