"""The page for everyone: axe finds nothing serious, in every view and both themes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from tests.e2e.board import PREEMPTED, Board

VIEWS = [
    "board",
    "board?density=table",
    "nodes",
    "fairness",
    "decisions",
    "decisions?mode=graph",
    "what-if",
    "what-if?sel=ClusterQueue//alpha&as=yaml",
    "what-if?sure=search",
    "what-if?with=",
    "board?lesson=1",
]


#: The rules that see colours: all that another theme can change.
COLORS = {
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
    "resultTypes": ["violations"],
}


@pytest.fixture(scope="module")
def still(browser: Browser) -> Iterator[Page]:
    """A page without transitions: a theme is there as soon as it is chosen."""
    page = browser.new_context(reduced_motion="reduce", color_scheme="light").new_page()
    page.set_default_timeout(120_000)
    yield page
    page.context.close()


@pytest.fixture(scope="module")
def address(still: Page, live_server_url: str) -> str:
    """The address of a sandbox in which something has been decided."""
    board = Board(still, live_server_url).begin("two-teams.yaml", tick=PREEMPTED)
    return board.page.url.removesuffix("/board")


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_nothing_serious(still: Page, address: str, view: str) -> None:
    still.goto(f"{address}/{view}")
    expect(still.get_by_role("heading", level=1).first).to_be_attached()
    assert serious(still) == []


@pytest.mark.parametrize(
    "view", ["board", "fairness", "board?density=table", "what-if", "decisions"]
)
def test_an_open_what_if_has_nothing_serious(
    still: Page, address: str, view: str
) -> None:
    sandbox = address.replace("/s/", "/api/v1/sandboxes/")
    alpha = {"kind": "ClusterQueue", "name": "alpha"}
    spec = {"preemption": {"withinClusterQueue": "Never"}}
    asked = {"at": 1, "changes": [{"patch": {**alpha, "body": {"spec": spec}}}]}
    made = still.request.post(f"{sandbox}/what-ifs?wait=60", data=asked).json()
    glue = "&" if "?" in view else "?"
    still.goto(f"{address}/{view}{glue}what-if={made['id']}")
    said = still.get_by_test_id("lives" if view == "what-if" else "verdict")
    expect(said).to_contain_text("urgent")
    assert serious(still) == []


@pytest.mark.parametrize("path", ["/", "/account", "/share#none"])
def test_a_page_of_no_sandbox_has_nothing_serious(
    still: Page, live_server_url: str, path: str
) -> None:
    still.goto(live_server_url + path)
    expect(still.get_by_role("heading", level=1)).to_be_visible()
    assert serious(still) == []


#: Off in axe by default: the name that is spoken holds the words that are seen.
NAMES = {"rules": {"label-content-name-mismatch": {"enabled": True}}}


def serious(page: Page) -> list[str]:
    """Return what axe calls serious or critical in either theme, and the first place."""
    page.emulate_media(color_scheme="light")
    found = Axe().run(page, options=NAMES).response["violations"]
    page.emulate_media(color_scheme="dark")
    expect(page.locator("[data-theme=dark]").first).to_be_attached()
    found += page.evaluate("(rules) => axe.run(rules)", COLORS)["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} "
        f"{one['nodes'][0].get('failureSummary', '')[:200]}"
        for one in found
        if one["impact"] in ("serious", "critical") and not only_cards(one)
    ]


def only_cards(violation: dict[str, Any]) -> bool:
    """Return whether only cards of the board are spoken otherwise than they look.

    A card's name begins with the words that are seen first and leaves its note out.
    """
    places = [place["html"] for place in violation["nodes"]]
    cards = all(" data-card=" in html for html in places)
    return violation["id"] == "label-content-name-mismatch" and cards
