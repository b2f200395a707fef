"""Checks of what runs: Workload, batch Job, JobSet.

Source: docs/semantics/kueue.md#defaults-and-validation.
"""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_choice,
    expect_flag,
    expect_items,
    expect_object,
    expect_text,
    expect_whole,
)
from scheduler.input.manifests.kubernetes import check_pod_spec
from scheduler.input.manifests.topology import check_annotations, check_topology_request
from scheduler.model.amounts import is_whole
from scheduler.model.cron import read_schedule
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Form, Problem, Wanted, expected

Fields = dict[str, Any]

MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
_CRON_COUNTS = (
    "startingDeadlineSeconds",
    "successfulJobsHistoryLimit",
    "failedJobsHistoryLimit",
)


def check_workload(document: Document, spec: Fields) -> None:
    """Check the podsets of a Workload, and what its status says of them.

    Raises ManifestError naming the field.
    """
    counts: dict[str, int] = {}
    partial = ""
    if not (items := spec.get("podSets")):
        raise document.error("spec.podSets", expected(Wanted.AT_LEAST_ONE))
    for index, item in enumerate(items):
        path = f"spec.podSets[{index}]"
        name, count = item.get("name"), item.get("count")
        if name == "":
            raise document.error(f"{path}.name", expected(Wanted.TEXT, name))
        name, count = name or "main", 1 if count is None else count
        _check_pod_set(document, item, path, count)
        if name in counts:
            raise document.error(f"{path}.name", Form.TWICE.said(name=f"podset {name}"))
        counts[name] = count
        if item.get("minCount") is not None:
            if partial:
                problem = Problem.ONE_MIN_COUNT.said(name=partial)
                raise document.error(f"{path}.minCount", problem)
            partial = name
    _check_reclaimable(document, counts)


def _check_pod_set(document: Document, item: Fields, path: str, most: int) -> None:
    if (least := item.get("minCount") or 0) > most:
        problem = expected(Wanted.COUNT_MOST.said(most=most), given=least)
        raise document.error(f"{path}.minCount", problem)
    check_topology_request(document, item, path)
    check_template(document, item, f"{path}.template")


def check_template(document: Document, holder: Fields, path: str) -> None:
    """Check a pod template; its pods may not ask for the resource `pods`.

    Raises ManifestError naming the field.
    Source: docs/semantics/kueue.md#the-pods-resource.
    """
    template = expect_object(document, holder, path, needed=True)
    metadata = expect_object(document, template, f"{path}.metadata")
    for part in ("labels", "annotations"):
        expect_object(document, metadata, f"{path}.metadata.{part}")
    check_pod_spec(document, template, f"{path}.spec")
    check_annotations(document, template, path)
    refuse_pods_resource(document, template["spec"], f"{path}.spec")


def refuse_pods_resource(document: Document, spec: Fields, path: str) -> None:
    """Refuse a pod spec that asks for the resource `pods`, which counts pods."""
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(kind) or ()):
            asked = (container.get("resources") or {}).get("requests") or {}
            if "pods" in asked:
                raise document.error(
                    f"{path}.{kind}[{index}].resources.requests.pods",
                    Problem.PODS.said(),
                )


def _check_reclaimable(document: Document, counts: dict[str, int]) -> None:
    status = expect_object(document, document.data, "status")
    for path, item in expect_items(document, status, "status.reclaimablePods"):
        name = expect_text(document, item, f"{path}.name")
        if name not in counts:
            known = ", ".join(counts)
            raise document.error(
                f"{path}.name", expected(Wanted.ONE_OF.said(known=known), name)
            )
        count = expect_whole(document, item, f"{path}.count", least=0)
        if count > counts[name]:
            problem = expected(Wanted.PODSET_MOST.said(most=counts[name]), given=count)
            raise document.error(f"{path}.count", problem)


def check_job(document: Document) -> Fields:
    """Return a batch Job. Raises ManifestError naming the field."""
    spec = expect_object(document, document.data, "spec", needed=True)
    parallelism = expect_whole(document, spec, "spec.parallelism", least=0, default=1)
    expect_whole(document, spec, "spec.completions", least=0, default=1)
    expect_flag(document, spec, "spec.suspend", default=False)
    check_template(document, spec, "spec.template")
    least = (document.metadata.get("annotations") or {}).get(MIN_PARALLELISM)
    if least is not None and not _within(least, parallelism):
        raise document.error(
            f"metadata.annotations.{MIN_PARALLELISM}",
            expected(Wanted.PARALLELISM.said(most=parallelism), least),
        )
    return document.copied()


def _within(text: object, most: int) -> bool:
    return isinstance(text, str) and is_whole(text) and 1 <= int(text) <= most


def check_cron_job(document: Document) -> Fields:
    """Check a CronJob and return its manifest. Raises ManifestError naming the field.

    Source: docs/semantics/controllers.md#cronjob.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    schedule = expect_text(document, spec, "spec.schedule")
    _check_schedule(document, schedule, "spec.schedule")
    if spec.get("timeZone") is not None:
        zone = expect_text(document, spec, "spec.timeZone")
        _check_schedule(document, schedule, "spec.timeZone", zone)
    if spec.get("concurrencyPolicy") is not None:
        policies = ("Allow", "Forbid", "Replace")
        expect_choice(document, spec, "spec.concurrencyPolicy", policies)
    expect_flag(document, spec, "spec.suspend", default=False)
    for name in _CRON_COUNTS:
        expect_whole(document, spec, f"spec.{name}", least=0, default=0)
    template = expect_object(document, spec, "spec.jobTemplate", needed=True)
    check_annotations(document, template, "spec.jobTemplate")
    inner = "spec.jobTemplate.spec"
    job = expect_object(document, template, inner, needed=True)
    expect_whole(document, job, f"{inner}.parallelism", least=0, default=1)
    expect_whole(document, job, f"{inner}.completions", least=0, default=1)
    expect_flag(document, job, f"{inner}.suspend", default=False)
    check_template(document, job, f"{inner}.template")
    return document.copied()


def _check_schedule(document: Document, text: str, path: str, zone: str = "") -> None:
    try:
        read_schedule(text, zone)
    except QuantityError as error:
        raise document.error(path, error.said) from error


def check_job_set(document: Document) -> Fields:
    """Check a JobSet and return its manifest. Raises ManifestError naming the field."""
    spec = expect_object(document, document.data, "spec", needed=True)
    names: set[str] = set()
    for path, item in expect_items(document, spec, "spec.replicatedJobs"):
        name = expect_text(document, item, f"{path}.name")
        if name in names:
            raise document.error(f"{path}.name", Problem.JOB_TWICE.said(name=name))
        names.add(name)
        expect_whole(document, item, f"{path}.replicas", least=0, default=1)
        template = expect_object(document, item, f"{path}.template", needed=True)
        inner = f"{path}.template.spec"
        job = expect_object(document, template, inner, needed=True)
        expect_whole(document, job, f"{inner}.parallelism", least=0, default=1)
        expect_whole(document, job, f"{inner}.completions", least=0, default=1)
        check_template(document, job, f"{inner}.template")
    if not names:
        raise document.error("spec.replicatedJobs", expected(Wanted.AT_LEAST_ONE))
    return document.copied()
