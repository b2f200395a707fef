"""One kind of a cluster whose list, or whose watch, breaks off in the middle."""

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


class Shown(Cluster):
    """A cluster with one list; each watch shows some events, then breaks off."""

    def __init__(self, stop: threading.Event, *watches: list[dict[str, Any]]) -> None:
        super().__init__(api=None)
        self.stop = stop
        self.watches = list(watches)
        self.asked: list[str] = []
        self.items = [_node("a", "5"), _node("b", "5")]

    def pages(self, path: str) -> Iterator[dict[str, Any]]:
        yield {"metadata": {"resourceVersion": "5"}, "items": self.items}

    def watch(
        self, path: str, version: str, opened: Callable[[], None]
    ) -> Iterator[dict[str, Any]]:
        opened()
        self.asked.append(version)
        if len(self.watches) == 1:
            self.stop.set()
        yield from self.watches.pop(0)


def _node(name: str, version: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "resourceVersion": version}}


def _event(kind: str, name: str, version: str) -> dict[str, Any]:
    return {"type": kind, "object": _node(name, version)}


def followed(*watches: list[dict[str, Any]]) -> tuple[Shown, list[tuple[str, str]]]:
    """Return the cluster and what was taken after its first list."""
    stop, found = threading.Event(), list[tuple[str, str]]()
    cluster = Shown(stop, *watches)

    def take(kind: str, manifest: dict[str, Any] | None, _message: str) -> None:
        if kind not in ("LISTED", "SYNCED"):
            found.append((kind, (manifest or {})["metadata"]["name"]))

    Reflector(cluster, NODES, take, stop).run()
    return cluster, found


def test_a_watch_cut_between_changes_of_one_version_gets_the_rest_once():
    """Its second change would be lost if the watch went on behind the version."""
    first = [_event("MODIFIED", "a", "6"), _event("DELETED", "b", "7")]
    again = [*first, _event("ADDED", "c", "7")]
    cluster, found = followed(first, again, [])
    assert cluster.asked == ["5", "6", "6"]
    assert found == [("MODIFIED", "a"), ("DELETED", "b"), ("ADDED", "c")]


def test_what_a_list_shows_anew_comes_in_the_order_of_its_changes():
    stop, found = threading.Event(), list[str]()
    cluster = Shown(stop, [])
    cluster.items = [_node("a", "10"), _node("b", "9")]

    def take(_kind: str, manifest: dict[str, Any] | None, _message: str) -> None:
        found.append((manifest or {})["metadata"]["name"])

    reflector = Reflector(cluster, NODES, take, stop)
    reflector.first = False
    reflector.known = {("", name): "5" for name in ("a", "b", "gone")}
    reflector.run()
    assert found == ["gone", "b", "a"]
