"""Boards to test with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.board import PREEMPTED, Board
from tests.services.browser import launched

# A busy machine is slow, not wrong: waits end as soon as what they wait for is seen.
expect.set_options(timeout=120_000)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One browser for the tests of this folder.

    Not for the session: while it is open Playwright keeps an event loop in this
    thread, and no asynchronous test could run.
    """
    with launched() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page in a fresh profile, which must log no error."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on(
        "pageerror", lambda problem: complaints.append(problem.stack or str(problem))
    )
    yield page
    context.close()
    assert not complaints, "the page raised an error"


@pytest.fixture
def board(page: Page, live_server_url: str) -> Board:
    """A board on the running service, nothing loaded yet."""
    page.set_default_timeout(120_000)
    return Board(page, live_server_url)


@pytest.fixture
def played(board: Board) -> Board:
    """A board on which somebody was preempted and somebody waits, paused."""
    board.begin("two-teams.yaml", tick=PREEMPTED)
    board.sees("alpha", "urgent", "Admitted")
    return board
