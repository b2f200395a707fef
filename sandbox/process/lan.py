"""The address by which other machines reach this one, for `up --lan`."""

from __future__ import annotations

import os
import socket
import sys
from typing import NoReturn

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
