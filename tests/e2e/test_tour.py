"""The first-run tour: carry a card, see who pays, before it is let go."""

from __future__ import annotations

import re

from playwright.sync_api import Page, Route, expect

from tests.e2e.board import Board

#: Of the first page, and of the drag.
MOST_ACTIONS = 2
COUNT = """() => {
  window.actions = 0;
  const count = (event) => { if (event.isTrusted) window.actions++; };
  addEventListener("pointerdown", count, true);
}"""


def test_two_actions_show_who_pays_and_leave_no_trace(board: Board) -> None:
    page = board.page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(board.url)
    page.evaluate(COUNT)
    tour = page.get_by_test_id("tour")
    expect(tour).to_contain_text("1 of 3")
    held: list[Route] | None = []

    def hold(route: Route) -> None:
        """Hold what asks how far it is: the board does not wait for the answer."""
        if held is None:
            route.continue_()
        else:
            held.append(route)

    page.route(re.compile(r"/api/v1/sandboxes/\w+$"), hold)
    page.get_by_role("button", name="Open Friday rush").click()
    expect(page.get_by_test_id("tick")).to_be_visible()
    expect(tour).to_have_count(0)
    waiting, held = held, None
    for one in waiting:
        one.continue_()

    expect(tour).to_contain_text("2 of 3")
    expect(page.get_by_test_id("tick")).to_have_text("78")
    for place, said in (("n", 0), ("b", 1)):  # by keys: clicks are counted
        page.keyboard.press("g")
        page.keyboard.press(place)
        expect(tour).to_have_count(said)
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    what, source, goal = re.search(
        r"^(\S+) waits in (\S+)\. Drag it to (\S+) and", tour.inner_text()
    ).groups()
    card = board.card(source, what, "Pending")
    expect(card).to_be_in_viewport(ratio=1)
    board.drag(card, board.queue(goal))
    strip = page.get_by_test_id("verdict")
    expect(strip.locator("[data-cell=later] b")).to_have_text(re.compile("[1-9]"))
    expect(tour).to_contain_text("if you let go here")
    assert page.evaluate("window.actions") <= MOST_ACTIONS

    board.drop()
    expect(tour).to_contain_text("That is who pays")
    board.verdict().get_by_role("button", name="Discard").click()
    expect(tour).to_contain_text("Every change works like this")
    expect(strip).to_have_count(0)
    tour.get_by_role("button", name="Let it run").click()
    expect(tour).to_have_count(0)
    board.pause()
    page.goto(board.url)
    expect(page.get_by_role("button", name="Play Friday rush")).to_be_visible()
    expect(tour).to_have_count(0)
    again(page)


def again(page: Page) -> None:
    """Begin once more from the palette, and leave by the keyboard."""
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name=re.compile("Find|command|Search")).fill("tour")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("tour")).to_contain_text("1 of 3")
    page.get_by_role("button", name="Not now").press("Enter")
    expect(page.get_by_test_id("tour")).to_have_count(0)
