"""How the page keeps up: 5,000 workloads, 500 nodes, 30 queues, 4 diffs a second.

python -m tests.bench.bench_page [--seconds 60] [--workloads 5000] [--dist DIR]... [--rounds 1] [--pair] [--profile FILE] [--json]

The built page runs in headless Chromium and follows a socket of its own, so that
only the page is measured: script time per tick, tasks over 50 ms, frame intervals,
and what the first view takes on its way. Half of the time a card is in the hand.
Script is counted in the first half of the seconds, frames in the second: what
counts frames is script in the page. Several builds take turns, round by round.
Prints one line per figure with the target it is held against.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import mimetypes
import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import CDPSession, Page, sync_playwright
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from tests.bench.page_world import SPEED, WORKLOADS, World
from tests.bench.size import sized
from tests.services.browser import chromium

DIST = Path(__file__).parents[2] / "frontend" / "dist"
NOTHING: dict[str, list[str]] = {"items": [], "entries": []}
FRAMES = """() => {
  window.frames_ = []; window.long_ = 0; let last = performance.now();
  const beat = (now) => { frames_.push(now - last); last = now; requestAnimationFrame(beat); };
  requestAnimationFrame(beat);
  new PerformanceObserver((list) => { long_ += list.getEntries().length; })
    .observe({ entryTypes: ["longtask"] });
}"""


class Site:
    """The build's files, and the sandbox's socket: the whole state, then what it is given."""

    def __init__(self, world: World, dist: Path) -> None:
        self.world, self.dist = world, dist
        self.followers: list[ServerConnection] = []

    def file(self, _: ServerConnection, request: Request) -> Response | None:
        """Answer with a file of the build; what it has not is the page itself."""
        if request.path.startswith("/ws/"):
            return None
        path = request.path.partition("?")[0]
        found = self.dist / path.removeprefix("/static/")
        if not (path.startswith("/static/") and found.is_file()):
            found = self.dist / "index.html"
        body, kind = found.read_bytes(), mimetypes.guess_type(found)[0] or ""
        headers = {"Content-Type": kind, "Content-Length": str(len(body))}
        return Response(200, "OK", Headers(headers), body)

    def follow(self, socket: ServerConnection) -> None:
        """Answer each hello until the page closes the socket."""
        for _ in socket:
            socket.send(self.world.state())
            self.followers = [socket]

    def tick(self) -> None:
        """Send the next diff."""
        self.followers[-1].send(self.world.diff())


@contextlib.contextmanager
def served(site: Site) -> Iterator[str]:
    """Yield the address of the page."""
    server = serve(site.follow, "127.0.0.1", 0, process_request=site.file)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.socket.getsockname()[1]}"
    finally:
        server.shutdown()
        thread.join()


def metrics(devtools: CDPSession) -> dict[str, float]:
    """Return Chromium's own counters, seconds."""
    found = devtools.send("Performance.getMetrics")["metrics"]
    return {one["name"]: one["value"] for one in found}


#: A busy machine is slow, not wrong.
WAIT_MS = 120_000


def first_view_kb(dist: Path) -> float:
    """Return what the server sends of scripts and styles before the first view, kB."""
    html = (dist / "index.html").read_text()
    names = re.findall(r'(?:src|href)="/static/([^"]+\.(?:js|css))"', html)
    return sum(len(gzip.compress((dist / name).read_bytes())) for name in names) / 1000


def measure(
    seconds: float, workloads: int, dist: Path, profile: Path | None, *, pair: bool
) -> dict[str, float]:
    """Run one build of the page for a while, without a what-if or with one open."""
    site = Site(World(workloads), dist)
    with served(site) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(WAIT_MS)
        asked = site.world.what_if() if pair else {}
        page.route("**/api/**", lambda route: route.fulfill(json=NOTHING))
        page.route(
            re.compile(r"/what-ifs/1\b"), lambda route: route.fulfill(json=asked)
        )
        page.goto(f"{address}/s/bench/board?density=cards{'&what-if=1' * pair}")
        page.locator("[data-card]").first.wait_for()
        if pair:
            page.get_by_test_id("verdict").wait_for()
        devtools = page.context.new_cdp_session(page)
        # CPU time of the page's thread: what else runs on the machine is left out.
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.wait_for_timeout(1500)
        found = script(page, site, devtools, seconds / 2)
        found |= frames(page, site, devtools, seconds / 2)
        if profile is not None:
            profiled(page, site, devtools, profile)
        browser.close()
    return {**found, "first view, kB gzip": first_view_kb(dist)}


def script(
    page: Page, site: Site, devtools: CDPSession, seconds: float
) -> dict[str, float]:
    """Return what the page's own script takes; nothing else runs in the page."""
    before = metrics(devtools)
    sent = drive(page, site, devtools, seconds)
    after = metrics(devtools)
    per_tick = {
        f"{name} ms/tick": 1000 * (after[key] - before[key]) / sent
        for name, key in (
            ("script", "ScriptDuration"),
            ("style", "RecalcStyleDuration"),
            ("layout", "LayoutDuration"),
        )
    }
    return {"diffs": sent, **per_tick, "heap MB": after["JSHeapUsedSize"] / 2**20}


def frames(
    page: Page, site: Site, devtools: CDPSession, seconds: float
) -> dict[str, float]:
    """Return how evenly the page draws; wall time."""
    page.evaluate(FRAMES)
    sent = drive(page, site, devtools, seconds)
    found = sorted(page.evaluate("frames_"))
    return {
        "frame p50 ms": found[len(found) // 2],
        "frame p95 ms": found[int(len(found) * 0.95)],
        "tasks over 50 ms, % of ticks": 100 * page.evaluate("long_") / sent,
    }


def profiled(page: Page, site: Site, devtools: CDPSession, into: Path) -> None:
    """Write ten seconds of the page's thread, to be opened in a browser's own tools."""
    devtools.send("Profiler.enable")
    devtools.send("Profiler.start")
    drive(page, site, devtools, 10)
    into.write_text(json.dumps(devtools.send("Profiler.stop")["profile"]))


def drive(page: Page, site: Site, devtools: CDPSession, seconds: float) -> int:
    """Send diffs on time, in the second half with a card in the hand. Return how many."""
    start, sent = time.monotonic(), 0
    held = False
    while (passed := time.monotonic() - start) < seconds:
        if passed > sent / SPEED:
            site.tick()
            sent += 1
        if passed > seconds / 2:
            held = hold(devtools, held, passed)
        page.wait_for_timeout(15)
    page.keyboard.press("Escape")
    point(devtools, "mouseReleased", 0, 0)
    return sent


def hold(devtools: CDPSession, held: bool, passed: float) -> bool:
    """Keep a card in the hand and move it about."""
    if not held:
        point(devtools, "mousePressed", *first_card(devtools))
    point(devtools, "mouseMoved", 300 + 500 * abs((passed * 0.7) % 2 - 1), 500)
    return True


def first_card(devtools: CDPSession) -> tuple[float, float]:
    """Return a point of the first card, found without a script in the page."""
    root = devtools.send("DOM.getDocument", {"depth": 0})["root"]["nodeId"]
    asked = {"nodeId": root, "selector": "[data-card]"}
    card = devtools.send("DOM.querySelector", asked)["nodeId"]
    left, top, *_ = devtools.send("DOM.getContentQuads", {"nodeId": card})["quads"][0]
    return left + 20, top + 8


def point(devtools: CDPSession, act: str, x: float, y: float) -> None:
    """Move the mouse or press its button.

    Not by Playwright's own mouse: while a button is down that one evaluates a script
    of its own in the page at every move, and it would be counted as the page's.
    """
    button = {"button": "left", "buttons": int(act != "mouseReleased"), "clickCount": 1}
    devtools.send("Input.dispatchMouseEvent", {"type": act, "x": x, "y": y, **button})


TARGETS = {
    "script ms/tick": 8.0,
    "frame p50 ms": 17.0,
    "frame p95 ms": 34.0,
    "tasks over 50 ms, % of ticks": 1.0,
    "first view, kB gzip": 110.0,
}
PAIR_TARGETS = {**TARGETS, "script ms/tick": 12.0}


@pytest.mark.bench
@pytest.mark.skipif(chromium() is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("pair", [False, True])
def test_the_page_keeps_up(pair: bool) -> None:
    size = sized(30, 2), sized(WORKLOADS, 400)
    report(measure(*size, DIST, None, pair=pair), DIST, as_json=False, pair=pair)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--workloads", type=int, default=WORKLOADS)
    parser.add_argument("--dist", type=Path, action="append", help="a build; again")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--pair", action="store_true", help="with an open what-if")
    parser.add_argument("--profile", type=Path, help="write a .cpuprofile here")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    for _ in range(asked.rounds):
        for dist in asked.dist or [DIST]:
            found = measure(
                asked.seconds, asked.workloads, dist, asked.profile, pair=asked.pair
            )
            report(found, dist, asked.json, pair=asked.pair)


def report(found: dict[str, float], dist: Path, as_json: bool, *, pair: bool) -> None:
    """Print the figures of one build."""
    if as_json:
        print(json.dumps({"dist": str(dist), **found}))  # noqa: T201 - it is what was asked for
        return
    print(dist)  # noqa: T201 - the report
    for name, value in found.items():
        target = (PAIR_TARGETS if pair else TARGETS).get(name)
        verdict = "" if target is None else f"  (target {target:g})"
        print(f"{name:32} {value:8.1f}{verdict}")  # noqa: T201 - the report


if __name__ == "__main__":
    main()
