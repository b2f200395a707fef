"""Run times that people gave, wherever they put them, and those that nobody gave.

An annotation of ours counts on the object and on the pod template inside it: it is
copied from the template to the object when the object is read. What has none runs for
the policy's `simulation.defaultRuntime`, and a report says how many those are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.loading.loaded import Finding, Loaded
from scheduler.model import registry
from scheduler.model.annotations import (
    ARRIVAL,
    CLUSTER,
    FROM_COMMAND,
    FROM_DEADLINE,
    PREFIX,
    RECREATE,
    RUNTIME,
    RUNTIME_SOURCE,
    TAKEN,
    read_timing,
)
from scheduler.model.errors import QuantityError
from scheduler.model.jobs import JobKind
from scheduler.model.kueue.deadlines import deadline_of
from scheduler.model.objects import Key, Object
from scheduler.model.policy import RunTimesFrom
from scheduler.model.reasons import has_ended
from scheduler.model.sentence import Sentence
from scheduler.words.findings import RunTimes

Manifest = Mapping[str, Any]
WHERE = "metadata.annotations"
#: Kinds that hold a pod template and are no kind of job.
_MAKERS = frozenset({"CronJob", "ReplicaSet"})
#: Beside or inside a pod template, and without a template in it.
_LEAVES = frozenset(
    {"affinity", "containers", "initContainers", "selector", "status", "volumes"}
)
_DEEPEST = 12
#: What an import took a run time from -> what it says of that.
_READ = {FROM_COMMAND: RunTimes.OF_COMMANDS, FROM_DEADLINE: RunTimes.OF_DEADLINES}


def take_template_annotations(
    loaded: Loaded, document: Document, manifest: dict[str, Any]
) -> None:
    """Copy annotations of ours from pod templates to the object that holds them.

    Where both have one and they differ the object's counts, and a warning says so.
    Raises ManifestError for an annotation that the object could not have either.
    """
    for path, ours in _of_templates(manifest):
        try:
            read_timing(ours)
        except QuantityError as error:
            raise document.error(f"{path}.{WHERE}", error.said) from error
        metadata = manifest["metadata"] = {**(manifest.get("metadata") or {})}
        given = metadata.get("annotations") or {}
        metadata["annotations"] = {**ours, **given}
        for name, value in ours.items():
            if given.get(name, value) != value:
                said = RunTimes.TWO.said(name=name, object=given[name], template=value)
                loaded.warn(document.place(f"{path}.{WHERE}"), said)


def take_owner_annotations(loaded: Loaded) -> None:
    """Copy annotations of ours from what owns an object, the nearest first.

    A tree of a running cluster is read whole: what stands on its Deployment, JobSet or
    RayJob counts for the Jobs, Workloads and pods below. When it comes is its own.
    Where both have one and they differ the object's counts, and a warning says so.
    Cost: O(objects).
    """
    for obj in loaded.objects:
        if obj.metadata.get("ownerReferences") and not _is_made_here(obj):
            _take_of_owners(loaded, obj)


def _is_made_here(obj: Object) -> bool:
    """Return whether a world of ours made this pod: no cluster has pods of Workloads."""
    given = obj.metadata.get("ownerReferences") or ()
    kinds = {one.get("kind") for one in given if one.get("controller")}
    return obj.key.kind == "Pod" and kinds == {"Workload"}


def _take_of_owners(loaded: Loaded, obj: Object) -> None:
    given = dict(obj.annotations)
    taken = dict(given)
    for owner in _owners(loaded, obj):
        for name, value in owner.annotations.items():
            if name.startswith(PREFIX) and name not in _OF_ITSELF:
                taken.setdefault(name, value)
                if given.get(name, value) != value:
                    said = RunTimes.TWO_OWNERS.said(
                        name=name, object=given[name], owner=str(owner.key), other=value
                    )
                    loaded.warn(loaded.places[obj.key].place(WHERE), said)
    if taken != given:
        obj.metadata["annotations"] = taken


#: Annotations that say nothing of what an object owns.
_OF_ITSELF = frozenset({ARRIVAL, CLUSTER, TAKEN, RECREATE})


def _owners(loaded: Loaded, obj: Object) -> Iterator[Object]:
    """Yield what controls an object, and what controls that."""
    for _ in range(_DEEPEST):
        given = obj.metadata.get("ownerReferences") or ()
        found = next((one for one in given if one.get("controller")), None)
        if found is None:
            return
        kind, name = str(found.get("kind")), str(found.get("name"))
        owner = loaded.by_key.get(Key(kind, obj.key.namespace, name))
        if owner is None:
            return
        yield owner
        obj = owner


def _of_templates(manifest: Manifest) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the annotations of ours inside the spec, each with its object's path."""
    if not (_is_job(str(manifest.get("kind"))) or manifest.get("kind") in _MAKERS):
        return
    left: list[tuple[str, object, int]] = [("spec", manifest.get("spec"), 0)]
    while left:
        path, value, depth = left.pop()
        if isinstance(value, list):
            left += [(f"{path}[{n}]", one, depth + 1) for n, one in enumerate(value)]
        elif isinstance(value, dict) and depth < _DEEPEST:
            metadata = value.get("metadata")
            given = metadata.get("annotations") if isinstance(metadata, dict) else None
            if isinstance(given, dict):
                ours = {k: v for k, v in given.items() if k.startswith(PREFIX)}
                if ours:
                    yield path, ours
            left += [
                (f"{path}.{name}", one, depth + 1)
                for name, one in value.items()
                if name not in _LEAVES and isinstance(one, dict | list)
            ]


def _is_job(kind: str) -> bool:
    return kind != "Pod" and kind in _job_kinds()


@cache
def _job_kinds() -> frozenset[str]:
    return frozenset(entry.name for entry in registry.entries("job-kind"))


def assumed_run_times(loaded: Loaded, span: str) -> list[Finding]:
    """Return one finding per kind of work whose run time is assumed or read.

    Work without one takes `span`. What serves without end, is made again, has ended or belongs to another object
    needs none. Cost: O(objects).
    """
    return [
        Finding("warning", loaded.places[first.key].place(WHERE), said)
        for said, first in said_of_run_times(loaded.objects, span)
    ]


def said_of_run_times(
    objects: Iterable[Object], span: str
) -> Iterator[tuple[Sentence, Object]]:
    """Yield a sentence per kind of work whose run time is assumed or read, and the first.

    Cost: O(objects).
    """
    objects = list(objects)
    for source, read in _READ.items():
        taken = (o for o in objects if o.annotations.get(RUNTIME_SOURCE) == source)
        for kind, members in _by_kind(taken):
            yield read.said(n=len(members), kind=kind), members[0]
    for said, members in assumed_work(objects, span):
        if readable := sum(says_its_time(obj.manifest) for obj in members):
            said = RunTimes.READABLE.said(assumed=said, n=readable)
        yield said, members[0]


def assumed_work(
    objects: Iterable[Object], span: str
) -> Iterator[tuple[Sentence, list[Object]]]:
    """Yield how much work takes `span` that nobody gave, by kind. Cost: O(objects)."""
    for kind, members in _by_kind(without_time(objects)):
        yield (
            RunTimes.ASSUMED.said(n=len(members), kind=kind, span=span, name=RUNTIME),
            members,
        )


def take_written_run_times(objects: Iterable[Object], given: RunTimesFrom) -> None:
    """Annotate work that needs a run time with the one that its manifest holds.

    The annotation's source says what it was taken from. Cost: O(objects).
    """
    if given == "annotations":
        return
    for obj in without_time(objects):
        if (found := written_run_time(obj.manifest, given)) is not None:
            span, source = found
            ours = {RUNTIME: span, RUNTIME_SOURCE: source}
            obj.metadata["annotations"] = {**obj.annotations, **ours}


def refused_run_times(loaded: Loaded) -> list[Finding]:
    """Return one error per kind whose work has no run time: nothing is assumed."""
    return [
        Finding(
            "error",
            loaded.places[objects[0].key].place(WHERE),
            RunTimes.REFUSED.said(n=len(objects), kind=kind, name=RUNTIME),
        )
        for kind, objects in _by_kind(without_time(loaded.objects))
    ]


def without_time(objects: Iterable[Object]) -> Iterator[Object]:
    """Yield the objects whose work has no run time and needs one."""
    return (
        obj for obj in objects if _needs_time(obj) and RUNTIME not in obj.annotations
    )


def _by_kind(objects: Iterable[Object]) -> list[tuple[str, list[Object]]]:
    found: dict[str, list[Object]] = {}
    for obj in objects:
        found.setdefault(obj.key.kind, []).append(obj)
    return sorted(found.items())


def _needs_time(obj: Object) -> bool:
    if obj.metadata.get("ownerReferences") or has_ended(obj.status):
        return False
    if obj.annotations.get(RECREATE) == "true":
        return False
    if obj.key.kind in ("Pod", "Workload", "CronJob"):
        return True
    if not _is_job(obj.key.kind):
        return False
    kind: JobKind = registry.lookup("job-kind", obj.key.kind)
    return not kind.endless


# ------------------------------------------------------------------------
# Run times that a manifest holds without an annotation of ours: commands, deadlines.


_UNIT_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,3})?[smhd]?")
#: Between words, quotes and brackets of a shell; a `$` stays, for it is no number.
_BETWEEN = re.compile(r"[\s;&|()\"'`]+")
#: A command that repeats says nothing of the whole by one of its parts.
_REPEATS = frozenset({"for", "while", "until", "xargs", "watch"})
_STRESS = frozenset({"stress", "stress-ng"})


def written_run_time(manifest: Manifest, given: RunTimesFrom) -> tuple[str, str] | None:
    """Return a run time that the manifest holds, and what it is taken from.

    `given` names what is read, in order. Cost: O(manifest).
    """
    reads = (read for name, read in _READS.items() if name in given.split("-"))
    found = (read(manifest) for read in reads)
    return next((one for one in found if one is not None), None)


def says_its_time(manifest: Manifest) -> bool:
    """Return whether its pods run only commands whose time can be read."""
    return _by_command(manifest) is not None


def _by_command(manifest: Manifest) -> tuple[str, str] | None:
    """Return the longest of its pods' times; None where one cannot be read."""
    times = [_pod_seconds(pod) for pod in pods_of(manifest)]
    if not times or None in times:
        return None
    return f"{round(1000 * max(one or 0 for one in times))}ms", FROM_COMMAND


def _pod_seconds(pod: Manifest) -> float | None:
    """Return the time of its longest container after its init containers."""
    times = [_container_seconds(one) for one in _dicts(pod.get("containers"))]
    first = [
        _container_seconds(one) or 0
        for one in _dicts(pod.get("initContainers"))
        if one.get("restartPolicy") != "Always"
    ]
    known = [one for one in times if one is not None]
    return max(known) + sum(first) if known and len(known) == len(times) else None


def _container_seconds(container: Manifest) -> float | None:
    parts = (container.get("command"), container.get("args"))
    text = " ".join(
        str(word) for part in parts if isinstance(part, list) for word in part
    )
    words = [word.rpartition("/")[2] for word in _BETWEEN.split(text)]
    if not _REPEATS.isdisjoint(words):
        return None
    return sum(_seconds(span) for span in _spans(words)) or None


def _spans(words: list[str]) -> Iterator[str]:
    """Yield the spans after `sleep`, and after the option of `stress` that limits it."""
    command = ""
    for number, word in enumerate(words):
        if word == "sleep" or word in _STRESS:
            command = word
        elif command == "sleep" and _SPAN.fullmatch(word):
            yield word
        elif command in _STRESS:
            option, _, span = word.partition("=")
            span = span or "".join(words[number + 1 : number + 2])
            if option in ("-t", "--timeout") and _SPAN.fullmatch(span):
                yield span
        else:
            command = ""


def _seconds(span: str) -> float:
    number = span.rstrip("smhd")
    return float(number) * _UNIT_S[span[len(number) :]]


def _by_deadline(manifest: Manifest) -> tuple[str, str] | None:
    """Return the shorter of the job's deadline by its rounds and that of its pods."""
    found = [_whole(pod.get("activeDeadlineSeconds")) for pod in pods_of(manifest)]
    whole = deadline_of(manifest)
    if whole is not None:
        spec = manifest.get("spec")
        found.append(whole // _rounds(spec if isinstance(spec, Mapping) else {}))
    given = [one for one in found if one > 0]
    return (f"{min(given)}s", FROM_DEADLINE) if given else None


#: What the policy names -> what reads it, in this order.
_READS = {"sleep": _by_command, "deadline": _by_deadline}


def _rounds(spec: Manifest) -> int:
    at_once = max(1, _whole(spec.get("parallelism", 1)))
    return max(1, -(-_whole(spec.get("completions", 1)) // at_once))


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def pods_of(manifest: Manifest) -> Iterator[Manifest]:
    """Yield the specs of pods that it is or holds."""
    left: list[tuple[object, int]] = [(manifest.get("spec"), 0)]
    while left:
        value, depth = left.pop()
        if isinstance(value, list):
            left += [(one, depth + 1) for one in value]
        elif isinstance(value, dict) and depth < _DEEPEST:
            if isinstance(value.get("containers"), list):
                yield value
            else:
                left += [(one, depth + 1) for one in value.values()]


def _dicts(value: object) -> list[Manifest]:
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]
