"""labelSelector and fieldSelector: which objects of a list are meant.

Source: <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/>,
<https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/>
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from api.cluster import refusals
from api.cluster.resources import Resource

Document = Mapping[str, Any]
Test = Callable[[Document], bool]

_SET = re.compile(r"(\S+)\s+(in|notin)\s*\(([^()]*)\)", re.ASCII)
_EQUAL = re.compile(r"([^\s=!]+)\s*(==|=|!=)\s*([^\s=!]*)", re.ASCII)
_NAME = re.compile(r"(!?)\s*([^\s=!(),]+)", re.ASCII)
_LONGEST = 4096


#: Fields that a field selector may name, beside name and namespace.
_FIELDS = {
    "CronJob": (),
    "Event": (
        "involvedObject.kind",
        "involvedObject.namespace",
        "involvedObject.name",
        "involvedObject.uid",
        "involvedObject.apiVersion",
        "involvedObject.resourceVersion",
        "involvedObject.fieldPath",
        "reason",
        "reportingComponent",
        "source",
        "type",
    ),
    "Job": ("status.successful",),
    "Namespace": ("status.phase",),
    "Node": ("spec.unschedulable",),
    "Pod": (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    "ReplicaSet": ("status.replicas",),
    "ReplicationController": ("status.replicas",),
    "Secret": ("type",),
}
#: Names in a selector that are others in the object.
_ELSEWHERE = {"status.successful": "status.succeeded", "source": "source.component"}
_NUMBERS = frozenset({"status.successful", "status.replicas"})
_SWITCHES = frozenset({"spec.unschedulable", "spec.hostNetwork"})


def selector(labels: str, fields: str, resource: Resource) -> Test | None:
    """Return the test for both selectors, or None when neither is given.

    Raises RefusalError for a field that objects of the resource are not selected by.
    """
    tests = [_label_test(part) for part in _parts("labelSelector", labels)]
    for part in _parts("fieldSelector", fields):
        path = re.split(r"[=!]", part)[0]
        if path not in _selectable(resource):
            raise refusals.bad_request(f"field label not supported: {path}")
        tests.append(_field_test(part))
    if not tests:
        return None
    return lambda document: all(test(document) for test in tests)


def _selectable(resource: Resource) -> tuple[str, ...]:
    found = resource.definition
    own = found.selectable if found else _FIELDS.get(resource.kind.kind, ())
    return ("metadata.name", "metadata.namespace", *own)


def _parts(name: str, text: str) -> list[str]:
    """Split at the commas outside of parentheses."""
    if len(text) > _LONGEST:
        raise refusals.bad_request(f"{name}: over {_LONGEST} characters")
    parts = re.split(r",(?![^(]*\))", text)
    return [part.strip() for part in parts if part.strip()]


def _label_test(part: str) -> Test:
    if match := _SET.fullmatch(part):
        return _set_test(match[1], match[2], match[3])
    if match := _EQUAL.fullmatch(part):
        name, operator, value = match.groups()
        if operator == "!=":
            return lambda d: labels_of(d).get(name) != value
        return lambda d: labels_of(d).get(name) == value
    if match := _NAME.fullmatch(part):
        wanted, name = not match[1], match[2]
        return lambda d: (name in labels_of(d)) == wanted
    problem = f"expected name=value, name in (a, b), name or !name, got {part!r}"
    raise refusals.bad_request(f"unable to parse labelSelector: {problem}")


def _set_test(name: str, operator: str, values: str) -> Test:
    known = {value.strip() for value in values.split(",")}
    if operator == "in":
        return lambda d: labels_of(d).get(name) in known
    return lambda d: labels_of(d).get(name) not in known


def labels_of(document: Document) -> Mapping[str, str]:
    """Return the labels of an object."""
    labels: Mapping[str, str] = document["metadata"].get("labels") or {}
    return labels


def _field_test(part: str) -> Test:
    match = re.fullmatch(r"([A-Za-z0-9.]+)(==|=|!=)(.*)", part)
    if match is None:
        problem = f"expected path=value or path!=value, got {part!r}"
        raise refusals.bad_request(f"unable to parse fieldSelector: {problem}")
    path, operator, value = match.groups()
    wanted = operator != "!="
    return lambda document: (_field(document, path) == value) == wanted


def _field(document: Document, path: str) -> str:
    """Return the text of a field; absent is "", as the API server has it."""
    value: Any = document
    for name in _ELSEWHERE.get(path, path).split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if isinstance(value, bool):
        return str(value).lower()
    if value is None and path in _SWITCHES:
        return "false"
    if value is None and path in _NUMBERS:
        return "0"
    return "" if value is None else str(value)
