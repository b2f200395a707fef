"""The advisor on the page: a goal in fields, what it takes, the answer, its patches."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.board import Board
from tests.services.default_run import PATIENCE_S


def test_a_goal_in_fields_ends_in_an_answer_that_is_handed_over(board: Board) -> None:
    page = board.begin("two-teams.yaml").page
    board.visit("What-if")
    page.get_by_role("button", name="search for better").click()
    search = page.get_by_role("button", name="Search", exact=True)
    expect(search).to_be_disabled()
    page.get_by_role("checkbox", name=re.compile("^Quota of")).first.check()
    page.get_by_role("checkbox", name="Preemption policies of each queue").check()
    page.get_by_role("spinbutton", name="Seeds").fill("2")
    page.get_by_role("spinbutton", name="Runs of the search").fill("10")
    page.get_by_role("spinbutton", name="Runs of the search").press("Tab")
    page.get_by_role("button", name="Estimate").click()
    expect(page.get_by_text(re.compile("settings · at most about"))).to_be_visible()
    search.click()
    answer = page.get_by_role("region", name="Answer")
    expect(answer).to_be_visible(timeout=1000 * PATIENCE_S)
    expect(answer).to_contain_text(re.compile("Improved|No improvement found"))
    expect(page.get_by_role("region", name="Before and after")).to_contain_text(
        "seeds that the search did not use"
    )
    expect(
        page.get_by_role("region", name="Best settings of the search")
    ).to_be_visible()
    with page.expect_download() as report:
        page.get_by_role("link", name="HTML").click()
    assert report.value.suggested_filename.endswith(".html")
    page.get_by_role("button", name="Open as a branch").click()
    page.wait_for_url(re.compile(r"/s/\w+/board"))
