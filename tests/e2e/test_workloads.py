"""Workloads as a table: narrowed by the address, edited many at once."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.board import Board


@pytest.fixture
def table(played: Board) -> Board:
    """The workloads of a board on which somebody waits, as a table."""
    played.visit("Workloads")
    return played


def test_a_narrowed_table_is_found_by_its_address(table: Board) -> None:
    page = table.page
    page.get_by_role("searchbox", name="Find by name").fill("urgent")
    expect(page.get_by_text("1 to 1 of 1")).to_be_visible()
    page.get_by_role("combobox", name="Every queue").select_option("alpha")
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_text("1 to 1 of 1")).to_be_visible()


def test_what_is_done_to_selected_rows_is_undone_at_once(table: Board) -> None:
    page = table.page
    page.get_by_role("searchbox", name="Find by name").fill("waiting")
    page.get_by_role("checkbox", name="Select all rows").check()
    page.get_by_role("button", name="Hold", exact=True).click()
    table.keep()
    state = page.get_by_role("row").filter(has_text="waiting")
    expect(state.first).to_contain_text("Inactive")
    page.get_by_role("button", name="Undo").last.click()
    expect(state.first).not_to_contain_text("Inactive")
    table.verdict().get_by_role("button", name="Discard").click()
    table.agrees_in("Workloads")


def test_a_board_asked_for_one_phase_shows_its_cards_alone(table: Board) -> None:
    page = table.page
    page.goto(re.sub(r"/board.*", "/board?phase=waiting", page.url))
    table.sees("alpha", "waiting", "Inadmissible")
    urgent = page.get_by_role("button", name=re.compile("^urgent,"))
    expect(urgent).to_have_count(0)
