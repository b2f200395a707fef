"""One of many who ask for the same page makes it; the others get what it made."""

from __future__ import annotations

import threading

import pytest

from sandbox.live.pages import page_state
from sandbox.world.kept import Kept
from tests.sandbox.conftest import row, tick

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("size", [4, 2**20 + 1])
def test_a_message_that_many_ask_for_at_once_is_made_once(size):
    messages, made = Kept[bytes](2**20, weigh=len), list[int]()
    begin = threading.Barrier(8)

    def make() -> bytes:
        made.append(1)
        return b" " * size

    def ask() -> None:
        begin.wait()
        assert len(messages.made(make, "a", 1)) == size

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(made) == 1


def test_a_page_under_another_title_is_made_anew(busy):
    tick(busy, 1)
    sandbox = row(busy)
    before = page_state(sandbox, sandbox.revision)
    sandbox.title = "Another"
    assert page_state(sandbox, sandbox.revision) != before
