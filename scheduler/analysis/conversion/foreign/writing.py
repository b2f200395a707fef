"""Kueue's objects as they are written for another system's queues and jobs."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.model import amounts
from scheduler.model.errors import QuantityError
from scheduler.model.sentence import Sentence
from scheduler.words.losses import LostOfForeign

Manifest = dict[str, Any]
Amounts = Mapping[str, int]

PRIORITY = "kueue.x-k8s.io/priority-class"
GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
LEAST = "kueue.x-k8s.io/job-min-parallelism"
_API = "kueue.x-k8s.io/v1beta2"
_FLAVOR = "default"
#: For a system that knows no limit, where no Node says how large the cluster is.
_PLENTY = {"cpu": 1_000_000_000, "memory": 2**50, "nvidia.com/gpu": 1_000_000}


@dataclass(frozen=True, slots=True)
class Lost:
    """Something that Kueue has no word for."""

    subject: str
    said: Sentence


class Writing:
    """What was written so far, what is still as given, and what was lost."""

    def __init__(
        self, given: Iterable[Manifest], *, nodes: Iterable[Manifest] = ()
    ) -> None:
        self.copies = [copy.deepcopy(one) for one in given]
        self.rest = list(self.copies)
        self.systems: list[str] = []
        self.made: list[Manifest] = []
        self.losses: list[Lost] = []
        self.resources = _resources(self.rest)
        self.cluster = _cluster([*self.rest, *nodes])
        self._written: set[tuple[str, str, str]] = set()

    def left(self) -> list[bool]:
        """Return of each document given whether it is still beside what was made."""
        found = {id(one) for one in self.rest}
        return [id(one) in found for one in self.copies]

    def lose(self, subject: str, lost: Sentence) -> None:
        """Note something that is not carried over, once."""
        loss = Lost(subject, lost)
        if loss not in self.losses:
            self.losses.append(loss)

    def total(self, subject: str) -> dict[str, int]:
        """Return the cluster's size by its Nodes, or that it is not known."""
        if self.cluster:
            return {name: self.cluster.get(name, 0) for name in self.resources}
        self.lose(subject, LostOfForeign.NO_NODE.said())
        return {name: _PLENTY.get(name, 1_000_000) for name in self.resources}

    def add(self, kind: str, name: str, spec: Manifest, namespace: str = "") -> None:
        """Write an object of Kueue's, once."""
        if (kind, namespace, name) in self._written:
            return
        self._written.add((kind, namespace, name))
        metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
        made = {"apiVersion": _API, "kind": kind, "metadata": metadata}
        if kind == "WorkloadPriorityClass":
            self.made.append(made | spec)
        else:
            self.made.append(made | ({"spec": spec} if spec else {}))

    def cluster_queue(
        self,
        name: str,
        *,
        cohort: str,
        nominal: Amounts,
        limit: Amounts | None = None,
        lend: Amounts | None = None,
        weight: float = 1.0,
        reclaim: str = "Any",
    ) -> None:
        """Write a ClusterQueue; `limit` is the most it may use, `lend` what it lends."""
        spec: Manifest = {
            "cohortName": cohort,
            "namespaceSelector": {},
            "queueingStrategy": "BestEffortFIFO",
            "preemption": {
                "reclaimWithinCohort": reclaim,
                "withinClusterQueue": "LowerPriority",
            },
            "resourceGroups": self._groups(nominal, limit or {}, lend or {}),
        }
        if weight != 1.0:
            spec["fairSharing"] = {"weight": f"{weight:g}"}
        self.add("ClusterQueue", name, spec)

    def cohort(self, name: str, *, parent: str = "", own: Amounts) -> None:
        """Write a Cohort that owns `own`, which its members may borrow."""
        spec: Manifest = {"parentName": parent} if parent else {}
        if any(own.values()):
            spec["resourceGroups"] = self._groups(own, {}, {})
        self.add("Cohort", name, spec)

    def local_queue(self, namespace: str, name: str) -> None:
        """Write the LocalQueue of a ClusterQueue in a namespace that needs one."""
        self.add("LocalQueue", name, {"clusterQueue": name}, namespace or "default")

    def _groups(self, own: Amounts, limit: Amounts, lend: Amounts) -> list[Manifest]:
        self.add("ResourceFlavor", _FLAVOR, {})
        rows = []
        for name in self.resources:
            nominal = own.get(name, 0)
            row = {"name": name, "nominalQuota": amounts.text_of(name, nominal)}
            if name in limit:
                borrow = max(0, limit[name] - nominal)
                row["borrowingLimit"] = amounts.text_of(name, borrow)
            if name in lend:
                row["lendingLimit"] = amounts.text_of(name, lend[name])
            rows.append(row)
        flavor = {"name": _FLAVOR, "resources": rows}
        return [{"coveredResources": list(self.resources), "flavors": [flavor]}]


def spec_of(document: Manifest) -> Manifest:
    """Return the spec; empty when it is no object."""
    return object_of(document.get("spec"))


def object_of(given: Any) -> Manifest:
    """Return an object; empty for anything else."""
    return given if isinstance(given, dict) else {}


def metadata_of(document: Manifest) -> Manifest:
    """Return the metadata, made where it does not exist."""
    if not isinstance(document.get("metadata"), dict):
        document["metadata"] = {}
    found: Manifest = document["metadata"]
    return found


def texts_of(holder: Manifest, part: str) -> Manifest:
    """Return labels or annotations, made where they do not exist."""
    if not isinstance(holder.get(part), dict):
        holder[part] = {}
    found: Manifest = holder[part]
    return found


def group_of(document: Manifest) -> str:
    """Return the API group of a document."""
    return str(document.get("apiVersion") or "").rpartition("/")[0]


def amounts_of(writing: Writing, subject: str, given: Any) -> dict[str, int]:
    """Return quantities by resource; what is none is noted and left out."""
    found = {}
    for name, text in object_of(given).items():
        try:
            found[name] = amounts.canonical(name, text)
        except QuantityError as error:
            lost = LostOfForeign.AMOUNT.said(name=name, problem=error.said)
            writing.lose(subject, lost)
    return found


def _resources(documents: Iterable[Manifest]) -> list[str]:
    """Return every resource that something asks for or a queue has, cpu first."""
    named: set[str] = {"cpu", "memory"}
    for document in documents:
        _collect(document, named)
    first = [name for name in ("cpu", "memory") if name in named]
    return [*first, *sorted(named - {"cpu", "memory", "pods", "ephemeral-storage"})]


_HOLDERS = frozenset({"requests", "limits", "capability", "deserved", "resource"})


def _collect(value: Any, named: set[str]) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in _HOLDERS and isinstance(inner, dict):
                plain = {
                    name
                    for name, amount in inner.items()
                    if isinstance(amount, str | int | float)
                }
                named |= {name for name in plain if isinstance(name, str)}
            _collect(inner, named)
    elif isinstance(value, list):
        for inner in value:
            _collect(inner, named)


def _cluster(documents: Iterable[Manifest]) -> dict[str, int]:
    total: dict[str, int] = {}
    for document in documents:
        if document.get("kind") == "Node":
            status = object_of(document.get("status"))
            for name, text in object_of(status.get("allocatable")).items():
                try:
                    amount = amounts.canonical(name, text)
                except QuantityError:
                    continue
                total[name] = total.get(name, 0) + amount
    return total
