"""The board as a person uses it: load, play, find a card, wait for what it says."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from tests.e2e import truth

MANIFESTS = Path(__file__).parent / "manifests"


class Board:
    """The open page; every wait is for something that can be seen."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url

    def load(self, name: str) -> Board:
        """Choose a manifests file on the start page; the board opens."""
        self.page.goto(self.url)
        self.page.locator("input[type=file]").set_input_files(MANIFESTS / name)
        self.page.wait_for_url(re.compile(r"/s/\w+/board"))
        expect(self.page.get_by_test_id("tick")).to_be_visible()
        return self

    def play(self, *, fast: bool = True) -> None:
        """Press play, at ten ticks a second."""
        if fast:
            self.page.get_by_role("button", name="Speed").click()
            self.page.get_by_role("button", name="10 ticks/s").click()
        self.page.get_by_role("button", name="Play", exact=True).click()

    def pause(self) -> None:
        """Press pause and wait until the stamp says so."""
        self.page.get_by_role("button", name="Pause", exact=True).click()
        expect(self.page.get_by_role("button", name="Play", exact=True)).to_be_visible()

    def queue(self, name: str) -> Locator:
        """Return the column of a queue."""
        return self.page.get_by_role("region", name=f"Queue {name}", exact=True)

    def card(self, queue: str, name: str, state: str) -> Locator:
        """Return a card by its queue, its job's name and the state it is in."""
        says = re.compile(rf"^{name}, {state}\b")
        return self.queue(queue).get_by_role("button", name=says)

    def sees(self, queue: str, name: str, state: str) -> None:
        """Wait until a card stands in a queue in a state."""
        expect(self.card(queue, name, state)).to_be_visible(timeout=45_000)

    def agrees(self) -> None:
        """Stand still, and hold every number on the board against REST's."""
        board = self.page.get_by_role("link", name="Board", exact=True)
        if board.get_attribute("aria-current") is None:
            board.click()
        if self.page.get_by_role("button", name="Pause", exact=True).count() > 0:
            self.pause()
        truth.agrees(self.page)

    def agrees_in(self, *views: str) -> None:
        """Stand still, and hold every number of these views against REST's.

        "Inspector" is the first queue of the board, looked at.
        """
        if self.page.get_by_role("button", name="Pause", exact=True).count() > 0:
            self.pause()
        for view in views:
            name = "Board" if view == "Inspector" else view
            self.page.get_by_role("link", name=re.compile(rf"^{name}\b")).first.click()
            if view == "Inspector":
                self.page.locator("tr[data-key^=ClusterQueue] button").first.click()
            truth.agrees(self.page, fewest=1)

    def drag(self, card: Locator, target: Locator) -> None:
        """Carry a card by the mouse, in steps as a hand does."""
        source, goal = card.bounding_box(), target.bounding_box()
        assert source is not None
        assert goal is not None
        mouse = self.page.mouse
        mouse.move(source["x"] + 30, source["y"] + 10)
        mouse.down()
        mouse.move(source["x"] + 50, source["y"] + 30, steps=4)
        mouse.move(goal["x"] + goal["width"] / 2, goal["y"] + 120, steps=8)

    def drop(self) -> None:
        """Let go."""
        self.page.mouse.up()
