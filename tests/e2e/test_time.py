"""Time is one film: play and step move what is shown, and a view draws one tick."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.board import Board

PAUSE = re.compile("^Pause")
PLAY = re.compile("^Play")


def test_space_pauses_after_a_link_of_the_navigation_was_clicked(board: Board) -> None:
    board.begin("two-teams.yaml", tick=1)
    board.page.get_by_role("link", name=re.compile("^Fairness")).first.click()
    board.page.keyboard.press("Space")
    expect(board.page.get_by_role("button", name=PAUSE).first).to_be_visible()
    board.page.keyboard.press("Space")
    expect(board.page.get_by_role("button", name=PLAY).first).to_be_visible()


def test_a_step_in_the_past_shows_the_next_recorded_tick(board: Board) -> None:
    board.begin("two-teams.yaml", tick=6)
    page = board.page
    page.goto(f"{page.url.split('?')[0]}?tick=2")
    page.get_by_role("button", name="Step one tick").click()
    expect(page).to_have_url(re.compile("tick=3"))


def test_play_in_the_past_goes_through_what_is_recorded(board: Board) -> None:
    # Long enough that a busy machine pauses before it has gone through all of it.
    board.begin("two-teams.yaml", tick=90)
    page = board.page
    page.goto(f"{page.url.split('?')[0]}?tick=1")
    page.get_by_role("button", name=PLAY).first.click()
    expect(page).to_have_url(re.compile(r"tick=([2-9]|\d\d)"))
    page.get_by_role("button", name=PAUSE).first.click()
    expect(page.get_by_role("button", name=PLAY).first).to_be_visible()
    expect(page).to_have_url(re.compile("tick="))


def test_fairness_draws_one_tick_at_every_instant_of_play(board: Board) -> None:
    board.begin("two-teams.yaml", tick=1)
    page = board.page
    page.get_by_role("link", name=re.compile("^Fairness")).first.click()
    expect(page.locator("[data-tick]")).to_be_visible()
    page.keyboard.press("Space")
    seen = page.evaluate(
        """async () => {
          const found = [];
          while (found.length < 900 && new Set(found.map(([tick]) => tick)).size < 4) {
            const tick = document.querySelector("[data-tick]").dataset.tick;
            const shown = document.querySelector("[role=slider][aria-valuemax]").getAttribute("aria-valuenow");
            found.push([tick, shown]);
            await new Promise(requestAnimationFrame);
          }
          return found;
        }"""
    )
    assert len({tick for tick, _ in seen}) >= 4
    assert [pair for pair in seen if pair[0] != pair[1]] == []
