"""An English text is read back into its form, with what fills its holes."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import report_of
from scheduler.model.errors import PolicyError
from scheduler.model.kueue.configuration import read_configuration
from scheduler.words.reading import read

BAD = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: one}
spec:
  queueingStrategy: Fifo
  stopPolicy: 3
  fairSharing: {weight: heavy}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: Not_a_name, namespace: team}
spec: {clusterQueue: one}
"""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("expected one of a, b, got 'c'", "form.got"),
        ("kueue.x: expected an object, got [1]", "form.at"),
        ("unknown field; known: a, b; did you mean a?", "form.unknownNear"),
        ("seed: expected at least 0, got -1; title: expected a text", "form.both"),
        ("flavor a is used already by b; one group only", "problem.flavorUsed"),
        ("This field is required.", "checked.required"),
        ("2 of 3 pods fit", "left.few"),
        ("policy: Expected `int` >= 1 - at `$.spec.simulation.tickMs`", "form.placed"),
    ],
)
def test_a_text_is_read_in_its_form(text: str, code: str) -> None:
    said = read(text)
    assert said is not None
    assert (said.code, said.text) == (code, text)


def test_what_was_expected_is_a_sentence_in_the_sentence() -> None:
    said = read("spec.count: expected 1 to 5, got 7")
    assert msgspec.to_builtins(said)["holes"] == {
        "field": "spec.count",
        "what": {
            "code": "form.got",
            "text": "expected 1 to 5, got 7",
            "holes": {
                "wanted": {
                    "code": "wanted.range",
                    "text": "1 to 5",
                    "holes": {"least": "1", "most": "5"},
                },
                "given": "7",
            },
        },
    }


@pytest.mark.parametrize(
    "text",
    ["", "odd", "expected something odd, got 1", "x" * 5000, "a: " * 300, "; : " * 250],
)
def test_a_text_in_no_form_stays_as_it_is(text: str) -> None:
    assert read(text) is None


def test_each_error_of_a_bad_manifest_has_a_code() -> None:
    groups = report_of(load([("bad.yaml", BAD)])).findings
    errors = [group for group in groups if group.level == "error"]
    assert len(errors) >= 3
    for group in errors:
        assert group.said is not None, group.problem
        assert group.said.text == group.problem


def test_an_error_of_a_policy_has_a_code() -> None:
    with pytest.raises(PolicyError) as caught:
        read_configuration({"fairSharing": {"preemptionStrategies": ["Odd"]}})
    said = read(str(caught.value))
    assert said is not None
    assert said.code == "form.at"
