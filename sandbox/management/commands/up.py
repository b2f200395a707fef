"""`manage.py up`: the default run, everything of it, from one terminal."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import uvicorn
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandParser

from sandbox.access.people import local_user, owner_link
from sandbox.actions import do_first_run
from sandbox.base.commands import CommandError
from sandbox.base.environment import make_private
from sandbox.live.body_limits import TimedProtocol
from sandbox.process import one_run
from sandbox.process.processes import Children, ourselves
from sandbox.process.schema_version import refuse_newer_database
from sandbox.process.services import (
    ServiceError,
    await_bus,
    bus_command,
    clear_stale_bus,
)
from sandbox.worker.clock import Clock
from scheduler import ENGINE

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
_SECOND = "For a second one set QUOTALAB_DATA to another folder."
LARGEST_SOCKET_MESSAGE = 2**16  # bytes; pages say hello and no more
REST_S = 0.4  # between looks whether to end, beside the tenth that uvicorn rests
PATIENCE_S = 15.0  # an answer that is still being computed at Ctrl-C has this long


class Command(BaseCommand):
    """Serve the page, with bus and worker as children, until Ctrl-C."""

    help = "Start the default run on this machine: web server, bus, worker, clock."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the port, whether to open a browser, and the worker's width."""
        parser.add_argument("--port", type=int, default=8000, help="0 picks a free one")
        parser.add_argument("--no-open", action="store_true", help="open no browser")
        parser.add_argument(
            "--workers",
            type=int,
            default=max(2, min(4, os.cpu_count() or 2)),
            help="worker processes",
        )
        parser.add_argument(
            "--lan",
            nargs="?",
            const=one_run.FIND,
            metavar="ADDRESS",
            help="serve where other machines reach it, who join lessons by their code",
        )

    def handle(self, *_: object, **options: Any) -> None:
        """Start in order, serve, and end in the reverse order."""
        if settings.SERVER:
            raise CommandError(
                "DATABASE_URL is set: start web, worker and clock on their own there, "
                "as docker-compose.yml does."
            )
        if options["lan"] and not settings.LAN:
            _start_for_others(options["lan"])
        signal.signal(signal.SIGTERM, _end)
        with contextlib.suppress(KeyboardInterrupt), contextlib.ExitStack() as stack:
            note = stack.enter_context(
                one_run.held(settings.DATA_FOLDER, advice=_SECOND)
            )
            refuse_newer_database()
            listener = stack.enter_context(_listening(options["port"]))
            if ENGINE.outdated:
                self.stderr.write(f"The engine is {ENGINE}.")
            url = f"http://{settings.LAN or HOST}:{listener.getsockname()[1]}"
            one_run.write(note, url)
            stack.enter_context(_children(options["workers"], lock=note))
            stack.enter_context(_ticking())
            _Server(url, open_page=not options["no_open"]).run(sockets=[listener])


def _start_for_others(address: str) -> NoReturn:
    try:
        one_run.start_again(address)
    except OSError as problem:
        raise CommandError(
            f"This machine has no address on a network ({problem.strerror}). "
            "Name one: --lan ADDRESS"
        ) from None


def _end(*_: object) -> NoReturn:
    raise KeyboardInterrupt


@contextlib.contextmanager
def _listening(port: int) -> Iterator[socket.socket]:
    """Take the port before anything is started, so that a taken one costs nothing."""
    host = settings.LAN.strip("[]") or HOST
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as problem:
        raise CommandError(
            f"Port {port} on {host} cannot be had ({problem.strerror}). "
            f"Try another one: ./dev run --port {port + 1}"
        ) from None
    with listener:
        yield listener


@contextlib.contextmanager
def _children(width: int, *, lock: int) -> Iterator[Children]:
    """Start bus and worker, the database brought up to date in between."""
    path = Path(settings.BUS_URL.removeprefix("unix://"))
    make_private(path.parent)
    clear_stale_bus(settings.BUS_URL, path)
    try:
        commands = {"bus": bus_command(path), "worker": _worker(width)}
        children = Children(commands, remove=path.parent, lock=lock)
        try:
            children.start("bus")
            call_command("migrate", verbosity=0, interactive=False)
            await_bus(settings.BUS_URL)
            children.start("worker")
            # Make the demo for a user who has nothing yet; without it the stack is open too.
            try:
                do_first_run(local_user())
            except Exception:
                logger.exception("the first sandbox could not be made")
            threading.Thread(target=children.supervise, daemon=True).start()
            yield children
        finally:
            children.stop()
    except ServiceError as problem:
        raise CommandError(str(problem)) from None


def _worker(width: int) -> list[str]:
    return ourselves("worker", "--processes", str(width))


@contextlib.contextmanager
def _ticking() -> Iterator[None]:
    """Run the clock in a thread of this process."""
    stop = threading.Event()
    thread = threading.Thread(target=Clock().run, args=(stop,), name="clock")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class _Server(uvicorn.Server):
    """The web server, which says when it listens."""

    def __init__(self, url: str, *, open_page: bool) -> None:
        super().__init__(
            uvicorn.Config(
                "sandbox.live.asgi:application",
                http=TimedProtocol,
                log_config=None,
                access_log=False,
                # One compressor per client costs more than the bytes it saves here.
                ws_per_message_deflate=False,
                ws_max_size=LARGEST_SOCKET_MESSAGE,
                timeout_graceful_shutdown=3,
            )
        )
        self.url = url
        self.open_page = open_page

    async def on_tick(self, counter: int) -> bool:
        """Return whether to end; looks twice a second, where uvicorn does ten times."""
        ends = await super().on_tick(0)
        if not ends:
            await asyncio.sleep(REST_S)
        return ends

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; an answer that takes ever so long does not hold it up."""
        super().handle_exit(sig, frame)
        last_call = threading.Timer(PATIENCE_S, _leave)
        last_call.daemon = True
        last_call.start()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to serve, then print the address."""
        await super().startup(sockets=sockets)
        if not self.started:
            return
        print(f"READY {self.url} (Ctrl-C stops it)", flush=True)
        page = _let_owner_in(self.url) if settings.LAN else self.url
        if self.open_page and _has_screen():
            threading.Thread(target=webbrowser.open, args=(page,), daemon=True).start()


def _let_owner_in(url: str) -> str:
    """Print the owner's link, and what others need; return the link."""
    print(f"Others join at {url} by the code of a lesson; anybody on the", end=" ")
    print("network can read what is sent: it is plain HTTP.")
    return owner_link.open(url, partial(print, flush=True))


def _leave() -> None:
    # The guard ends the children and clears the folder once this process is gone.
    print("Left an answer unfinished that was still being computed.", flush=True)
    os._exit(0)


def _has_screen() -> bool:
    # Without one, a text browser could take the terminal over.
    names = ("DISPLAY", "WAYLAND_DISPLAY")
    return sys.platform == "darwin" or any(os.environ.get(name) for name in names)
