"""Manifests of Alibaba's openb: what its pods ask of GPUs stands in their annotations.

GPUs are counted in thousandths over the whole node, as in the CSV of the trace.
Source: <https://github.com/hkust-adsl/kubernetes-scheduler-simulator> (data, pkg/type).
"""

from __future__ import annotations

import copy
from typing import Any

from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.sentence import Sentence
from scheduler.words.read_as import ReadAs

Manifest = dict[str, Any]

_GROUP = "alibabacloud.com"
GPU_MILLI = f"{_GROUP}/gpu-milli"
GPU_COUNT = f"{_GROUP}/gpu-count"
GPU_MODEL = f"{_GROUP}/gpu-card-model"
_INDEX = f"{_GROUP}/gpu-index"
_CREATED, _DELETED = f"{_GROUP}/creation-time", f"{_GROUP}/deletion-time"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_WHOLE = 1000
_ASKED = ReadAs.GPUS.said(resource=GPU_MILLI)
_NO_INDEX = ReadAs.NO_INDEX.said(annotation=_INDEX)


def filled(manifest: Manifest) -> tuple[Manifest, list[Sentence]]:
    """Return a Pod with its annotations' GPUs as requests, and what is to be said.

    Its times, in seconds, become arrival and run time. Other objects, and pods that
    ask for it themselves, are returned as they are; nothing given is changed.
    """
    metadata = manifest.get("metadata")
    given = metadata.get("annotations") if isinstance(metadata, dict) else None
    if manifest.get("kind") != "Pod" or not isinstance(given, dict):
        return manifest, []
    if GPU_MILLI not in given and GPU_COUNT not in given and _CREATED not in given:
        return manifest, []
    made = copy.deepcopy(manifest)
    _set_times(made["metadata"]["annotations"])
    amount = _number(given.get(GPU_MILLI, _WHOLE)) * _number(given.get(GPU_COUNT, 1))
    if not amount or not _ask(made["spec"], int(amount)):
        return made, []
    if models := [one for one in str(given.get(GPU_MODEL, "")).split("|") if one]:
        _want(made["spec"], models)
    return made, [_ASKED, *([_NO_INDEX] if given.get(_INDEX) else [])]


def whole_devices(status: Manifest) -> Manifest:
    """Return a Node's status with the thousandths of all its devices.

    Some files have them of one device, beside the number of devices.
    """
    made = dict(status)
    for part in ("allocatable", "capacity"):
        amounts = status.get(part)
        if isinstance(amounts, dict) and GPU_COUNT in amounts:
            milli = int(_number(amounts[GPU_COUNT]) * _WHOLE)
            made[part] = {**amounts, GPU_MILLI: str(milli)}
    return made


def _number(given: object) -> float:
    try:
        return max(0.0, float(str(given)))
    except ValueError:
        return 0.0


def _set_times(annotations: Manifest) -> None:
    if _CREATED not in annotations or ARRIVAL in annotations:
        return
    created = _number(annotations[_CREATED])
    annotations[ARRIVAL] = f"{round(created * 1000)}ms"
    if _DELETED in annotations and RUNTIME not in annotations:
        run = max(0.0, _number(annotations[_DELETED]) - created)
        annotations[RUNTIME] = f"{round(run * 1000)}ms"


def _ask(spec: Manifest, amount: int) -> bool:
    """Ask for the amount in the first container; False when one asks already."""
    containers = spec["containers"]
    for one in containers:
        if GPU_MILLI in ((one.get("resources") or {}).get("requests") or {}):
            return False
    resources = containers[0].setdefault("resources", {})
    for part in ("requests", "limits"):
        resources[part] = {**(resources.get(part) or {}), GPU_MILLI: str(amount)}
    return True


def _want(spec: Manifest, models: list[str]) -> None:
    """Ask for a node with one of these cards, beside what is asked already."""
    wanted = {"key": GPU_MODEL, "operator": "In", "values": models}
    affinity = spec.setdefault("affinity", {})
    required = affinity.setdefault("nodeAffinity", {}).setdefault(_REQUIRED, {})
    terms = required.setdefault("nodeSelectorTerms", [])
    if not terms:
        terms.append({})
    for term in terms:
        term.setdefault("matchExpressions", []).append(wanted)
