"""The rows of docs/texts.md, each under a change that breaks it: `./dev mutate texts`.

`./dev mutate engine [K/N]` makes each change of the engine once, and prints what caught it.
A row names a change of `texts.yaml`: text of a function of the engine, and what replaces
it. Its killer must fail then: what its scenario expects, or (`killer: test`) its own test.
A change that raises or does not end breaks more than the row says, and counts as none.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Sequence

import django
import pytest

from sandbox.base import library
from scheduler.analysis.beside import run_beside
from scheduler.analysis.expectations import judge
from scheduler.model.scenario import ListedStatement
from tests.mutation.changes import Change, changes
from tests.scheduler import test_scenarios

SECONDS = 120
KILLED = "killed"
QUIET = ["-q", "-n0", "-p", "no:cacheprovider", "--no-header", "--tb=no"]


def rows() -> list[tuple[ListedStatement, list[str]]]:
    """Return each statement with the scenarios that show it."""
    shown: dict[str, list[str]] = {}
    for name in library.names():
        for one in library.scenario_named(name).spec.shows:
            shown.setdefault(one.statement, []).append(name)
    listed = [one for text in library.statements().values() for one in text]
    return [(one, shown.get(one.statement, [])) for one in listed]


def unmet(scenario: str) -> list[str]:
    """Return what the scenario expects and does not get, beside its stops too."""
    made, outcome, _ = test_scenarios.played(scenario)
    sides = run_beside(test_scenarios.opened(scenario).world, made.scenario.spec)
    verdicts = [v for side in sides for v in side.verdicts]
    verdicts += judge(made.scenario, outcome.decisions)
    return [verdict.text for verdict in verdicts if not verdict.holds]


def verdict(
    row: ListedStatement, scenarios: Sequence[str], change: Change | None
) -> str:
    """Return what the row's killer says of a change, in a fork of this process.

    `killed`, `survived`, or why it cannot be said: what was raised, or the signal.
    """

    def work() -> str:
        if change:
            change.make()
        if row.killer == "test":
            code = pytest.main([*QUIET, row.test])
            return {0: "survived", 1: KILLED}.get(code, f"pytest ended with {code}")
        return KILLED if any(unmet(name) for name in scenarios) else "survived"

    return _in_a_fork(work)


def _in_a_fork(work: Callable[[], str]) -> str:
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        try:
            said = work()
        except BaseException as problem:  # whatever it is, it is no failed expectation
            said = f"raises {type(problem).__name__}: {problem}"
        os.write(writing, said[:4000].encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as said_by:
        text = said_by.read()
    _, status = os.waitpid(child, 0)
    return text or f"ended by signal {os.WTERMSIG(status)}"


def main(words: list[str]) -> int:
    """Try the rows whose statement or mutant has one of the words; all without words.

    `--each N` tries every Nth row, of those whose killer is their scenario. `--engine`
    tries the first row of each mutant of `scheduler/engine` and prints it with its killer;
    `--engine K/N` the Kth of N slices. Prints each row that its killer lets pass; 1 where
    there is one, or none is tried.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    django.setup()
    known = changes()
    chosen = [one for one in rows() if one[0].mutant]
    listed = words[:1] == ["--engine"]
    if listed:
        first = {one[0].mutant: one for one in reversed(chosen)}
        slice_, slices = map(int, (words[1] if words[1:] else "1/1").split("/"))
        chosen = [
            first[name]
            for name, change in known.items()
            if change.file.startswith("scheduler/engine/")
        ][slice_ - 1 :: slices]
    elif words[:1] == ["--each"]:
        chosen = [one for one in chosen if not one[0].killer][:: int(words[1])]
    elif words:
        chosen = [
            one
            for one in chosen
            if any(word in f"{one[0].statement} {one[0].mutant}" for word in words)
        ]
    before_it: dict[tuple[str, ...], str] = {}
    lost = 0
    for row, scenarios in chosen:
        killers = tuple([row.test] if row.killer else scenarios)
        if killers not in before_it:
            before_it[killers] = verdict(row, scenarios, None)
        before = before_it[killers]
        said = verdict(row, scenarios, known[row.mutant])
        if (before, said) != ("survived", KILLED):
            lost += 1
            print(f"{row.statement}\n  {row.mutant}: {said}; unchanged: {before}")
        elif listed:
            print(f"{row.mutant}: {said} by {', '.join(killers)}", flush=True)
    print(f"{len(chosen)} rows tried, {lost} of them not killed.")
    return int(bool(lost) or not chosen)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
