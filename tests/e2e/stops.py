"""Every stop of every lesson at 1280 x 720, presented and in its panel, before and after the bet.

`python -m tests.e2e.stops FOLDER [LESSON...]` starts a run of its own, plays each lesson
to its stops and their answers, prints what of a stage is cut, and writes a picture of
each and sheets of six. LANGUAGE names another language than en-US.
"""

from __future__ import annotations

import itertools
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import django
from playwright.sync_api import Browser, Page, expect

from tests.services.browser import launched
from tests.services.default_run import DefaultRun

WIDE, HIGH = 1280, 720
#: Returns what of the stage is cut, in words.
CUT = (Path(__file__).parent / "stage.js").read_text()
A_SHEET = 6


def projector(browser: Browser, language: str = "en-US", **size: int) -> Page:
    """Return a page of a projector; what moves is there at once."""
    context = browser.new_context(
        viewport={"width": WIDE, "height": HIGH, **size},
        locale=language,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.set_default_timeout(120_000)
    return page


def opened(page: Page, url: str, name: str, asks: str) -> list[dict[str, Any]]:
    """Open a lesson's board with a query, before its first tick; return its stops."""
    # The board's helpers know rows, and rows need Django to be set up.
    from tests.e2e.board import prepared

    made = prepared(page.context.request, url, {"scenario": name})
    script = page.context.request.get(f"{url}/api/v1/sandboxes/{made}/script").json()
    page.goto(f"{url}/s/{made}/board?{asks}")
    return list(script["checkpoints"])


def walk(page: Page, url: str, name: str) -> Iterator[str]:
    """Lead a lesson by the clicker; yield when each stop, and each answer, is shown."""
    stage = page.get_by_test_id("lesson-stage")
    for number, stop in enumerate(opened(page, url, name, "stage=1"), 1):
        for part in ("say", "answer") if stop["answer"] else ("say",):
            expect(page.locator(f"[data-part={part}]")).to_be_visible()
            expect(stage).to_have_attribute("aria-busy", "false")
            yield f"{name} {number} {part}"
            page.keyboard.press("PageDown")


def walk_panel(page: Page, url: str, name: str) -> Iterator[str]:
    """Go through a lesson in its panel; yield when a stop is reached, and when it is answered."""
    stops = opened(page, url, name, "lesson=1")
    for number, stop in enumerate(stops, 1):
        run = page.get_by_role("button", name=re.compile("^(Run to tick|运行到时刻)"))
        answer = page.get_by_role(
            "button", name=re.compile("^(Show the answer|显示答案)")
        )
        onwards = page.get_by_role("button", name=re.compile("^(Next|下一步)$"))
        after = answer if stop["answer"] else onwards
        expect(run.or_(after).first).to_be_visible()
        if run.count():
            run.click()
        if stop["answer"]:
            expect(answer).to_be_visible()
            yield f"{name} {number} panel"
            answer.click()
        last = number == len(stops)
        if stop["answer"]:
            expect(page.locator("p.answer")).to_be_in_viewport(ratio=1)
        if not last:
            expect(onwards).to_be_in_viewport(ratio=1)
        yield f"{name} {number} panel answer"
        if not last:
            onwards.click()


def main(folder: Path, names: list[str]) -> int:
    """Look at the lessons; the exit status says whether something is cut."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
    django.setup()
    expect.set_options(timeout=120_000)
    folder.mkdir(parents=True, exist_ok=True)
    cut = 0
    with tempfile.TemporaryDirectory() as data, DefaultRun(Path(data)) as run:
        known = [one["name"] for one in run.get("/api/v1/scenarios")["items"]]
        with launched() as browser:
            page = projector(browser, os.environ.get("LANGUAGE", "en-US"))
            pictures = []
            for name in names or known:
                ways = (walk(page, run.url, name), walk_panel(page, run.url, name))
                for place in itertools.chain(*ways):
                    found = [] if "panel" in place else page.evaluate(CUT)
                    cut += len(found)
                    for one in found:
                        sys.stdout.write(f"{place}: {one}\n")
                    pictures.append(folder / f"{place.replace(' ', '-')}.png")
                    page.screenshot(path=pictures[-1])
                sys.stdout.flush()
            _sheets(browser, folder, pictures)
    sys.stdout.write(f"{len(pictures)} pictures, {cut} complaints\n")
    return 1 if cut else 0


def _sheets(browser: Browser, folder: Path, pictures: list[Path]) -> None:
    page = browser.new_context(viewport={"width": 1940, "height": 1700}).new_page()
    for begin in range(0, len(pictures), A_SHEET):
        shown = "".join(
            f"<figure><figcaption>{one.stem}</figcaption><img src='{one.name}'></figure>"
            for one in pictures[begin : begin + A_SHEET]
        )
        sheet = folder / "sheet.html"
        sheet.write_text(
            "<style>body{display:grid;grid-template-columns:1fr 1fr;gap:4px;margin:0;"
            "background:#888}figure{margin:0}img{width:100%}</style>" + shown
        )
        page.goto(sheet.as_uri())
        page.screenshot(path=folder / f"sheet-{begin // A_SHEET:03d}.png")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve(), sys.argv[2:]))
