"""Names, labels and annotations, as apimachinery's rules have them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from api.cluster.refusals import Fault

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_DNS_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?"
_QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_VALUE = f"({_QUALIFIED})?"
_CONFIG_KEY = "[-._a-zA-Z0-9]+"
MOST_ANNOTATIONS = 256 * 1024  # bytes, of names and values together

NOT_LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or "
    "'-', and must start and end with an alphanumeric character (e.g. 'my-name',  or "
    f"'123-abc', regex used for validation is '{_LABEL}')"
)
NOT_SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, "
    "'-' or '.', and must start and end with an alphanumeric character (e.g. "
    f"'example.com', regex used for validation is '{_SUBDOMAIN}')"
)
NOT_1035 = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start "
    "with an alphabetic character, and end with an alphanumeric character (e.g. "
    f"'my-name',  or 'abc-123', regex used for validation is '{_DNS_1035}')"
)
NOT_QUALIFIED = (
    "name part must consist of alphanumeric characters, '-', '_' or '.', and must start "
    "and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
    f"'123-abc', regex used for validation is '{_QUALIFIED}')"
)
NOT_VALUE = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', "
    "'_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  "
    f"or 'my_value',  or '12345', regex used for validation is '{_VALUE}')"
)
NOT_CONFIG_KEY = (
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
    "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
    f"'{_CONFIG_KEY}')"
)
_TESTS = {
    name: re.compile(pattern, re.ASCII)
    for name, pattern in (
        ("label", _LABEL),
        ("subdomain", _SUBDOMAIN),
        ("1035", _DNS_1035),
        ("qualified", _QUALIFIED),
        ("value", _VALUE),
        ("config", _CONFIG_KEY),
    )
}
#: Resources that every cluster knows.
STANDARD_RESOURCES = frozenset(
    {"cpu", "ephemeral-storage", "memory", "pods", "storage"}
)
_FINALIZERS = frozenset({"foregroundDeletion", "kubernetes", "orphan"})
#: Kinds whose names are no subdomains.
_NAMED = {"Namespace": "label"}


def too_long(most: int) -> str:
    """Return what is said of a text over `most` bytes."""
    return f"must be no more than {most} bytes"


_DOTS = "must not contain dots"
_LONG_LABEL = "must be no more than 63 characters"


def problems(text: str, rule: str, most: int, said: str) -> Iterator[str]:
    """Yield the faults of a text under a rule."""
    if len(text) > most:
        yield too_long(most)
    if not _TESTS[rule].fullmatch(text):
        dotted = rule == "label" and _TESTS["subdomain"].fullmatch(text)
        yield _DOTS if dotted else said


def invalid(field: str, value: str, problem: str) -> Fault:
    """Return the fault of a text."""
    return Fault(field, f'Invalid value: "{value}": {problem}')


def label_faults(name: str, field: str) -> Iterator[Fault]:
    """Yield the faults of a name that must be a DNS label."""
    for problem in problems(name, "label", 63, NOT_LABEL):
        yield invalid(field, name, problem.replace(too_long(63), _LONG_LABEL))


def metadata_faults(
    metadata: Mapping[str, Any], kind: str, before: Mapping[str, Any] | None = None
) -> Iterator[Fault]:
    """Yield the faults of the metadata of an object; what it had stays as it was."""
    if kind not in _FREE:
        for field in ("generateName", "name") if before is None else ("name",):
            name = metadata.get(field)
            if isinstance(name, str):
                yield from _object_name_faults(name, f"metadata.{field}", kind)
    yield from labels_faults(metadata.get("labels"), "metadata.labels")
    yield from annotations_faults(metadata.get("annotations"), "metadata.annotations")
    had = before or {}
    owners, finalizers = (metadata.get(n) for n in ("ownerReferences", "finalizers"))
    if owners != had.get("ownerReferences"):
        yield from _owner_faults(owners or ())
    if finalizers != had.get("finalizers"):
        yield from _finalizer_faults(finalizers or ())


def _object_name_faults(name: str, field: str, kind: str) -> Iterator[Fault]:
    """Yield the faults of the name of an object, or with the beginning of one."""
    begins = field.endswith("generateName") and len(name) > 1 and name.endswith("-")
    text = f"{name[:-1]}a" if begins else name  # more follows
    rule, most, said = "subdomain", 253, NOT_SUBDOMAIN
    if _NAMED.get(kind) == "label":
        rule, most, said = "label", 63, NOT_LABEL
    for problem in problems(text, rule, most, said):
        shorter = problem.replace(too_long(63), _LONG_LABEL)
        yield invalid(field, name, shorter)


def _owner_faults(owners: Any) -> Iterator[Fault]:
    field, first = "metadata.ownerReferences", ""
    for one in owners:
        if not one.get("apiVersion"):
            why = "version must not be empty"
            yield invalid(f"{field}.apiVersion", one.get("apiVersion") or "", why)
        for name in ("kind", "name", "uid"):
            if not one.get(name):
                yield invalid(f"{field}.{name}", "", "must not be empty")
        if not one.get("controller"):
            continue
        named = f"{one.get('kind')}/{one.get('name')}"
        if first:
            why = (
                'Only one reference can have Controller set to true. Found "true" in '
                f"references for {first} and {named}"
            )
            shown = json.dumps(list(owners), separators=(",", ":"), ensure_ascii=False)
            yield Fault(field, f"Invalid value: {shown}: {why}")
        first = first or named


def _finalizer_faults(finalizers: Any) -> Iterator[Fault]:
    for one in finalizers:
        yield from key_faults(one, "metadata.finalizers")
    for n, one in enumerate(finalizers):
        if "/" not in one and one not in _FINALIZERS:
            why = "name is neither a standard finalizer name nor is it fully qualified"
            yield invalid(f"metadata.finalizers[{n}]", one, why)


#: Kinds whose names are any segment of a path.
_FREE = frozenset({"ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"})


def labels_faults(labels: Any, field: str) -> Iterator[Fault]:
    """Yield the faults of labels, or with a node selector."""
    for key, value in (labels or {}).items():
        yield from key_faults(key, field)
        for problem in value_problems(str(value)):
            yield invalid(field, str(value), problem)


def annotations_faults(annotations: Any, field: str) -> Iterator[Fault]:
    """Yield the faults of annotations: their keys, and how much they are."""
    size = 0
    for key, value in (annotations or {}).items():
        for fault in key_faults(key.lower(), field):
            yield Fault(fault.field, fault.problem.replace(key.lower(), key, 1))
        size += len(key) + len(str(value))
    if size > MOST_ANNOTATIONS:
        yield Fault(field, f"Too long: may not be more than {MOST_ANNOTATIONS} bytes")


def value_problems(value: str) -> Iterator[str]:
    """Yield the faults of the value of a label."""
    yield from problems(value, "value", 63, NOT_VALUE)


def key_faults(key: str, field: str) -> Iterator[Fault]:
    """Yield the faults of a name that may have a prefix, as keys of labels are."""
    if key.count("/") > 1:
        yield invalid(field, key, _NOT_KEY)
        return
    prefix, slash, name = key.rpartition("/")
    if slash and not prefix:
        yield invalid(field, key, "prefix part must be non-empty")
    elif slash:
        for problem in problems(prefix, "subdomain", 253, NOT_SUBDOMAIN):
            yield invalid(field, key, f"prefix part {problem}")
    if not name:
        yield invalid(field, key, "name part must be non-empty")
    elif len(name) > 63:
        yield invalid(field, key, f"name part {too_long(63)}")
    if not _TESTS["qualified"].fullmatch(name):
        yield invalid(field, key, NOT_QUALIFIED)


_NOT_KEY = (
    f"a valid label key must {NOT_QUALIFIED.partition(' must ')[2]} with an optional DNS "
    "subdomain prefix and '/' (e.g. 'example.com/MyName')"
)


def config_key_faults(data: Any, field: str) -> Iterator[Fault]:
    """Yield the faults of the keys of a ConfigMap or a Secret."""
    for key in data or {}:
        for problem in problems(key, "config", 253, NOT_CONFIG_KEY):
            yield invalid(f"{field}[{key}]", key, problem)
