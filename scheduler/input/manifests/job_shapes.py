"""The check of the pod templates and counts of job kinds, controllers and what else has pods."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_amounts,
    expect_items,
    expect_labels,
    expect_object,
    expect_text,
    expect_texts,
    expect_whole,
)
from scheduler.input.manifests.jobs.job_set import pods_of
from scheduler.input.manifests.workloads import check_template
from scheduler.model import registry
from scheduler.model.errors import ManifestError
from scheduler.model.jobs import JobKind, Shape, Surroundings, count_of, pods_at_once
from scheduler.model.problems import Wanted, expected, in_field
from scheduler.model.yunikorn.task_groups import members_of

Fields = dict[str, Any]
Holder = tuple[str, Fields]


#: What the pods of one object may repeat, on the average of as many as are allowed.
_BYTES_OF_EACH = 16_384
#: Controllers of pods that are no job kinds.
_CONTROLLERS = {
    "DaemonSet": Shape(templates=("spec.template!",)),
    "ReplicaSet": Shape(templates=("spec.template!",), counts=("spec.replicas",)),
}


def _shapes() -> dict[str, Shape]:
    kinds = {one.name: one.value.shape for one in registry.built_in("job-kind")}
    return {name: shape for name, shape in kinds.items() if shape} | _CONTROLLERS


_SHAPES = _shapes()
_KINDS: dict[str, JobKind] = {
    one.name: one.value for one in registry.built_in("job-kind")
}


def check_job_kind(document: Document) -> Fields:
    """Return the manifest of a job. Raises ManifestError naming the field."""
    expect_object(document, document.data, "spec", needed=True)
    shape = _SHAPES[document.kind]
    for path in shape.templates:
        for place, holder in _holders(document, path):
            needed = path.endswith("!")
            if shape.of_pods:
                _check_template(document, holder, place, needed=needed)
            else:
                expect_object(document, holder, place, needed=needed)
    for path in shape.counts:
        for place, holder in _holders(document, path):
            expect_whole(document, holder, place, least=0, default=1)
    for path in shape.names:
        for place, holder in _holders(document, path):
            expect_text(document, holder, place)
    if document.kind == "StatefulSet":
        _check_claim_templates(document, document.data["spec"])
    return document.copied()


def check_made(document: Document) -> None:
    """Check the pod templates that a job makes of objects of another shape.

    Raises ManifestError naming what they are made of.
    """
    shape = _SHAPES.get(document.kind)
    if shape is None or shape.of_pods:
        return
    for made in _KINDS[document.kind].pod_sets(document.data, Surroundings()):
        try:
            check_template(document, made, "template")
        except ManifestError as error:
            inside = in_field(error.place.field if error.place else "", error.problem)
            raise document.error(f"spec.{made['name']}", inside) from error


def check_pods(document: Document, manifest: Fields, most: int) -> int:
    """Return how many pods, or nodes, an object would make: counted, not made.

    Raises ManifestError naming the field of more than `most`; 0 = no limit. Each pod
    repeats its template, so of an object of more than `_BYTES_OF_EACH` bytes there are
    fewer.
    """
    try:
        made = list(_made_by(document.kind, manifest))
    except (AttributeError, KeyError, TypeError, ValueError):
        return 0  # a shape of no pods: what is wrong in it is said where it is read
    for field, count in made:
        if count > most > 0:
            raise document.error(
                field, expected(Wanted.AT_MOST_PODS.said(most=most), given=count)
            )
    total = sum(count for _, count in made)
    if most and total > 1:
        size = len(msgspec.json.encode(manifest, enc_hook=str))
        if total > (fits := max(1, most * _BYTES_OF_EACH // size)):
            field = max(made, key=lambda one: one[1])[0]
            wanted = Wanted.AT_MOST_PODS_OF.said(most=fits, size=size)
            raise document.error(field, expected(wanted, given=total))
    return total


def _made_by(kind: str, manifest: Fields) -> Iterator[tuple[str, int]]:
    spec = manifest.get("spec") or {}
    if kind in _KINDS:
        yield _KINDS[kind].pods(manifest)
        if kind == "Pod":
            yield from _task_groups(manifest)
        return
    match kind:
        case "ReplicaSet":
            yield "spec.replicas", count_of(spec, "replicas", 1)
        case "CronJob":
            job = spec["jobTemplate"].get("spec") or {}
            yield "spec.jobTemplate.spec.parallelism", pods_at_once(job)
        case "Workload" | "ProvisioningRequest":
            counts = (count_of(one, "count", 1) for one in spec.get("podSets") or ())
            yield "spec.podSets", sum(counts)
        case "TrainingRuntime" | "ClusterTrainingRuntime":
            jobs = (spec["template"].get("spec") or {}).get("replicatedJobs") or ()
            nodes = count_of(spec.get("mlPolicy") or {}, "numNodes", 1)
            yield "spec.template.spec.replicatedJobs", pods_of(jobs) * max(1, nodes)
        case "NodeGroup":
            for field in ("minNodes", "nodes"):
                yield f"spec.{field}", count_of(spec, field, 0)
        case _:
            pass


def _task_groups(manifest: Fields) -> Iterator[tuple[str, int]]:
    """Yield the placeholders of the task groups that a pod declares to YuniKorn."""
    found = members_of(manifest["metadata"].get("annotations") or {})
    if found is not None:
        yield "metadata.annotations", sum(count for _, count in found)


def _check_claim_templates(document: Document, spec: Fields) -> None:
    ordinals = expect_object(document, spec, "spec.ordinals")
    expect_whole(document, ordinals, "spec.ordinals.start", least=0, default=0)
    for path, one in expect_items(document, spec, "spec.volumeClaimTemplates"):
        metadata = expect_object(document, one, f"{path}.metadata", needed=True)
        expect_text(document, metadata, f"{path}.metadata.name")
        for part in ("labels", "annotations"):
            expect_labels(document, metadata, f"{path}.metadata.{part}")
        claim = expect_object(document, one, f"{path}.spec", needed=True)
        expect_texts(document, claim, f"{path}.spec.accessModes")
        resources = expect_object(document, claim, f"{path}.spec.resources")
        expect_amounts(document, resources, f"{path}.spec.resources.requests")


def _check_template(
    document: Document, holder: Fields, place: str, *, needed: bool
) -> None:
    if needed or place.rpartition(".")[2] in holder:
        check_template(document, holder, place)


def _holders(document: Document, path: str) -> Iterator[Holder]:
    """Yield (place, object that has the last field of the path) of each match."""
    *steps, last = path.rstrip("!").split(".")
    found: list[Holder] = [("", document.data)]
    for step in steps:
        found = [inner for outer in found for inner in _step(document, step, *outer)]
    for place, holder in found:
        yield f"{place}.{last}", holder


def _step(
    document: Document, step: str, place: str, holder: Fields
) -> Iterator[Holder]:
    name = step.rstrip("!").removesuffix("[]")
    inner = f"{place}.{name}" if place else name
    if name == "*":
        for key in holder:
            one = f"{place}.{key}"
            yield one, expect_object(document, holder, one, needed=True)
    elif step.endswith("[]"):
        yield from expect_items(document, holder, inner)
    elif step.endswith("!") or name in holder:
        yield inner, expect_object(document, holder, inner, needed=True)


CHECKS: dict[str, Callable[[Document], Fields]] = dict.fromkeys(_SHAPES, check_job_kind)
