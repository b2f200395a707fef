"""The whole default run as users start it, in a folder of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import psutil
import pytest

from tests.bench.size import TINY
from tests.services import migrated

ROOT = Path(__file__).resolve().parents[2]
#: A busy machine is slow, not wrong: every wait ends with what it waits for.
PATIENCE_S = 240.0
T = TypeVar("T")


class DefaultRun:
    """A `manage.py up` in a clean environment; `with` starts and ends it."""

    root = ROOT
    command = (sys.executable, "manage.py", "up")
    arguments: tuple[str, ...] = ("--port", "0", "--no-open")

    def __init__(self, folder: Path, **variables: str) -> None:
        self.folder = folder
        self.log = folder / "default_run.log"
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "LANG": "C.UTF-8",
            "QUOTALAB_DATA": str(folder / "data"),
            **variables,
        }
        self.url = ""

    def __enter__(self) -> DefaultRun:
        self.folder.mkdir(parents=True, exist_ok=True)
        data = Path(self.environment["QUOTALAB_DATA"])
        if self.root == ROOT and not data.exists() and migrated.FOLDER in os.environ:
            migrated.copy_to(data)
        with self.log.open("wb") as log:
            self.process = psutil.Popen(
                [*self.command, *self.arguments],
                cwd=self.root,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self.url = wait_for(self._address, "the READY line")
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.end()

    def end(self) -> int:
        """Press Ctrl-C; return the exit status."""
        family = self.family()
        self.process.send_signal(signal.SIGINT)
        try:
            return int(self.process.wait(60))
        except psutil.TimeoutExpired:
            for one in (self.process, *family):
                with contextlib.suppress(psutil.NoSuchProcess):
                    one.kill()
            raise

    def get(self, path: str) -> Any:
        """Return the JSON that the default run answers at `path`."""
        with urllib.request.urlopen(self.url + path, timeout=60) as answer:
            return json.load(answer)

    def post(self, path: str, body: object) -> Any:
        """Send JSON, as a script would; return the JSON that is answered."""
        request = urllib.request.Request(
            self.url + path,
            data=json.dumps(body).encode(),
            headers={"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def ready(self) -> bool:
        """Return whether the default run says that all it needs answers."""
        try:
            self.get("/readyz")
        except OSError:
            return False
        return True

    def child(self, word: str) -> psutil.Process:
        """Return the direct child with `word` in its command; wait until it is up."""
        return wait_for(lambda: self._child(word), f"a child {word!r}")

    def family(self) -> list[psutil.Process]:
        """Return every process that the default run started."""
        return list(self.process.children(recursive=True))

    def says(self) -> str:
        """Return all that the default run printed."""
        return self.log.read_text(errors="replace")

    def _address(self) -> str | None:
        if self.process.poll() is not None:
            raise AssertionError(f"the default run ended at once:\n{self.says()}")
        lines = [line for line in self.says().splitlines() if line.startswith("READY")]
        return lines[0].split()[1] if lines else None

    def _child(self, word: str) -> psutil.Process | None:
        for child in self.process.children():
            with contextlib.suppress(psutil.NoSuchProcess):
                if word in " ".join(child.cmdline()):
                    return child
        return None


def gone(processes: Iterable[psutil.Process]) -> bool:
    """Return whether all have ended, and nobody but init has yet to reap them."""
    return not any(map(_remains, processes))


def _remains(process: psutil.Process) -> bool:
    try:
        lost = process.status() == psutil.STATUS_ZOMBIE and process.ppid() == 1
    except psutil.NoSuchProcess:
        return False
    return process.is_running() and not lost


def wait_for(
    look: Callable[[], T | None],
    what: str,
    timeout_s: float = PATIENCE_S,
    every_s: float = 0.02,
) -> T:
    """Return what `look` finds as soon as it finds something; fail in time.

    It looks for a fifth of the time at most: who answers works at what is waited for.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        before = time.monotonic()
        found = look()
        if found:
            return found
        after = time.monotonic()
        if after > deadline:
            raise AssertionError(f"{what} did not come within {timeout_s:g} s")
        time.sleep(max(every_s, 4 * (after - before)))


@pytest.fixture
def default_run(tmp_path: Path) -> Iterator[DefaultRun]:
    """A default run of this test alone, which it may damage."""
    with DefaultRun(tmp_path / "default_run") as running:
        yield running


@pytest.fixture(scope="session")
def shared_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DefaultRun]:
    """One default run for every test that only uses it."""
    with DefaultRun(tmp_path_factory.mktemp("default_run")) as running:
        yield running


@pytest.fixture
def bench_run(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[DefaultRun]:
    """A default run of this benchmark alone, or the shared one at a tiny size."""
    if TINY:
        yield request.getfixturevalue("shared_run")
    else:
        with DefaultRun(tmp_path / "default_run") as running:
            yield running


@pytest.fixture(autouse=True)
def _nothing_plays_on(request: pytest.FixtureRequest) -> Iterator[None]:
    """Pause what a test left playing: it would take the processor from all others."""
    if not {"shared_run", "bench_run"} & {*request.fixturenames}:
        yield
    else:
        default_run: DefaultRun = request.getfixturevalue("shared_run")
        yield
        for one in default_run.get("/api/v1/sandboxes")["items"]:
            if one["playing"]:
                default_run.post(f"/api/v1/sandboxes/{one['id']}/actions/pause", {})


@pytest.fixture(scope="session")
def live_server_url(shared_run: DefaultRun) -> str:
    """The address of a running sandbox: web server, worker, bus and clock."""
    return shared_run.url
