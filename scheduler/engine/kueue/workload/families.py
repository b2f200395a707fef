"""Which Workloads are variants of which, and whose family changed.

Source: docs/semantics/kueue-concurrent-admission.md#parent-and-variants.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from typing import Any

from scheduler.engine.kueue.workload.info import WorkloadInfo
from scheduler.model.annotations import PREFIX
from scheduler.model.objects import Key, Object
from scheduler.model.reasons import ADMITTED


class Families:
    """Parents by key, each with its variants; `changed` since the last look."""

    def __init__(self) -> None:
        self._variants: dict[Key, dict[WorkloadInfo, None]] = {}
        self.changed: dict[Key, None] = {}

    def put(self, work: WorkloadInfo) -> None:
        """Take a workload that is new or was read again."""
        if work.parent is not None:
            self._variants.setdefault(work.parent, {})[work] = None
        self.note(work)

    def remove(self, work: WorkloadInfo) -> None:
        """Forget a workload; the rest of its family is looked at again."""
        if work.parent is not None:
            self._variants.get(work.parent, {}).pop(work, None)
        self.note(work)

    def note(self, work: WorkloadInfo) -> None:
        """Have the family of a workload looked at."""
        self.changed[work.parent or work.key] = None

    def take_changed(self) -> list[Key]:
        """Return the parents whose families changed, sorted, and start anew."""
        changed = sorted(self.changed)
        self.changed.clear()
        return changed

    def variants(self, parent: Key, flavors: Sequence[str]) -> list[WorkloadInfo]:
        """Return the variants of a Workload in the order of these flavors.

        Those of other flavors come last.
        """
        places = {flavor: place for place, flavor in enumerate(flavors)}
        last = len(places)
        return sorted(
            self._variants.get(parent, ()),
            key=lambda work: (places.get(work.flavor, last), work.uid),
        )

    def admitted_sibling(
        self, work: WorkloadInfo, flavors: Sequence[str], *, preferred: bool
    ) -> WorkloadInfo | None:
        """Return an admitted variant of the same Workload with another flavor.

        Of a more preferred flavor, or else of a less preferred one.
        Source: docs/semantics/kueue-concurrent-admission.md#in-a-cycle.
        """
        if work.parent is None or work.flavor not in flavors:
            return None
        ours = flavors.index(work.flavor)
        for other in self.variants(work.parent, flavors):
            if other is work or other.flavor not in flavors:
                continue
            if other.cluster_queue is None or not other.has_condition(ADMITTED):
                continue
            if (flavors.index(other.flavor) < ours) == preferred:
                return other
        return None


# ------------------------------------------------------------------------
# Concurrent admission: Workloads that have variants, and those that are some.


PARENT = "kueue.x-k8s.io/concurrent-admission-parent"
ALLOWED = "kueue.x-k8s.io/allowed-resource-flavor"
#: While this gate is closed, a variant preempts nobody.
GATE = "kueue.x-k8s.io/concurrent-admission"
_LONGEST_NAME = 63
_HASH = 5


def parent_of(workload: Object) -> Key | None:
    """Return the Workload of which this one is a variant, if it is one."""
    for reference in workload.metadata.get("ownerReferences") or ():
        if reference.get("kind") == "Workload":
            return Key("Workload", workload.key.namespace, str(reference.get("name")))
    return None


def is_variant(obj: Object) -> bool:
    """Return whether this is a Workload that another one owns: no job of its own."""
    return obj.key.kind == "Workload" and parent_of(obj) is not None


def allowed_flavors(workload: Object) -> tuple[str, ...] | None:
    """Return the only flavors that a Workload may get; None where any will do."""
    given = workload.annotations.get(ALLOWED)
    if given is None:
        return None
    return tuple(part.strip() for part in given.split(",") if given.strip())


def variant_name(parent: str, uid: str, flavor: str) -> str:
    """Return the name of the variant for a flavor; the last part is a stable hash.

    The hash is our own, as that of every Workload here.
    """
    digest = hashlib.sha256(f"{parent}/{uid}/{flavor}".encode()).hexdigest()[:_HASH]
    prefix = f"{parent.rpartition('-')[0] or parent}-variant-{flavor}"
    return f"{prefix[: _LONGEST_NAME - _HASH - 1]}-{digest}"


def make_variant(parent: Object, flavor: str, place: int) -> Object:
    """Return the variant of a Workload for one flavor.

    Its spec is the parent's, with a preemption gate more. Variants that come at
    one instant are tried in the order of their flavors: `place` is in their UID.
    """
    name = variant_name(parent.key.name, parent.uid, flavor)
    labels = {k: v for k, v in parent.labels.items() if k != PARENT}
    ours = {k: v for k, v in parent.annotations.items() if not k.startswith(PREFIX)}
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": parent.key.namespace,
        "uid": f"{parent.uid}-{place:02d}",
        "labels": labels,
        "annotations": {**ours, ALLOWED: flavor},
        "ownerReferences": [_reference(parent)],
    }
    spec = copy.deepcopy(parent.spec)
    gates = [g for g in spec.get("preemptionGates") or () if g["name"] != GATE]
    spec["preemptionGates"] = [*gates, {"name": GATE}]
    manifest = {**parent.manifest, "metadata": metadata, "spec": spec}
    return Object(key=parent.key._replace(name=name), manifest=manifest)


def _reference(parent: Object) -> dict[str, Any]:
    return {
        "apiVersion": parent.manifest.get("apiVersion", "kueue.x-k8s.io/v1beta2"),
        "kind": "Workload",
        "name": parent.key.name,
        "uid": parent.uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }
