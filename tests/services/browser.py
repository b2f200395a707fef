"""A real browser: the machine's Chromium, driven by Playwright."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

SWITCHES = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
]
ON_MACOS = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def chromium() -> str | None:
    """Return the path of a Chromium on this machine."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    return str(ON_MACOS) if ON_MACOS.exists() else None


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser for the tests of a module.

    Not for the session: while it is open Playwright keeps an event loop in this
    thread, and no asynchronous test could run.
    """
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine; ./dev test says how to get one")
    with sync_playwright() as playwright:
        root = sys.platform == "linux" and os.geteuid() == 0
        switches = [*SWITCHES, "--no-sandbox"] if root else SWITCHES
        browser = playwright.chromium.launch(executable_path=path, args=switches)
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A fresh page in a fresh profile, which must log no error."""
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda problem: complaints.append(str(problem)))
    yield page
    context.close()
    assert not complaints, "the page raised an error"
