"""The shape of an extender's answer: what is kept of it, and what is refused."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from scheduler.engine.kube.extender.ports import ExtenderError
from scheduler.model.kube.configuration import Extender

T = TypeVar("T")


class _Metadata(msgspec.Struct):
    name: str


class _Node(msgspec.Struct):
    metadata: _Metadata


class _Nodes(msgspec.Struct):
    items: list[_Node] | None = None


class _Filtered(msgspec.Struct):
    nodes: _Nodes | None = None
    nodenames: list[str] | None = None
    failednodes: dict[str, str] | None = None
    failedandunresolvablenodes: dict[str, str] | None = None
    error: str | None = None


class _Ranked(msgspec.Struct):
    host: str
    score: int


class _Victim(msgspec.Struct):
    uid: str


class _Victims(msgspec.Struct):
    pods: list[_Victim] | None = None
    numpdbviolations: int | None = None


class _Preempted(msgspec.Struct):
    nodenametometavictims: dict[str, _Victims] | None = None


class _Bound(msgspec.Struct):
    error: str | None = None


def shaped(extender: Extender, verb: str, answer: Any) -> Any:
    """Return the part of an answer that decides, small enough to be stored.

    Nodes that come back as documents are kept by name. Raises ExtenderError for
    an answer that is not what the verb answers.
    """
    try:
        if verb == extender.filter_verb:
            return _filtered(_read(answer, _Filtered))
        if verb == extender.prioritize_verb:
            found = [_read(item, _Ranked) for item in _items(answer)]
            return [{"Host": item.host, "Score": item.score} for item in found]
        if verb == extender.preempt_verb:
            return _preempted(answer)
        return {"Error": _read(answer, _Bound).error or ""}
    except msgspec.ValidationError as problem:
        raise ExtenderError(
            f"extender {extender.url_prefix}: the answer to {verb} is not one: {problem}"
        ) from problem


def _filtered(given: _Filtered) -> dict[str, Any]:
    names = given.nodenames
    if names is None and given.nodes is not None:
        names = [node.metadata.name for node in given.nodes.items or ()]
    return {
        "NodeNames": names or [],
        "FailedNodes": given.failednodes or {},
        "FailedAndUnresolvableNodes": given.failedandunresolvablenodes or {},
        "Error": given.error or "",
    }


def _preempted(answer: Any) -> dict[str, Any]:
    lowered = _lowered(answer)
    nodes = lowered.get("nodenametometavictims") if isinstance(lowered, dict) else None
    if isinstance(nodes, dict):
        # A node's name keeps its case; the fields below it do not.
        lowered["nodenametometavictims"] = {
            name: _lowered_victims(victims) for name, victims in nodes.items()
        }
    given = msgspec.convert(lowered, _Preempted)
    return {
        "NodeNameToMetaVictims": {
            name: {
                "Pods": [{"UID": pod.uid} for pod in victims.pods or ()],
                "NumPDBViolations": victims.numpdbviolations or 0,
            }
            for name, victims in (given.nodenametometavictims or {}).items()
        }
    }


def _lowered_victims(victims: Any) -> Any:
    lowered = _lowered(victims)
    if isinstance(lowered, dict) and isinstance(lowered.get("pods"), list):
        lowered["pods"] = [_lowered(pod) for pod in lowered["pods"]]
    return lowered


def _read(answer: Any, kind: type[T]) -> T:
    return msgspec.convert(_lowered(answer), kind)


def _items(answer: Any) -> list[Any]:
    return msgspec.convert(answer, list[Any] | None) or []


def _lowered(answer: Any) -> Any:
    """Return an object's fields by lower-case name, as Go reads them."""
    if not isinstance(answer, dict):
        return answer
    return {str(name).lower(): value for name, value in answer.items()}
