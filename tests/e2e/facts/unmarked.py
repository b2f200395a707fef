"""Numbers that a view shows without saying where REST has them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from api.generating.words import catalogue

_WORDS = Path(__file__).parents[3] / "frontend" / "src" / "lib" / "catalogue"
#: Views of which every number is a fact.
WHOLE = re.compile(r"/s/\w+/(board|nodes|fairness|decisions|what-if)\b")
#: What is no figure of the run: axes, what can be chosen, a place in a list, names as code;
#: both sides of a what-if have tests of their own (facts/ghost.py, test_whatifs.py).
TEXTS = """() => {
  const found = [];
  const apart = '[data-fact], [data-forecast], [data-apart], svg, select, code, pre, thead,'
    + ' [data-instead], [data-ghost-held], [data-ghost], [data-mark],'
    + ' [data-testid=ghost-at], [data-testid=verdict], [data-testid=bill],'
    + ' [data-testid=lives], [data-testid=why]';
  const walk = document.createTreeWalker(document.querySelector('main'), 4);
  for (let node; (node = walk.nextNode()); ) {
    const near = node.parentElement;
    if (/\\d/.test(node.data) && near.checkVisibility() && !near.closest(apart))
      found.push((near.closest('.name') ?? node).textContent.trim());
  }
  return found;
}"""


def texts(address: str, shown: list[str], answers: list[Any]) -> list[str]:
    """Return texts of the view with a number that is no fact, no name and no message.

    `shown`: what TEXTS finds; `answers`: what REST says, of which names and sentences
    may be shown as they are.
    """
    if not WHOLE.search(address):
        return []
    verbatim = sorted(_wordy(leaves(answers)) | _catalogued(), key=len, reverse=True)
    left = []
    for text in shown:
        rest = text
        for words in verbatim:
            rest = rest.replace(words, "")
        if re.search(r"\d", rest):
            left.append(text)
    return left


def leaves(answer: Any) -> Iterator[str]:
    """Yield every text of an answer, and the names that its keys are made of."""
    if isinstance(answer, dict):
        for name, value in answer.items():
            yield name
            yield from leaves(value)
    elif isinstance(answer, list):
        for value in answer:
            yield from leaves(value)
    elif isinstance(answer, str):
        yield answer
        if answer.count("/") in (1, 2):
            yield from answer.split("/")


def _wordy(texts: Iterator[str]) -> set[str]:
    """Return names and sentences: texts with a digit that are more than a number."""
    held = {words for words in texts if re.search(r"\d", words)}
    found = {words for words in held if re.search(r"[^\W\d].*\d|\d.*[^\W\d]", words)}
    shown = {re.sub(r"^job-(.*)-[a-z0-9]{5}$", r"\1", words) for words in found}
    return found | {words for words in shown if re.search(r"\d", words)}


@cache
def _catalogued() -> set[str]:
    """Return what the catalogue says with a digit of its own, as in "p95 wait"."""
    lines = "".join((_WORDS / name).read_text() for name in ("en.ts", "en-later.ts"))
    said = re.findall(r'^  "[^"]+":\s+"((?:[^"\\]|\\.)*)"', lines, re.MULTILINE)
    said += json.loads(catalogue()).values()
    parts = {
        part.replace("\\u00a0", "\xa0").strip()
        for one in said
        for part in re.split(r"\{\w+\}|\|", one)
    }
    return _wordy(iter(parts)) | {
        part for part in parts if re.fullmatch(r"× \d+ =", part)
    }
