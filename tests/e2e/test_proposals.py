"""A proposal on the page: chosen in the form, named in the head; who presses whom."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e.board import Board
from tests.scheduler.proposals.conftest import enrol  # noqa: F401 - a fixture


def test_a_proposal_is_chosen_in_the_form_and_named_in_the_head(board: Board) -> None:
    board.begin("two-teams.yaml")
    page = board.page
    page.goto(page.url.replace("/board", "/what-if?switch=simulation.proposal"))
    chosen = page.get_by_label("Proposal", exact=True)
    chosen.select_option("Minimum run time")
    page.get_by_role("button", name="Keep").first.click()
    expect(page.get_by_test_id("proposal")).to_have_text("proposal MinimumRunTime")
    expect(page.get_by_label("Against its own queue")).to_have_value("10m")


def test_fairness_says_who_preempted_whom_since_the_run_began(played: Board) -> None:
    page = played.page
    page.goto(page.url.replace("/board", "/fairness"))
    panel = page.get_by_role("region", name="Since the run began")
    expect(panel).to_contain_text("Preemptions: by whom, of whom")
    expect(panel.get_by_role("row", name="alpha → alpha")).to_contain_text("1 (")
