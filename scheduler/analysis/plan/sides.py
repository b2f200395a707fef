"""One side of a plan: the objects and configuration of a policy, without its work."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from scheduler.assembly import Sources
from scheduler.input.manifests import queues_yaml as yunikorn
from scheduler.input.manifests.documents import Document, read_documents
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.model import registry
from scheduler.model.errors import SourceLocation
from scheduler.model.objects import Key, Object
from scheduler.model.patches import merge
from scheduler.model.scenario import read_scenario
from scheduler.model.sentence import plain

#: Kinds that bring work without being owners of it in the registry.
_WORK = frozenset(
    {"Workload", "CronJob", "ReplicaSet", "DaemonSet", "PodGroup", "Change"}
)
#: The section of a policy that is about the run and not about policy: both sides take
#: it from the work.
_RUN = "simulation"
_SECTIONS = {"Configuration": "kueue", "KubeSchedulerConfiguration": "kubeScheduler"}


@dataclass(slots=True, kw_only=True)
class Side:
    """What the files of one side say of policy.

    `policy` is a patch of the policy's spec, `configurations` has the document and
    the path in it that each section came from. `left_out` counts work by kind.
    """

    loaded: Loaded
    objects: dict[Key, Object] = field(default_factory=dict)
    policy: dict[str, Any] = field(default_factory=dict)
    configurations: dict[str, tuple[Document, str]] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)

    @property
    def errors(self) -> list[Finding]:
        """Return the findings that forbid a run."""
        return self.loaded.errors


@lru_cache(maxsize=1024)
def is_work(kind: str) -> bool:
    """Return whether objects of this kind are work, which both sides share."""
    return kind in _WORK or any(e.name == kind for e in registry.entries("job-kind"))


def read_side(sources: Sources) -> Side:
    """Read one side. What is wrong becomes errors; nothing is raised for bad input.

    Work and arrivals among the files are left out: the work of a plan is the same
    on both sides, and so is what a policy says of the simulation. The rest of the
    policy of a Scenario among them counts.
    """
    side = Side(loaded=load(sources))
    for obj in side.loaded.objects:
        kind = obj.key.kind
        if is_work(kind):
            side.left_out[kind] = side.left_out.get(kind, 0) + 1
        else:
            side.objects[obj.key] = obj
    if side.errors:
        return side
    for document in side.loaded.scenarios:
        side.policy = merge(side.policy, read_scenario(document.data).spec.policy)
    side.policy = merge(side.policy, side.loaded.policy)
    if side.policy.pop(_RUN, None):
        side.left_out[_RUN] = 1
    for name, text in sources:
        _find_configurations(side, name, text)
    if not side.objects and not side.policy:
        _refuse_nothing(side, sources)
    return side


def _refuse_nothing(side: Side, sources: Sources) -> None:
    file = sources[0][0] if sources else "input"
    problem = plain("expected objects or configuration of a policy, found none")
    place = SourceLocation(file=file, line=1)
    side.loaded.findings.append(Finding("error", place, problem))


def _find_configurations(side: Side, name: str, text: str) -> None:
    """Enter where each section of the configuration stands."""
    for document in read_documents(text, file=name):
        if section := _SECTIONS.get(document.kind):
            side.configurations.setdefault(section, (document, ""))
        elif document.kind in ("Policy", "Scenario"):
            path = "spec" if document.kind == "Policy" else "spec.policy"
            for section in _policy_of(document):
                side.configurations.setdefault(section, (document, f"{path}.{section}"))
        elif document.kind == "ConfigMap":
            for section in ("kueue", "kubeScheduler", "yunikorn"):
                side.configurations.setdefault(section, (document, "data"))
        elif not document.kind and yunikorn.holds_queues(document):
            side.configurations.setdefault("yunikorn", (document, ""))


def _policy_of(document: Document) -> dict[str, Any]:
    spec = document.data.get("spec") or {}
    found = spec if document.kind == "Policy" else spec.get("policy") or {}
    return found if isinstance(found, dict) else {}
