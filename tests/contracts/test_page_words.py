"""What the engine names by a code has words in all three languages of the page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import get_args

import pytest

from scheduler import registry
from scheduler.autoscaling.refusals import CODES as REFUSALS
from scheduler.explain.asks import CheckName
from scheduler.explain.searches import STEPS
from scheduler.kueue.trace import Excluded, Question, Verdict
from scheduler.manifests.effects import Effect
from scheduler.yunikorn.explain import Obstacle

CATALOGUE = Path(__file__).parents[2] / "frontend/src/lib/catalogue"
LANGUAGES = {
    "en": ("en.ts", "en-later.ts"),
    "zh-Hans": ("zh-hans.ts",),
    "zh-Hant": ("zh-hant.ts",),
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
    "registry.help": [f"{one.family}.{one.name}" for one in registry.entries()],
    "verdict": (*get_args(Verdict), "spared", "needed"),
}


def _words(files: tuple[str, ...]) -> set[str]:
    text = "".join((CATALOGUE / name).read_text() for name in files)
    return set(re.findall(r'^  "([\w.-]+)":', text, re.MULTILINE))


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_code_of_an_explanation_has_its_words(language: str) -> None:
    words = _words(LANGUAGES[language])
    said = {begin for word in words for begin in _begins(word)}
    codes = {f"{begin}.{code}" for begin, codes in CODES.items() for code in codes}
    assert codes - said == set()


def _begins(word: str) -> Iterable[str]:
    """Return a word and what it begins with: variants of a code come after it."""
    parts = word.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def test_what_is_enrolled_is_said_in_english_as_it_enrolled() -> None:
    text = "".join((CATALOGUE / name).read_text() for name in LANGUAGES["en"])
    found = re.findall(
        r'^  "registry\.(help|label)\.([\w.-]+)": (".*"),$', text, re.MULTILINE
    )
    said = {(what, name): json.loads(words) for what, name, words in found}
    enrolled = {
        (what, f"{one.family}.{one.name}"): getattr(one, what)
        for one in registry.entries()
        for what in ("help", "label")
    }
    assert said == {key: enrolled[key] for key in said}
