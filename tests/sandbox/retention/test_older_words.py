"""What an older version wrote in English is read into its form, with what fills its holes."""

from __future__ import annotations

import pytest

from sandbox.retention.older_words import read_event
from scheduler.engine.lifetime.changes import TAKING
from scheduler.model.decisions import NAMES
from scheduler.model.event_words import Befallen, Planned, node_lost
from scheduler.model.sentence import Hole, Sentence, Words, text_of
from scheduler.words import edits
from scheduler.words.edits import (
    Deed,
    Edited,
    Stopped,
    imported,
)

#: What fills a hole of an event, as it is noted.
HOLES: dict[str, Hole] = {
    "who": "ana.b@team",
    "title": "Tenants behind fences (to tick 40)",
    "speed": 2.5,
    "tick": 130,
    "ticks": 500,
    "days": 30,
    "number": 51,
    "long": 30.5,
    "awaited": edits.awaited(["Preempt", "Evict"], "Workload/ml/job-x"),
    "edit": Edited.MOVES.said(who="bo", object="ml/x", target="ClusterQueue//b"),
    "deeds": Deed.CREATES.said(object="ClusterQueue//inference"),
    "object": "ml-research/job-x",
    "target": "ClusterQueue//inference",
    "pod": "ml/train-0",
    "node": "worker-1::gpu-0",
    "cluster": "west",
    "kind": "LocalQueue",
    "name": "Admit",
    "domain": "rack-1",
    "resource": "memory",
    "threshold": "100Mi",
    "available": "52Mi",
    "container": "main",
    "used": "3Gi",
    "request": "2Gi",
}
SENTENCES = [
    one
    for kind in (Edited, Stopped, Planned, Befallen)
    for one in kind
    if one != Edited.TOGETHER
]


def filled(one: Words) -> Sentence:
    said = one.said(**HOLES)
    used = {name: hole for name, hole in HOLES.items() if f"{{{name}}}" in one.english}
    return Sentence(said.code, said.text, used)


@pytest.mark.parametrize("one", SENTENCES, ids=lambda one: one.value)
def test_a_sentence_of_an_event_is_read_back(one: Words) -> None:
    said = filled(one)
    found = read_event(said.text)
    assert found is not None
    assert (found.code, plain(found)) == (said.code, plain(said))


def plain(hole: Hole) -> object:
    """Return what fills a hole as it is after it was written and read."""
    if isinstance(hole, Sentence):
        return {name: plain(inner) for name, inner in hole.holes.items()}
    return text_of(hole)


@pytest.mark.parametrize("created", [[], ["Job/a/b"], ["Job/a/b", "Job/a/c"]])
@pytest.mark.parametrize("changed", [[], ["Cohort//x"], ["Cohort//x", "Cohort//y"]])
@pytest.mark.parametrize("policy", [True, False])
def test_what_was_brought_in_at_once_is_read_back(
    created: list[str], changed: list[str], policy: bool
) -> None:
    if not (created or changed or policy):
        return
    said = imported("ana", created, changed, policy=policy)
    undone = Edited.UNDOES.said(who="bo", edit=said)
    assert "ana " in undone.text
    for one in (said, undone):
        found = read_event(one.text)
        assert found is not None
        assert (found.code, plain(found)) == (one.code, plain(one))


def test_it_says_what_it_said_before_it_had_a_code() -> None:
    said = imported("ana", ["Job/a/b"], ["Cohort//x", "Cohort//y"], policy=True)
    assert said.text == "ana creates Job/a/b and changes 2 and changes the policy"
    assert filled(Edited.FASTEST).text == (
        "ana.b@team sets the speed to as fast as it goes"
    )
    assert filled(Edited.RUNS_TO_EITHER).text == (
        "ana.b@team runs until Preempt or Evict Workload/ml/job-x or tick 130"
    )
    assert [node_lost(change).text for change in TAKING] == [
        f"the node was changed: {change}" for change in TAKING
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("local names it local plays", "edit.renames"),
        ("local names it a: cordon node b", "edit.renames"),
        ("local makes b and changes 2", "edit.makes"),
        ("local changes the policy", "edit.policy"),
        ("local undoes: an edit of an older version", "edit.undoes"),
        ("the tick failed: KeyError: 'x'", "givenUp.tickFailed"),
    ],
)
def test_the_words_of_a_title_do_not_mislead(text: str, code: str) -> None:
    said = read_event(text)
    assert said is not None
    assert (said.code, said.text) == (code, text)


@pytest.mark.parametrize(
    "text",
    [
        "Preempted to accommodate a workload (UID: 3) due to prioritization",
        "two words plays",
        "the batch of the month",
        "",
    ],
)
def test_other_words_are_in_no_form(text: str) -> None:
    assert read_event(text) is None


def test_a_long_list_of_what_is_awaited_stays_a_text() -> None:
    said = Edited.RUNS_TO.said(who="ana", awaited=edits.awaited(NAMES * 9))
    assert read_event(said.text) is None
