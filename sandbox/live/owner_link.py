"""The owner's way in where other machines reach a run: a link that is good once.

It is printed in the terminal of the run, which only the person at the machine reads.
When it is used the next one is printed, so that there is always one and never two.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable

from django.utils.crypto import constant_time_compare


class OwnerLink:
    """The link of this process; closed until `open` is called."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._key = ""
        self._base = ""
        self._say: Callable[[str], None] = print

    def open(self, base: str, say: Callable[[str], None]) -> str:
        """Make the first link of the run at `base`, say it, and return it."""
        self._base, self._say = base, say
        return self._next()

    def fits(self, key: str) -> bool:
        """Return whether a key is that of the link; it stays good."""
        return bool(self._key) and constant_time_compare(key, self._key)

    def take(self, key: str) -> bool:
        """Use the link up; False when the key is not its own. Two cannot take one."""
        with self._lock:
            if not self.fits(key):
                return False
            self._next()
            return True

    def _next(self) -> str:
        self._key = secrets.token_urlsafe(32)
        link = f"{self._base}/sign-in?once={self._key}"
        self._say(f"Sign in once, as the owner: {link}")
        return link


owner_link = OwnerLink()
