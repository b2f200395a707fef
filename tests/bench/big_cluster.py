"""A large cluster's API server that sends lines it has prepared, at a steady rate.

Run `python -m tests.bench.big_cluster OBJECTS RATE SECONDS`: it prints its port. Every
twentieth object is a node, the others are pods. `GET /begin` starts the changes, of
which every tenth turns a node, `GET /turned` answers when each of those was sent.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import sys
import threading
import time
from http.server import ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.services.loopback import Handler

Json = dict[str, Any]
NODE_SHARE, TURN_SHARE = 20, 10
_PHASES = ("Pending", "Running", "Succeeded")
_VERSION = "1000"


def node(number: int, version: str, *, turned: bool = False) -> Json:
    """Return a node as a kubelet keeps it."""
    conditions = [
        {"type": one, "status": "False", "reason": f"KubeletHas{one}", "message": ""}
        for one in ("MemoryPressure", "DiskPressure", "PIDPressure")
    ]
    conditions.append({"type": "Ready", "status": "True", "reason": "KubeletReady"})
    room = {"cpu": "32", "memory": "128Gi", "pods": "110"}
    return {
        "metadata": {"name": f"node-{number:05d}", "resourceVersion": version},
        "spec": {"unschedulable": True} if turned else {},
        "status": {"capacity": room, "allocatable": room, "conditions": conditions},
    }


def pod(number: int, version: str, phase: str, nodes: int) -> Json:
    """Return a pod with what a real one has beside what is kept of it."""
    container = {
        "name": "main",
        "image": "registry.example.com/team/main:1.2.3",
        "env": [{"name": f"SETTING_{n}", "value": "x" * 30} for n in range(12)],
        "resources": {"requests": {"cpu": "250m", "memory": "512Mi"}},
        "volumeMounts": [{"name": f"v{n}", "mountPath": f"/v{n}"} for n in range(4)],
    }
    at = "2026-11-22T02:10:00Z"
    conditions = [
        {"type": one, "status": "True", "lastTransitionTime": at}
        for one in ("PodScheduled", "Initialized", "ContainersReady", "Ready")
    ]
    return {
        "metadata": {
            "name": f"pod-{number:06d}",
            "namespace": f"team-{number % 20}",
            "uid": f"00000000-0000-4000-8000-{number:012d}",
            "resourceVersion": version,
            "creationTimestamp": at,
            "labels": {"app": f"app-{number % 200}", "tier": "batch"},
            "managedFields": [{"manager": "kubelet", "fieldsV1": {"f:status": {}}}],
        },
        "spec": {"containers": [container], "nodeName": f"node-{number % nodes:05d}"},
        "status": {"phase": phase, "conditions": conditions},
    }


class BigCluster:
    """What is listed, and what is sent: one prepared line per change."""

    def __init__(self, objects: int, rate: float, seconds: float) -> None:
        nodes = max(1, objects // NODE_SHARE)
        pods = objects - nodes
        self.rate = rate
        self.begun = threading.Event()
        self.begun_at = 0.0
        self.turned: list[float] = []
        self.lists = {
            "nodes": [node(n, _VERSION) for n in range(nodes)],
            "pods": [pod(n, _VERSION, "Running", nodes) for n in range(pods)],
        }
        self.lines: dict[str, list[tuple[float, bytes]]] = {"nodes": [], "pods": []}
        for number in range(int(rate * seconds)):
            version = str(int(_VERSION) + 1 + number)
            if number % TURN_SHARE == 0 or not pods:
                turn = number // TURN_SHARE
                body = node(turn % nodes, version, turned=turn // nodes % 2 == 0)
                plural = "nodes"
            else:
                phase = _PHASES[number // pods % 3]
                body, plural = pod(number % pods, version, phase, nodes), "pods"
            line = json.dumps({"type": "MODIFIED", "object": body}).encode() + b"\n"
            self.lines[plural].append((number / rate, line))

    def begin(self) -> None:
        """Send the first change now."""
        self.begun_at = time.time()
        self.begun.set()


class _Handler(Handler):
    protocol_version = "HTTP/1.1"
    cluster: BigCluster

    def do_GET(self) -> None:
        split = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(split.query).items()}
        plural = split.path.rpartition("/")[2]
        if split.path == "/api/v1":
            self.answer_json(
                {"resources": [{"name": one} for one in self.cluster.lists]}
            )
        elif split.path == "/version":
            self.answer_json({"gitVersion": "v1.36.0"})
        elif split.path == "/begin":
            self.cluster.begin()
            self.answer_json({})
        elif split.path == "/turned":
            self.answer_json({"times": self.cluster.turned})
        elif plural not in self.cluster.lists:
            self.answer_json({"message": "not found", "code": 404}, 404)
        elif "watch" in query:
            with contextlib.suppress(OSError):
                self._watch(plural)
        else:
            self._list(plural, int(query["limit"]), int(query.get("continue") or 0))

    def _list(self, plural: str, limit: int, first: int) -> None:
        found = self.cluster.lists[plural]
        after = first + limit
        follows = str(after) if after < len(found) else ""
        metadata = {"resourceVersion": _VERSION, "continue": follows}
        self.answer_json({"metadata": metadata, "items": found[first:after]})

    def _watch(self, plural: str) -> None:
        self.send_response(200)
        self.begin_chunks()
        self.cluster.begun.wait()
        for at, line in self.cluster.lines[plural]:
            rest = self.cluster.begun_at + at - time.time()
            time.sleep(max(0.0, rest))
            if plural == "nodes":
                self.cluster.turned.append(time.time())
            self.chunk(line)
        for _ in itertools.count():  # it stays open, as a quiet watch does
            time.sleep(1)


def main() -> None:
    """Serve until killed."""
    objects, rate, seconds = (float(word) for word in sys.argv[1:4])
    cluster = BigCluster(int(objects), rate, seconds)
    handler = type("Handler", (_Handler,), {"cluster": cluster})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    sys.stdout.write(f"{server.server_address[1]}\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main()
