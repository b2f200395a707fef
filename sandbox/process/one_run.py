"""One process at a time holds the data folder of the default run: a run, or a restore."""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

from sandbox.base.commands import CommandError

CLEAN_UP_S = 2.0  # a run that was killed is cleaned up after in this time,
CLEAN_UP_LATE_S = 20.0  # or in this, on a machine with much else to do


@contextlib.contextmanager
def held(folder: Path, *, advice: str) -> Iterator[int]:
    """Hold the data folder; yields the file that notes where its run is.

    Raises CommandError, with the address of the run that holds it and `advice`.
    """
    note = os.open(folder / "running", os.O_RDWR | os.O_CREAT, 0o600)
    if not _locked(note):
        where = os.read(note, 200).decode() or "another address"
        os.close(note)
        raise CommandError(
            f"{folder} is in use: Quotalab already runs at {where}. {advice}"
        )
    try:
        yield note
    finally:
        os.ftruncate(note, 0)
        os.close(note)


def write(note: int, text: str) -> None:
    """Note where the run is."""
    os.ftruncate(note, 0)
    os.pwrite(note, text.encode(), 0)


def _locked(note: int) -> bool:
    """Lock the file; a run that was just killed is given time to be cleaned up."""
    begun = time.monotonic()
    while True:
        try:
            fcntl.flock(note, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waited_s = time.monotonic() - begun
            if waited_s > (CLEAN_UP_S if _serves(note) else CLEAN_UP_LATE_S):
                return False
            time.sleep(0.05)
        else:
            return True


def _serves(note: int) -> bool:
    """Return whether somebody takes connections at the address in the note."""
    host, _, port = os.pread(note, 200, 0).decode().rpartition("/")[2].rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except (OSError, ValueError):
        return False
    return True


# ------------------------------------------------------------------------
# The address by which other machines reach this one, for `up --lan`.


#: `--lan` without an address: the one that this machine has on its network.
FIND = "find"
#: Addresses of documentation: nothing is sent to them, a route is only looked up.
_SOMEWHERE = "192.0.2.1"


def own_address() -> str:
    """Return this machine's address on its network; OSError where it is on none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.connect((_SOMEWHERE, 9))
        found: str = asking.getsockname()[0]
    return found


def start_again(address: str) -> NoReturn:
    """Run this command anew with QUOTALAB_LAN set, so that all settings follow it."""
    os.environ["QUOTALAB_LAN"] = own_address() if address == FIND else address
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
