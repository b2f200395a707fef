"""What a process keeps of a sandbox in memory goes with the sandbox."""

from __future__ import annotations

import pytest

from sandbox.live import pages
from sandbox.models import Sandbox
from sandbox.world import kept
from tests.sandbox.conftest import row

USED = ("metrics", "forecast", "events")


@pytest.mark.django_db
def test_nothing_is_kept_of_a_sandbox_that_was_deleted(client, busy):
    path = f"/api/v1/sandboxes/{busy.pk}"
    for part in USED:
        assert client.get(f"{path}/{part}").status_code == 200
    pages.page_state(row(busy), 1)
    collections = kept.collections()
    assert sum(busy.pk in one.held() for one in collections) >= 5  # others: workers
    Sandbox.objects.filter(pk=busy.pk).delete()
    assert kept.forget_deleted() == 1
    assert [one for one in collections if busy.pk in one.held()] == []


def test_what_is_kept_is_bounded_by_its_weight_and_each_end_is_told():
    ended: list[str] = []
    found = kept.Kept[str](5, weigh=len, end=ended.append)
    for word in ("aa", "bb", "c"):
        found.put(word, "one", word)
    assert found.get("one", "aa") == "aa"
    found.put("ddd", "two")
    assert (ended, found.get("one", "bb"), found.get("one", "aa")) == (
        ["bb", "c"],
        None,
        "aa",
    )
    found.put("longer than all", "two")
    assert (found.get("two"), found.held()) == ("longer than all", ["two"])
    found.forget("two")
    assert (ended[-1], found.held()) == ("longer than all", [])
