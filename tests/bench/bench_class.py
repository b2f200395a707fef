"""A class of thirty follows a lesson with a vote: how soon, and what it takes of memory.

Run `./dev bench tests/bench/bench_class.py`. Every follower joins by the code and has
a socket of its own; the trainer goes on to stop after stop, and everybody votes at each.
In the second measurement each follower is a page of a real browser on this machine, which
draws thirty pages beside the server: `-k browsers`.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import time
from typing import Any, NamedTuple

import httpx2 as httpx
import pytest
import websockets
from playwright.async_api import Browser, Page, ViewportSize

from tests.bench.size import sized
from tests.services.browser import launched_async
from tests.services.default_run import DefaultRun, wait_for

CLASS = sized(30, 3)
STOPS = 3


class _Class(NamedTuple):
    shown: list[float]
    voted: list[float]
    more: float  # MiB of all processes


class Follower:
    """One who follows: hears where the trainer is, and the count of votes."""

    def __init__(self) -> None:
        self.heard: dict[str, float] = {}  # query of the trainer -> Unix seconds
        self.votes: list[tuple[int, float]] = []  # how many at the newest stop, when
        self.open = False
        self.version = (
            -1
        )  # news may overtake each other: an older one is left, as by a page

    async def listen(self, url: str) -> None:
        async with websockets.connect(url, max_size=None, open_timeout=60) as socket:
            await socket.send('{"type":"hello","since":null}')
            async for frame in socket:
                self.open = True
                message = json.loads(frame)
                if message["type"] != "lesson" or message["version"] < self.version:
                    continue
                self.version = message["version"]
                self.heard.setdefault(message["query"], time.time())
                stop = int(message["query"].partition("=")[2] or 1) - 1
                count = sum(t["count"] for t in message["tallies"] if t["stop"] == stop)
                self.votes.append((count, time.time()))


async def lesson(run: DefaultRun, sandbox: str) -> tuple[list[float], list[float]]:
    """Hold a lesson; return how long each step and each vote took to reach everybody."""
    path = f"{run.url}/api/v1/sandboxes/{sandbox}"
    limits = httpx.Limits(max_connections=CLASS)
    async with httpx.AsyncClient(limits=limits, timeout=60) as client:
        code = (await client.post(f"{path}/lesson")).json()["code"]
        joins = [_join(client, run.url, code) for _ in range(CLASS)]
        keys = await asyncio.gather(*joins)
        people = [Follower() for _ in range(CLASS)]
        url = f"{run.url.replace('http', 'ws')}/ws/sandboxes/{sandbox}"
        tasks = [asyncio.create_task(one.listen(url)) for one in people]
        await _until(lambda: all(one.open for one in people))
        shown, voted = [], []
        for stop in range(STOPS):
            query = f"stage={stop + 1}"
            body = {"view": "board", "query": query, "revealed": []}
            began = time.time()
            await client.put(f"{path}/lesson", json=body)
            await _until(lambda query=query: all(query in one.heard for one in people))
            shown.append(max(one.heard[query] for one in people) - began)
            began = time.time()
            votes = [
                client.put(
                    f"{path}/lesson/followers/{key}",
                    json={"stop": stop, "choice": number % 3},
                )
                for number, key in enumerate(keys)
            ]
            answers = await asyncio.gather(*votes)
            assert {one.status_code for one in answers} == {204}
            await _until(lambda: all(one.votes[-1][0] == CLASS for one in people))
            voted.append(max(one.votes[-1][1] for one in people) - began)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return shown, voted


async def _join(client: httpx.AsyncClient, url: str, code: str) -> str:
    body = {"code": code, "follower": ""}
    answer: dict[str, Any] = (
        await client.post(f"{url}/api/v1/lessons/join", json=body)
    ).json()
    return str(answer["follower"])


async def _until(holds: Any, within_s: float = 300.0) -> None:
    end = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < end, "the class waits too long"
        await asyncio.sleep(0.002)


def _mib(run: DefaultRun) -> float:
    processes = [run.process, *run.family()]
    return sum(one.memory_full_info().uss for one in processes) / 2**20


#: Keeps when each stop was first drawn, and the answer of each: {"2": Unix ms}.
_SEEN = """
window.seen = {};
new MutationObserver(() => {
  const stage = document.querySelector("[data-testid=lesson-stage]");
  const at = stage?.querySelector(".corner")?.textContent.match(/(\\d+) of \\d+/)?.[1];
  if (at === undefined) return;
  const name = stage.querySelector("[data-part=answer]") ? `${at}!` : at;
  window.seen[name] ??= Date.now();
}).observe(document, { subtree: true, childList: true, characterData: true });
"""


async def lesson_of_browsers(run: DefaultRun, sandbox: str) -> _Class:
    """Hold a lesson on pages; return how long each step and each vote took to be drawn."""
    async with launched_async() as browser:
        trainer = await _page(browser, 1280, 720)
        await trainer.goto(f"{run.url}/s/{sandbox}/board?stage=1")
        await trainer.locator("[data-part=ask]").wait_for()
        await trainer.keyboard.press("q")
        code = (await trainer.get_by_test_id("stage-code").inner_text()).replace(
            " ", ""
        )
        await trainer.keyboard.press("Escape")
        for stop in (*range(2, STOPS + 1), 1):  # the lesson, before anybody is there
            await trainer.goto(f"{run.url}/s/{sandbox}/board?stage={stop}")
            await trainer.locator(
                "[data-testid=lesson-stage][aria-busy=false]"
            ).wait_for()
        before = _mib(run)
        people = []
        for _ in range(CLASS):  # one after another, as they come into a room
            people.append(page := await _page(browser, 390, 844))
            await page.goto(f"{run.url}/join?code={code}&now=yes")
        for page in people:
            await page.locator("[data-part=ask]").wait_for()
        shown, voted = [], []
        for stop in range(1, STOPS + 1):
            began = time.time()
            clicks = "n => document.querySelectorAll('[role=radio]')[n % 3].click()"
            votes = [page.evaluate(clicks, n) for n, page in enumerate(people)]
            await asyncio.gather(*votes)
            all_of = trainer.get_by_text(f"{CLASS} of {CLASS} answered")
            await all_of.wait_for()
            voted.append(time.time() - began)
            for name in (f"{stop}!", str(stop + 1))[: 2 if stop < STOPS else 1]:
                began = time.time()
                await trainer.keyboard.press("PageDown")
                seen = f"window.seen[{name!r}]"
                for page in people:
                    await page.wait_for_function(f"() => {seen} !== undefined")
                drawn = [await page.evaluate(seen) / 1000 for page in people]
                shown.append(max(drawn) - began)
        return _Class(shown, voted, _mib(run) - before)


async def _page(browser: Browser, width: int, height: int) -> Page:
    size: ViewportSize = {"width": width, "height": height}
    context = await browser.new_context(viewport=size, reduced_motion="reduce")
    page = await context.new_page()
    page.set_default_timeout(120_000)
    await page.add_init_script(_SEEN)
    return page


@pytest.mark.bench
def test_a_class_follows_within_a_second(bench_run: DefaultRun) -> None:
    made = bench_run.post("/api/v1/sandboxes", {"scenario": "friday-rush"})["id"]
    path = f"/api/v1/sandboxes/{made}"
    bench_run.post(f"{path}/actions/step", {"untilTick": 109})
    wait_for(lambda: bench_run.get(path)["tick"] >= 109, "the first stop", 60)
    before = _mib(bench_run)
    shown, voted = asyncio.run(lesson(bench_run, made))
    more = _mib(bench_run) - before
    sys.stdout.write(
        f"\n{CLASS} followers: a step of the trainer reaches all in "
        f"{statistics.median(shown):.2f} s (most {max(shown):.2f}), all votes are with all "
        f"in {statistics.median(voted):.2f} s (most {max(voted):.2f}), "
        f"{more:.1f} MiB more in all processes\n"
    )


@pytest.mark.bench
def test_a_class_of_browsers_follows(bench_run: DefaultRun) -> None:
    made = bench_run.post("/api/v1/sandboxes", {"scenario": "friday-rush"})["id"]
    path = f"/api/v1/sandboxes/{made}"
    bench_run.post(f"{path}/actions/step", {"untilTick": 180})
    wait_for(lambda: bench_run.get(path)["tick"] >= 180, "the last stop", 120)
    found = asyncio.run(lesson_of_browsers(bench_run, made))
    sys.stdout.write(
        f"\n{CLASS} browsers: a step of the trainer is drawn on all in "
        f"{statistics.median(found.shown):.2f} s (most {max(found.shown):.2f}), all votes are "
        f"on the trainer's screen in {statistics.median(found.voted):.2f} s (most "
        f"{max(found.voted):.2f}), {found.more:.1f} MiB more in all processes of the server; "
        f"load {os.getloadavg()[0]:.1f}\n"
    )
