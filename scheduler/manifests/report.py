"""What came of an import: per file, per kind, and each sort of finding once.

Made of what was loaded; nothing here decides what is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scheduler.errors import SourceLocation
from scheduler.manifests import kinds
from scheduler.manifests.loading.loaded import Finding, Loaded

#: Places of one sort of finding that are listed; the rest is a number.
MOST_PLACES = 5


@dataclass(slots=True, kw_only=True)
class FileOutcome:
    """What one file gave: how many documents were taken, by what became of them."""

    file: str
    simulated: int = 0
    kept: int = 0
    configuration: int = 0
    refused: int = 0
    kinds: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOutcome:
    """What became of the documents of one kind, and what that changes."""

    kind: str
    outcome: str  # simulated, kept, configuration or refused
    count: int
    effect: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingGroup:
    """One sort of finding: how often, where first, and what it changes."""

    level: str
    problem: str
    effect: str
    count: int
    places: list[SourceLocation]


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was taken, what was kept, what was left out and why."""

    files: list[FileOutcome]
    kinds: list[KindOutcome]
    findings: list[FindingGroup]


def report_of(loaded: Loaded, findings: Iterable[Finding] | None = None) -> Report:
    """Return the report of what was loaded. Cost: O(documents + findings)."""
    return Report(
        files=list(_files(loaded)),
        kinds=list(_kinds(loaded)),
        findings=groups_of(loaded.findings if findings is None else findings),
    )


def _files(loaded: Loaded) -> Iterator[FileOutcome]:
    found = {name: FileOutcome(file=name) for name in loaded.files}
    for (file, kind, level), count in loaded.outcomes.items():
        outcome = found.setdefault(file, FileOutcome(file=file))
        setattr(outcome, level, getattr(outcome, level) + count)
        outcome.kinds[kind] = outcome.kinds.get(kind, 0) + count
    return iter(found.values())


def _kinds(loaded: Loaded) -> Iterator[KindOutcome]:
    counts: Counter[tuple[str, str]] = Counter()
    for (_, kind, level), count in loaded.outcomes.items():
        counts[kind, level] += count
    order = ("refused", "kept", "configuration", "simulated")
    for kind, level in sorted(counts, key=lambda one: (order.index(one[1]), one[0])):
        yield KindOutcome(
            kind=kind,
            outcome=level,
            count=counts[kind, level],
            effect=_effect(kind, level),
        )


def _effect(kind: str, level: str) -> str:
    if level == "refused":
        return _LEFT_OUT
    if level != "kept":
        return ""
    entry = kinds.BY_KIND.get(kind)
    return effect_of(entry.note) if entry is not None else _NOBODY_KNOWS


def groups_of(findings: Iterable[Finding]) -> list[FindingGroup]:
    """Return each sort of finding once, errors first."""
    return list(_groups(findings))


def _groups(findings: Iterable[Finding]) -> Iterator[FindingGroup]:
    groups: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        sort = (finding.level, finding.sort or finding.problem)
        groups.setdefault(sort, []).append(finding)
    order = ("error", "unsupported", "warning")
    for level, problem in sorted(groups, key=lambda one: order.index(one[0])):
        members = groups[level, problem]
        yield FindingGroup(
            level=level,
            problem=problem,
            effect=_LEFT_OUT if level == "error" else effect_of(problem),
            count=len(members),
            places=[member.place for member in members[:MOST_PLACES]],
        )


_LEFT_OUT = "it is not taken; nothing of it counts"
_NOBODY_KNOWS = "no decision here depends on it; in a cluster its controller may act"
#: What is said of a thing that is not simulated -> what that changes.
_EFFECTS = {
    "wait for no volume": "pods are bound that would wait for a volume",
    "claims and volumes as well": "pods that have no node wait for it, as in a cluster "
    "that lacks it; those that have one stay",
    "classes and slices as well": "pods that have no node wait for it, as in a cluster "
    "that lacks it; those that have one stay",
    "a claim holds no pod back": "pods are bound that would wait for it",
    "it accepts all": "a pod may get a device that the expression does not select",
    "only the first is tried": "a pod waits where a later alternative is free",
    "administrative access": "a pod waits for devices that others have",
    "distinctAttribute": "a pod may get devices that it refuses",
    "shared counters": "more of a device may be given away than there is",
    "takes all of it": "fewer pods get a device than could share it",
    "taints of devices": "a pod may get a device that nobody should use",
    "as a resource gets no device": "a pod waits where no node lists the resource",
    "a disk named in the pod": "a pod may land on a node where its disk is not",
    "beyond it are made": "pods run that the API server would refuse",
    "replicas stay": "it asks for the same from its start to its end",
    "storage is not counted": "a volume may be made where no storage is left",
    "no attachment": "a node may get more volumes than it can attach",
    "is not read; known": "nothing of it counts",
    "admission checks are not": "Workloads are admitted that would wait for a check",
    "controller is not simulated": "no pods come of it, so what it runs takes no room",
    "does not take part in": "no decision depends on it",
    "spread by default": "it is not simulated otherwise: no other decision depends on it",
    "read as policy when": "no decision depends on one that holds neither",
    "decides nothing here": _NOBODY_KNOWS,
    "topology-aware": "pods are placed without regard to the topology that is asked; "
    "where the flavor has none, Kueue would not admit the Workload",
    "usage over time": "who used much before does not wait longer",
    "Kueue reads the label": "the job is in no queue because of it",
    "elastic jobs": "its size stays that with which it was admitted",
    "concurrent admission": "it is tried in one flavor after the other",
    "preemption gates": "it preempts as soon as it may",
    "PriorityBoost": "its priority stays as it is",
    "of the trace is left out": "fewer jobs come than in the trace",
    "of the trace are left out": "fewer jobs come than in the trace",
    "not an object of a cluster": "nothing of it counts, as kubectl would not take it",
    "kustomization": "its names, namespaces, patches and generators change nothing",
    "not carried over": "in the new terms it is not there, and decides nothing",
    "the deadline of a pod": "it holds its quota and node until its run time is over",
    "start together": "pods of a later step take room while an earlier one runs",
    "may share a domain": "pods land on nodes that the real one keeps for another Job",
    "keep their replicas": "it asks for the same from its start to its end",
    "keeps its number of replicas": "it asks for the same from its start to its end",
    "executors are not added": "it asks for the same from its start to its end",
    "not the one named": "who is placed first and where is that scheduler's choice",
    "without overrides": "node selectors, tolerations and requests of them are missing",
    "runs here as any other": "it takes room here that it would take elsewhere",
    "have, not before": "it holds its quota longer than in a cluster",
    "it runs on": "it holds its quota longer than in a cluster",
    "a setting of Kueue's own process": "no decision depends on it",
    "deviceClassMappings: kept": "claims of devices take no quota",
    "integrations.frameworks: kept": "jobs are queued whose framework is not listed",
    "kept, not simulated": "decisions are those of the default",
}


def effect_of(problem: str) -> str:
    """Return what a thing without effect here changes for decisions; "" if said."""
    for words, effect in _EFFECTS.items():
        if words in problem:
            return effect
    return ""
