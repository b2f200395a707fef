"""A cluster's API server in one thread: lists, watches, and the ways they break."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.services.loopback import Handler, served

Json = dict[str, Any]
KINDS = {"Pod": ("pods", "v1"), "Node": ("nodes", "v1")}
_PLURALS = {plural: kind for kind, (plural, _) in KINDS.items()}


class ApiServer:
    """Holds pods and nodes with resourceVersions; `url` is on loopback."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.version = 1
        self.oldest = 0  # a watch from before it is 410
        self.objects: dict[tuple[str, str], Json] = {}
        self.log: list[tuple[int, str, Json]] = []  # version, type, object
        self.epoch = 0  # watches of an older epoch are cut
        self.down = False
        self.forbidden: set[str] = set()
        self.lists = 0

    def put(self, kind: str, name: str, **spec: Any) -> None:
        """Create or change an object."""
        with self.changed:
            known = (kind, name) in self.objects
            manifest = {"metadata": {"name": name}, "spec": spec}
            self._event("MODIFIED" if known else "ADDED", kind, manifest)
            self.objects[kind, name] = manifest

    def delete(self, kind: str, name: str) -> None:
        """Delete an object."""
        with self.changed:
            self._event("DELETED", kind, self.objects.pop((kind, name)))

    def expire(self) -> None:
        """Cut the watches, and forget all changes before now."""
        with self.changed:
            self.epoch += 1
            self.oldest = self.version + 1
            self.version += 1
            self.changed.notify_all()

    def cut(self) -> None:
        """Cut the watches; they can go on where they were."""
        with self.changed:
            self.epoch += 1
            self.changed.notify_all()

    def _event(self, kind: str, of: str, manifest: Json) -> None:
        self.version += 1
        version = str(self.version)
        manifest = {**manifest, "apiVersion": "v1", "kind": of}
        manifest["metadata"] = {**manifest["metadata"], "resourceVersion": version}
        self.log.append((self.version, kind, manifest))
        self.changed.notify_all()

    def state(self) -> dict[tuple[str, str], Json]:
        """Return the specs of all objects."""
        return {place: manifest["spec"] for place, manifest in self.objects.items()}

    def listed(self, kind: str) -> Json:
        """Return a whole list of a kind."""
        with self.changed:
            self.lists += 1
            newest = {(e[2]["kind"], e[2]["metadata"]["name"]): e[2] for e in self.log}
            items = [
                {k: v for k, v in newest[place].items() if k in ("metadata", "spec")}
                for place in self.objects
                if place[0] == kind
            ]
            version = str(self.version)
            return {"metadata": {"resourceVersion": version}, "items": items}


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    cluster: ApiServer

    def do_GET(self) -> None:
        if self.cluster.down:
            self.close_connection = True
            return
        path = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(path.query).items()}
        kind = _PLURALS.get(path.path.rpartition("/")[2], "")
        if path.path == "/api/v1":
            names = [{"name": plural} for plural in _PLURALS]
            self.answer_json({"resources": names})
        elif path.path == "/version":
            self.answer_json({"gitVersion": "v1.36.0"})
        elif (asked := kind or path.path.rpartition("/")[2]) in self.cluster.forbidden:
            self.answer_json({"message": f"{asked} is forbidden", "code": 403}, 403)
        elif not kind:
            self.answer_json({"message": "not found", "code": 404}, 404)
        elif "watch" in query:
            self._watch(kind, int(query["resourceVersion"]))
        else:
            self.answer_json(self.cluster.listed(kind))

    def _watch(self, kind: str, since: int) -> None:
        cluster = self.cluster
        self.send_response(200)
        self.begin_chunks()
        with cluster.changed:
            epoch = cluster.epoch
            if since < cluster.oldest:
                status = {"code": 410, "message": "too old resource version"}
                self._event("ERROR", status)
                self.chunk(b"")
                return
        with contextlib.suppress(OSError):
            while cluster.epoch == epoch:
                since = self._send_after(kind, since)
        self.close_connection = True

    def _send_after(self, kind: str, since: int) -> int:
        with self.cluster.changed:
            self.cluster.changed.wait_for(
                lambda: self.cluster.version > since or self.cluster.down, timeout=0.2
            )
            new = [e for e in self.cluster.log if e[0] > since and e[2]["kind"] == kind]
        for version, of, manifest in new:
            self._event(of, manifest)
            since = version
        return since

    def _event(self, of: str, obj: Json) -> None:
        self.chunk(json.dumps({"type": of, "object": obj}).encode() + b"\n")


@contextlib.contextmanager
def api_server() -> Iterator[tuple[ApiServer, str]]:
    """Serve a cluster on loopback; yields it and its URL."""
    cluster = ApiServer()
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    with served(server) as url:
        try:
            yield cluster, url
        finally:
            cluster.cut()
