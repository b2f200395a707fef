"""Every number on the page, held against what REST says of the same tick."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from playwright.sync_api import Page

from tests.e2e.facts import answer as answer_facts
from tests.e2e.facts import board as board_facts
from tests.e2e.facts import card as card_facts
from tests.e2e.facts import ghost as ghost_facts
from tests.e2e.facts import node as node_facts
from tests.e2e.facts import pressing as pressing_facts
from tests.e2e.facts import said as said_facts
from tests.e2e.facts import unmarked
from tests.e2e.facts import view as view_facts
from tests.e2e.facts.board import Fact
from tests.services.default_run import wait_for

Row = dict[str, Any]

#: All numbers that the page shows at one instant: what it marks with `data-fact`, the
#: object it is of, and how it is drawn; cards; ghosts; texts with a number. What is of
#: the tick of a pair as a whole (`data-paired`) is with the ghosts.
READ = f"""() => ({{
  tick: document.querySelector('[data-testid=tick]')?.innerText ?? '',
  facts: [...document.querySelectorAll('[data-fact]')]
    .filter((node) => node.checkVisibility() && !node.closest('[data-paired]'))
    .map((node) => ({{
      key: node.closest('[data-card]')?.dataset.card
        ?? node.closest('[data-key]')?.dataset.key ?? '',
      source: node.closest('[data-source]')?.dataset.source ?? '',
      what: node.dataset.fact,
      text: [...node.querySelectorAll('{ghost_facts.PLACES}')]
        .reduce((text, ghost) => text.replace(ghost.innerText, ''), node.innerText),
      name: node.querySelector('[role=img]')?.ariaLabel ?? '',
      line: node.parentElement.innerText,
    }})),
  cards: [...document.querySelectorAll('[data-card]')]
    .map((node) => [node.closest('[data-key]')?.dataset.key, node.dataset.card]),
  ghosts: ({ghost_facts.READ})(),
  texts: ({unmarked.TEXTS})(),
}})"""
FEWEST = 10  # numbers of a board with two queues
HALF = 0.051  # what is written with one decimal


def agrees(page: Page, fewest: int = FEWEST) -> None:
    """Wait until the view is drawn and every number on it is REST's.

    A page that never agrees fails with what it shows and what it should.
    """

    def same() -> bool:
        count, wrong = compared(page)
        return count >= fewest and not wrong

    try:
        wait_for(same, "numbers that agree", timeout_s=20, every_s=0.2)
    except AssertionError:
        count, wrong = compared(page)
        assert wrong == [], wrong
        assert count >= fewest, f"{count} numbers"


def compared(page: Page) -> tuple[int, list[str]]:
    """Return how many numbers were read, and those that are not REST's."""
    seen = page.evaluate(READ)
    count, wrong = held(page, seen)
    shown = seen["tick"].replace(",", "")
    return count, wrong + view_facts.wrong_timeline(
        page, int(shown)
    ) if count else wrong


def held(page: Page, seen: Row, *, plays: bool = False) -> tuple[int, list[str]]:
    """Return how many numbers READ has found, and those that are not REST's.

    `plays`: the page has gone on since, and REST is asked for the tick that it showed.
    """
    shown = seen["tick"].replace(",", "")
    if not shown.isdigit():
        return 0, [f"tick {shown}"]
    tick = int(shown)
    asked = tick if plays else None
    state = view_facts.fetched(page, "/state", asked)
    rows = {row["key"]: row for row in state["rows"]}
    wrong = [] if tick == rows["Sandbox//sandbox"]["tick"] else [f"tick {tick}"]
    facts = [Fact(**one) for one in seen["facts"]]
    cards = seen["cards"]
    sources = {fact.source for fact in facts} - {""}
    answers = {one: view_facts.fetched(page, one, asked) for one in sources}
    for one in (answers[one] for one in sources if one.startswith("/events")):
        one["items"] = [event for event in one["items"] if event["tick"] <= tick]
    for fact in facts:
        if fact.what == "preemptions":
            wrong += view_facts.wrong_preemptions(page, fact.text, tick)
            continue
        if fact.what == "searches":
            wrong += view_facts.wrong_searches(page, fact.text, tick)
            continue
        if fact.what.startswith("hidden "):
            wrong += board_facts.hidden(fact, cards, rows)
            continue
        found_in = answers[fact.source] if fact.source else rows.get(fact.key, {})
        named = f"{fact.key or fact.source} {fact.what}"
        try:
            wrong += [f"{named}: {one}" for one in differs(fact, found_in, rows)]
        except (LookupError, ValueError, TypeError) as missing:
            wrong.append(f"{named}: {fact.text!r} has no place in REST: {missing!r}")
    said = [*answers.values(), *rows.values()]
    left = unmarked.texts(page.url, seen["texts"], said)
    wrong += [f"no fact: {text!r}" for text in left]
    for column, key in cards:
        if not board_facts.stands_in(rows.get(key), column):
            wrong.append(f"card {key} in {column}")
    return len(facts) + len(cards), wrong


def differs(fact: Fact, found_in: Row, rows: dict[str, Row]) -> Iterator[str]:
    """Yield what the page says and what it should, where they differ."""
    kind = fact.what.split(" ")[0]
    if kind in card_facts.KINDS:
        found = card_facts.pairs_of(fact.what, fact.text, found_in, rows)
    elif kind in view_facts.KINDS:
        found = view_facts.pairs_of(fact.what, fact.text, found_in, rows)
    elif kind in node_facts.KINDS:
        found = node_facts.pairs_of(fact.what, fact.text, found_in, rows)
    elif kind in answer_facts.KINDS:
        found = answer_facts.pairs_of(fact.what, fact.text, found_in)
    elif kind in pressing_facts.KINDS:
        yield from pressing_facts.wrong(fact.key, fact.what, fact.text, found_in)
        return
    elif kind in said_facts.KINDS:
        yield from said_facts.wrong(fact.what, fact.text, found_in)
        return
    else:
        found = board_facts.pairs(fact, rows)
    for shown, expected in found:
        if not (shown == expected or abs(shown - expected) < HALF):
            yield f"shows {shown:g}, not {expected:g}"
