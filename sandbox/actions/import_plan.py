"""What an import would do to a world: what is new, what changes, what is refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from sandbox.base.errors import Cause, DeniedError, InvalidError
from sandbox.base.refusals import NotTaken
from sandbox.world import operations
from sandbox.world.findings import causes_of
from sandbox.world.operations import Edit, Part, Put, SetPolicy, Several
from scheduler.assembly import NOTHING_LEFT, merge
from scheduler.engine.world import World, fork
from scheduler.engine.worlds.objects import reported_status
from scheduler.input.manifests.dumps.run_times import time_of
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.input.manifests.references import check_references
from scheduler.input.manifests.repairs import Repairs
from scheduler.input.manifests.report import Report, report_of
from scheduler.input.manifests.run_times import take_written_run_times
from scheduler.input.manifests.simulation_gaps.unsimulated import find_gated
from scheduler.input.manifests.stack_signs import signs_of
from scheduler.input.manifests.updates import Refused, check_update
from scheduler.model import durations
from scheduler.model.errors import PolicyError, SchedulerError, SourceLocation
from scheduler.model.objects import Key, Object
from scheduler.model.policy import read_policy
from scheduler.words.read_as import ReadAs, StackSign

#: What the world writes into metadata itself.
_OURS = ("uid", "creationTimestamp", "generation")


@dataclass(slots=True, kw_only=True)
class Imported:
    """What an import did, or would do."""

    created: list[str] = field(default_factory=list)  # keys
    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    policy: bool = False  # the policy was changed too
    findings: list[Cause] = field(default_factory=list)
    revision: int = 0
    report: Report | None = None


def try_out(world: World, operation: Edit | None) -> None:
    """Do it to a copy, so that what the world refuses is reported."""
    if operation is None:
        return
    try:
        operations.perform(fork(world), operation)
    except SchedulerError as error:
        raise InvalidError(error.said, causes=[Cause(problem=error.said)]) from error


def plan_of(
    world: World, loaded: Loaded, *, skip_errors: bool
) -> tuple[Edit | None, Imported]:
    """Return what to do to the world, and what it comes to."""
    find_gated(loaded, world.policy.spec.kueue, world.policy.spec.decides_as())
    simulation = world.policy.spec.simulation
    take_written_run_times(loaded.objects, simulation.reads_run_times())
    findings = [*loaded.findings, *_scenarios(loaded)]
    present = {key: obj.manifest for key, obj in world.objects.items()}
    coming = {obj.key: obj.manifest for obj in loaded.objects}
    stack = loaded.policy.get("stack", world.policy.spec.stack)
    findings += check_references({**present, **coming}, loaded.places, stack=stack)
    refusals = _refusals(world, loaded)
    fixed = {
        key: Finding("error", loaded.places[key].place(refused.field), refused.problem)
        for key, refused in refusals.items()
    }
    findings += fixed.values()
    findings += _kept_time(world, loaded)
    findings += _kept_stack(loaded, stack)
    repairs = Repairs(loaded=loaded, present=world.objects.values())
    errors = [finding for finding in findings if finding.level == "error"]
    if errors and not skip_errors:
        if len(errors) == len([one for one in refusals.values() if one.webhook]):
            raise DeniedError(_denial(refusals), causes=causes_of(findings, repairs))
        raise InvalidError(NotTaken.NOTHING.said(), causes=causes_of(findings, repairs))
    answer = Imported(
        findings=causes_of(findings, repairs),
        report=report_of(
            loaded,
            findings,
            default_runtime=simulation.default_runtime,
            repairs=repairs,
        ),
    )
    loaded.findings = findings
    loaded.leave_out_errors()
    taken = [obj for obj in loaded.objects if obj.key not in fixed]
    if errors and not (taken or loaded.policy):
        raise InvalidError(NOTHING_LEFT, causes=causes_of(findings, repairs))
    put = _put(world, taken, answer)
    policy = _policy(world, loaded, answer)
    parts: list[Part] = [p for p in (policy, put) if p is not None]
    if not parts:
        return None, answer
    return (parts[0] if len(parts) == 1 else Several(parts)), answer


def _refusals(world: World, loaded: Loaded) -> dict[Key, Refused]:
    """Return what would change a field that the real systems hold fixed."""
    found: dict[Key, Refused] = {}
    for obj in loaded.objects:
        if obj.key not in world.objects:
            continue
        refused = check_update(world.get(obj.key), obj)
        if refused is not None:
            found[obj.key] = refused
    return found


def _denial(refusals: Mapping[Key, Refused]) -> str:
    """Return what a webhook says of the first change that it denies."""
    first = next(one for one in refusals.values() if one.webhook)
    return (
        f'admission webhook "{first.webhook}" denied the request: '
        f"{first.field}: {first.problem}"
    )


def _kept_time(world: World, loaded: Loaded) -> Iterator[Finding]:
    """Yield that the sandbox's time is kept, where the files have one of their own."""
    theirs = time_of(loaded.objects)
    if theirs is None:
        return
    ours = durations.stamp_text(world.context.epoch_us + 1000 * world.context.now_ms)
    if theirs == ours:
        return
    place = SourceLocation(file=loaded.files[0] if loaded.files else "", line=1)
    yield Finding("warning", place, ReadAs.TIME.said(theirs=theirs, ours=ours))


def _kept_stack(loaded: Loaded, stack: str) -> Iterator[Finding]:
    """Yield what in the files is for schedulers that do not run here."""
    for sign in signs_of(loaded).values():
        if sign.stack != stack and (stack, sign.stack) != ("kueue", "kube"):
            place = sign.place or SourceLocation(file=loaded.files[0], line=1)
            said = StackSign.OTHER.said(sign=sign.said(), stack=stack)
            yield Finding("warning", place, said)


def _scenarios(loaded: Loaded) -> list[Finding]:
    return [
        Finding("error", document.place("kind"), ReadAs.SCENARIO.said())
        for document in loaded.scenarios
    ]


def _put(world: World, objects: list[Object], answer: Imported) -> Put | None:
    taken: list[Object] = []
    for obj in objects:
        known = world.objects.get(obj.key)
        if known is None:
            answer.created.append(str(obj.key))
        elif _same(known, obj):
            answer.unchanged.append(str(obj.key))
            continue
        else:
            answer.changed.append(str(obj.key))
        taken.append(obj)
    if not taken:
        return None
    return Put(
        manifests=[obj.manifest for obj in taken],
        statuses={str(obj.key): obj.status for obj in taken if obj.status},
    )


def _same(known: Object, given: Object) -> bool:
    status = reported_status(given)
    same = all(known.status.get(name) == value for name, value in status.items())
    return same and _bare(known.manifest) == _bare(given.manifest)


def _bare(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return the manifest without what the world fills in."""
    metadata = {n: v for n, v in manifest["metadata"].items() if n not in _OURS}
    return {**manifest, "metadata": metadata}


def _policy(world: World, loaded: Loaded, answer: Imported) -> SetPolicy | None:
    if not loaded.policy:
        return None
    before = world.policy.document()
    after = {**before, "spec": merge(before["spec"], loaded.policy)}
    if loaded.schedulers:
        # One scheduler and a List of them have no fields in common.
        after["spec"]["kubeScheduler"] = loaded.policy["kubeScheduler"]
    return changed_policy(before, after, answer)


def changed_policy(
    before: dict[str, Any], after: dict[str, Any], answer: Imported
) -> SetPolicy | None:
    """Return the step from one policy document to another, None when they are one.

    Notes in `answer` that there is one. Raises InvalidError where no policy reads so.
    """
    try:
        document = read_policy(after).document()
    except PolicyError as error:
        cause = Cause(problem=error.said, field="policy")
        raise InvalidError(error.said, causes=[cause]) from error
    if document == before:
        return None
    answer.policy = True
    return SetPolicy(document)
