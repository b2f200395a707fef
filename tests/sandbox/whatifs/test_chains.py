"""Chains of a what-if are true: with what a link names left out, the difference goes."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from scheduler.analysis.measures.verdict import ChangeVerdict, WorkloadVerdict, verdict
from tests.builders import world_of
from tests.measured_lives import aged
from tests.sandbox.whatifs.test_two_runs import (
    STACKS,
    Change,
    Manifest,
    both_lives,
    changes,
    files,
    policy_of,
    there_to,
)

#: So many worlds of all stacks; 300 for the whole law.
CHAINS = int(os.environ.get("QUOTALAB_CHAINS", "120"))


class Case(NamedTuple):
    """A world's files, and changes of it some ticks on."""

    stack: str
    there: list[Manifest]
    ticks: int
    asked: list[Change]
    drawn: int

    def compared(self, less: str = "") -> ChangeVerdict | None:
        """Return what the changes make different, without one of the files.

        None where a change is of what is left out.
        """
        kept = [one for one in self.there if one["metadata"]["name"] != less]
        begin = aged(world_of(*kept, **policy_of(self.stack)), self.ticks)
        if there_to(begin.world, self.asked) != self.asked:
            return None
        return verdict(*both_lives(begin, self.asked, self.drawn))


def drawn(stack: str, number: int) -> Case:
    """Return a random case: of a number of its own, so that none is made of another."""
    found: list[Case] = []

    @seed(number)
    @settings(
        max_examples=2,  # the first is always the smallest
        phases=[Phase.generate],
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(files(stack, least=4), st.integers(0, 6), changes(stack), st.integers(1, 3))
    def take(
        there: list[Manifest], ticks: int, asked: list[Change], drawn: int
    ) -> None:
        found.append(Case(stack, there, ticks, asked, drawn))

    take()
    return found[-1]


@pytest.fixture(scope="module")
def cases() -> list[tuple[Case, ChangeVerdict]]:
    every = [drawn(STACKS[n % len(STACKS)], n) for n in range(CHAINS)]
    found = [(case, case.compared()) for case in every]
    return [(case, first) for case, first in found if first is not None]


def test_with_what_a_link_names_left_out_the_difference_is_gone_or_another(
    cases: list[tuple[Case, ChangeVerdict]],
) -> None:
    told, wrong = 0, []
    for case, first in cases:
        again: dict[str, Any] = {}
        for row, name in named(first):
            if name not in again:
                again[name] = case.compared(less=name)
            if again[name] is None:
                continue
            told += 1
            other = {one.subject: one for one in again[name].workloads}
            if what(other.get(row.subject)) == what(row):
                wrong.append((case.stack, row.subject, row.fates, name, case.asked))
    assert told >= CHAINS // 6
    assert len(wrong) <= 0.05 * told, wrong


def named(found: ChangeVerdict) -> list[tuple[WorkloadVerdict, str]]:
    """Return each row with every other unit that its chain names, by the file of that."""
    pairs: dict[tuple[str, str], WorkloadVerdict] = {}
    for row in found.workloads:
        at = -1 if row.why is None else row.why
        while at >= 0:
            link = found.links[at]
            if link.event != "change" and link.subject not in (
                row.subject,
                *row.members,
            ):
                pairs[row.subject, file_of(link.subject)] = row
            at = link.cause
    return [(row, name) for (_, name), row in pairs.items() if name != "new"]


def file_of(subject: str) -> str:
    """Return the name of the file of a unit, or of a pod: its job, or itself."""
    kind, _, name = subject.split("/")
    if kind == "Workload":
        return name.removeprefix("job-").rpartition("-")[0]
    return name


def what(row: WorkloadVerdict | None) -> Any:
    """Return a difference: when and where a unit waits and runs, on both sides."""
    if row is None:
        return None
    return [
        None
        if side is None
        else [(one.runs, one.from_ms, one.to_ms, one.place) for one in side.stretches]
        for side in (row.without, row.changed)
    ]
