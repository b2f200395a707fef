"""A proposal on the page: chosen in the form, named in the head; who presses whom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.board import Board
from tests.services.default_run import ROOT, DefaultRun


@pytest.fixture
def proposing(tmp_path: Path) -> Iterator[str]:
    """The address of a server whose operator installed the policies of the documents."""
    run = DefaultRun(tmp_path / "run")
    run.environment["QUOTALAB_POLICIES"] = str(ROOT / "docs/examples/policies")
    with run:
        yield run.url


def test_a_proposal_is_chosen_in_the_form_and_named_in_the_head(
    page: Page, proposing: str
) -> None:
    page.set_default_timeout(60_000)
    board = Board(page, proposing).begin("two-teams.yaml")
    page.goto(page.url.replace("/board", "/what-if?switch=simulation.proposal"))
    chosen = page.get_by_label("Proposal", exact=True)
    chosen.select_option("Minimum run time")
    expect(page.get_by_label("Against its own queue")).to_have_value("10m")
    board.keep()
    expect(page.get_by_test_id("proposal")).to_have_text("proposal MinimumRunTime")


def test_fairness_says_who_preempted_whom_since_the_run_began(played: Board) -> None:
    page = played.page
    page.goto(page.url.replace("/board", "/fairness"))
    panel = page.get_by_role("region", name="Since the run began")
    expect(panel).to_contain_text("Preemptions: by whom, of whom")
    expect(panel.get_by_role("row", name="alpha → alpha")).to_contain_text("1 (")
