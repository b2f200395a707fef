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


def default_container(container: dict[str, Any]) -> None:
    """Fill in what every container has, of a pod and of a template."""
    image = str(container.get("image", ""))
    tag = image.rpartition("/")[2].partition(":")[2] or "latest"
    latest = tag == "latest" and "@" not in image
    _default(
        container,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    if image:
        _default(container, imagePullPolicy="Always" if latest else "IfNotPresent")
    for port in container.get("ports") or ():
        _default(port, protocol="TCP")
    for variable in container.get("env") or ():
        source = (variable.get("valueFrom") or {}).get("fieldRef")
        if isinstance(source, dict):
            _default(source, apiVersion="v1")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if isinstance(probe, dict):
            for field, value in _PROBE.items():
                if not probe.get(field):  # a zero is none
                    probe[field] = value
            if isinstance(probe.get("httpGet"), dict):
                _default(probe["httpGet"], scheme="HTTP", path="/")


_PROBE = {
    "failureThreshold": 3,
    "periodSeconds": 10,
    "successThreshold": 1,
    "timeoutSeconds": 1,
}


def _default(holder: dict[str, Any], **values: Any) -> None:
    for name, value in values.items():
        if holder.get(name) is None:
            holder[name] = value
