"""One side of a plan: the objects and configuration of a policy, without its work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import msgspec

from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.document import Variant
from scheduler.analysis.plan.faults import Fault, FaultsError, faults_in, faults_of
from scheduler.assembly import Prepared, Sources, prepare
from scheduler.input.manifests import queues_yaml as yunikorn
from scheduler.input.manifests.documents import Document, read_documents
from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Finding, Loaded, rank
from scheduler.input.manifests.stack_signs import stack_of
from scheduler.input.traces.options import NO_OPTIONS, TraceOptions
from scheduler.input.traces.taking import take_traces
from scheduler.model import registry
from scheduler.model.errors import SchedulerError, SourceLocation
from scheduler.model.objects import Key, Object
from scheduler.model.patches import merge
from scheduler.model.policy import Stack
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
    on both sides, and so is what a policy says of the simulation, but for a proposal.
    The rest of the policy of a Scenario among them counts.
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
    given = side.policy.pop(_RUN, None) or {}
    if "proposal" in given:
        side.policy[_RUN] = {"proposal": given.pop("proposal")}
    if given:
        side.left_out[_RUN] = 1
    for name, text in sources:
        _find_configurations(side, name, text)
    if not side.objects and not side.policy:
        file = sources[0][0] if sources else "input"
        problem = plain("expected objects or configuration of a policy, found none")
        place = SourceLocation(file=file, line=1)
        side.loaded.findings.append(Finding("error", place, problem))
    return side


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


# ------------------------------------------------------------------------
# Work and one side's policy, joined to what a run begins with.


_YAML = (".yaml", ".yml", ".json", ".jsonl")
PLAIN = Variant(name="plan")


class Inputs(msgspec.Struct, frozen=True, kw_only=True):
    """The texts of a plan: plain values, so that another process can take them.

    `base` = None stands for the policy that comes with the work, `stack` = None for the
    stack that files and policies are for.
    """

    work: list[tuple[str, str]]
    changed: list[tuple[str, str]]
    base: list[tuple[str, str]] | None = None
    traces: TraceOptions = NO_OPTIONS
    stack: Stack | None = None


@dataclass(slots=True, kw_only=True)
class Joined:
    """Both sides, and what a run of each begins with: the base, then the changed."""

    base: Side
    changed: Side
    bases: tuple[FileBase, FileBase]


def join(inputs: Inputs, seed: int) -> Joined:
    """Return both sides, ready to run.

    Objects of a side take the place of those that come with the work; what the base
    has and the changed side lacks is deleted there. A section of configuration that
    either side states comes from the sides alone. Raises FaultsError with everything
    that is wrong; `seed` is of the worlds that are made to find it.
    """
    changed = read_side(inputs.changed)
    base = Side(loaded=Loaded()) if inputs.base is None else read_side(inputs.base)
    faults = [*faults_in(base.errors), *faults_in(changed.errors)]
    try:
        work = _work(inputs, base)
        faults += faults_in(work.loaded.errors)
    except SchedulerError as error:
        raise FaultsError([*faults, *faults_of(error, _first(inputs.work))]) from error
    if faults:
        raise FaultsError(faults)
    keys = set(base.objects) | set(changed.objects)
    if inputs.base is None:  # what comes with the work is the base
        base = _own_side(work, changed)
    sections = set(base.policy) | set(changed.policy)
    bases = tuple(
        FileBase(_joined(work, side, keys, sections)) for side in (base, changed)
    )
    if inputs.stack is not None:
        for one in bases:
            one.prepared.loaded.policy["stack"] = inputs.stack
    _try(bases, seed, _first(inputs.changed))
    return Joined(base=base, changed=changed, bases=(bases[0], bases[1]))


def _first(sources: Sources) -> str:
    return sources[0][0] if sources else "input"


def _try(bases: Sequence[FileBase], seed: int, file: str) -> None:
    """Make each world once. Raises FaultsError with what references and rules find."""
    faults: list[Fault] = []
    for base in bases:
        try:
            base.world(PLAIN, seed)
        except SchedulerError as error:
            faults += faults_of(error, file)
    if faults:
        raise FaultsError(faults)


def _work(inputs: Inputs, base: Side) -> Prepared:
    """Return the work; the jobs of traces go to the queues of the base."""
    texts = [source for source in inputs.work if source[0].lower().endswith(_YAML)]
    found = replace(prepare(texts, stack=inputs.stack), files=dict(inputs.work))
    if found.scenario is None:
        loaded = found.loaded
        take_traces(
            loaded,
            [source for source in inputs.work if source not in texts],
            options=inputs.traces,
            present=base.objects,
            stack=inputs.stack or _stack(loaded, base),
        )
    return found


def _stack(loaded: Loaded, base: Side) -> str:
    policy = {**loaded.policy, **base.policy}
    both = Loaded(objects=[*loaded.objects, *base.objects.values()], policy=policy)
    return str(policy.get("stack") or stack_of(both))


def _own_side(work: Prepared, changed: Side) -> Side:
    """Return those objects and sections of the work that the changed side states."""
    loaded = work.loaded
    side = Side(loaded=loaded)
    side.objects = {o.key: o for o in loaded.objects if o.key in changed.objects}
    policy = dict(loaded.policy)
    if work.scenario is not None:
        policy = {**work.scenario.spec.policy, **policy}
    side.policy = {name: policy[name] for name in changed.policy if name in policy}
    return side


def _joined(work: Prepared, side: Side, keys: set[Key], sections: set[str]) -> Prepared:
    loaded = work.loaded
    objects = [obj for obj in loaded.objects if obj.key not in keys]
    places = {k: place for k, place in loaded.places.items() if k not in keys}
    policy = {n: value for n, value in loaded.policy.items() if n not in sections}
    joined = Loaded(
        objects=sorted([*objects, *side.objects.values()], key=_order),
        policy={**policy, **side.policy},
        scenarios=loaded.scenarios,
        findings=list(loaded.findings),
        places=places | {key: side.loaded.places[key] for key in side.objects},
        files=loaded.files,
    )
    scenario = work.scenario
    if scenario is not None:
        own = {n: v for n, v in scenario.spec.policy.items() if n not in sections}
        spec = msgspec.structs.replace(scenario.spec, policy=own)
        scenario = msgspec.structs.replace(scenario, spec=spec)
    return replace(work, loaded=joined, scenario=scenario)


def _order(obj: Object) -> tuple[int, bool, tuple[str, ...]]:
    """Order policy by name, whatever the names of files; work stays as it comes."""
    work = is_work(obj.key.kind)
    return rank(obj), work, () if work else tuple(obj.key)
