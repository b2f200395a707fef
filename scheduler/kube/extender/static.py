"""Answers of an extender that a policy tells in advance: nobody is called."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.kube.extender.extenders import (
    ClosedPort,
    Extender,
    ExtenderError,
    Port,
)
from scheduler.records.policy import ExtenderAnswers


class ToldPort:
    """Answers for the addresses that `simulation.extenders` names.

    The same question always has the same answer, so a world that is copied or
    restored goes on alike. Other addresses are refused, as without it.
    Source: docs/semantics/kube-scheduler.md#extenders.
    """

    def __init__(self, told: Sequence[ExtenderAnswers]) -> None:
        self._told = {answers.url_prefix: answers for answers in told}
        self._closed = ClosedPort()

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return what was told; raises ExtenderError for `error` and strangers."""
        told = self._told.get(extender.url_prefix)
        if told is None:
            return self._closed.call(extender, verb, payload)
        if told.error:
            raise ExtenderError(told.error)
        if verb == extender.filter_verb:
            return _filtered(told, payload)
        if verb == extender.prioritize_verb:
            return [{"Host": node, "Score": s} for node, s in told.scores.items()]
        if verb == extender.preempt_verb:
            return {"NodeNameToMetaVictims": _agreed(payload)}
        return {"Error": ""}


def port_for(told: Sequence[ExtenderAnswers]) -> Port:
    """Return the port of a policy: closed when it tells no answers."""
    return ToldPort(told) if told else ClosedPort()


def _filtered(told: ExtenderAnswers, payload: dict[str, Any]) -> dict[str, Any]:
    names = payload["NodeNames"]
    if names is None:
        names = [node["metadata"]["name"] for node in payload["Nodes"]["items"]]
    refused = {name: told.refuse[name] for name in names if name in told.refuse}
    kept = [name for name in names if name not in refused]
    if payload["NodeNames"] is not None:
        return {"NodeNames": kept, "FailedNodes": refused, "Error": ""}
    items = [n for n in payload["Nodes"]["items"] if n["metadata"]["name"] in kept]
    return {"Nodes": {"items": items}, "FailedNodes": refused, "Error": ""}


def _agreed(payload: dict[str, Any]) -> dict[str, Any]:
    """Return the victims as they were proposed."""
    meta = payload.get("NodeNameToMetaVictims")
    if meta is not None:
        return dict(meta)
    return {
        node: {
            **victims,
            "Pods": [{"UID": pod["metadata"]["uid"]} for pod in victims["Pods"]],
        }
        for node, victims in payload["NodeNameToVictims"].items()
    }
