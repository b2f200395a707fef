"""The server run as the README starts it: PostgreSQL, a bus, web, worker, clock."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.services.bus import running_bus
from tests.services.default_run import ROOT, wait_for
from tests.services.postgres import Postgres, server_environment
from tests.services.provider import CLIENT, SECRET, Provider, running_provider

README = (ROOT / "README.md").read_text()
#: What the README says to start, by the first word that distinguishes them.
COMMANDS = {
    name: next(line for line in README.splitlines() if line.startswith(words))
    for name, words in {
        "web": "uvicorn ",
        "worker": "python manage.py worker",
        "clock": "python manage.py clock",
    }.items()
}


class ServerRun:
    """A running server, and the operator's commands for it."""

    def __init__(self, url: str, variables: dict[str, str], folder: Path) -> None:
        self.url = url
        self.variables = variables
        self.folder = folder

    def manage(self, *words: str, says: str = "") -> str:
        """Run manage.py with a text on its input; return what it printed."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.variables,
            input=says,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def ready(self) -> bool:
        """Return whether it says that all it needs answers."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5):
                return True
        except (OSError, urllib.error.URLError):
            return False

    def says(self) -> str:
        """Return all that its processes printed."""
        logs = sorted(self.folder.glob("*.log"))
        return "\n".join(log.read_text(errors="replace") for log in logs)


@contextlib.contextmanager
def running_server(
    postgres: Postgres,
    folder: Path,
    *,
    processes: Iterable[str] = tuple(COMMANDS),
    **variables: str,
) -> Iterator[ServerRun]:
    """Start all of it in `folder`, or these processes; end it when the block ends."""
    bus = folder / "bus.sock"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    environment = server_environment(postgres.database("server_run"), f"unix://{bus}")
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment |= {"PATH": path, "PYTHONWARNINGS": "ignore", **variables}
    run = ServerRun(f"http://127.0.0.1:{port}", environment, folder)
    with contextlib.ExitStack() as stack:
        stack.enter_context(running_bus(bus))
        run.manage("migrate", "--no-input")
        for name in processes:
            stack.enter_context(started(name, as_here(COMMANDS[name], port), run))
        wait_for(run.ready, "the server's word that it is ready")
        yield run


def as_here(command: str, port: str) -> str:
    """Return the README's command for this machine alone, at a port of the test's."""
    return command.replace("0.0.0.0", "127.0.0.1").replace("8000", port)


@contextlib.contextmanager
def started(name: str, command: str, run: ServerRun) -> Iterator[None]:
    """Run one of a server's processes; end it when the block ends."""
    with (
        (run.folder / f"{name}.log").open("wb") as log,
        subprocess.Popen(
            command.split(),
            cwd=ROOT,
            env=run.variables,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        ) as process,
    ):
        try:
            yield
        finally:
            process.terminate()
            process.wait(60)


@pytest.fixture(scope="module")
def organisation() -> Iterator[Provider]:
    """A provider for the tests of a module."""
    with running_provider() as provider:
        provider.asks_first = True
        yield provider


@pytest.fixture(scope="module")
def server_run(
    postgres: Postgres,
    organisation: Provider,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[ServerRun]:
    """A server with two who sign in by password, and a provider for the rest."""
    variables = {
        "OIDC_ISSUER": organisation.issuer,
        "OIDC_CLIENT_ID": CLIENT,
        "OIDC_CLIENT_SECRET": SECRET,
        "OIDC_NAME": "Example Works",
    }
    folder = tmp_path_factory.mktemp("server")
    with running_server(postgres, folder, **variables) as run:
        for name in ("olga", "vera"):
            run.manage("person", "add", name, says="a long pass phrase\n")
        yield run
