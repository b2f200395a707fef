"""What a pod template asks of topology, as a podset's topologyRequest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.input.manifests.topology import read_layers
from scheduler.model.amounts import is_whole

Manifest = Mapping[str, Any]

_PREFIX = "kueue.x-k8s.io/podset-"
_FIELDS = {
    "required-topology": "required",
    "preferred-topology": "preferred",
    "group-name": "podSetGroupName",
    "slice-required-topology": "podSetSliceRequiredTopology",
}
_LAYERS = "slice-required-topology-constraints"
JOBSET_INDEX = "jobset.sigs.k8s.io/job-index"
POD_GROUP_INDEX = "kueue.x-k8s.io/pod-group-pod-index"


def topology_request(
    template: Manifest,
    *,
    index: str = "",
    sub_group: str = "",
    sub_groups: int | None = None,
) -> dict[str, Any] | None:
    """Return the topologyRequest of a podset; None when there is nothing to say.

    `index` is the label with a pod's rank, `sub_group` the one with the rank of
    its group among `sub_groups`. Kueue writes them for every podset whose kind
    has such labels, whether topology is asked for or not.
    Source: docs/semantics/kueue-jobs.md#topology-of-a-podset
    """
    annotations = (template.get("metadata") or {}).get("annotations") or {}
    request = {
        name: annotations[_PREFIX + key]
        for key, name in _FIELDS.items()
        if annotations.get(_PREFIX + key)
    }
    if "unconstrained-topology" in _asked(annotations):
        unconstrained = annotations[_PREFIX + "unconstrained-topology"]
        request["unconstrained"] = unconstrained == "true"
    size = annotations.get(_PREFIX + "slice-size", "")
    if is_whole(size):
        request["podSetSliceSize"] = int(size)
    layers = read_layers(annotations.get(_PREFIX + _LAYERS))
    if layers:
        request["podsetSliceRequiredTopologyConstraints"] = layers
        request.pop("podSetSliceRequiredTopology", None)
        request.pop("podSetSliceSize", None)
    if index:
        request["podIndexLabel"] = index
    if sub_groups is not None:
        request["subGroupIndexLabel"] = sub_group
        request["subGroupCount"] = sub_groups
    return request or None


def _asked(annotations: Mapping[str, str]) -> set[str]:
    return {
        name.removeprefix(_PREFIX) for name in annotations if name.startswith(_PREFIX)
    }
