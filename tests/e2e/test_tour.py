"""The first-run tour: from the first page to a what-if answer that was run."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.e2e.board import Board

MOST_CLICKS = 8
COUNT = """() => {
  window.clicks = 0;
  addEventListener("click", (event) => { if (event.isTrusted) window.clicks++; }, true);
}"""


def test_the_tour_leads_to_a_verified_answer_in_few_clicks(board: Board) -> None:
    page = board.page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(board.url)
    page.evaluate(COUNT)
    expect(page.get_by_test_id("tour")).to_contain_text("1 of 5")
    page.get_by_role("button", name="Play Friday rush").click()

    tour = page.get_by_test_id("tour")
    tour.get_by_role("button", name="Run until one waits").click()
    expect(tour).to_contain_text("3 of 5", timeout=90_000)
    page.locator(".card.pending").filter(has_text="p100").click()
    expect(tour).to_contain_text("4 of 5")
    ask = page.get_by_role("button", name="Try them")
    expect(ask).to_be_in_viewport(ratio=1)
    ask.click()
    expect(tour).to_contain_text("5 of 5", timeout=60_000)
    origin = page.url
    show = page.locator("[data-tour=show]")
    expect(show).to_be_in_viewport(ratio=1)
    show.click()
    expect(tour).to_contain_text("This is the what-if", timeout=60_000)
    expect(page.get_by_text("Time stopped")).to_have_count(0)
    assert page.evaluate("window.clicks") <= MOST_CLICKS
    assert page.url.split("/s/")[1][:12] == origin.split("/s/")[1][:12]
    gains = page.locator("[data-card][aria-pressed=true] [data-mark]")
    expect(gains).to_have_attribute("data-mark", re.compile("earlier|only"))

    tour.get_by_role("button", name="Done").click()
    expect(tour).to_have_count(0)
    page.goto(board.url)
    expect(page.get_by_role("button", name="Play Friday rush")).to_be_visible()
    expect(tour).to_have_count(0)
    again(page)


def again(page: Page) -> None:
    """Begin once more from the palette, and leave by the keyboard."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name=re.compile("Find|command|Search")).fill("tour")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tour")).to_contain_text("1 of 5")
    page.get_by_role("button", name="Not now").press("Enter")
    expect(page.get_by_test_id("tour")).to_have_count(0)
