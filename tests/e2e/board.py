"""The board as a person uses it: load, play, find a card, wait for what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from playwright.sync_api import APIRequestContext, Locator, Page, expect

from tests.e2e.facts import truth
from tests.services.default_run import wait_for

MANIFESTS = Path(__file__).parent / "manifests"
#: Returns what overlaps, is cut off or lies outside its place on the page.
UNREADABLE = (Path(__file__).parent / "layout.js").read_text()
#: Two teams of two-teams.yaml: `urgent` has preempted `second`, `waiting` waits.
PREEMPTED = 12


def prepared(
    request: APIRequestContext, url: str, world: dict[str, Any], tick: int = 0
) -> str:
    """Make a sandbox over REST and run it to a tick, where it stands; return its id."""
    api = f"{url}/api/v1/sandboxes"
    made = str(request.post(api, data=world).json()["id"])
    if tick:
        request.post(f"{api}/{made}/actions/speed", data={"speed": 0})
        request.post(f"{api}/{made}/actions/step", data={"untilTick": tick})
        reached = f"{api}/{made}/hash"
        wait_for(lambda: request.get(reached).json()["tick"] >= tick, f"tick {tick}")
    return made


#: Parts of places: the place on the rail, and the button that leads to the part.
PARTS = {
    "Workloads": ("Board", "Table"),
    "Preemptions": ("Decisions", "Graph"),
    "Branches": ("What-if", "Two branches as a pair"),
}


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

    def begin(self, name: str, *, tick: int = 0) -> Board:
        """Open a sandbox of a manifests file at a tick; it stands still."""
        files = [{"name": name, "text": (MANIFESTS / name).read_text()}]
        made = prepared(self.page.request, self.url, {"files": files}, tick)
        self.page.goto(f"{self.url}/s/{made}/board")
        expect(self.page.get_by_test_id("tick")).to_have_text(str(tick))
        return self

    def play(self, *, fast: bool = True) -> None:
        """Press play, at ten ticks a second."""
        if fast:
            self.page.get_by_role("button", name="Speed").click()
            self.page.get_by_role("button", name="10 ticks/s").click()
            speed = self.page.get_by_role("button", name="Speed: 10 ticks/s")
            expect(speed).to_be_visible()
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
            self.visit("Board" if view == "Inspector" else view)
            if view == "Inspector":
                self.page.locator("tr[data-key^=ClusterQueue] button").first.click()
            truth.agrees(self.page, fewest=0 if view == "What-if" else 1)

    def visit(self, view: str) -> None:
        """Go to a place by the rail, and to a part of it by its button."""
        place, part = PARTS.get(view, (view, ""))
        link = self.page.get_by_role("link", name=re.compile(rf"^{place}\b")).first
        link.click()
        if part:
            button = self.page.get_by_role("button", name=part, exact=True)
            button.click()

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

    def verdict(self) -> Locator:
        """Return the strip of the open what-if, once both sides have run."""
        strip = self.page.get_by_test_id("verdict")
        expect(strip).to_have_attribute("aria-busy", "false")
        return strip

    def keep(self) -> None:
        """Make the open what-if the run."""
        self.verdict().get_by_role("button", name="Keep", exact=True).click()
        expect(self.page.get_by_test_id("verdict")).to_have_count(0)

    def drop(self) -> None:
        """Let go."""
        self.page.mouse.up()
