"""What the engine names by a code has words in all three languages of the page."""

from __future__ import annotations

import importlib
import json
import pkgutil
import re
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from scheduler import words as sentences
from scheduler.analysis.explain.asks import CheckName
from scheduler.analysis.explain.searches import STEPS
from scheduler.engine.autoscaling.refusals import CODES as REFUSALS
from scheduler.engine.kueue.trace import Excluded, Question, Verdict
from scheduler.engine.yunikorn.explain import Obstacle
from scheduler.input.manifests.effects import Effect
from scheduler.model import registry
from scheduler.model.sentence import Words

CATALOGUE = Path(__file__).parents[2] / "frontend/src/lib/catalogue"
LANGUAGES = {
    "en": ("en.ts", "en-later.ts"),
    "zh-Hans": ("zh-hans.ts",),
}
for _module in pkgutil.iter_modules(sentences.__path__, f"{sentences.__name__}."):
    importlib.import_module(_module.name)
importlib.import_module("scheduler.model.kube.notice_words")
for _name in ("refusals", "absences", "denials"):
    importlib.import_module(f"sandbox.base.{_name}")
# Those of the engine and of sandboxes: other tests make words of their own.
OURS = [
    kind
    for kind in Words.__subclasses__()
    if kind.__module__.startswith(("scheduler.", "sandbox."))
]
SENTENCES = {one.value: one.english for kind in OURS for one in kind}
#: Shapes of arguments of plug-ins -> what they are for.
ARGUMENTS = {
    name: " ".join(shape["description"].split())
    for one in registry.entries("plugin")
    if one.parameters
    for name, shape in msgspec.json.schema(one.parameters)["$defs"].items()
}
#: Begin of the words -> the codes that come after it.
CODES: dict[str, Iterable[str]] = {
    "search.title": ("setup", *STEPS),
    "search.said": ("setup", *STEPS),
    "search.said.candidate": get_args(Verdict),
    "search.test": get_args(Question),
    "search.why": get_args(Excluded),
    "place.failed": get_args(CheckName),
    "place.check": get_args(CheckName),
    "place.node": get_args(Obstacle),
    "place.growth": REFUSALS.values(),
    "finding.effect": {one.value for one in Effect} - {""},
    "registry.args": ARGUMENTS,
    "registry.help": [f"{one.family}.{one.name}" for one in registry.entries()],
    "said": SENTENCES,
    "verdict": (*get_args(Verdict), "spared", "needed"),
}


def _catalogue(language: str) -> dict[str, str]:
    """Return the words of a language that stand on one line, as they are written."""
    text = "".join((CATALOGUE / name).read_text() for name in LANGUAGES[language])
    found = re.findall(r'^  "([\w.-]+)": (".*"),$', text, re.MULTILINE)
    return {name: json.loads(words) for name, words in found}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_of_an_explanation_has_its_words(language: str) -> None:
    said = {begin for word in _catalogue(language) for begin in _begins(word)}
    codes = {f"{begin}.{code}" for begin, codes in CODES.items() for code in codes}
    assert codes - said == set()


def _begins(word: str) -> Iterable[str]:
    """Return a word and what it begins with: variants of a code come after it."""
    parts = word.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def test_what_is_enrolled_is_said_in_english_as_it_enrolled() -> None:
    said = {k: v for k, v in _catalogue("en").items() if k.startswith("registry.")}
    enrolled = {
        f"registry.{what}.{one.family}.{one.name}": getattr(one, what)
        for one in registry.entries()
        for what in ("help", "label")
    } | {f"registry.args.{name}": text for name, text in ARGUMENTS.items()}
    assert said == {key: enrolled[key] for key in said}


def test_a_sentence_is_said_in_english_as_the_server_says_it() -> None:
    words = _catalogue("en")
    assert {code: words[f"said.{code}"] for code in SENTENCES} == SENTENCES


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_sentence_has_the_same_holes_in_every_language(language: str) -> None:
    words = _catalogue(language)
    found = {code: _holes(words[f"said.{code}"]) for code in SENTENCES}
    assert found == {code: _holes(text) for code, text in SENTENCES.items()}


def test_no_words_are_left_of_a_sentence_that_is_gone() -> None:
    codes = {f"said.{code}" for code in SENTENCES}
    names = {name for language in LANGUAGES for name in _catalogue(language)}
    assert {name for name in names if name.startswith("said.")} == codes


def test_no_two_sentences_have_one_code() -> None:
    codes = [one.value for kind in OURS for one in kind]
    assert sorted(codes) == sorted(set(codes))


def _holes(words: str) -> set[str]:
    return set(re.findall(r"\{(\w+)\}", words))
