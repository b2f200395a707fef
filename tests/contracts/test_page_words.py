"""What the engine names by a code has words in all three languages of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import pytest

from api.generating.words import argument_shapes, catalogue, sentences
from scheduler.analysis.explain.asks import CheckName
from scheduler.engine.kueue.trace import Verdict
from scheduler.engine.yunikorn.explain import Obstacle
from scheduler.model import registry
from scheduler.words.effects import Effect

CATALOGUE = Path(__file__).parents[2] / "frontend/src/lib/catalogue"
LANGUAGES = {
    "en": ("en.ts", "en-later.ts"),
    "zh-Hans": ("zh-hans.ts",),
}
SENTENCES = sentences()
ARGUMENTS = argument_shapes()
#: Begin of the words -> the codes that come after it.
CODES: dict[str, Iterable[str]] = {
    "said.place.failed": get_args(CheckName),
    "said.place.check": get_args(CheckName),
    "said.place.node": {*get_args(Obstacle)} - {"predicate"},
    "finding.effect": {one.value for one in Effect} - {""},
    "registry.args": ARGUMENTS,
    "registry.help": [f"{one.family}.{one.name}" for one in registry.entries()],
    "said": SENTENCES,
    "theatre.mark": (*get_args(Verdict), "spared", "needed", "bound", "held"),
}


def _catalogue(language: str) -> dict[str, str]:
    """Return the words of a language that stand on one line, as they are written."""
    text = "".join((CATALOGUE / name).read_text() for name in LANGUAGES[language])
    found = re.findall(r'^  "([\w.-]+)": (".*"),$', text, re.MULTILINE)
    said = json.loads(catalogue()) if language == "en" else {}
    return {name: json.loads(words) for name, words in found} | said


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_of_an_explanation_has_its_words(language: str) -> None:
    said = {begin for word in _catalogue(language) for begin in _begins(word)}
    codes = {f"{begin}.{code}" for begin, codes in CODES.items() for code in codes}
    assert codes - said == set()


def _begins(word: str) -> Iterable[str]:
    """Return a word and what it begins with: variants of a code come after it."""
    parts = word.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_has_the_same_holes_in_every_language(language: str) -> None:
    words = _catalogue(language)
    found = {code: _holes(words[f"said.{code}"]) for code in SENTENCES}
    assert found == {code: _holes(text) for code, text in SENTENCES.items()}


def test_no_words_are_left_of_a_sentence_that_is_gone() -> None:
    codes = {f"said.{code}" for code in SENTENCES}
    names = {name for language in LANGUAGES for name in _catalogue(language)}
    assert {name for name in names if name.startswith("said.")} == codes


def _holes(words: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", words))
