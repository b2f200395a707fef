"""Defaults that the API server gives a pod spec."""

from __future__ import annotations

from typing import Any


def default_pod_spec(spec: dict[str, Any]) -> None:
    """Give containers requests equal to limits where only limits are given.

    Source: docs/semantics/kube-scheduler.md#admission-before-scheduling.
    """
    for holder in (
        *(spec.get("containers") or ()),
        *(spec.get("initContainers") or ()),
        spec,
    ):
        resources = holder.get("resources") or {}
        limits = resources.get("limits")
        if limits:
            resources["requests"] = {**limits, **(resources.get("requests") or {})}
