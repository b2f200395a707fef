"""labelSelector and fieldSelector: which objects of a list are meant.

Source: <https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/>,
<https://kubernetes.io/docs/concepts/overview/working-with-objects/field-selectors/>
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from api.cluster import refusals
from api.cluster.resources import Resource
from api.views.base import whole

Document = Mapping[str, Any]
Test = Callable[[Document], bool]

_TOKEN = re.compile(r"==|!=|[=!(),<>]|[^\s=!(),<>]+", re.ASCII)
_MARKS = frozenset("=!(),<>") | {"==", "!="}
_END = ""
_LONGEST = 4096


#: Fields that a field selector may name, beside name and namespace.
_FIELDS = {
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
    "ReplicationController": ("status.replicas",),
    "Secret": ("type",),
    "Service": ("spec.clusterIP", "spec.type"),
}
#: Names in a selector that are others in the object.
_ELSEWHERE = {"status.successful": "status.succeeded", "source": "source.component"}
_NUMBERS = frozenset({"status.successful", "status.replicas"})
_SWITCHES = frozenset({"spec.unschedulable", "spec.hostNetwork"})


def selector(labels: str, fields: str, resource: Resource) -> Test | None:
    """Return the test for both selectors, or None when neither is given.

    Raises RefusalError for a field that objects of the resource are not selected by.
    """
    for name, text in (("labelSelector", labels), ("fieldSelector", fields)):
        if len(text) > _LONGEST:
            raise refusals.bad_request(f"{name}: over {_LONGEST} characters")
    tests = [*_Labels(labels).tests()]
    tests += [_field_test(part, resource) for part in fields.split(",") if part]
    if not tests:
        return None
    return lambda document: all(test(document) for test in tests)


def _selectable(resource: Resource) -> tuple[str, ...]:
    found = resource.definition
    own = found.selectable if found else _FIELDS.get(resource.kind.kind, ())
    return ("metadata.name", "metadata.namespace", *own)


class _Labels:
    """The requirements of a label selector, word by word as Go's parser reads them."""

    def __init__(self, text: str) -> None:
        self.words: list[str] = [*_TOKEN.findall(text), _END]
        self.at = 0

    def tests(self) -> Iterator[Test]:
        """Yield the test of each requirement. Raises RefusalError."""
        if self.words == [_END]:
            return
        while True:
            yield self._requirement()
            word = self._next()
            if word == _END:
                return
            if word != ",":
                raise self._found(word, "',' or 'end of string'")
            following = self._peek()
            if following in _MARKS - {"!"} or following == _END:
                raise self._found(following, "identifier after ','")

    def _peek(self) -> str:
        return self.words[self.at]

    def _next(self) -> str:
        word = self.words[self.at]
        self.at = min(self.at + 1, len(self.words) - 1)
        return word

    def _found(self, word: str, expected: str) -> refusals.RefusalError:
        return refusals.bad_request(f"found '{word}', expected: {expected}")

    def _unread(self, word: str, expected: str) -> refusals.RefusalError:
        """Return the fault inside of a requirement."""
        why = f"found '{word}', expected: {expected}"
        return refusals.bad_request(f"{_UNREAD}: {why}")

    def _requirement(self) -> Test:
        wanted = self._peek() != "!"
        if not wanted:
            self._next()
        name = self._next()
        if name in _MARKS or name == _END:
            if wanted:
                raise self._found(name, _FIRST)
            raise self._unread(name, "identifier")
        if not wanted or self._peek() in (",", _END):
            if not wanted and self._peek() not in (",", _END):
                raise self._found(self._peek(), "',' or 'end of string'")
            return lambda d: (name in labels_of(d)) == wanted
        operator = self._next()
        if operator not in _OPERATORS:
            raise self._unread(operator, _KNOWN_OPERATORS)
        if operator in ("in", "notin"):
            return _set_test(name, operator, self._values())
        if operator in ("<", ">"):
            return _order_test(name, operator, self._value())
        value = self._value()
        if operator == "!=":
            return lambda d: labels_of(d).get(name) != value
        return lambda d: labels_of(d).get(name) == value

    def _value(self) -> str:
        if self._peek() in (",", _END):
            return ""
        word = self._next()
        if word in _MARKS:
            raise self._unread(word, "identifier")
        return word

    def _values(self) -> frozenset[str]:
        word = self._next()
        if word != "(":
            why = f"{_UNREAD}: found '{word}' expected: '('"
            raise refusals.bad_request(why)
        found = set()
        while (word := self._next()) != ")":
            if word == ",":
                continue
            if word in _MARKS or word == _END:
                raise self._unread(word, "',', ')' or identifier")
            found.add(word)
        return frozenset(found or {""})


_KNOWN_OPERATORS = "in, notin, =, ==, !=, gt, lt"
_OPERATORS = ("in", "notin", "=", "==", "!=", ">", "<")
_UNREAD = "unable to parse requirement"
_FIRST = "!, identifier, or 'end of string'"


def _set_test(name: str, operator: str, known: frozenset[str]) -> Test:
    if operator == "in":
        return lambda d: labels_of(d).get(name) in known
    return lambda d: labels_of(d).get(name) not in known


def _order_test(name: str, operator: str, value: str) -> Test:
    limit = whole(value)
    if limit is None:
        why = f"{_UNREAD}: values[0][{name}]: Invalid value: {json.dumps(value)}"
        raise refusals.bad_request(
            f"{why}: for 'Gt', 'Lt' operators, the value must be an integer"
        )

    def test(document: Document) -> bool:
        number = whole(labels_of(document).get(name, ""))
        if number is None:
            return False
        return number > limit if operator == ">" else number < limit

    return test


def labels_of(document: Document) -> Mapping[str, str]:
    """Return the labels of an object."""
    labels: Mapping[str, str] = document["metadata"].get("labels") or {}
    return labels


def _field_test(part: str, resource: Resource) -> Test:
    match = re.fullmatch(r"(.*?)(==|=|!=)(.*)", part, re.DOTALL)
    if match is None:
        why = f"invalid selector: '{part}'; can't understand '{part}'"
        raise refusals.bad_request(why)
    path, operator, value = match.groups()
    if path not in _selectable(resource):
        raise refusals.bad_request(_unknown_field(path, resource))
    wanted = operator != "!="
    return lambda document: (_field(document, path) == value) == wanted


def _unknown_field(path: str, resource: Resource) -> str:
    """Return how a kind says that it is not selected by a field."""
    kind = resource.kind.kind
    if kind == "Job":
        return f'field label "{path}" not supported for {kind}'
    if kind in _FIELDS or not resource.is_built_in:
        return f"field label not supported: {path}"
    known = '"metadata.name", "metadata.namespace"'
    return f'"{path}" is not a known field selector: only {known}'


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
