"""What was collected stays: the garbage collector looks at it no more.

Thousands of tests and all that they import live until the end. Python would look at
every one of them again and again, an eighth of what the tests cost.
"""

from __future__ import annotations

import gc

import pytest

#: While tests are imported next to nothing is garbage.
gc.set_threshold(50_000, 50, 50)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 10)
