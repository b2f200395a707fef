"""Plain Pods: one alone, or a group that is admitted together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scheduler.errors import ManifestError
from scheduler.manifests.jobs import Manifest, Surroundings
from scheduler.manifests.jobs.making import (
    annotations_of,
    copied_labels,
    labels_of,
    make_workload,
    owner_reference,
    pod_template,
    queue_name,
    workload_name,
)
from scheduler.records.podset_template import read_pod
from scheduler.registry import register

GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
_NOT_OF_A_TEMPLATE = ("nodeName", "schedulingGates")


class PlainPod:
    """Source: KUEUE.md 15.3."""

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for."""
        return queue_name(manifest)

    def suspended_by_user(self, manifest: Manifest) -> bool:
        """Tell whether it must not run; a pod cannot be suspended."""
        return False

    def pod_sets(self, manifest: Manifest) -> list[dict[str, Any]]:
        """Return its one podset of one pod."""
        return [{"name": "main", "count": 1, "template": _template(manifest)}]

    def waves(self, manifest: Manifest) -> int:
        """Return 1: a pod runs once."""
        return 1

    def workload(self, manifest: Manifest, around: Surroundings) -> dict[str, Any]:
        """Return the manifest of the Workload of a lone pod."""
        return make_workload(
            manifest,
            around,
            name=workload_name("pod", manifest),
            pod_sets=self.pod_sets(manifest),
        )

    def group(self, manifest: Manifest) -> tuple[str, int]:
        """Return the group's name and its total count; ("", 1) for a lone pod."""
        name = labels_of(manifest).get(GROUP, "")
        total = annotations_of(manifest).get(TOTAL, "")
        return (name, max(1, int(total) if total.isdigit() else 1)) if name else ("", 1)

    def group_workload(
        self, manifests: Sequence[Manifest], around: Surroundings
    ) -> dict[str, Any]:
        """Return the manifest of the Workload of a complete group.

        A podset per shape of pod. Labels to copy must be equal on all pods;
        raises ManifestError otherwise. Source: KUEUE.md 15.3, 15.5.
        """
        first = manifests[0]
        workload = make_workload(
            first,
            around,
            name=self.group(first)[0],
            pod_sets=_by_shape(manifests),
            labels=_common_labels(manifests, around),
        )
        owners = [owner_reference(manifest) for manifest in manifests]
        workload["metadata"]["ownerReferences"] = owners
        return workload


def _template(manifest: Manifest) -> dict[str, Any]:
    spec = {
        name: value
        for name, value in manifest["spec"].items()
        if name not in _NOT_OF_A_TEMPLATE
    }
    return pod_template({"spec": spec, "metadata": manifest["metadata"]})


def _by_shape(manifests: Sequence[Manifest]) -> list[dict[str, Any]]:
    """Return a podset per shape, named by it, in the order of first appearance."""
    found: dict[str, dict[str, Any]] = {}
    for manifest in manifests:
        shape = read_pod(manifest["spec"]).identity[:8]
        if shape in found:
            found[shape]["count"] += 1
        else:
            template = _template(manifest)
            found[shape] = {"name": shape, "count": 1, "template": template}
    return list(found.values())


def _common_labels(
    manifests: Sequence[Manifest], around: Surroundings
) -> dict[str, str]:
    common = copied_labels(manifests[0], around)
    for manifest in manifests[1:]:
        labels = copied_labels(manifest, around)
        for name in sorted({*common, *labels}):
            if common.get(name) != labels.get(name):
                raise ManifestError(
                    f"pod {manifest['metadata']['name']}: label {name}: expected "
                    f"{common.get(name)!r} as on {manifests[0]['metadata']['name']}, "
                    f"got {labels.get(name)!r}"
                )
    return common


register(
    "job-kind",
    "Pod",
    label="Pod",
    help="v1 Pod: alone, or a group by the label kueue.x-k8s.io/pod-group-name.",
)(PlainPod())
