"""A problem carries its code and what fills its holes from where it is raised."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import report_of
from scheduler.model.amounts import canonical
from scheduler.model.errors import ManifestError, QuantityError, SourceLocation
from scheduler.model.problems import Wanted, expected, in_field, parted
from scheduler.model.problems.validation import said_of_value, said_of_yaml
from scheduler.model.sentence import plain, shortened

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
PROBLEM = expected(Wanted.RANGE.said(least=1, most=5), given=7)


def test_what_was_expected_is_a_sentence_in_the_sentence() -> None:
    assert msgspec.to_builtins(in_field("spec.count", PROBLEM)) == {
        "code": "form.at",
        "text": "spec.count: expected 1 to 5, got 7",
        "holes": {
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
        },
    }


def test_an_error_says_what_is_raised_with_its_code() -> None:
    with pytest.raises(QuantityError) as caught:
        canonical("cpu", "much")
    assert caught.value.said.code == "form.got"
    assert caught.value.said.text == str(caught.value)


def test_the_place_of_a_manifest_error_is_the_field_of_what_it_says() -> None:
    place = SourceLocation(file="a.yaml", line=3, field="spec.count")
    error = ManifestError(PROBLEM, place=place)
    assert str(error) == "a.yaml:3: spec.count: expected 1 to 5, got 7"
    assert parted(error.said) == ("a.yaml:3: spec.count", PROBLEM)


@given(st.text(), st.text())
def test_a_field_is_parted_from_what_is_wrong_with_it(field: str, text: str) -> None:
    assert parted(in_field(field, plain(text))) == (field, plain(text))


@given(st.text(max_size=60), st.integers(1, 40))
def test_no_text_of_a_shortened_sentence_is_longer(text: str, most: int) -> None:
    said = shortened(expected(Wanted.TEXT, given=text), most)
    assert len(said.text) <= most + 1
    assert len(said.holes["given"]) <= most + 1


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Expected `int` >= 1 - at `$.spec.simulation.tickMs`", "form.placed"),
        ("Expected `str`, got `int`", "form.rawGot"),
        ("Object missing required field `name`", "form.rawMissing"),
        ("Object contains unknown field `x`", "form.rawUnexpected"),
        ("expected a number, got a text", "form.got"),
        ("object missing required field name", "form.missing"),
        ("JSON is malformed", ""),
    ],
)
def test_what_msgspec_says_has_a_code(text: str, code: str) -> None:
    said = said_of_value(text)
    assert (said.code, said.text) == (code, text)


def test_what_libyaml_says_has_a_code() -> None:
    assert said_of_yaml("did not find expected key").code == "yaml.key"
    assert said_of_yaml("out of memory").code == ""


def test_each_error_of_a_bad_manifest_has_a_code() -> None:
    groups = report_of(load([("bad.yaml", BAD)])).findings
    errors = [group for group in groups if group.level == "error"]
    assert len(errors) >= 3
    for group in errors:
        assert group.said is not None
        assert group.said.code, group.problem
        assert group.said.text == group.problem
