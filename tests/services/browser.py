"""A real browser: the machine's Chromium, driven by Playwright.

Without windows where there is one: each context of the other draws a window's frame,
which costs more than most pages do.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser as AsyncBrowser
from playwright.async_api import async_playwright
from playwright.sync_api import Browser, sync_playwright

SWITCHES = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
]
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
ON_MACOS = Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome")


def chromium() -> str | None:
    """Return the path of a Chromium on this machine."""
    for name in NAMES:
        if found := shutil.which(name):
            return found
    return str(ON_MACOS) if ON_MACOS.exists() else None


@contextlib.contextmanager
def launched() -> Iterator[Browser]:
    """Run a browser until the block ends; skip the test where there is none."""
    path = _path()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=_switches())
        yield browser
        browser.close()


@contextlib.asynccontextmanager
async def launched_async() -> AsyncIterator[AsyncBrowser]:
    """Run a browser until the block ends, for many pages that act at once."""
    path = _path()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path, args=_switches()
        )
        yield browser
        await browser.close()


def _path() -> str:
    path = chromium()
    if path is None:
        pytest.skip("no Chromium on this machine; ./dev test says how to get one")
    return path


def _switches() -> list[str]:
    root = sys.platform == "linux" and os.geteuid() == 0
    return [*SWITCHES, "--no-sandbox"] if root else SWITCHES
