"""SparkApplication: a driver and its executors."""

from __future__ import annotations

import re
from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, at_path, pod_set
from scheduler.model.jobs import Finish, Manifest, Served, Shape, Surroundings, count_of
from scheduler.model.registry import register

_FAILED = ("FAILED", "SUBMISSION_FAILED")
_RUNNING = ("RUNNING", "COMPLETED")
#: Java's units are powers of two, with or without a b.
_MEMORY = re.compile(r"([0-9]+)\s*([kmgtp]?)b?", re.IGNORECASE)
_COPIED = ("nodeSelector", "tolerations", "affinity", "priorityClassName")


class SparkApplication(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#sparkapplication"""

    served = Served(group="sparkoperator.k8s.io", versions=("v1beta2",))
    shape = Shape(
        templates=("spec.driver!", "spec.executor"),
        counts=("spec.executor.instances",),
        of_pods=False,
    )

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return driver and executor."""
        spec = manifest["spec"]
        driver, executor = spec.get("driver") or {}, spec.get("executor") or {}
        return [
            pod_set("driver", 1, _template(driver, spec)),
            pod_set(
                "executor",
                count_of(executor, "instances", 0),
                _template(executor, spec),
            ),
        ]

    def finish(self, manifest: Manifest) -> Finish | None:
        """Return how it ended, by the application's state."""
        state = at_path(manifest, ("status", "applicationState")) or {}
        success = state.get("state") == "COMPLETED"
        if not success and state.get("state") not in _FAILED:
            return None
        return Finish(success=success, message=str(state.get("errorMessage") or ""))

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether it runs with all its executors."""
        state = at_path(manifest, ("status", "applicationState", "state"))
        states = at_path(manifest, ("status", "executorState")) or {}
        wanted = count_of(manifest["spec"].get("executor") or {}, "instances", 0)
        running = sum(1 for one in states.values() if one in _RUNNING)
        return state == "RUNNING" and running >= wanted


def _template(role: Manifest, spec: Manifest) -> dict[str, Any]:
    """Return the pod template of a role."""
    selector = {**(spec.get("nodeSelector") or {}), **(role.get("nodeSelector") or {})}
    pod: dict[str, Any] = {
        "containers": [_container(role), *(role.get("sidecars") or ())],
        **{name: role[name] for name in _COPIED if role.get(name)},
    }
    if selector:
        pod["nodeSelector"] = selector
    if role.get("initContainers"):
        pod["initContainers"] = role["initContainers"]
    metadata = {k: role[k] for k in ("labels", "annotations") if role.get(k)}
    return {"metadata": metadata, "spec": pod}


def _container(role: Manifest) -> dict[str, Any]:
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    if role.get("coreRequest"):
        requests["cpu"] = role["coreRequest"]
    if role.get("coreLimit"):
        limits["cpu"] = role["coreLimit"]
    if role.get("memory"):
        requests["memory"] = _quantity(str(role["memory"]))
    if role.get("gpu"):
        limits[role["gpu"]["name"]] = str(role["gpu"]["quantity"])
    return {"name": "spark", "resources": {"requests": requests, "limits": limits}}


def _quantity(text: str) -> str:
    """Return Java's memory text as a Kubernetes quantity; unchanged if it is not one."""
    found = _MEMORY.fullmatch(text.strip())
    if found is None:
        return text
    unit = found[2].upper()
    return found[1] + (f"{unit}i" if unit else "")


register(
    "job-kind",
    "SparkApplication",
    label="SparkApplication",
    help="Spark operator's application: podsets driver and executor.",
)(SparkApplication())
