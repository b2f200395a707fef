"""What a job kind answers, and what all kinds share: queue, names, pods at once."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from scheduler.model.amounts import is_whole
from scheduler.model.objects import Key
from scheduler.model.releases.release import NO_RELEASE, Release

Manifest = Mapping[str, Any]

QUEUE = "kueue.x-k8s.io/queue-name"
_PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"
#: On a pod of an Indexed Job.
JOB_INDEX = "batch.kubernetes.io/job-completion-index"
_INDEXES = re.compile(r"[0-9]{1,10}(-[0-9]{1,10})?(,[0-9]{1,10}(-[0-9]{1,10})?)*")
_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyz"
_LONGEST_NAME = 63
_SUFFIX = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What a job kind may look up while it makes a Workload."""

    workload_priorities: Mapping[str, int] = field(
        default_factory=dict
    )  # WorkloadPriorityClass -> value
    priorities: Mapping[str, int] = field(
        default_factory=dict
    )  # PriorityClass -> value
    default_priority: str = ""  # the PriorityClass with globalDefault
    labels_to_copy: tuple[str, ...] = ()
    runtimes: Mapping[Key, Manifest] = field(default_factory=dict)
    """Training runtimes by their keys."""
    decides_as: Release = NO_RELEASE


@dataclass(frozen=True, slots=True, kw_only=True)
class Finish:
    """How a job ended, as its own status says."""

    success: bool
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """How the API of a job kind is served; its plural is the kind in small letters + s."""

    group: str
    versions: tuple[str, ...]  # newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Where a job kind holds pod templates and counts: paths of fields.

    `[]` stands for each entry of a list, `*` for each value of an object, `!` at the
    end of a field for one that must be there.
    """

    templates: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    of_pods: bool = True  # templates are pod templates, not objects of another shape


class JobKind(Protocol):
    """One kind of job. Source: docs/semantics/kueue-lifecycle.md#workloads-of-jobs."""

    endless: bool  # it serves, and never ends by itself
    served: Served | None  # None for a kind of Kubernetes itself
    shape: Shape | None  # None for a kind with checks of its own

    def queue_name(self, manifest: Manifest) -> str:
        """Return the LocalQueue it asks for, or "" when it is not managed."""

    def suspended(self, manifest: Manifest) -> bool:
        """Return the value of spec.suspend."""

    def suspended_by_user(self, manifest: Manifest) -> bool:
        """Return whether it must not run although nothing manages it."""

    def pod_sets(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return its podSets as a Workload has them: name, count, template.

        Raises ManifestError when it refers to something that does not exist.
        """

    def pods(self, manifest: Manifest) -> tuple[str, int]:
        """Return how many pods it makes at once, and the field that says so."""

    def waves(self, manifest: Manifest) -> int:
        """Return how many times its pods run one after another (completions)."""

    def workloads(
        self, manifest: Manifest, around: Surroundings
    ) -> list[dict[str, Any]]:
        """Return the manifests of its Workloads, each with an ownerReference to it.

        Most kinds have one; a Deployment has one per pod, a LeaderWorkerSet one
        per group. Raises ManifestError when a priority class or runtime that it
        names does not exist: Kueue makes no Workload then.
        """

    def finish(self, manifest: Manifest) -> Finish | None:
        """Return how it ended, from its status; None while it goes on."""

    def pods_ready(self, manifest: Manifest, around: Surroundings) -> bool:
        """Return whether its status says that all its pods are ready."""

    def reclaimable(self, manifest: Manifest, around: Surroundings) -> dict[str, int]:
        """Return the pods per podset that ended and are not needed again."""


class GroupedKind(JobKind, Protocol):
    """Pods: several may make one Workload together."""

    def group(self, manifest: Manifest) -> tuple[str, int]:
        """Return the group's name and its total count; ("", 1) for a lone pod."""

    def role(self, manifest: Manifest) -> str:
        """Return the name of the podset that a pod of a group belongs to."""

    def owner_reference(self, manifest: Manifest) -> dict[str, Any]:
        """Return how the Workload of a group names one of its pods."""

    def group_workload(
        self, manifests: Sequence[Manifest], around: Surroundings
    ) -> dict[str, Any]:
        """Return the manifest of the Workload of a complete group.

        Labels to copy and the total count must be equal on all pods; raises
        ManifestError otherwise, and when fewer pods than the group waits for have not failed.
        """

    def group_finish(self, manifests: Sequence[Manifest]) -> Finish | None:
        """Return how the group ended; None while it goes on."""

    def group_ready(self, manifests: Sequence[Manifest]) -> bool:
        """Return whether all pods of the group are ready."""

    def group_reclaimable(self, manifests: Sequence[Manifest]) -> dict[str, int]:
        """Return the succeeded pods by podset."""


def prebuilt_name(manifest: Manifest) -> str:
    """Return the Workload that a job names, by a label or an annotation; "" for none.

    Source: docs/semantics/kueue-jobs.md#prebuilt-workloads
    """
    for place in ("labels", "annotations"):
        given = manifest["metadata"].get(place) or {}
        if name := given.get(_PREBUILT):
            return str(name)
    return ""


def workload_of(job: Manifest) -> str:
    """Return the name of the Workload of a job: the one that it names, or its own."""
    return prebuilt_name(job) or workload_name({"kind": "Job", **job})


def workload_name(
    manifest: Manifest, *, name: str = "", generation: int | None = None
) -> str:
    """Return `kind-name-xxxxx`, the last part a stable hash of what owns it.

    `name` replaces the object's own where one object has several Workloads, and
    `generation` tells the slices of an elastic job apart.
    The hash is our own: stored worlds that are run again keep their names.
    Source: docs/semantics/kueue-jobs.md#name-of-the-workload
    """
    metadata, kind = manifest["metadata"], str(manifest["kind"])
    name = name or str(metadata["name"])
    owner = f"{kind}/{name}/{metadata.get('uid', '')}"
    if generation is not None:
        owner += f"/{generation}"
    digest = hashlib.sha256(owner.encode()).digest()
    suffix = "".join(_ALPHABET[byte % len(_ALPHABET)] for byte in digest[:_SUFFIX])
    prefix = f"{kind.lower()}-{name}"
    return f"{prefix[: _LONGEST_NAME - _SUFFIX - 1]}-{suffix}"


def is_managed_elsewhere(manifest: Manifest) -> bool:
    """Return whether a Job is left to a controller that is not simulated.

    Source: docs/semantics/kueue-jobs.md#batch-job
    """
    named = (manifest.get("spec") or {}).get("managedBy")
    return manifest.get("kind") == "Job" and named not in _CONTROLLERS


#: Who a Job may say that it is managed by, and is then: nobody said, and MultiKueue.
_CONTROLLERS = (None, "", "kubernetes.io/job-controller", "kueue.x-k8s.io/multikueue")


def pods_at_once(spec: Manifest) -> int:
    """Return how many pods of a Job run together.

    Source: docs/semantics/kueue-jobs.md#batch-job
    """
    parallelism = _count(spec, "parallelism")
    return min(parallelism, _count(spec, "completions", parallelism))


def completions_of(spec: Manifest) -> int:
    """Return how many pods of a Job have to succeed: as many as run, where it does not say."""
    return _count(spec, "completions", _count(spec, "parallelism") or 1)


def is_work_queue(spec: Manifest) -> bool:
    """Return whether a Job makes no more pods once one of them has succeeded.

    Source: <https://kubernetes.io/docs/concepts/workloads/controllers/job/#parallel-jobs>
    """
    return spec.get("completions") is None and spec.get("parallelism") is not None


def waves_of(spec: Manifest) -> int:
    """Return how many times a Job's pods run one after another."""
    at_once = pods_at_once(spec)
    completions = _count(spec, "completions", at_once)
    return max(1, -(-completions // at_once)) if at_once else 1


def _count(spec: Manifest, name: str, default: int = 1) -> int:
    value = spec.get(name)
    return default if value is None else int(value)


def count_of(holder: Manifest, name: str, default: int) -> int:
    """Return a count of a manifest; `default` when it is left out."""
    return _count(holder, name, default)


def pod_number(name: str) -> int | None:
    """Return the number at the end of a pod's name; None: its name, as it came, has none."""
    number = name.rpartition("-")[2]
    return int(number) if is_whole(number) else None


def job_index(annotations: Mapping[str, str]) -> int | None:
    """Return the index that a pod's annotations say; None where they say no number."""
    index = str(annotations.get(JOB_INDEX, ""))
    return int(index) if is_whole(index) else None


def succeeded_of(status: Manifest) -> tuple[int, str]:
    """Return how many pods a Job's status counts, and their indexes such as `0,2-4`.

    What is none of these counts as 0 and "".
    """
    count, indexes = status.get("succeeded"), _indexes(status, "completedIndexes")
    return max(0, count) if isinstance(count, int) else 0, indexes


def failed_indexes(status: Manifest) -> str:
    """Return the indexes that a Job's status says have failed for good, or ""."""
    return _indexes(status, "failedIndexes")


def _indexes(status: Manifest, name: str) -> str:
    indexes = status.get(name)
    known = isinstance(indexes, str) and _INDEXES.fullmatch(indexes)
    return str(indexes) if known else ""


def indexes_of(text: str, below: int) -> Iterator[int]:
    """Yield the numbers of a text such as `0,2-4`, those that are lower than `below`."""
    for first, last in spans_of(text):
        yield from range(first, min(last + 1, below))


def spans_of(indexes: str) -> Iterator[tuple[int, int]]:
    """Yield the first and last numbers of a text such as `0,2-4`."""
    for part in filter(None, indexes.split(",")):
        first, _, last = part.partition("-")
        yield int(first), int(last or first)


def with_index(indexes: str, index: int) -> str:
    """Return a text such as `0,2-4` with one more index; costs its spans."""
    found: list[tuple[int, int]] = []
    for first, last in sorted([*spans_of(indexes), (index, index)]):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return ",".join(f"{a}-{z}" if z > a else str(a) for a, z in found)


def first_index(completed: str, others: Collection[int | None]) -> int:
    """Return the lowest index that neither a text such as `0,2-4` nor `others` has."""
    index = 0
    for first, last in spans_of(completed):
        while index < first:
            if index not in others:
                return index
            index += 1
        index = max(index, last + 1)
    while index in others:
        index += 1
    return index
