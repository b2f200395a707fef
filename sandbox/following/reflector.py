"""One kind of a cluster, listed once and watched from there on.

What a watch missed (it expired, the server was away) is found by listing again
and comparing, so that no change is lost and none comes twice.
Source: <https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes>
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from sandbox.following.cluster import Cluster, ClusterError
from sandbox.following.resources import Resource
from scheduler.model.amounts import is_whole
from scheduler.recorded.qrec.reading import Type

Json = dict[str, Any]
#: Takes (type of entry, object or None, message).
Take = Callable[[Type, Json | None, str], None]
#: Between tries while the server is away; doubles up to the second.
FIRST_WAIT_S, MOST_WAIT_S = 0.5, 15.0
_EXPIRED = 410


class Reflector:
    """Follows one kind until `stop` is set; `take` gets every change once."""

    def __init__(
        self, cluster: Cluster, resource: Resource, take: Take, stop: threading.Event
    ) -> None:
        self.cluster = cluster
        self.resource = resource
        self.take = take
        self.stop = stop
        self.version = ""  # where the watch goes on; empty: list first
        self.newest = ""  # the last event's; more of the same version may come
        self.known: dict[tuple[str, str], str] = {}  # -> resourceVersion
        self.first = True
        self.lost = False
        self.wait_s = FIRST_WAIT_S

    def run(self) -> None:
        """Follow until stopped; a failure is reported once and tried again."""
        while not self.stop.is_set():
            try:
                if not self.version:
                    self.list()
                self.watch()
            except ClusterError as error:
                if error.code == _EXPIRED:
                    self.version = ""
                if not self.lost and not self.stop.is_set():
                    self.lost = True
                    self.take("LOST", None, error.message)
                self.stop.wait(0 if error.code == _EXPIRED else self.wait_s)
                self.wait_s = min(2 * self.wait_s, MOST_WAIT_S)

    def _opened(self) -> None:
        """Report that a watch which was lost goes on: the server took it again."""
        self.wait_s = FIRST_WAIT_S
        if self.lost:
            self.lost = False
            self.take("BACK", None, "")

    def list(self) -> None:
        """List the kind: all of it the first time, only what differs afterwards."""
        seen, differing, version = set(), list[Json](), ""
        for page in self.cluster.pages(self.resource.path):
            for item in page["items"]:
                manifest = self._whole(item)
                seen.add(_place(manifest))
                if self.first:
                    self._listed(manifest)
                elif self._differs(manifest):
                    differing.append(manifest)
            version = page["metadata"]["resourceVersion"]
        for place in [place for place in self.known if place not in seen]:
            self._gone(place)
        for manifest in sorted(differing, key=_age):
            self._seen_again(manifest)
        self.version = version  # not before: a list that breaks off is made again
        if self.first:
            self.first = False
            self.take("SYNCED", None, "")

    def _listed(self, manifest: Json) -> None:
        if self._differs(manifest):
            self._see("LISTED", _place(manifest), manifest)

    def _differs(self, manifest: Json) -> bool:
        known = self.known.get(_place(manifest))
        return bool(known != manifest["metadata"].get("resourceVersion", ""))

    def _seen_again(self, manifest: Json) -> None:
        """Take an object as a watch would show it now."""
        place = _place(manifest)
        self._see("MODIFIED" if place in self.known else "ADDED", place, manifest)

    def watch(self) -> None:
        """Watch until the server ends it; the next one begins where this one ended.

        A server may change several objects at one version: one is behind us only when
        another has come. What comes twice by that is known by its version.
        """
        path = self.resource.path
        self.newest = self.version
        for event in self.cluster.watch(path, self.version, self._opened):
            manifest = self._whole(event["object"])
            version = manifest["metadata"]["resourceVersion"]
            if version != self.newest:
                self.version, self.newest = self.newest, version
            if event["type"] == "BOOKMARK":
                self.version = version
            else:
                kind = event["type"]
                place = _place(manifest)
                if kind == "DELETED":
                    if self.known.pop(place, None) is not None:
                        self.take(kind, manifest, "")
                elif self._differs(manifest):
                    self._seen_again(manifest)
            if self.stop.is_set():
                return

    def _see(self, kind: Type, place: tuple[str, str], manifest: Json) -> None:
        self.known[place] = manifest["metadata"].get("resourceVersion", "")
        self.take(kind, manifest, "")

    def _gone(self, place: tuple[str, str]) -> None:
        del self.known[place]
        metadata = {"namespace": place[0], "name": place[1]}
        if not place[0]:
            del metadata["namespace"]
        self.take("DELETED", self._whole({"metadata": metadata}), "")

    def _whole(self, item: Json) -> Json:
        """Return an object with its kind, which the items of a list do not have."""
        return {
            "apiVersion": self.resource.api_version,
            "kind": self.resource.kind,
            **item,
        }


def _age(manifest: Json) -> int:
    """Return an object's place in the order of changes, where versions have one."""
    version = manifest["metadata"].get("resourceVersion", "")
    return int(version) if is_whole(version) else 0


def _place(manifest: Json) -> tuple[str, str]:
    metadata = manifest["metadata"]
    return metadata.get("namespace", ""), metadata["name"]
