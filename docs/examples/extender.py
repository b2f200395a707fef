"""A scheduler extender that keeps nodes half empty; runs with the standard library.

    python docs/examples/extender.py --port 8888

and in a KubeSchedulerConfiguration:

    extenders:
    - urlPrefix: http://127.0.0.1:8888
      filterVerb: filter
      prioritizeVerb: prioritize
      preemptVerb: preempt
      bindVerb: bind
      weight: 1
      httpTimeout: 2s
      nodeCacheCapable: false

A server calls only the addresses that its operator allows. It refuses nodes
labelled `extender.example/closed`, prefers names that sort first, lets no pod
labelled `app: precious` be preempted, and agrees to every binding.
"""

from __future__ import annotations

import argparse
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CLOSED = "extender.example/closed"
MOST = 10  # an extender scores 0 to 10


def filter_nodes(question: dict[str, Any]) -> dict[str, Any]:
    """Return the nodes that may be used, and why the others may not."""
    if question.get("NodeNames") is not None:
        # With nodeCacheCapable only names come; this example keeps no cache.
        return {"NodeNames": question["NodeNames"], "FailedNodes": {}, "Error": ""}
    kept, failed = [], {}
    for node in question["Nodes"]["items"]:
        if CLOSED in (node["metadata"].get("labels") or {}):
            failed[node["metadata"]["name"]] = "node(s) were closed by the extender"
        else:
            kept.append(node)
    return {"Nodes": {"items": kept}, "FailedNodes": failed, "Error": ""}


def prioritize_nodes(question: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a score for every node: the first by name gets the most."""
    names = question.get("NodeNames")
    if names is None:
        names = [node["metadata"]["name"] for node in question["Nodes"]["items"]]
    ranked = sorted(names)
    return [
        {"Host": name, "Score": max(0, MOST - place)}
        for place, name in enumerate(ranked)
    ]


def preempt(question: dict[str, Any]) -> dict[str, Any]:
    """Return the nodes whose victims may go, by UID."""
    kept = {}
    for node, victims in (question.get("NodeNameToVictims") or {}).items():
        pods = victims["Pods"]
        labels = [pod["metadata"].get("labels") or {} for pod in pods]
        if not any(held.get("app") == "precious" for held in labels):
            kept[node] = {
                "Pods": [{"UID": pod["metadata"]["uid"]} for pod in pods],
                "NumPDBViolations": victims.get("NumPDBViolations", 0),
            }
    return {"NodeNameToMetaVictims": kept}


def bind(_: dict[str, Any]) -> dict[str, Any]:
    """Agree."""
    return {"Error": ""}


VERBS = {
    "filter": filter_nodes,
    "prioritize": prioritize_nodes,
    "preempt": preempt,
    "bind": bind,
}


class Handler(BaseHTTPRequestHandler):
    """POST /verb with a JSON body; the answer is JSON."""

    def do_POST(self) -> None:
        """Answer one question."""
        verb = VERBS.get(self.path.strip("/"))
        if verb is None:
            self.send_error(404, f"no such verb; known: {', '.join(VERBS)}")
            return
        length = int(self.headers.get("Content-Length", 0))
        answer = json.dumps(verb(json.loads(self.rfile.read(length)))).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay quiet."""


def serve(port: int) -> ThreadingHTTPServer:
    """Return a server on the loopback address; port 0 takes a free one."""
    return ThreadingHTTPServer(("127.0.0.1", port), Handler)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="an example scheduler extender")
    parser.add_argument("--port", type=int, default=8888)
    with serve(parser.parse_args().port) as server:
        server.serve_forever()
