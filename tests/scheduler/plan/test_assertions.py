"""The file of assertions: fields, sentences, and what is wrong with them by line."""

from __future__ import annotations

import pytest

from scheduler.analysis.plan.assertions import (
    EXAMPLES,
    read_assertions,
    shown,
    words_of,
)
from scheduler.analysis.plan.faults import FaultsError


def read(*lines: str):
    return read_assertions("assertions:\n" + "\n".join(lines), "a.yaml")


def faults(*lines: str) -> list[str]:
    with pytest.raises(FaultsError) as error:
        read(*lines)
    return [str(fault) for fault in error.value.faults]


@pytest.mark.parametrize(
    ("sentence", "measure", "queue", "bound"),
    [
        ("inference p95 wait under 30s", "waitP95", "inference", "at most 30s"),
        ("inference p95 wait under 30 s", "waitP95", "inference", "at most 30s"),
        ("mean wait at most 1m30s", "waitMean", "", "at most 1m30s"),
        (
            "no more than 2 preemptions per hour",
            "preemptionsPerHour",
            "",
            "at most 2",
        ),
        ("at most 5 evictions", "evictions", "", "at most 5"),
        (
            "no queue waits more than 10% longer than on base",
            "waitMean",
            "*",
            "at most 10.0% above base",
        ),
        (
            "root.a waits no more than 5% longer than on the base (p95)",
            "waitP95",
            "root.a",
            "at most 5.0% above base",
        ),
        ("cpu utilisation at least 60%", "utilisation.cpu", "", "at least 60.0%"),
        ("everything starts", "waiting", "", "at most 0"),
    ],
)
def test_a_sentence_is_an_assertion(sentence, measure, queue, bound):
    [found] = read(f"- {sentence}")
    assert (found.measure, found.queue) == (measure, queue)
    assert [*words_of(found)] == [bound]
    assert found.name == sentence


def test_every_example_of_a_sentence_is_understood():
    assert len(read(*(f"- {one}" for one in EXAMPLES))) == len(EXAMPLES)


def test_everything_wrong_is_reported_with_its_line():
    found = faults(
        "- measure: waitP95",
        "  maxx: 30s",
        "- {measure: wait95, max: 30s}",
        "- {measure: waitP95, max: 30}",
        "- {measure: jain, queue: a, min: 80%}",
        "- go faster",
        "- {measure: waitP50, max: 1s, min: 2s}",
    )
    assert "a.yaml:3: assertions[0].maxx: unknown key" in found[0]
    assert "did you mean max?" in found[0]
    places = [line.split(": ")[0] for line in found]
    assert places == [f"a.yaml:{n}" for n in (3, 2, 4, 5, 6, 7, 8)]


def test_a_list_at_the_top_and_no_assertions_are_refused():
    with pytest.raises(FaultsError, match="expected an object"):
        read_assertions("- everything starts\n", "a.yaml")
    assert "at least one assertion" in faults("")[0]


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (None, "time", "-"),
        (90_000, "time", "1m30s"),
        (-1500, "time", "-1.5s"),
        (0.821, "share", "82.1%"),
        (12_345.6, "count", "12,346"),
    ],
)
def test_values_are_shown_in_their_unit(value, unit, text):
    assert shown(value, unit) == text
