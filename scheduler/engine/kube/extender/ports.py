"""How a question leaves the engine: it calls nobody, a `Port` carries the question out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from scheduler.model.kube.configuration import Extender
from scheduler.model.policy import ExtenderAnswers, Simulation


class ExtenderError(Exception):
    """A call that failed: refused address, timeout, bad status, bad answer."""


class Port(Protocol):
    """How a question leaves the engine; raises ExtenderError."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the decoded JSON answer."""


@runtime_checkable
class StatingPort(Protocol):
    """A port that has answers for some addresses from the start."""

    def states(self, url_prefix: str) -> bool:
        """Return whether the answers of this address never change."""


class DisabledExtender:
    """The port of a server whose operator allows no address."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Refuse."""
        raise ExtenderError(
            f"extender {extender.url_prefix}: calls are off; the operator of this "
            "server has not allowed the address"
        )


# ------------------------------------------------------------------------
# Answers of extenders that a policy states in advance: nobody is called.


class StaticExtender:
    """Answers for the addresses that `simulation.extenders` names.

    The same question always has the same answer, so a world that is copied or
    restored goes on alike. Other addresses are refused, as without it.
    Source: docs/semantics/kube-scheduler.md#extenders.
    """

    def __init__(self, answers: Sequence[ExtenderAnswers]) -> None:
        self._answers = {answers.url_prefix: answers for answers in answers}
        self._closed = DisabledExtender()

    def states(self, url_prefix: str) -> bool:
        """Return whether answers for this address are stated."""
        return url_prefix in self._answers

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        """Return the stated answer; raises ExtenderError for `error` and unknown addresses."""
        answers = self._answers.get(extender.url_prefix)
        if answers is None:
            return self._closed.call(extender, verb, payload)
        if answers.error:
            raise ExtenderError(answers.error)
        if verb == extender.filter_verb:
            return _filtered(answers, payload)
        if verb == extender.prioritize_verb:
            return [{"Host": node, "Score": s} for node, s in answers.scores.items()]
        if verb == extender.preempt_verb:
            return {"NodeNameToMetaVictims": _agreed(answers, payload)}
        return {"Error": ""}


def states(port: Port, extender: Extender) -> bool:
    """Return whether the port has a stated answer, the same whenever it is asked."""
    return isinstance(port, StatingPort) and port.states(extender.url_prefix)


def latency_of(simulation: Simulation) -> Callable[[Extender], int]:
    """Return how long a call of each extender takes, in virtual milliseconds."""
    usual = (
        0
        if isinstance(simulation.extender_latency_ms, msgspec.UnsetType)
        else simulation.extender_latency_ms
    )
    own = {
        answers.url_prefix: answers.latency_ms
        for answers in simulation.extenders
        if not isinstance(answers.latency_ms, msgspec.UnsetType)
    }
    return lambda extender: own.get(extender.url_prefix, usual)


def port_for(answers: Sequence[ExtenderAnswers]) -> Port:
    """Return the port of a policy: disabled when it states no answers."""
    return StaticExtender(answers) if answers else DisabledExtender()


def _filtered(answers: ExtenderAnswers, payload: dict[str, Any]) -> dict[str, Any]:
    names = payload["NodeNames"]
    if names is None:
        names = [node["metadata"]["name"] for node in payload["Nodes"]["items"]]
    refused = {name: answers.refuse[name] for name in names if name in answers.refuse}
    kept = [name for name in names if name not in refused]
    if payload["NodeNames"] is not None:
        return {"NodeNames": kept, "FailedNodes": refused, "Error": ""}
    items = [n for n in payload["Nodes"]["items"] if n["metadata"]["name"] in kept]
    return {"Nodes": {"items": items}, "FailedNodes": refused, "Error": ""}


def _agreed(answers: ExtenderAnswers, payload: dict[str, Any]) -> dict[str, Any]:
    """Return the victims as they were proposed, but for nodes that are spared."""
    spares = () if isinstance(answers.spares, msgspec.UnsetType) else answers.spares
    meta = payload.get("NodeNameToMetaVictims")
    if meta is not None:
        return {node: victims for node, victims in meta.items() if node not in spares}
    return {
        node: {
            **victims,
            "Pods": [{"UID": pod["metadata"]["uid"]} for pod in victims["Pods"]],
        }
        for node, victims in payload["NodeNameToVictims"].items()
        if node not in spares
    }
