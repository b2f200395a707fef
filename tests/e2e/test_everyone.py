"""The page for everyone: axe finds nothing serious, in every view and both themes."""

from __future__ import annotations

from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests.e2e.board import Board

VIEWS = [
    "board",
    "workloads",
    "nodes",
    "fairness",
    "preemptions",
    "compare",
    "policy",
    "runs",
    "lessons",
    "events",
]


@pytest.fixture(scope="module")
def address(browser: Browser, live_server_url: str) -> str:
    """The address of a sandbox in which something has been decided."""
    page = browser.new_context().new_page()
    board = Board(page, live_server_url)
    board.load("two-teams.yaml")
    board.play()
    board.sees("alpha", "urgent", "Admitted")
    board.pause()
    found = page.url.removesuffix("/board")
    page.context.close()
    return found


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_nothing_serious(
    browser: Browser, address: str, view: str, theme: Literal["light", "dark"]
) -> None:
    page = browser.new_context(color_scheme=theme).new_page()
    page.goto(f"{address}/{view}")
    expect(page.get_by_role("heading", level=1).first).to_be_attached()
    assert serious(page) == []
    page.context.close()


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/", "/account", "/share?key=none"])
def test_a_page_of_no_sandbox_has_nothing_serious(
    browser: Browser, live_server_url: str, path: str, theme: Literal["light", "dark"]
) -> None:
    page = browser.new_context(color_scheme=theme).new_page()
    page.goto(live_server_url + path)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    assert serious(page) == []
    page.context.close()


def serious(page: object) -> list[str]:
    """Return what axe calls serious or critical: rule, and the first place."""
    found = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {one['nodes'][0]['html'][:160]} "
        f"{one['nodes'][0].get('failureSummary', '')[:200]}"
        for one in found
        if one["impact"] in ("serious", "critical")
    ]
