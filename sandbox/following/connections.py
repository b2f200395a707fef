"""How connections to a cluster are kept: many, long silent, and noticed when dead."""

from __future__ import annotations

import socket
from typing import Any

#: One for each kind that is watched, and some to ask with.
MOST_CONNECTIONS = 64
#: A watch may be silent for minutes, also when a network forgot it: the kernel asks
#: after so many idle seconds, so often, and ends it after so many unanswered ones.
_KEPT_ALIVE = {"TCP_KEEPIDLE": 20, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 4}


def make_lasting(configuration: Any) -> None:
    """Set a configuration of the official client for watches of many kinds."""
    configuration.connection_pool_maxsize = MOST_CONNECTIONS
    # Who follows tries again, and says so: urllib3 would warn four times before.
    configuration.retries = False
    configuration.socket_options = [
        (socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),  # urllib3's own
        (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
        *(
            (socket.IPPROTO_TCP, getattr(socket, name), value)
            for name, value in _KEPT_ALIVE.items()
            if hasattr(socket, name)  # not everywhere
        ),
    ]
