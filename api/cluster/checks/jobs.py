"""The values of Jobs and CronJobs.

Source: <https://kubernetes.io/docs/concepts/workloads/controllers/job/>
"""

from __future__ import annotations

import re
import uuid
import zoneinfo
from collections.abc import Iterator, Mapping
from typing import Any

from api.cluster.checks import names, pods
from api.cluster.checks.placing import label_selector_faults, required, unsupported
from api.cluster.checks.pods import not_negative
from api.cluster.checks.replicated import UNSELECTED, selects, shown
from api.cluster.refusals import Fault

Document = Mapping[str, Any]
LONGEST_LABEL = 63
_OF_ITS_OWN = "batch.kubernetes.io/controller-uid"
_LONGEST_CRON = 52
_MOST_PARALLEL = 100_000
_ACTIONS = ("Count", "FailIndex", "FailJob", "Ignore")
_NOT_NUMBERS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_ZONE = re.compile(r"[A-Za-z0-9._+-]+", re.ASCII)


def faults(document: Document) -> Iterator[Fault]:
    """Yield the faults of a Job."""
    spec: Document = document.get("spec") or {}
    name = str(document["metadata"].get("name") or "")
    if len(name) > LONGEST_LABEL and not spec.get("manualSelector"):
        why = f"must be no more than {LONGEST_LABEL} bytes"  # its pods' labels have it
        yield names.invalid("spec.template.labels", name, why)
    yield from _spec_faults(spec, "spec")
    selector = spec.get("selector")
    labels = ((spec.get("template") or {}).get("metadata") or {}).get("labels")
    manual = bool(spec.get("manualSelector"))
    if selector is None and manual:
        yield required("spec.selector")
    if selector is not None:
        yield from label_selector_faults(selector, "spec.selector")
        given = selector.get("matchLabels") or {}
        if not manual and set(given) != {_OF_ITS_OWN}:
            uid = (labels or {}).get(_OF_ITS_OWN) or str(uuid.uuid4())
            selector = {**selector, "matchLabels": {**given, _OF_ITS_OWN: uid}}
            said = f"Invalid value: {shown(selector)}: `selector` not auto-generated"
            yield Fault("spec.selector", said)
            labels = {**(labels or {}), **_labels_of(name, uid)}
            labels = dict(sorted(labels.items()))
    if (manual and selector is None) or (
        selector is not None and not selects(selector, labels or {})
    ):
        said = f"Invalid value: {shown(labels)}: {UNSELECTED}"
        yield Fault("spec.template.metadata.labels", said)


def _labels_of(name: str, uid: str) -> dict[str, str]:
    """Return the labels that the pods of a Job are given."""
    return {
        _OF_ITS_OWN: uid,
        "batch.kubernetes.io/job-name": name,
        "controller-uid": uid,
        "job-name": name,
    }


def cron_faults(document: Document) -> Iterator[Fault]:
    """Yield the faults of a CronJob."""
    spec: Document = document.get("spec") or {}
    schedule = str(spec.get("schedule") or "")
    if not schedule:
        yield required("spec.schedule")
    elif problem := _schedule_problem(schedule):
        yield names.invalid("spec.schedule", schedule, problem)
    if "TZ" in schedule:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        yield names.invalid("spec.schedule", schedule, why)
    yield from not_negative(spec, "spec", "startingDeadlineSeconds")
    yield from _zone_faults(spec.get("timeZone"))
    policy, known = spec.get("concurrencyPolicy"), ("Allow", "Forbid", "Replace")
    if policy not in (None, *known):
        yield unsupported("spec.concurrencyPolicy", policy, *known)
    inner: Document = (spec.get("jobTemplate") or {}).get("spec") or {}
    yield from _spec_faults(inner, "spec.jobTemplate.spec")
    if (selector := inner.get("selector")) is not None:
        why = "`selector` will be auto-generated"
        said = f"Invalid value: {shown(selector)}: {why}"
        yield Fault("spec.jobTemplate.spec.selector", said)
    limits = ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")
    yield from not_negative(spec, "spec", *limits)


def long_cron_name(document: Document) -> Iterator[Fault]:
    """Yield the faults of the name of a new CronJob: its Jobs' names are longer."""
    name = str(document["metadata"].get("name") or "")
    if len(name) > _LONGEST_CRON:
        why = f"must be no more than {_LONGEST_CRON} characters"
        yield names.invalid("metadata.name", name, why)


def _schedule_problem(schedule: str) -> str:
    if schedule.startswith(("TZ=", "CRON_TZ=")):
        schedule = schedule.partition(" ")[2].strip()
    if schedule.startswith("@"):
        return ""
    fields = schedule.split()
    if len(fields) == 5:
        return ""
    listed = " ".join(fields)
    return f"expected exactly 5 fields, found {len(fields)}: [{listed}]"


def _zone_faults(zone: Any) -> Iterator[Fault]:
    if zone is None:
        return
    field = "spec.timeZone"
    if not zone:
        yield names.invalid(field, zone, "timeZone must be nil or non-empty string")
        return
    for part in zone.split("/"):
        if part in (".", "..") or part[:1] == "-" or not _ZONE.fullmatch(part):
            yield names.invalid(field, zone, f"unknown time zone {zone}")
            return
    if zone.lower() == "local":
        why = (
            "timeZone must be an explicit time zone as defined in "
            "https://www.iana.org/time-zones"
        )
        yield names.invalid(field, zone, why)
        return
    try:
        zoneinfo.ZoneInfo(zone)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        yield names.invalid(field, zone, f"unknown time zone {zone}")


def _spec_faults(spec: Document, field: str) -> Iterator[Fault]:
    yield from not_negative(spec, field, *_NOT_NUMBERS[:-1])
    yield from not_negative(spec, field, "maxFailedIndexes")
    alone = spec.get("backoffLimitPerIndex") is None
    if spec.get("maxFailedIndexes") is not None and alone:
        why = "when maxFailedIndexes is specified"
        yield required(f"{field}.backoffLimitPerIndex", why)
    if (manager := spec.get("managedBy")) is not None:
        yield from _prefixed_faults(str(manager), f"{field}.managedBy")
    yield from _mode_faults(spec, field)
    if (policy := spec.get("podFailurePolicy")) is not None:
        yield from _failure_faults(spec, policy, f"{field}.podFailurePolicy")
    if (success := spec.get("successPolicy")) is not None:
        yield from _success_faults(spec, success, f"{field}.successPolicy")
    yield from _replacement_faults(spec, field)
    template = spec.get("template") or {}
    yield from pods.template_faults(template, f"{field}.template")
    restarts = (template.get("spec") or {}).get("restartPolicy")
    place = f"{field}.template.spec.restartPolicy"
    if restarts in (None, "", "Always"):
        yield required(place, 'valid values: "OnFailure", "Never"')
    elif restarts not in ("OnFailure", "Never"):
        yield unsupported(place, restarts, "OnFailure", "Never")
    elif spec.get("podFailurePolicy") is not None and restarts != "Never":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        yield names.invalid(place, restarts, why)


def _prefixed_faults(text: str, field: str) -> Iterator[Fault]:
    if not text:
        yield required(field)
        return
    domain, slash, path = text.partition("/")
    if not (slash and domain and path):
        why = 'must be a domain-prefixed path (such as "acme.io/foo")'
        yield names.invalid(field, text, why)


def _mode_faults(spec: Document, field: str) -> Iterator[Fault]:
    mode = spec.get("completionMode")
    if mode not in (None, "NonIndexed", "Indexed"):
        yield unsupported(f"{field}.completionMode", mode, "NonIndexed", "Indexed")
    most = spec.get("maxFailedIndexes")
    if mode == "Indexed":
        if spec.get("completions") is None:
            why = "when completion mode is Indexed"
            yield required(f"{field}.completions", why)
        parallel = spec.get("parallelism") or 0
        if parallel > _MOST_PARALLEL:
            why = (
                f"must be less than or equal to {_MOST_PARALLEL} when completion mode "
                "is Indexed"
            )
            yield Fault(f"{field}.parallelism", f"Invalid value: {parallel}: {why}")
        if most is not None and most > (spec.get("completions") or 0):
            why = "must be less than or equal to completions"
            yield Fault(f"{field}.maxFailedIndexes", f"Invalid value: {most}: {why}")
    elif mode in (None, "NonIndexed"):
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                why = "requires indexed completion mode"
                yield Fault(f"{field}.{name}", f"Invalid value: {spec[name]}: {why}")


def _failure_faults(spec: Document, policy: Document, field: str) -> Iterator[Fault]:
    inner: Document = (spec.get("template") or {}).get("spec") or {}
    known = {
        c.get("name")
        for part in ("containers", "initContainers")
        for c in inner.get(part) or ()
    }
    for n, rule in enumerate(policy.get("rules") or ()):
        place = f"{field}.rules[{n}]"
        action = rule.get("action") or ""
        if not action:
            listed = " ".join(f'"{one}"' for one in _ACTIONS)
            yield required(f"{place}.action", f"valid values: [{listed}]")
        elif action == "FailIndex":
            if spec.get("backoffLimitPerIndex") is None:
                why = "requires the backoffLimitPerIndex to be set"
                yield names.invalid(f"{place}.action", action, why)
        elif action not in _ACTIONS:
            yield unsupported(f"{place}.action", action, *_ACTIONS)
        codes, conditions = rule.get("onExitCodes"), rule.get("onPodConditions")
        if codes is not None:
            yield from _code_faults(codes, f"{place}.onExitCodes", known)
        if codes is not None and conditions:
            why = "specifying both OnExitCodes and OnPodConditions is not supported"
            yield Fault(place, f"Invalid value: {why}")
        if codes is None and not conditions:
            why = "specifying one of OnExitCodes and OnPodConditions is required"
            yield Fault(place, f"Invalid value: {why}")


def _code_faults(codes: Document, field: str, known: set[Any]) -> Iterator[Fault]:
    operator, values = codes.get("operator") or "", codes.get("values") or []
    if not operator:
        yield required(f"{field}.operator", 'valid values: ["In" "NotIn"]')
    elif operator not in ("In", "NotIn"):
        yield unsupported(f"{field}.operator", operator, "In", "NotIn")
    container = codes.get("containerName")
    if container is not None and container not in known:
        why = "must be one of the container or initContainer names in the pod template"
        yield names.invalid(f"{field}.containerName", container, why)
    if not values:
        said = f"Invalid value: {shown(codes.get('values'))}"
        yield Fault(f"{field}.values", f"{said}: at least one value is required")
    seen: set[int] = set()
    for n, value in enumerate(values):
        if operator == "In" and value == 0:
            why = "must not be 0 for the In operator"
            yield Fault(f"{field}.values[{n}]", f"Invalid value: 0: {why}")
        if value in seen:
            yield Fault(f"{field}.values[{n}]", f"Duplicate value: {value}")
        seen.add(value)
    if list(values) != sorted(values):
        said = f"Invalid value: {shown(values)}: must be ordered"
        yield Fault(f"{field}.values", said)


def _success_faults(spec: Document, policy: Document, field: str) -> Iterator[Fault]:
    if spec.get("completionMode") != "Indexed":
        # As the server's own type has it, whose value it shows.
        rules = [
            {
                "SucceededIndexes": rule.get("succeededIndexes"),
                "SucceededCount": rule.get("succeededCount"),
            }
            for rule in policy.get("rules") or ()
        ]
        said = f"Invalid value: {shown({'Rules': rules})}"
        yield Fault(field, f"{said}: requires indexed completion mode")
        return
    if not policy.get("rules"):
        why = "at least one rules must be specified when the successPolicy is specified"
        yield required(f"{field}.rules", why)
    completions = spec.get("completions") or 0
    for n, rule in enumerate(policy.get("rules") or ()):
        place = f"{field}.rules[{n}]"
        count = rule.get("succeededCount")
        if count is None and rule.get("succeededIndexes") is None:
            why = "at least one of succeededCount or succeededIndexes must be specified"
            yield required(place, why)
        if count is not None and count > completions:
            why = (
                f"must be less than or equal to {completions} (the number of "
                "specified completions)"
            )
            yield Fault(f"{place}.succeededCount", f"Invalid value: {count}: {why}")


def _replacement_faults(spec: Document, field: str) -> Iterator[Fault]:
    policy = spec.get("podReplacementPolicy")
    known: tuple[str, ...] = ("Failed", "TerminatingOrFailed")
    if spec.get("podFailurePolicy") is not None:
        known = known[:1]
    if policy not in (None, *known):
        yield unsupported(f"{field}.podReplacementPolicy", policy, *known)
