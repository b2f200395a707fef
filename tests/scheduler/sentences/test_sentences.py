"""A sentence is its code with what fills its holes, and English is made of both."""

from __future__ import annotations

import msgspec
import pytest

from scheduler.model.sentence import Items, Named, Place, Quantity, Words, few, named


class _Said(Words):
    ALL = "{amount}, {name}, {place}, {many}, {seconds} s, {inner}"
    INNER = "{n} queue|{n} queues"
    LOST = "Work lost: {seconds} s."


class _Of(Words, prefix="of"):
    TWO_WORDS = "two"
    OTHER = ("else.where", "other")


def test_a_code_is_the_prefix_of_the_class_and_the_name_unless_one_is_given() -> None:
    assert (_Of.TWO_WORDS, _Of.TWO_WORDS.english) == ("of.twoWords", "two")
    assert (_Of.OTHER, _Of.OTHER.english) == ("else.where", "other")


def test_each_part_is_written_as_english_writes_it() -> None:
    said = _Said.ALL.said(
        amount=Quantity("nvidia.com/gpu", "8"),
        name=Named("Workload/team/a"),
        place=Place(2),
        many=Items(("x", "y"), all=True),
        seconds=1.5,
        inner=_Said.INNER.said(n=1),
    )
    assert said.text == "8 GPU, a, 2nd, x, y, 1.5 s, 1 queue"


def test_the_number_chooses_the_form() -> None:
    assert _Said.INNER.said(n=0).text == "0 queues"


def test_of_many_the_first_few_are_named() -> None:
    assert str(named(f"Workload/t/{one}" for one in "abcde")) == "a, b, c and 2 more"
    assert str(few(["a", "b"])) == "a and b"


def test_a_sentence_travels_with_its_code_and_holes() -> None:
    assert msgspec.to_builtins(_Said.LOST.said(seconds=2.0)) == {
        "code": "lost",
        "text": "Work lost: 2 s.",
        "holes": {"seconds": 2.0},
    }


def test_a_hole_that_is_not_filled_is_an_error() -> None:
    with pytest.raises(KeyError, match="seconds"):
        _Said.LOST.said()
