"""Plays a recorded story of requests on a sandbox, without a server.

A story is JSON: `setup` (objects that exist), `settle` (seconds that pass then), and
`steps`: `{"advance": seconds}`, or a `request` (method, path, headers, body) with what
a real API server answered as `expect` (code, type, warning, body; what does not exist is
not compared). `keep` names values of an answer for later steps, `only` reduces a body
to some paths. Identities, times and versions are not compared.
"""

from __future__ import annotations

import json
import re
from typing import Any

import yaml
from rest_framework.test import APIClient

from api.proving.playing import FRAMEWORKS, OF_CLUSTER, RESOURCES
from sandbox import actions
from sandbox.access.people import local_user
from sandbox.models import Sandbox
from tests.sandbox.conftest import tick

Document = dict[str, Any]
_SUFFIX = "[bcdfghjklmnpqrstvwxz2456789]{5}"
#: What is free, and what stands for it.
_FREE = (
    (r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "UID"),
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "TIME"),
    (r"(?<![\w.-])job-[a-z0-9-]+?-[a-z0-9]{5}(?![\w-])", "job-train-RAND"),
    (rf"(?<=[a-z0-9])-{_SUFFIX}(?![\w-])", "-RAND"),
    (r"(?<![\w.=-])\d{1,3}s(?![\w.-])", "AGE"),
    (r"\b\d{1,3}(\.\d{1,3}){3}\b", "IP"),
    (r"(?<=in record \()\d+", "RV"),
)
#: Values that are free, by the last name of their path.
_NAMED_FREE = {"continue": "CONTINUE", "resourceVersion": "RV"}
#: Whose name the records have, where a request says none.
_AGENT = {"User-Agent": "Python-urllib/3.11"}


class Story:
    """One story in a sandbox of its own."""

    def __init__(self, client: APIClient, script: Document) -> None:
        self.client, self.script, self.kept = client, script, {}
        config = {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "integrations": {"frameworks": FRAMEWORKS},
        }
        default = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "default"},
        }
        files = [
            {"name": "config.yaml", "text": yaml.safe_dump(config)},
            {"name": "default.yaml", "text": yaml.safe_dump(default)},
        ]
        made = client.post("/api/v1/sandboxes", {"files": files}, format="json")
        self.sandbox = Sandbox.objects.get(pk=made.json()["id"])

    def play(self) -> list[tuple[str, Any, Any]]:
        """Return (request, expected, came) of each step that is compared."""
        for document in self.script.get("setup") or []:
            answer = self.client.generic(
                "POST",
                self._url(_collection(document)),
                json.dumps(document),
                content_type="application/json",
                headers=_AGENT,
            )
            assert answer.status_code < 300, answer.content
        self._advance(self.script.get("settle") or 0)
        return [found for step in self.script["steps"] if (found := self._step(step))]

    def _url(self, path: str) -> str:
        return f"/api/v1/sandboxes/{self.sandbox.pk}{path}"

    def _advance(self, seconds: float) -> None:
        if count := round(seconds):
            actions.do_step(local_user(), self.sandbox.pk, ticks=count)
            tick(self.sandbox, count)

    def _step(self, step: Document) -> tuple[str, Any, Any] | None:
        if "advance" in step:
            self._advance(step["advance"])
            return None
        asked = self._filled(step["request"])
        headers = {"Accept": "application/json", **_AGENT}
        headers |= asked.get("headers") or {}
        body = asked.get("body", "")
        answer = self.client.generic(
            asked.get("method", "GET"),
            self._url(asked["path"]),
            body if isinstance(body, str) else json.dumps(body),
            content_type=headers.pop("Content-Type", "application/json"),
            headers=headers,
        )
        for name, path in (step.get("keep") or {}).items():
            self.kept[name] = _at(answer.json(), path)
        if "expect" not in step:
            return None
        came = {name: self._part(name, answer, step) for name in step["expect"]}
        return f"{asked.get('method', 'GET')} {asked['path']}", step["expect"], came

    def _part(self, name: str, answer: Any, step: Document) -> Any:
        if name == "code":
            return answer.status_code
        if name == "type":
            return answer.headers.get("Content-Type", "").partition(";")[0]
        if name == "warning":
            return sorted(filter(None, [answer.headers.get("Warning")]))
        text = answer.content.decode()
        try:
            body = json.loads(text)
        except ValueError:
            return plain(text).rstrip("\n")
        if step.get("only"):
            body = {path: _at(body, path) for path in step["only"]}
        return [_thin(body)]

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(r"\$\{(\w+)\}", lambda m: str(self.kept[m[1]]), value)
        if isinstance(value, list):
            return [self._filled(item) for item in value]
        if isinstance(value, dict):
            return {name: self._filled(item) for name, item in value.items()}
        return value


def plain(text: str) -> str:
    """Return a text without what differs from run to run."""
    for pattern, instead in _FREE:
        text = re.sub(pattern, instead, text, flags=re.ASCII)
    return text


def _thin(value: Any) -> Any:
    if isinstance(value, dict):
        column = "priority" in value and "format" in value
        return {
            name: _NAMED_FREE[last]
            if (last := name.rpartition("/")[2]) in _NAMED_FREE and item
            else _thin(item)
            for name, item in value.items()
            if name not in ("managedFields", "storageVersionHash")
            and not (column and name == "description")
        }
    if isinstance(value, list):
        return [_thin(item) for item in value]
    return plain(value) if isinstance(value, str) else value


def _at(value: Any, path: str) -> Any:
    for name in path.split("/"):
        try:
            value = value[int(name)] if isinstance(value, list) else value.get(name)
        except (AttributeError, IndexError, ValueError):
            return None
    return value


def _collection(document: Document) -> str:
    kind, metadata = document["kind"], document["metadata"]
    version = document["apiVersion"]
    root = "/api/v1" if version == "v1" else f"/apis/{version}"
    plural = RESOURCES[kind][1] if kind in RESOURCES else f"{kind.lower()}s"
    if kind in OF_CLUSTER:
        return f"{root}/{plural}"
    return f"{root}/namespaces/{metadata.get('namespace', 'default')}/{plural}"
