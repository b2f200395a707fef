"""What Kueue's webhooks refuse of Jobs, pods, Deployments and StatefulSets, in their words.

Source: docs/semantics/kueue-lifecycle.md#what-webhooks-refuse
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from api.cluster import refusals
from api.cluster.checks import names
from api.cluster.refusals import Fault
from api.views.base import whole
from scheduler.engine.lifetime.jobs.starting import ADMISSION_GATE
from scheduler.model import registry
from scheduler.model.amounts import is_whole

Document = Mapping[str, Any]
_KUEUE = "kueue.x-k8s.io"
QUEUE = f"{_KUEUE}/queue-name"
_GROUP, _TOTAL = f"{_KUEUE}/pod-group-name", f"{_KUEUE}/pod-group-total-count"
_MANAGED, _PREBUILT = f"{_KUEUE}/managed", f"{_KUEUE}/prebuilt-workload-name"
_LEAST, _LONGEST = f"{_KUEUE}/job-min-parallelism", f"{_KUEUE}/max-exec-time-seconds"
_EQUAL = f"{_KUEUE}/job-completions-equal-parallelism"
_CLASS, _ELASTIC = f"{_KUEUE}/priority-class", f"{_KUEUE}/elastic-job"
_RETRIABLE = f"{_KUEUE}/retriable-in-group"
_REQUIRED = f"{_KUEUE}/podset-required-topology"
_PREFERRED = f"{_KUEUE}/podset-preferred-topology"
_ANYWHERE = f"{_KUEUE}/podset-unconstrained-topology"
_SLICE, _SIZE = (
    f"{_KUEUE}/podset-slice-required-topology",
    f"{_KUEUE}/podset-slice-size",
)
#: Jobs of others' controllers, which Kueue's webhooks hold to what all jobs share.
OF_OTHERS = tuple(
    kind.name
    for kind in registry.built_in("job-kind")
    if kind.value.served is not None and kind.name != "LeaderWorkerSet"
)
_TOGETHER = f"{_KUEUE}/podset-group-name"
_BOOLEANS = frozenset(
    [
        "1",
        "t",
        "T",
        "TRUE",
        "true",
        "True",
        "0",
        "f",
        "F",
        "FALSE",
        "false",
        "False",
    ]  # as Go reads them
)


def check(
    document: Document,
    kind: str,
    before: Document | None = None,
    *,
    waits: bool = False,
) -> None:
    """Raise the 403 with which a webhook denies a new object, or a change of one.

    A job that `waits` for quota is held back, whatever its fields say.
    """
    rules = _RULES.get(kind)
    if rules is None:
        return
    found = [*rules(document)]
    if before is not None:
        if [*rules(before)] == found:  # it was taken as it is
            found = []
        found += _changed(document, before, waits=waits)
    if found:
        raise denied(f"v{kind.lower()}.kb.io", found)


def denied(webhook: str, faults: list[Fault]) -> refusals.RefusalError:
    """Return the answer of an admission webhook that says no."""
    lines = [f"{fault.field}: {fault.problem}" for fault in faults]
    said = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    message = f'admission webhook "{webhook}" denied the request: {said}'
    return refusals.RefusalError(403, "Forbidden", message)


def _labels(document: Document) -> Document:
    return (document.get("metadata") or {}).get("labels") or {}


def _annotations(document: Document) -> Document:
    return (document.get("metadata") or {}).get("annotations") or {}


def _label(name: str) -> str:
    return f"metadata.labels[{name}]"


def _annotation(name: str, place: str = "metadata") -> str:
    return f"{place}.annotations[{name}]"


def _count_faults(
    text: str, field: str, wrong: Callable[[int], str]
) -> Iterator[Fault]:
    number = whole(text)
    if number is None:
        why = f'strconv.Atoi: parsing "{text}": invalid syntax'
        yield names.invalid(field, text, why)
    elif problem := wrong(number):
        yield Fault(field, f"Invalid value: {number}: {problem}")


def _named_faults(labels: Document, *which: str) -> Iterator[Fault]:
    for name in which:
        if name in labels:
            value = str(labels[name])
            found = names.problems(value, "subdomain", 253, names.NOT_SUBDOMAIN)
            if problems := list(found):
                yield names.invalid(_label(name), value, ",".join(problems))


def _common_faults(document: Document) -> Iterator[Fault]:
    labels = _labels(document)
    yield from _named_faults(labels, QUEUE, _PREBUILT)
    if _LONGEST in labels:
        yield from _count_faults(
            str(labels[_LONGEST]),
            _label(_LONGEST),
            lambda n: "should be greater than 0" if n <= 0 else "",
        )


def _job_faults(document: Document) -> Iterator[Fault]:
    yield from _common_faults(document)
    spec: Document = document.get("spec") or {}
    parallel = spec.get("parallelism")
    count = 1 if parallel is None else parallel
    completions = spec.get("completions")
    if completions is not None:
        count = min(count, completions)
    if (least := _annotations(document).get(_LEAST)) is not None:
        yield from _count_faults(
            str(least),
            _annotation(_LEAST),
            lambda n: "" if 0 < n < count else f"should be between 0 and {count - 1}",
        )
    yield from _equal_faults(document, spec)
    template: Document = spec.get("template") or {}
    place = "spec.template.metadata"
    found = [*_topology_faults(_annotations(template), place)]
    yield from found
    size = whole(str(_annotations(template).get(_SIZE, "")))
    if not found and size is not None and size > count:
        why = f"must not be greater than pod set count {count}"
        yield names.invalid(_annotation(_SIZE, place), str(size), why)


def _equal_faults(document: Document, spec: Document) -> Iterator[Fault]:
    """Yield the faults of a Job whose completions follow its parallelism."""
    text = _annotations(document).get(_EQUAL)
    if text is None:
        return
    field = _annotation(_EQUAL)
    if text not in _BOOLEANS:
        why = f'strconv.ParseBool: parsing "{text}": invalid syntax'
        yield names.invalid(field, text, why)
    elif text[0] in "1tT":
        if spec.get("completionMode", "NonIndexed") == "NonIndexed":
            why = "should not be enabled for NonIndexed jobs"
            yield names.invalid(field, text, why)
        if spec.get("parallelism", 1) != spec.get("completions", 1):
            why = f"should be equal to parallelism when {_EQUAL} annotation is true"
            said = f"Invalid value: {spec.get('completions', 'null')}: {why}"
            yield Fault("spec.completions", said)


def _topology_faults(given: Document, place: str) -> Iterator[Fault]:
    """Yield the faults of a request of a topology, of a template or a pod."""
    ways = (_REQUIRED, _PREFERRED, _ANYWHERE)
    if len([way for way in ways if way in given]) > 1:
        listed = ", ".join(f'"{way}"' for way in ways)
        why = f"must not contain more than one topology annotation: [{listed}]"
        yield Fault(f"{place}.annotations", f"Invalid value: {why}")
    for name in (_REQUIRED, _PREFERRED, _SLICE):
        if name in given:
            yield from names.key_faults(str(given[name]), _annotation(name, place))
    if _TOGETHER in given:
        yield from _together_faults(given, _annotation(_TOGETHER, place))
    if _ANYWHERE in given and given[_ANYWHERE] not in _BOOLEANS:
        why = "must be a boolean value"
        yield names.invalid(_annotation(_ANYWHERE, place), given[_ANYWHERE], why)
    field = _annotation(_SIZE, place)
    if _SIZE in given:
        size = whole(str(given[_SIZE]))
        if size is None:
            yield names.invalid(field, given[_SIZE], "must be a numeric value")
        elif size < 1:
            why = "must be greater than or equal to 1"
            yield names.invalid(field, given[_SIZE], why)
        if _SLICE not in given:
            why = f"may not be set when '{_SLICE}' is not specified"
            yield Fault(field, f"Forbidden: {why}")
    elif _SLICE in given:
        yield Fault(field, f"Required value: must be set when '{_SLICE}' is specified")


def _together_faults(given: Document, field: str) -> Iterator[Fault]:
    name = str(given[_TOGETHER])
    if is_whole(name):
        yield names.invalid(field, name, "must not be a number")
    for other in (_SIZE, _SLICE):
        if other in given:
            why = f"may not be set when '{other}' is specified"
            yield Fault(field, f"Forbidden: {why}")
    if _PREFERRED not in given and _REQUIRED not in given:
        why = (
            f"may not be set when neither '{_PREFERRED}' nor '{_REQUIRED}' is specified"
        )
        yield Fault(field, f"Forbidden: {why}")


def _pod_faults(document: Document) -> Iterator[Fault]:
    labels, given = _labels(document), _annotations(document)
    yield from _common_faults(document)
    if labels.get(_MANAGED, "true") != "true":
        why = "managed label value can only be 'true'"
        yield Fault(_label(_MANAGED), f"Forbidden: {why}")
    yield from _group_faults(labels, given)
    yield from _topology_faults(given, "metadata")


def _group_faults(labels: Document, given: Document) -> Iterator[Fault]:
    both = f"both the '{_TOTAL}' annotation and the '{_GROUP}' label should be set"
    if not labels.get(_GROUP):
        if _TOTAL in given:
            yield Fault(_label(_GROUP), f"Required value: {both}")
        return
    yield from _named_faults(labels, _GROUP)
    if _TOTAL not in given:
        yield Fault(_annotation(_TOTAL), f"Required value: {both}")
        return
    text = str(given[_TOTAL])
    number = whole(text)
    if number is None:
        why = f'strconv.Atoi: parsing "{text}": invalid syntax'
        yield names.invalid(_annotation(_TOTAL), text, why)
    elif number < 1:
        why = f"incorrect annotation value '{_TOTAL}={text}': group total count should be greater than zero"
        yield names.invalid(_annotation(_TOTAL), text, why)


def _changed(document: Document, before: Document, *, waits: bool) -> Iterator[Fault]:
    """Yield what may not be changed of a job or pod, and of one that is not held back."""
    kind = document.get("kind")
    if kind in _SERVING:
        yield from _serving_changed(document, before)
        return
    held, was_held = (waits or _is_held(one) for one in (document, before))
    is_managed = kind != "Pod" or QUEUE in _labels(before)
    if not held and is_managed:
        yield from _fixed(document, before, QUEUE)
    if not held and not _annotations(before).get(_ELASTIC):
        yield from _fixed(document, before, _PREBUILT)
    if is_managed and not (held and was_held):
        yield from _fixed(document, before, _LONGEST)
    yield from _class_changed(document, before, held=held)
    if kind == "Pod" and _labels(before).get(_GROUP):
        yield from _fixed(document, before, _GROUP)
        kept = _annotations(document).get(_RETRIABLE) == "false"
        if _annotations(before).get(_RETRIABLE) == "false" and not kept:
            why = "unretriable pod group can't be converted to retriable"
            yield Fault(_annotation(_RETRIABLE), f"Forbidden: {why}")


def _is_held(document: Document) -> bool:
    """Return whether a job is suspended, or a pod gated."""
    if document.get("kind") in OF_OTHERS:
        kind = registry.lookup("job-kind", str(document["kind"]))
        return bool(kind.suspended(document))
    spec: Document = document.get("spec") or {}
    gates = [one.get("name") for one in spec.get("schedulingGates") or ()]
    return bool(spec.get("suspend")) or ADMISSION_GATE in gates


def _fixed(document: Document, before: Document, label: str) -> Iterator[Fault]:
    now, was = _labels(document).get(label) or "", _labels(before).get(label) or ""
    if now != was:
        yield names.invalid(_label(label), now, "field is immutable")


def _class_changed(
    document: Document, before: Document, *, held: bool
) -> Iterator[Fault]:
    """Yield that a class was given to what runs, or taken away."""
    now, was = _labels(document).get(_CLASS) or "", _labels(before).get(_CLASS) or ""
    if now and not was and not held:
        why = "WorkloadPriorityClass cannot be added to a non-suspended workload"
        yield names.invalid(_label(_CLASS), now, why)
    if was and not now:
        why = "WorkloadPriorityClass cannot be removed from a workload"
        yield names.invalid(_label(_CLASS), now, why)


def _serving_changed(document: Document, before: Document) -> Iterator[Fault]:
    """Yield what may not be changed of a Deployment or StatefulSet."""
    held = not (before.get("status") or {}).get("readyReplicas")
    if not held or not _labels(document).get(QUEUE):
        yield from _fixed(document, before, QUEUE)
    yield from _class_changed(document, before, held=held)
    if document.get("kind") != "StatefulSet" or not _labels(document).get(QUEUE):
        return
    now, was = _replicas(document), _replicas(before)
    if now and was and now != was:
        why = f"Invalid value: {now}: field is immutable"
        yield Fault("spec.replicas", why)


def _replicas(document: Document) -> int:
    return int((document.get("spec") or {}).get("replicas", 1))


def _serving_faults(document: Document) -> Iterator[Fault]:
    yield from _named_faults(_labels(document), QUEUE)
    if _annotations(document).get(_ELASTIC) == "true":
        what = f"{document.get('apiVersion')}, Kind={document.get('kind')}"
        why = f'elastic job is not supported for "{what}"'
        yield Fault(_annotation(_ELASTIC), f"Forbidden: {why}")


_SERVING = ("Deployment", "StatefulSet")
_RULES: dict[str, Callable[[Document], Iterator[Fault]]] = {
    "Deployment": _serving_faults,
    "Job": _job_faults,
    "Pod": _pod_faults,
    "StatefulSet": _serving_faults,
    **dict.fromkeys(OF_OTHERS, _common_faults),
}
