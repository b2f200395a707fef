"""Coscheduling vectors: gangs over virtual time, through the stage itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.engine.kube.framework.framework import PluginCall
from scheduler.engine.kube.framework.plugin import QueuedPodInfo
from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.stage import Context
from scheduler.model.durations import stamp_us
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy, PolicySpec

_START = "2000-01-01T00:00:00Z"


def configuration(args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration that the vectors were recorded with."""
    named = [{"name": "Coscheduling"}]
    return {
        "featureGates": {"SchedulerPopFromBackoffQ": False},
        "profiles": [
            {
                "plugins": {
                    "multiPoint": {"enabled": named},
                    "queueSort": {"enabled": named, "disabled": [{"name": "*"}]},
                    "postFilter": {"disabled": [{"name": "DefaultPreemption"}]},
                },
                "pluginConfig": [{"name": "Coscheduling", "args": dict(args)}],
            }
        ],
    }


def show(given: Mapping[str, Any], expected: Mapping[str, Any]) -> tuple[Any, Any]:
    """Return what the real one did over time and what we do."""
    run = _Run(given)
    shown: dict[str, Any] = {"checkpoints": run.checkpoints(expected["messagesStable"])}
    wanted: dict[str, Any] = {"checkpoints": expected["checkpoints"]}
    if not expected["messagesStable"]:
        wanted["checkpoints"] = [_without_messages(c) for c in expected["checkpoints"]]
    if expected["callsStable"]:
        # After the last checkpoint the recorder was only waiting for timers.
        last = given["checkpoints"][-1]
        calls = [call for call in expected["calls"] or [] if call["t"] <= last]
        wanted["calls"] = _unreserve_last(calls)
        shown["calls"] = _unreserve_last(run.calls)
    return wanted, shown


def _without_messages(checkpoint: Mapping[str, Any]) -> dict[str, Any]:
    pods = {n: {"state": pod["state"]} for n, pod in checkpoint["pods"].items()}
    return {"t": checkpoint["t"], "pods": pods}


def _unreserve_last(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Order the calls of an instant as the vectors have them.

    Unreserve runs beside the scheduling loop: it stands after the loop's own
    calls of the same instant, by pod.
    """
    return sorted(
        calls,
        key=lambda call: (
            call["t"],
            (1, call["pod"]) if call["point"] == "Unreserve" else (0, ""),
        ),
    )


def _name(event: Mapping[str, Any]) -> str:
    return str(event["pod" if "pod" in event else "node"]["metadata"]["name"])


class _Run:
    """One vector played: its events in order, the stage's timers between them."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.given = given
        self.context = Context(seed=0, epoch_us=stamp_us(_START))
        spec = PolicySpec(stack="kube", kube_scheduler=configuration(given["args"]))
        self.stage = KubeStage(self.context, Policy(spec=spec))
        self.calls: list[dict[str, Any]] = []
        for scheduler in self.stage.schedulers:
            for framework in scheduler.frameworks.values():
                framework.trace = self._note
        for node in given["nodes"]:
            self._put("Node", node)
        for group in given["podGroups"]:
            self._put("PodGroup", group)
        self.events = sorted(given["events"], key=lambda event: event["at"])

    def checkpoints(self, messages: bool) -> list[dict[str, Any]]:
        """Play to each checkpoint and return the pods' states there."""
        # What is there from the start is listed in name order.
        first = [event for event in self.events if event["at"] == 0]
        self.events = self.events[len(first) :]
        for event in sorted(first, key=_name):
            self._happen(event)
        self.stage.schedule()
        return [self._at(t, messages) for t in self.given["checkpoints"]]

    def _at(self, seconds: float, messages: bool) -> dict[str, Any]:
        until = round(seconds * 1000)
        while self.events and self.events[0]["at"] * 1000 <= until:
            event = self.events.pop(0)
            self._advance(round(event["at"] * 1000))
            self._happen(event)
            self.stage.schedule()
        self._advance(until)
        return {
            "t": seconds,
            "pods": {
                pod.name: self._state(pod.key, messages)
                for pod in self.stage.pods.values()
            },
        }

    def _advance(self, until: int) -> None:
        while (due := self.stage.due()) is not None and due <= until:
            self.context.now_ms = due
            self.stage.schedule()
        self.context.now_ms = until

    def _happen(self, event: Mapping[str, Any]) -> None:
        if event["type"] == "createPod":
            self._put("Pod", event["pod"])
        elif event["type"] == "createNode":
            self._put("Node", event["node"])
        else:
            self.stage.remove(Key("Pod", "default", event["name"]))

    def _put(self, kind: str, data: Mapping[str, Any]) -> None:
        metadata = data["metadata"]
        namespace = "" if kind == "Node" else metadata.get("namespace", "default")
        key = Key(kind, namespace, metadata["name"])
        status = dict(data.get("status") or {})
        self.stage.put(Object(key=key, manifest=dict(data), status=status))

    def _state(self, key: Key, messages: bool) -> dict[str, Any]:
        scheduler = self.stage.schedulers[0]
        queued: QueuedPodInfo | None = scheduler.queue.entries.get(key)
        if key in scheduler.assumed:
            return {"state": "waiting"}
        if queued is None:
            return {"state": "bound"}
        shown = {"state": "pending"}
        if messages and queued.message:
            shown["message"] = queued.message
        return shown

    def _note(self, step: PluginCall) -> None:
        if step.plugin != "Coscheduling":
            return
        call: dict[str, Any] = {
            "t": self.context.now_ms / 1000,
            "point": step.point,
            "pod": step.pod.name,
            "code": step.status.code.text,
        }
        if step.status.reasons:
            call["reason"] = step.status.message
        if step.wait_ms:
            call["waitSeconds"] = step.wait_ms / 1000
        self.calls.append(call)
