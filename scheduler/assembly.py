"""Texts to a world that is ready to run: manifests, policy, scenario, arrivals."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from scheduler.engine.world import World
from scheduler.input.arrivals import Taken, expand, name_apart
from scheduler.input.files.unpacking import UnreadText, is_read
from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.dumps.run_times import estimate_run_times, time_of
from scheduler.input.manifests.load import (
    UNREAD,
    load,
    refuse_if_nothing_came,
    take_document,
)
from scheduler.input.manifests.loading.identity import say_aside
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.loading.pasted import is_table, unfenced
from scheduler.input.manifests.loading.rendered import RenderedFiles
from scheduler.input.manifests.references import check_references
from scheduler.input.manifests.releases import (
    release_in_metrics,
    take_newest_releases,
    take_seen_releases,
)
from scheduler.input.manifests.run_times import take_written_run_times
from scheduler.input.manifests.simulation_gaps.unsimulated import find_gated
from scheduler.input.manifests.stack_signs import disagreement, signs_of, stack_of
from scheduler.input.traces.options import NO_OPTIONS, TraceOptions
from scheduler.input.traces.taking import is_trace, take_traces
from scheduler.model.errors import ManifestError, SchedulerError, SourceLocation
from scheduler.model.latencies import USUAL
from scheduler.model.objects import Object
from scheduler.model.patches import merge as merge
from scheduler.model.policy import STACK_FIELD, Stack, read_policy
from scheduler.model.problems import FileProblem, RequestProblem, parted
from scheduler.model.scenario import Arrival, Scenario, read_load, read_scenario
from scheduler.model.sentence import Sentence
from scheduler.model.texts.values import DEFAULT_LIMITS, Limits

Sources = Sequence[tuple[str, str]]  # (file name, text)
_YAML = (".yaml", ".yml", ".json", ".jsonl")
#: Comments and marks of documents, then a field that a document begins with.
_MANIFEST = re.compile(
    r"""(?:[ \t\r]*(?:\#[^\n]*|---[^\n]*)?\n)*+
    (?:(?:apiVersion|kind|metadata|partitions|queues\.yaml):|\s*\{\s*")""",
    re.VERBOSE,
)


@dataclass(slots=True, kw_only=True)
class Assembled:
    """A world at virtual time 0, the scenario it came from, what was found."""

    world: World
    scenario: Scenario | None
    loaded: Loaded


#: What is refused though errors are to be skipped.
NOTHING_LEFT = RequestProblem.NOTHING_LEFT.said()


class InputError(SchedulerError):
    """The input cannot be taken; `loaded.errors` has every reason with its place."""

    def __init__(self, loaded: Loaded, *, asks: Sentence | None = None) -> None:
        reasons = [str(finding) for finding in loaded.errors]
        super().__init__("\n".join((*([asks.text] if asks else []), *reasons)))
        self.loaded = loaded
        self.asks = asks


class StackOpenError(InputError):
    """Files are for several schedulers and nobody said which of `stacks`; `asks` asks."""

    def __init__(
        self, loaded: Loaded, *, asks: Sentence, stacks: Sequence[Stack]
    ) -> None:
        super().__init__(loaded, asks=asks)
        self.args = (asks.text,)
        self.stacks = tuple(stacks)


def assemble(
    sources: Sources,
    *,
    seed: int | None = None,
    policy: Mapping[str, Any] | None = None,
    limits: Limits = DEFAULT_LIMITS,
    skip_errors: bool = False,
    traces: TraceOptions = NO_OPTIONS,
    change: Callable[[Loaded], None] | None = None,
    newest: bool = True,
) -> Assembled:
    """Build a world from files. `policy` is a patch of the policy's spec.

    With `newest` a scheduler whose release nothing names decides as its newest one;
    else as without a release.

    `traces` says how the traces among them are taken; `change` edits what was loaded.

    With `skip_errors` what cannot be taken is left out, and reported; where
    nothing is left then, that is refused as well.

    The policy is that of the scenario, then of the configuration files among
    the sources, then the patch. Without a scenario or a Policy's `simulation`
    steps take their usual time;
    `simulation: {latencies: null}` in the patch makes them instant.

    Where none of these names the stack, it is the one that the files are for. Raises
    StackOpenError when they are for several, InputError with every finding, or
    PolicyError; nothing is half taken.
    """
    stack = (policy or {}).get("stack")
    prepared = prepare(sources, limits=limits, traces=traces, stack=stack)
    return prepared.assemble(
        seed=seed, policy=policy, change=change, skip_errors=skip_errors, newest=newest
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """Files that were read once, for any number of worlds."""

    files: dict[str, str]
    loaded: Loaded
    scenario: Scenario | None
    arrived_with: int | None = None  # the seed whose arrivals are in `loaded`

    def with_arrivals(self, seed: int | None = None) -> Prepared:
        """Return the same with the arrivals of a seed made once, for many worlds."""
        if self.arrived_with is not None or not (self.scenario or self.loaded.loads):
            return self
        return replace(
            self,
            loaded=self._with_arrivals(seed),
            arrived_with=_seed(self.scenario, seed),
        )

    def _with_arrivals(self, seed: int | None) -> Loaded:
        """Return a copy of what was loaded; the arrivals are in it."""
        loaded = _copy(self.loaded)
        if self.arrived_with is None:
            used = _seed(self.scenario, seed)
            if self.scenario is not None:
                source, spec = loaded.scenarios[0], self.scenario.spec
                _expand_arrivals(loaded, source, spec.arrivals, used, self.files)
            expand_loads(loaded, used, self.files)
        return loaded

    def assemble(
        self,
        *,
        seed: int | None = None,
        policy: Mapping[str, Any] | None = None,
        change: Callable[[Loaded], None] | None = None,
        skip_errors: bool = False,
        newest: bool = True,
    ) -> Assembled:
        """Build a world; `change` edits what was loaded, arrivals included.

        Raises as `assemble` does. What is prepared stays as it is.
        """
        loaded = self._with_arrivals(seed)
        if change is not None:
            change(loaded)
        manifests = {obj.key: obj.manifest for obj in loaded.objects}
        dump_time = time_of(loaded.objects)
        spec = _policy_spec(loaded, self.scenario, policy or {}, dump_time)
        if self.scenario is None:
            spec = take_seen_releases(loaded, spec)
        if newest:
            spec = take_newest_releases(loaded, spec, self.files)
        if "stack" not in spec:
            spec = {**spec, "stack": _stack(loaded)}
        loaded.findings += check_references(
            manifests, loaded.places, stack=spec["stack"]
        )
        _refuse_errors(loaded, skip=skip_errors)
        made = read_policy({"spec": spec})
        if made.spec.release is not msgspec.UNSET:
            find_gated(loaded, spec.get("kueue"), made.spec.release)
        if dump_time is not None:
            estimate_run_times(loaded.objects, now=made.spec.simulation.start_time)
        take_written_run_times(loaded.objects, made.spec.simulation.reads_run_times())
        world = World.create(made, _seed(self.scenario, seed))
        taken = [obj for obj in loaded.objects if _put(world, obj, loaded)]
        _refuse_errors(loaded, skip=skip_errors)
        if loaded.errors and not (taken or loaded.policy or self.scenario):
            raise InputError(loaded, asks=NOTHING_LEFT)
        return Assembled(world=world, scenario=self.scenario, loaded=loaded)


def _refuse_errors(loaded: Loaded, *, skip: bool) -> None:
    if loaded.errors and not skip:
        raise InputError(loaded)
    loaded.leave_out_errors()


def _put(world: World, obj: Object, loaded: Loaded) -> bool:
    """Put an object in; what admission refuses becomes a finding at its place."""
    try:
        world.put(obj)
    except ManifestError as refusal:
        document = loaded.places.get(obj.key)
        if document is None:
            raise
        path, problem = parted(refusal.problem)
        field = path if path.startswith("spec") else ""
        loaded.complain(document.error(field, problem if field else refusal.problem))
        return False
    return True


def prepare(
    sources: Sources,
    *,
    limits: Limits = DEFAULT_LIMITS,
    traces: TraceOptions = NO_OPTIONS,
    stack: Stack | None = None,
) -> Prepared:
    """Read files; what is wrong with them shows when a world is made of them.

    Traces are taken for `stack`, or for the one that the files are for.
    """
    loaded = load([source for source in sources if _is_loaded(*source)], limits=limits)
    scenario = _scenario(loaded)
    if scenario is None:
        _report_unread(loaded, sources)
        meant = stack or loaded.policy.get("stack") or stack_of(loaded)
        take_traces(loaded, sources, stack=meant, options=traces)
        refuse_if_nothing_came(loaded)
    return Prepared(files=dict(sources), loaded=loaded, scenario=scenario)


def _is_loaded(name: str, text: str) -> bool:
    """Return whether a file holds manifests, or cannot be read, which a load says."""
    if isinstance(text, UnreadText):
        return True
    named = name.lower().endswith(_YAML) or _holds_manifests(name, text)
    return named and not is_trace(name, text)


def _holds_manifests(name: str, text: str) -> bool:
    """Return whether a file whose name says nothing begins as a manifest does.

    Or, given by itself, as a table of kubectl does, or has manifests between fences.
    """
    if is_read(name):
        return False
    pasted = "/" not in name and (is_table(text) or bool(unfenced(text)))
    return pasted or _MANIFEST.match(text) is not None


def _report_unread(loaded: Loaded, sources: Sources) -> None:
    rendered = RenderedFiles.of(sources)
    for name, text in sources:
        if not (_is_loaded(name, text) or is_trace(name, text)):
            place = SourceLocation(file=name, line=1)
            if (seen := release_in_metrics(name, text)) is not None:
                loaded.named_releases.append(seen)
            elif said := rendered.beside(name):
                say_aside(loaded, place, said)
            else:
                loaded.warn(place, UNREAD)
            loaded.files.append(name)


def _copy(loaded: Loaded) -> Loaded:
    """Return the same with objects of its own: a world fills in its objects."""
    return Loaded(
        objects=[
            Object(
                key=obj.key,
                manifest=msgspec.to_builtins(obj.manifest),
                status=msgspec.to_builtins(obj.status),
            )
            for obj in loaded.objects
        ],
        policy=loaded.policy,
        scenarios=loaded.scenarios,
        loads=list(loaded.loads),
        findings=list(loaded.findings),
        places=dict(loaded.places),
        limits=loaded.limits,
        files=loaded.files,
        sources=loaded.sources,
        rendered=loaded.rendered,
        named_releases=loaded.named_releases,
        refused=loaded.refused,
        outcomes=loaded.outcomes.copy(),
        unread=dict(loaded.unread),
    )


def _scenario(loaded: Loaded) -> Scenario | None:
    if not loaded.scenarios:
        return None
    if len(loaded.scenarios) > 1:
        raise loaded.scenarios[1].error("kind", FileProblem.ONE_SCENARIO.said())
    document = loaded.scenarios[0]
    try:
        return read_scenario(document.data)
    except SchedulerError as error:
        raise document.error("spec", error.said) from error


def _seed(scenario: Scenario | None, seed: int | None) -> int:
    if seed is not None:
        return seed
    return scenario.spec.seed if scenario is not None else 1


def expand_loads(
    loaded: Loaded, seed: int, files: dict[str, str], start_ms: int = 0
) -> None:
    """Add what the Loads among the files let arrive, counted from `start_ms`.

    Never raises for bad input. Cost: O(arrivals).
    """
    for source in loaded.loads:
        try:
            spec = read_load(source.data)
        except SchedulerError as error:
            loaded.complain(source.error("spec", error.said))
            continue
        _expand_arrivals(loaded, source, spec.arrivals, seed, files, start_ms)
    loaded.loads = []  # each once


def _expand_arrivals(
    loaded: Loaded,
    source: Document,
    arrivals: Sequence[Arrival],
    seed: int,
    files: dict[str, str],
    start_ms: int = 0,
) -> None:
    taken, most = Taken(set), loaded.limits.objects
    for ordinal, arrival in enumerate(arrivals):
        place = source.place(f"spec.arrivals[{ordinal}].object")
        try:
            for manifest in expand(
                arrival,
                seed=seed,
                ordinal=ordinal,
                files=files,
                start_ms=start_ms,
                most=max(1, most - len(loaded.objects)) if most else 0,
            ):
                if isinstance(manifest, Finding):
                    loaded.findings.append(manifest)
                    continue
                name_apart(manifest, taken)
                take_document(
                    loaded, Document(file=place.file, data=manifest, line=place.line)
                )
        except ManifestError as error:
            loaded.complain(error)
        except SchedulerError as error:
            loaded.complain(source.error(f"spec.arrivals[{ordinal}]", error.said))


def _policy_spec(
    loaded: Loaded,
    scenario: Scenario | None,
    patch: Mapping[str, Any],
    dump_time: str | None,
) -> dict[str, Any]:
    spec: dict[str, Any] = {}
    if scenario is not None:
        if scenario.spec.release is not msgspec.UNSET:
            spec["release"] = msgspec.to_builtins(scenario.spec.release)
        spec = merge(spec, scenario.spec.policy)
    elif "simulation" not in loaded.policy:
        # A scenario and a Policy state their times: a step without one takes none.
        spec = {"simulation": {"latencies": msgspec.to_builtins(USUAL)}}
    spec = merge(merge(spec, loaded.policy), patch)
    return _at_its_time(spec, dump_time)


def _stack(loaded: Loaded) -> Stack:
    """Return the stack that files are for. Raises StackOpenError for several."""
    signs = signs_of(loaded)
    said = disagreement(signs)
    if said is None:
        return stack_of(loaded)
    place = SourceLocation(file="", line=0, field=STACK_FIELD)
    asked = [Finding("error", place, said)]
    found = Loaded(findings=asked, files=loaded.files)
    raise StackOpenError(found, asks=said, stacks=list(signs))


def _at_its_time(spec: dict[str, Any], time: str | None) -> dict[str, Any]:
    """Return the spec with the time of a cluster that was read while it ran.

    Ages, backoffs and deadlines count from there; a startTime that is given wins.
    """
    simulation = spec.get("simulation") or {}
    if time is None:
        return spec
    return {**spec, "simulation": {"startTime": time, **simulation}}
