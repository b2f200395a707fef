"""A kubelet's part for all nodes at once: pods that have a node run, get ready, end.

A pod is ready at once, or after its annotation `quotalab.dev/ready-after` (`never`);
it ends well after `quotalab.dev/runtime`, fails `quotalab.dev/fails-after` after it is
ready, and ends at once when it is deleted.
"""

from __future__ import annotations

import threading
import time
from typing import Any

from scheduler.model.durations import milliseconds
from tests.real.asking import STRATEGIC, Api

Document = dict[str, Any]
_LOOK_EVERY_S = 0.25
_READY_AFTER, _RUNTIME = "quotalab.dev/ready-after", "quotalab.dev/runtime"
_FAILS_AFTER = "quotalab.dev/fails-after"
_NEVER = "never"
_ADDRESS = "10.0.0.9"  # nobody asks it
_KILLED = 143


class Kubelet(threading.Thread):
    """Looks at all pods some times a second, until `end`."""

    def __init__(self, api: Api) -> None:
        super().__init__(name="kubelet", daemon=True)
        self.api = api
        self._began: dict[str, float] = {}
        self._ended = threading.Event()

    def run(self) -> None:
        """Look until the end; an API server that does not answer is asked again."""
        while not self._ended.wait(_LOOK_EVERY_S):
            try:
                code, answer = self.api.ask("GET", "/api/v1/pods")
                for pod in answer["items"] if code == 200 else []:
                    if pod["spec"].get("nodeName"):
                        self._look(pod)
            except OSError:
                continue

    def end(self) -> None:
        """Stop looking."""
        self._ended.set()
        self.join()

    def _look(self, pod: Document) -> None:
        metadata, phase = pod["metadata"], pod["status"].get("phase")
        notes = metadata.get("annotations") or {}
        wait = notes.get(_READY_AFTER)
        if metadata.get("deletionTimestamp"):
            self._kill(pod)
        elif phase == "Pending":
            self._began[metadata["uid"]] = time.monotonic()
            now = _now()
            self._report(
                pod,
                phase="Running",
                startTime=now,
                podIP=_ADDRESS,
                podIPs=[{"ip": _ADDRESS}],
                **_state(pod, {"running": {"startedAt": now}}, ready=not wait),
            )
        elif phase == "Running":
            began = self._began.setdefault(metadata["uid"], time.monotonic())
            lasted_ms = 1000 * (time.monotonic() - began)
            runtime = notes.get(_RUNTIME)
            if runtime and lasted_ms >= milliseconds(runtime):
                ended = _terminated(0, "Completed")
                state = _state(pod, ended, ready=False, reason="PodCompleted")
                self._report(pod, phase="Succeeded", **state)
            elif _is_ready(pod) and _is_time(notes.get(_FAILS_AFTER), lasted_ms):
                failed = _terminated(1, "Error")
                state = _state(pod, failed, ready=False, reason="PodFailed")
                self._report(pod, phase="Failed", **state)
            elif not _is_ready(pod) and _is_time(wait, lasted_ms):
                running = {"running": {"startedAt": _now()}}
                self._report(pod, **_state(pod, running, ready=True))

    def _kill(self, pod: Document) -> None:
        if pod["status"].get("phase") in ("Pending", "Running"):
            state = _terminated(_KILLED, "Error")
            reason = "PodFailed"
            self._report(
                pod, phase="Failed", **_state(pod, state, ready=False, reason=reason)
            )
        options = {
            "gracePeriodSeconds": 0,
            "preconditions": {"uid": pod["metadata"]["uid"]},
        }
        self.api.ask("DELETE", _path(pod), options)

    def _report(self, pod: Document, **status: Any) -> None:
        body = {"metadata": {"uid": pod["metadata"]["uid"]}, "status": status}
        self.api.ask("PATCH", f"{_path(pod)}/status", body, STRATEGIC)


def _state(
    pod: Document, state: Document, *, ready: bool, reason: str = "ContainersNotReady"
) -> Document:
    """Return the parts of a status that say how the containers are."""
    now = _now()
    held = {"Initialized": True, "Ready": ready, "ContainersReady": ready}
    conditions = [
        {
            "type": name,
            "status": str(holds),
            "lastTransitionTime": now,
            **({} if holds else {"reason": reason}),
        }
        for name, holds in held.items()
    ]
    containers = [
        {
            "name": one["name"],
            "image": one.get("image", ""),
            "imageID": "",
            "ready": ready,
            "restartCount": 0,
            "state": state,
        }
        for one in pod["spec"]["containers"]
    ]
    return {"conditions": conditions, "containerStatuses": containers}


def _terminated(code: int, reason: str) -> Document:
    now = _now()
    times = {"startedAt": now, "finishedAt": now}
    return {"terminated": {"exitCode": code, "reason": reason, **times}}


def _is_time(wait: str | None, lasted_ms: float) -> bool:
    return bool(wait) and wait != _NEVER and lasted_ms >= milliseconds(wait)


def _is_ready(pod: Document) -> bool:
    return any(
        one["type"] == "Ready" and one["status"] == "True"
        for one in pod["status"].get("conditions") or []
    )


def _path(pod: Document) -> str:
    metadata = pod["metadata"]
    return f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}"


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
