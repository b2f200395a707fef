"""A sandbox as a server of scripts: made for one script, deleted after it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable
from typing import Any

from api.client.sending import Transport
from api.proving.playing import CONFIGS, JSON, PATCHES, Document, text_of
from api.proving.resources import DEFAULT_NAMESPACE, Place
from scheduler.model.admission_check import MULTI_KUEUE, PROVISIONING
from scheduler.model.texts.plain_text import write

#: The releases of records whose script names none.
RELEASE = {"kueue": "0.19.2", "kubernetes": "1.36.3", "yunikorn": "1.9.0"}
#: Kueue's Configuration of a script that says nothing of frameworks.
FRAMEWORKS = ["batch/job", "pod", "deployment", "statefulset"]
#: What the steps of the recorded control plane took, whose kubelet was quick.
LATENCIES = {
    "workloadCreation": "100ms",
    "schedulingCycle": "100ms",
    "admission": "50ms",
    "reactivation": "1s",
    "jobStart": "150ms",
    "podStart": "300ms",
    "readiness": "100ms",
    "completion": "300ms",
    "suspension": "200ms",
    "termination": "500ms",
    "release": "200ms",
}
#: Controllers that say of a check without parameters that it is not active.
_OF_KUEUE = (MULTI_KUEUE, PROVISIONING)
_SANDBOXES = "/api/v1/sandboxes"


class RefusedError(Exception):
    """A sandbox does not take what the script begins with; the message says why."""


class SandboxServer:
    """One sandbox for one script.

    `transport` carries requests to the API, `ticks` makes ticks of the sandbox with an
    id. Raises RefusedError when the sandbox does not take the configuration.
    """

    def __init__(
        self,
        transport: Transport,
        ticks: Callable[[str, int], None],
        script: Document,
        token: str = "",
    ) -> None:
        self.transport, self.ticks, self.token = transport, ticks, token
        self.sandbox = ""
        is_yunikorn = "queues" in script
        file = _yunikorn(script) if is_yunikorn else _kueue(script)
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": DEFAULT_NAMESPACE},
        }
        files = [file] if is_yunikorn else [file, namespace]
        body = {
            "title": script["name"],
            "release": {**RELEASE, **(script.get("release") or {})},
            "files": [
                {"name": f"{n}.yaml", "text": write(one)} for n, one in enumerate(files)
            ],
        }
        self.sandbox = self._made("POST", _SANDBOXES, body, JSON)["id"]
        simulation: Document = {"latencies": LATENCIES}
        if checks := list(_checks_of(script)):  # nobody but the script answers them
            simulation["admissionChecks"] = [
                {"check": name, "after": "24h", "answer": "Ready"} for name in checks
            ]
        spec = {"simulation": simulation} | (
            {"stack": "yunikorn"} if is_yunikorn else {}
        )
        path = f"{_SANDBOXES}/{self.sandbox}/policy"
        self._made("PATCH", path, {"spec": spec}, PATCHES["merge"])

    def __enter__(self) -> SandboxServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.sent("DELETE", f"{_SANDBOXES}/{self.sandbox}", None, JSON)

    def ask(
        self, method: str, place: Place, body: Any = None, media: str = JSON
    ) -> tuple[int, Any]:
        """Return the code and the body of an answer."""
        path = f"{_SANDBOXES}/{self.sandbox}{place.path}"
        return self.sent(method, path, body, media)

    def get(self, path: str) -> Any:
        """Return what is at a path, as of YuniKorn's REST service; None if refused."""
        path = f"{_SANDBOXES}/{self.sandbox}{path}"
        code, answer = self.sent("GET", path, None, JSON)
        return answer if code == 200 else None

    def objects(self, kind: str) -> list[Document]:
        """Return all objects of a kind."""
        code, answer = self.ask("GET", Place(kind=kind))
        return answer["items"] if code == 200 else []

    def advance(self, seconds: float) -> None:
        """Make as many ticks, of a second each, and one at least."""
        self.ticks(self.sandbox, max(1, round(seconds)))

    def _made(self, method: str, path: str, body: Any, media: str) -> Any:
        code, answer = self.sent(method, path, body, media)
        if code >= 300:
            causes = (answer.get("details") or {}).get("causes") or []
            said = [answer.get("message", f"HTTP {code}")]
            said += [f"{one.get('field')}: {one.get('message')}" for one in causes]
            raise RefusedError("; ".join(said))
        return answer

    def sent(self, method: str, path: str, body: Any, media: str) -> tuple[int, Any]:
        """Return the code and the body of an answer of the API at a whole path."""
        headers = {"Accept": JSON}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None
        if body is not None:
            headers["Content-Type"], data = media, json.dumps(body).encode()
        code, _, answer = self.transport(method, path, headers, data)
        return code, json.loads(answer) if answer else None


def _kueue(script: Document) -> Document:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "integrations": {"frameworks": FRAMEWORKS},
        **copy.deepcopy(script.get("config") or {}),
    }


def _yunikorn(script: Document) -> Document:
    queues = text_of(script["queues"])
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIGS.name, "namespace": CONFIGS.namespace},
        "data": {**(script.get("data") or {}), "queues.yaml": queues},
    }


def _checks_of(script: Document) -> Iterable[str]:
    return sorted(
        {
            document["metadata"]["name"]
            for step in script["steps"]
            for document in step.get("apply") or []
            if document["kind"] == "AdmissionCheck"
            and (
                document["spec"].get("controllerName") not in _OF_KUEUE
                or document["spec"].get("parameters")
            )
        }
    )
