"""Boards to test with."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.board import Board

# A busy machine is slow, not wrong: waits end as soon as what they wait for is seen.
expect.set_options(timeout=20_000)


@pytest.fixture
def board(page: Page, live_server_url: str) -> Board:
    """A board on the running service, nothing loaded yet."""
    page.set_default_timeout(30_000)
    return Board(page, live_server_url)
