"""Boards to test with."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page

from tests.e2e.board import Board


@pytest.fixture
def board(page: Page, live_server_url: str) -> Board:
    """A board on the running service, nothing loaded yet."""
    page.set_default_timeout(15_000)
    return Board(page, live_server_url)
