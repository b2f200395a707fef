"""200 sockets that open at one instant: how long until each has its first page.

Run `./dev bench tests/bench/bench_first_page.py`. On one sandbox, as a class that is
given an address, and on eight that all play four ticks a second; the aim is 3 s. Then a
browser that knows nothing of the page opens the demo: until a card is drawn, 1 s.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time

import pytest
import websockets

from tests.bench.size import sized, some
from tests.services.browser import launched
from tests.services.default_run import DefaultRun

SOCKETS = sized(200, 3)


async def first_page(url: str, begun: float) -> float:
    """Return after how many seconds the whole page was there."""
    async with websockets.connect(url, max_size=None, open_timeout=120) as socket:
        await socket.send('{"type":"hello","since":null}')
        while b'"page_state"' not in (await socket.recv(decode=False))[:40]:
            pass
        return time.monotonic() - begun


async def all_at_once(urls: list[str]) -> list[float]:
    begun = time.monotonic()
    return sorted(await asyncio.gather(*(first_page(url, begun) for url in urls)))


def sandboxes(run: DefaultRun, count: int, *, speed: float) -> list[str]:
    ids = []
    for seed in range(count):
        body = {"scenario": "friday-rush", "seed": seed}
        ids.append(run.post("/api/v1/sandboxes", body)["id"])
        path = f"/api/v1/sandboxes/{ids[-1]}/actions"
        run.post(f"{path}/step", {"ticks": 60})
    for one in ids if speed else ():
        run.post(f"/api/v1/sandboxes/{one}/actions/play", {"speed": speed})
    return ids


def measure(run: DefaultRun, name: str, count: int, *, speed: float) -> float:
    ids = sandboxes(run, count, speed=speed)
    base = run.url.replace("http", "ws", 1)
    urls = [f"{base}/ws/sandboxes/{ids[n % count]}" for n in range(SOCKETS)]
    load = os.getloadavg()[0]
    delays = asyncio.run(all_at_once(urls))
    figures = {
        "p50S": round(statistics.median(delays), 2),
        "p95S": round(delays[len(delays) * 95 // 100], 2),
        "lastS": round(delays[-1], 2),
        "loadBefore": round(load, 1),
    }
    sys.stdout.write(f"\n{SOCKETS} sockets, {name}: {json.dumps(figures)}\n")
    return delays[-1]


@pytest.mark.bench
@pytest.mark.parametrize(
    ("name", "count", "speed"),
    some(
        [
            ("one sandbox that plays", 1, 4),
            ("one sandbox that stands", 1, 0),
            ("eight sandboxes that play", 8, 4),
        ]
    ),
)
def test_everybody_has_a_page_at_once(bench_run, name, count, speed):
    measure(bench_run, name, count, speed=speed)


OPENINGS = sized(7, 1)
#: Tells when the first card of the board is in a frame, ms since the address was asked.
DRAWN = """window.drawn_ = new Promise((tell) => {
  const looks = new MutationObserver(() => {
    if (!document.querySelector("[data-card]")) return;
    looks.disconnect();
    requestAnimationFrame(() => setTimeout(() => tell(performance.now())));
  });
  looks.observe(document, { childList: true, subtree: true });
});"""


@pytest.mark.bench
def test_the_demo_is_drawn_soon(bench_run):
    [demo] = sandboxes(bench_run, 1, speed=0)
    load, drawn = os.getloadavg()[0], []
    with launched() as browser:
        for _ in range(OPENINGS):
            with browser.new_context() as context:
                page = context.new_page()
                page.set_default_timeout(120_000)
                page.add_init_script(DRAWN)
                page.goto(f"{bench_run.url}/s/{demo}/board", wait_until="commit")
                drawn.append(round(page.evaluate("window.drawn_")))
    sys.stdout.write(f"\nms to the first card, load {load:.1f}: {sorted(drawn)}\n")
