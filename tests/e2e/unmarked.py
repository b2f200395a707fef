"""Numbers that a view shows without saying where REST has them."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page

#: Views of which every number is a fact.
WHOLE = re.compile(r"/s/\w+/(board|workloads)\b")
#: What is no figure of the run: axes, what can be chosen, names as code.
TEXTS = """() => {
  const found = [], apart = '[data-fact], [data-forecast], svg, select, code, thead';
  const walk = document.createTreeWalker(document.querySelector('main'), 4);
  for (let node; (node = walk.nextNode()); ) {
    const near = node.parentElement;
    if (/\\d/.test(node.data) && near.checkVisibility() && !near.closest(apart))
      found.push(node.data.trim());
  }
  return found;
}"""


def texts(page: Page, rows: dict[str, dict[str, Any]]) -> list[str]:
    """Return texts of the view with a number that is no fact, no name and no message."""
    if not WHOLE.search(page.url):
        return []
    verbatim = sorted(_verbatim(rows), key=len, reverse=True)
    left = []
    for text in page.evaluate(TEXTS):
        rest = text
        for words in verbatim:
            rest = rest.replace(words, "")
        if re.search(r"\d", rest):
            left.append(text)
    return left


def _verbatim(rows: dict[str, dict[str, Any]]) -> set[str]:
    """Return the names and sentences of the rows that hold a digit."""
    said = {str(value) for row in rows.values() for value in row.values()}
    said |= {name for row in rows.values() for name in row["key"].split("/")}
    said |= {cell["flavor"] for row in rows.values() for cell in row.get("cells", ())}
    owners = {
        row["owner"].split("/", 2)[-1] for row in rows.values() if row.get("owner")
    }
    return {
        words for words in said | owners if re.search(r"[^\W\d].*\d|\d.*[^\W\d]", words)
    }
