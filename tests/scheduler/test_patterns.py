"""Patterns that people give: read as Go reads them, in time that the text alone decides."""

from __future__ import annotations

import pytest

from scheduler.engine.autoscaling.growing import read_priorities
from scheduler.engine.yunikorn.placement.rules import passes
from scheduler.model.errors import ManifestError, PatternError, QuantityError
from scheduler.model.hierarchy import RuleFilter
from scheduler.model.texts.plain_text import read_pattern
from scheduler.model.texts.values import read_value, read_values

LONG = "a" * 100_000 + "b"


def test_a_pattern_that_goes_back_without_end_is_answered():
    assert not read_pattern("^(a+)+$").found_in(LONG)
    assert not passes(RuleFilter(deny=False, users=("^(a+)+$",), groups=()), LONG, ())
    [(_, [pattern])] = read_priorities({"priorities": "10: ['^(a+)+$']"})
    assert not pattern.found_in(LONG)


@pytest.mark.parametrize(
    "text",
    [
        "(?=a)",
        "(?<!a)b",
        r"(a)\1",
        "a{1001}",
        "(a{1000}){1000}",
        "a**",
        "(",
        r"\C",
        "\ud800",
    ],
)
def test_what_go_refuses_is_refused(text):
    with pytest.raises(PatternError, match="regular expression"):
        read_pattern(text)


@pytest.mark.parametrize(
    ("text", "given"),
    [
        (r"\\C", r"\C"),
        (r"\Q\C\E", r"\C"),
        ("^dev-.*$", "dev-é"),
        ("(?i)ANN", "joann"),
        ("a{1000}", "a" * 1000),
    ],
)
def test_what_go_takes_is_found(text, given):
    assert read_pattern(text).found_in(given)


BOMB = "a: &a {k: 1}\n" + "".join(
    f"{n}: &{n} {{<<: [{', '.join(['*' + before] * 9)}]}}\n"
    for before, n in zip("abcdefgh", "bcdefghi", strict=True)
)
NESTED = "a: &a [1]\n" + "".join(
    f"{n}: &{n} [{', '.join(['*' + before] * 9)}]\n"
    for before, n in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize("text", [BOMB, NESTED], ids=["merged", "nested"])
def test_a_text_that_grows_by_its_aliases_is_refused_wherever_it_stands(text):
    with pytest.raises(ManifestError, match="aliases repeat too many values"):
        read_values(text)
    with pytest.raises(QuantityError, match="aliases repeat too many values"):
        read_priorities({"priorities": text})


def test_a_text_of_one_document_has_one():
    assert read_value("a: 1") == {"a": 1}
    assert read_value("") is None
    with pytest.raises(ManifestError, match="one document, got 2"):
        read_value("a: 1\n---\nb: 2")


@pytest.mark.parametrize("number", ["\u0661\u0660", "\u00b2", "1_0", "ten"])
def test_a_priority_is_a_number_of_ascii_digits(number):
    with pytest.raises(QuantityError):
        read_priorities({"priorities": f"'{number}': [a]"})
