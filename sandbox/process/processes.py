"""Child processes of one parent: started, started again, and gone when it is gone.

A parent that is killed with -9 cannot end its children. So a guard, a few lines of
shell, holds the reading end of a pipe whose writing end only the parent has, and is
informed on that pipe which process groups there are. When the pipe closes, for whatever
reason, the guard ends them and removes the bus's folder. It also holds the parent's
lock open, so that nobody begins in the same place before it is done.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

logger = logging.getLogger(__name__)

Command = Sequence[str]
VERB = Path(__file__).resolve().parents[1] / "management" / "verb.py"
GUARD = """
groups=
while read -r line; do groups=$line; done
[ -n "$groups" ] && kill -s KILL -- $groups 2>/dev/null
rm -rf -- "$1"
"""
LOOK_EVERY_S = 0.5
# A child that ends sooner than this after its start is started again more slowly.
STEADY_S = 2.0
SLOWEST_RESTART_S = 5.0


def ourselves(*words: str) -> list[str]:
    """Return the command that runs a management command as a process of our own."""
    return [sys.executable, str(VERB), *words]


class Children:
    """The children of this process, by name.

    Each has a session of its own: a terminal's Ctrl-C reaches the parent alone,
    and the parent decides the order in which they end.
    """

    def __init__(
        self, commands: Mapping[str, Command], *, remove: Path, lock: int
    ) -> None:
        """Hold the commands.

        When all is over, the folder `remove` is deleted, and after that the file
        descriptor `lock` is released.
        """
        self.commands = dict(commands)
        self.remove = remove
        self.lock = lock
        self.running: dict[str, subprocess.Popen[bytes]] = {}
        self.started_at: dict[str, float] = {}  # monotonic seconds
        self.restart_s: dict[str, float] = {}  # how long the next restart waits
        self.stopping = threading.Event()
        self.changing = threading.Lock()  # held while children start or end
        self.guard, self.pipe = self._guarded()

    def start(self, name: str) -> None:
        """Start one child and report it to the guard."""
        self.running[name] = subprocess.Popen(
            self.commands[name], start_new_session=True, stdin=subprocess.DEVNULL
        )
        self.started_at[name] = time.monotonic()
        self._inform_guard()

    def supervise(self) -> None:
        """Start again whatever ends, until `stop`; runs in a thread of its own."""
        while not self.stopping.wait(LOOK_EVERY_S):
            with self.changing:
                if not self.stopping.is_set():
                    self._look()

    def stop(self, *, patience_s: float = 5.0) -> None:
        """End the children, the last started first, then the guard."""
        self.stopping.set()
        with self.changing:
            for child in reversed(self.running.values()):
                child.terminate()
                with contextlib.suppress(subprocess.TimeoutExpired):
                    child.wait(patience_s)
                _kill_group(child)
            self.running.clear()
            self._inform_guard()
            os.close(self.pipe)
            self.guard.wait()

    def _look(self) -> None:
        for name, child in list(self.running.items()):
            if child.poll() is not None and self._may_restart(name):
                self._restart(name, child)
        if self.guard.poll() is not None:
            os.close(self.pipe)
            self.guard, self.pipe = self._guarded()

    def _may_restart(self, name: str) -> bool:
        """Return whether it is time; a child that keeps ending is given longer."""
        lived_s = time.monotonic() - self.started_at[name]
        return lived_s >= self.restart_s.get(name, 0.0)

    def _restart(self, name: str, child: subprocess.Popen[bytes]) -> None:
        lived_s = time.monotonic() - self.started_at[name]
        before = self.restart_s.get(name, 0.0)
        quick = lived_s < STEADY_S + before
        self.restart_s[name] = min(before * 2 + 0.25, SLOWEST_RESTART_S) * quick
        logger.warning(
            "child ended, starting it again",
            extra={"child": name, "status": child.returncode, "lived_s": lived_s},
        )
        _kill_group(child)  # its own children, should any have stayed
        self.start(name)

    def _guarded(self) -> tuple[subprocess.Popen[bytes], int]:
        reading, writing = os.pipe()
        os.write(writing, self._groups())  # this process may be killed at any moment
        guard = subprocess.Popen(
            ["/bin/sh", "-c", GUARD, "guard", str(self.remove)],
            stdin=reading,
            start_new_session=True,
            pass_fds=[self.lock],
        )
        os.close(reading)
        return guard, writing

    def _groups(self) -> bytes:
        groups = " ".join(f"-{child.pid}" for child in self.running.values())
        return f"{groups}\n".encode()

    def _inform_guard(self) -> None:
        # A guard that has just ended is started again, and informed, by `supervise`.
        with contextlib.suppress(BrokenPipeError):
            os.write(self.pipe, self._groups())


def _kill_group(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
