"""A plug-in of pytest: each change against the tests that reach it, until one fails.

The process collects the tests and makes the database once. Every change is then made in
a fork of it. First come the tests that noticed changes of the same function or module,
then the quickest test of each file: most changes cost less than a second.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest
from _pytest.runner import runtestprotocol
from django.db import connection, connections

from tests.mutation import forks
from tests.mutation.reach import TestRun, reach_of

#: The name of a change that nothing has.
UNCHANGED = "none.x"
#: Fixtures that start what a fork cannot share.
STARTS = {"postgres", "server_run", "default_run", "browser"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if not STARTS & set(_fixtures(item))]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    """Write a line of JSON for each change that `MUTANTS` names to `VERDICTS`."""
    forks.change(UNCHANGED)
    database = next(item for item in session.items if "db" in _fixtures(item))
    # Another one follows, so that it ends and the database stays.
    following = next(item for item in session.items if item is not database)
    runtestprotocol(database, log=False, nextitem=following)
    empty = _kept_database()
    runs = reach_of(session.items)
    seconds = float(os.environ["MUTANT_SECONDS"])
    trial = Trial(session.items, runs, seconds, empty)
    with Path(os.environ["VERDICTS"]).open("a") as out:
        for name in Path(os.environ["MUTANTS"]).read_text().split():
            out.write(json.dumps(trial.judge(name)) + "\n")
            out.flush()
    failed = [name for name, run in runs.items() if run.failed]
    failed += [name for name, holds in trial.holds.items() if not holds]
    Path("failed.txt").write_text("\n".join(failed))
    return True


def _fixtures(item: pytest.Item) -> list[str]:
    return list(getattr(item, "fixturenames", ()))


def _kept_database() -> Callable[[], None]:
    """Return what brings the test database back to what it is now.

    It is a file: what a test has stored in it outlives a fork that is ended in it.
    """
    connections.close_all()
    path = Path(connection.settings_dict["NAME"])
    body = path.read_bytes()

    def bring_back() -> None:
        for end in ("-wal", "-shm"):
            Path(f"{path}{end}").unlink(missing_ok=True)
        path.write_bytes(body)

    return bring_back


class Trial:
    """The tests, and which of them noticed changes so far."""

    def __init__(
        self,
        items: list[pytest.Item],
        runs: dict[str, TestRun],
        most_seconds: float,
        empty: Callable[[], None],
    ) -> None:
        self.items = {item.nodeid: item for item in items}
        self.seconds = {name: run.seconds for name, run in runs.items()}
        self.reaching: defaultdict[str, list[str]] = defaultdict(list)
        for name in self._one_of_each_file_at_a_time():
            for function in () if runs[name].failed else runs[name].functions:
                self.reaching[function].append(name)
        self.most_seconds = most_seconds
        self.empty = empty  # leaves the database without rows
        self.noticed: defaultdict[str, list[str]] = defaultdict(list)
        self.holds: dict[str, bool] = {}

    def _one_of_each_file_at_a_time(self) -> list[str]:
        """Return the quickest test of each file, then the second, and so on."""
        quickest = sorted(self.items, key=self.seconds.__getitem__)
        places: Counter[Path] = Counter()
        ranks: dict[str, int] = {}
        for name in quickest:
            ranks[name] = places[self.items[name].path]
            places[self.items[name].path] += 1
        return sorted(quickest, key=ranks.__getitem__)

    def judge(self, name: str) -> dict[str, str]:
        """Return `mutant`, `verdict` and the test that it comes from.

        The verdicts: killed, timeout, survived, unreached (no test runs the function),
        and cut: it survived the tests that the time was enough for. A test that fails in
        a fork without a change too is left out.
        """
        function = name.rpartition("__mutmut_")[0]
        module = name.rpartition(".")[0]
        order = self._order(function, module)
        if not order:
            return {"mutant": name, "verdict": "unreached", "test": ""}
        lines, ended = self._fork(name, order)
        if lines[-1] in {"survived", "cut"}:
            return {"mutant": name, "verdict": lines[-1], "test": ""}
        if not self._holds_unchanged(lines[-1]):
            return self.judge(name)
        self.noticed[function].insert(0, lines[-1])
        self.noticed[module].insert(0, lines[-1])
        verdict = "timeout" if ended else "killed"
        return {"mutant": name, "verdict": verdict, "test": lines[-1]}

    def _holds_unchanged(self, test: str) -> bool:
        """Return whether a test that failed passes in a fork that changes nothing."""
        if test not in self.holds:
            lines, _ = self._fork(UNCHANGED, [test])
            self.holds[test] = lines[-1] == "survived"
        return self.holds[test]

    def _order(self, function: str, module: str) -> list[str]:
        reaching = dict.fromkeys(self.reaching[function])
        noticed = [*self.noticed[function], *self.noticed[module]]
        first = [test for test in noticed if test in reaching]
        order = dict.fromkeys([*first, *reaching])
        return [test for test in order if self.holds.get(test, True)]

    def _fork(self, name: str, order: list[str]) -> tuple[list[str], int]:
        self.empty()
        return forks.call(lambda say: self._run(name, order, say))

    def _run(self, name: str, order: list[str], say: forks.Say) -> None:
        forks.change(name)
        began = time.process_time()
        after = next(other for other in self.items if other != order[-1])
        for test, following in zip(order, [*order[1:], after], strict=True):
            if time.process_time() - began > self.most_seconds:
                say("cut")
                return
            say(test)
            usual = self.seconds[test]
            forks.limit(5 + 10 * usual, 60 + 100 * usual)
            reports = runtestprotocol(
                self.items[test],
                log=False,
                nextitem=self.items[following],  # never none: the database stays
            )
            if any(report.failed for report in reports):
                return
        say("survived")
