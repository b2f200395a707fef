"""One kind of a cluster whose list breaks off between two pages."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sandbox.following import reflector
from sandbox.following.cluster import Cluster, ClusterError
from sandbox.following.reflector import Reflector
from sandbox.following.resources import Resource

NODES = Resource("Node", "v1", "/api/v1/nodes")


class BreaksOnce(Cluster):
    """A cluster of two pages; the second is not answered the first time."""

    def __init__(self, stop: threading.Event) -> None:
        super().__init__(api=None)
        self.stop = stop
        self.lists = 0

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        self.lists += 1
        yield _page("a")
        if self.lists == 1:
            raise ClusterError(f"{path}: read timed out")
        yield _page("b")

    def watch(
        self, path: str, version: str, opened: Callable[[], None]
    ) -> Iterator[dict[str, Any]]:
        opened()
        self.stop.set()
        return iter(())


def _page(name: str) -> dict[str, Any]:
    metadata = {"name": name, "resourceVersion": "7"}
    return {"metadata": {"resourceVersion": "9"}, "items": [{"metadata": metadata}]}


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is taken of the cluster, until its watch begins."""
    monkeypatch.setattr(reflector, "FIRST_WAIT_S", 0.0)
    stop, found = threading.Event(), list[tuple[str, str]]()

    def take(kind: str, manifest: dict[str, Any] | None, _message: str) -> None:
        found.append((kind, (manifest or {}).get("metadata", {}).get("name", "")))

    Reflector(BreaksOnce(stop), NODES, take, stop).run()
    return found


def test_a_list_that_breaks_off_between_pages_is_made_again(seen):
    assert seen == [
        ("LISTED", "a"),
        ("LOST", ""),
        ("LISTED", "b"),
        ("SYNCED", ""),
        ("BACK", ""),
    ]
