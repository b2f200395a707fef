"""Counts of sandboxes, kept by this process so that each event is read once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from sandbox.models import Sandbox
from sandbox.page.diffs import Page

MOST_SANDBOXES = 64


class Counted(Protocol):
    """The totals of one sandbox up to `revision`."""

    revision: int


C = TypeVar("C", bound=Counted)


class CountCache(Generic[C]):
    """The counts of the sandboxes asked for last.

    `read` adds to counts what came after their revision. Counts that are ahead of
    the sandbox, which was rewound, are begun anew from `empty`.
    """

    def __init__(
        self, empty: Callable[[], C], read: Callable[[C, Sandbox, Page], None]
    ) -> None:
        self._empty, self._read = empty, read
        self._lock = threading.Lock()
        self._counts: OrderedDict[str, C] = OrderedDict()

    def brought_to(self, sandbox: Sandbox, page: Page) -> C:
        """Return the counts at the sandbox's revision."""
        with self._lock:
            counts = self._counts.pop(sandbox.pk, None)
            if counts is None or counts.revision > sandbox.revision:
                counts = self._empty()
            self._read(counts, sandbox, page)
            self._counts[sandbox.pk] = counts
            while len(self._counts) > MOST_SANDBOXES:
                self._counts.popitem(last=False)
            return counts
