"""AppWrapper: a podset per pod template of the objects that it wraps."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from scheduler.input.manifests.jobs.base import QueuedJob, at_path, pod_set
from scheduler.input.manifests.jobs.ray.clusters import cluster_pod_sets
from scheduler.model import registry
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import Finish, Manifest, Served, Shape, Surroundings, count_of
from scheduler.model.problems import Problem, in_field
from scheduler.model.reasons import is_true
from scheduler.model.registry import register

#: Kinds whose podSets are known without being listed.
_INFERRED = ("Pod", "Job", "JobSet", "RayCluster", "RayJob", "PyTorchJob")
_INDEX = re.compile(r"([^\[\]]+)((?:\[[0-9]+\])*)")


class AppWrapper(QueuedJob):
    """Source: docs/semantics/kueue-jobs.md#appwrapper"""

    served = Served(group="workload.codeflare.dev", versions=("v1beta2",))
    shape = Shape(
        templates=("spec.components[].template!",),
        counts=("spec.components[].podSets[].replicas",),
        of_pods=False,
    )
    ready = ("PodsReady",)

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return the podSets of all components, numbered."""
        name = manifest["metadata"].get("name", "")  # generateName may stand for it
        found: list[dict[str, Any]] = []
        for component in manifest["spec"].get("components") or ():
            for one in _of_component(manifest, component, around):
                found.append({**one, "name": f"{name}-{len(found)}"})
        return found

    def pods(self, manifest: Manifest) -> tuple[str, int]:
        """Return the pods of all components; 0 where what is wrapped has no podSets."""
        try:
            found = self.pod_sets(manifest, Surroundings())
        except ManifestError:
            return "spec.components", 0
        return "spec.components", sum(one["count"] for one in found)

    def finish(self, manifest: Manifest) -> Finish | None:
        """Return how it ended, by its phase; a failure once its objects are gone."""
        phase = at_path(manifest, ("status", "phase"))
        if phase == "Succeeded":
            return Finish(success=True, message="AppWrapper finished successfully")
        deployed = is_true(manifest.get("status"), "ResourcesDeployed")
        if phase == "Failed" and not deployed:
            return Finish(success=False, message="AppWrapper failed")
        return None


def _of_component(
    manifest: Manifest, component: Manifest, around: Surroundings
) -> Iterator[dict[str, Any]]:
    listed = component.get("podSets")
    if not listed:
        yield from _inferred(component["template"], around)
        return
    for one in listed:
        template = _at(component, str(one["path"]))
        if template is None:
            name = manifest["metadata"].get("name", "")  # generateName may stand for it
            raise ManifestError(
                in_field(
                    f"AppWrapper {name}", Problem.WRAPPED.said(path=repr(one["path"]))
                )
            )
        yield pod_set("component", count_of(one, "replicas", 1), template)


def _inferred(wrapped: Manifest, around: Surroundings) -> Iterator[dict[str, Any]]:
    if wrapped.get("kind") not in _INFERRED:
        return
    for one in _pod_sets(wrapped, around):
        if wrapped["kind"] == "Pod":
            one = {k: v for k, v in one.items() if k != "topologyRequest"}
        yield one


def _pod_sets(wrapped: Manifest, around: Surroundings) -> list[dict[str, Any]]:
    """Return what the wrapped kind makes; worker groups count replicas, not hosts."""
    if wrapped["kind"] == "RayCluster":
        return cluster_pod_sets(
            wrapped, wrapped["spec"], around.decides_as, hosts=False
        )
    if wrapped["kind"] == "RayJob" and wrapped["spec"].get("rayClusterSpec"):
        cluster = wrapped["spec"]["rayClusterSpec"]
        return cluster_pod_sets(wrapped, cluster, around.decides_as, hosts=False)
    found: list[dict[str, Any]] = registry.lookup("job-kind", wrapped["kind"]).pod_sets(
        wrapped, around
    )
    return found


def _at(component: Manifest, path: str) -> Manifest | None:
    """Return what is at a path such as `template.spec.jobs[0].template`."""
    value: Any = component
    for part in path.removeprefix(".").split("."):
        found = _INDEX.fullmatch(part)
        value = value.get(found[1]) if found and isinstance(value, dict) else None
        for index in re.findall(r"[0-9]+", found[2]) if found else ():
            listed = isinstance(value, list) and int(index) < len(value)
            value = value[int(index)] if listed else None
    return value if isinstance(value, dict) else None


register(
    "job-kind",
    "AppWrapper",
    label="AppWrapper",
    help="CodeFlare's AppWrapper: a podset per pod template that it wraps.",
)(AppWrapper())
