"""A thread that one test starts does nothing in those that come after.

A socket starts the thread that forgets deleted sandboxes. It reads on a connection of
its own, where what a test has not committed is not there: it would forget the worlds of
every test.
"""

from __future__ import annotations

FOREVER_S = 1e6


def pytest_collection_finish() -> None:
    from sandbox.world import kept

    kept.FORGET_EVERY_S = FOREVER_S
