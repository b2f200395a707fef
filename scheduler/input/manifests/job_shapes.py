"""Where job kinds hold pod templates and counts, and the check of both.

A path of fields; `[]` stands for each entry of a list, `*` for each value of an
object, `!` at the end for one that must be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_amounts,
    expect_items,
    expect_object,
    expect_text,
    expect_whole,
)
from scheduler.input.manifests.strict import expect_labels, expect_texts
from scheduler.input.manifests.workloads import check_template

Fields = dict[str, Any]
Holder = tuple[str, Fields]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What is checked of one kind."""

    templates: tuple[str, ...] = ()
    counts: tuple[str, ...] = ()
    names: tuple[str, ...] = ()


def _roles(specs: str) -> Shape:
    return Shape(
        templates=(f"spec.{specs}.*.template!",), counts=(f"spec.{specs}.*.replicas",)
    )


def _ray(cluster: str) -> Shape:
    workers = f"{cluster}.workerGroupSpecs[]"
    return Shape(
        templates=(f"{cluster}.headGroupSpec!.template!", f"{workers}.template!"),
        counts=(f"{workers}.replicas", f"{workers}.numOfHosts"),
        names=(f"{workers}.groupName",),
    )


_SERVING = Shape(templates=("spec.template!",), counts=("spec.replicas",))
_GROUPS = "spec.leaderWorkerTemplate!"

SHAPES: dict[str, Shape] = {
    "PyTorchJob": _roles("pytorchReplicaSpecs!"),
    "PaddleJob": _roles("paddleReplicaSpecs!"),
    "XGBoostJob": _roles("xgbReplicaSpecs!"),
    "TFJob": _roles("tfReplicaSpecs!"),
    "JAXJob": _roles("jaxReplicaSpecs!"),
    "MPIJob": _roles("mpiReplicaSpecs!"),
    "RayCluster": _ray("spec"),
    "RayJob": _ray("spec.rayClusterSpec"),
    "RayService": _ray("spec.rayClusterConfig!"),
    "Deployment": _SERVING,
    "StatefulSet": _SERVING,
    "ReplicaSet": _SERVING,
    "DaemonSet": Shape(templates=("spec.template!",)),
    "LeaderWorkerSet": Shape(
        templates=(f"{_GROUPS}.workerTemplate!", f"{_GROUPS}.leaderTemplate"),
        counts=("spec.replicas", f"{_GROUPS}.size"),
    ),
    "SparkApplication": Shape(
        templates=("spec.driver!", "spec.executor"), counts=("spec.executor.instances",)
    ),
    "TrainJob": Shape(counts=("spec.trainer.numNodes",)),
    "AppWrapper": Shape(templates=("spec.components[].template!",)),
}
#: Their "templates" are objects of another shape: only that they are objects.
_NOT_PODS = frozenset({"SparkApplication", "AppWrapper"})


def check_job_kind(document: Document) -> Fields:
    """Return the manifest of a job. Raises ManifestError naming the field."""
    expect_object(document, document.data, "spec", needed=True)
    shape = SHAPES[document.kind]
    for path in shape.templates:
        for place, holder in _holders(document, path):
            _check_holder(document, holder, place, needed=path.endswith("!"))
    for path in shape.counts:
        for place, holder in _holders(document, path):
            expect_whole(document, holder, place, least=0, default=1)
    for path in shape.names:
        for place, holder in _holders(document, path):
            expect_text(document, holder, place)
    if document.kind == "StatefulSet":
        _check_claim_templates(document, document.data["spec"])
    return document.copied()


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


def _check_holder(
    document: Document, holder: Fields, place: str, *, needed: bool
) -> None:
    if document.kind in _NOT_PODS:
        expect_object(document, holder, place, needed=needed)
    elif needed or place.rpartition(".")[2] in holder:
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


CHECKS: dict[str, Callable[[Document], Fields]] = dict.fromkeys(SHAPES, check_job_kind)
