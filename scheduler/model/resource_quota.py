"""ResourceQuota: which pods one counts, what a pod uses of it and must say.

A key of `spec.hard` is `pods`, `cpu`, `requests.NAME`, `limits.NAME` or a count of objects.
Source: <https://kubernetes.io/docs/concepts/policy/resource-quotas/>
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from scheduler.model.amounts import canonical, text_of
from scheduler.model.errors import SchedulerError
from scheduler.model.pod import BEST_EFFORT, qos_class
from scheduler.model.podset_template import pod_requests

Document = Mapping[str, Any]
_PLAIN = frozenset({"cpu", "ephemeral-storage", "memory"})
_PODS, _ALL_PODS = "pods", "count/pods"
#: What each container must say where a quota counts it.
_MUST_SAY = frozenset({"cpu", "memory"})


def parts_of(key: str) -> tuple[str, str]:
    """Return (requests or limits, the resource) of a key; ("", key) of any other."""
    if key in _PLAIN:
        return "requests", key
    part, _, name = key.partition(".")
    return (part, name) if part in ("limits", "requests") and name else ("", key)


def is_of_pods(key: str) -> bool:
    """Return whether pods use this key of a quota."""
    part, name = parts_of(key)
    return key in (_PODS, _ALL_PODS) or (bool(part) and name != "storage")


def hard_of(quota: Document) -> dict[str, Any]:
    """Return the most that a ResourceQuota allows, by key."""
    return {**((quota.get("spec") or {}).get("hard") or {})}


def is_readable(quota: Document) -> bool:
    """Return whether an API server would take a quota; a file may hold any other."""
    try:
        hard = hard_of(quota)
        for key in hard:
            most(key, hard)
        for one in _scopes(quota):
            _in_scope(one, {})
    except (AttributeError, SchedulerError, TypeError):
        return False
    return True


def matches(quota: Document, pod: Document) -> bool:
    """Return whether the scopes of a ResourceQuota take a pod in."""
    of_pod = pod.get("spec") or {}
    return all(_in_scope(one, of_pod) for one in _scopes(quota))


def _scopes(quota: Document) -> list[Document]:
    spec = quota.get("spec") or {}
    asked: list[Document] = [{"scopeName": name} for name in spec.get("scopes") or ()]
    selector = spec.get("scopeSelector") or {}
    return [*asked, *(selector.get("matchExpressions") or ())]


def _in_scope(asked: Document, spec: Document) -> bool:
    scope, operator = asked.get("scopeName"), asked.get("operator", "Exists")
    if scope == "PriorityClass":
        named, values = spec.get("priorityClassName"), asked.get("values") or ()
        if operator in ("Exists", "DoesNotExist"):
            return bool(named) is (operator == "Exists")
        return (named in values) is (operator == "In")
    if scope in ("Terminating", "NotTerminating"):
        ends = spec.get("activeDeadlineSeconds") is not None
        return ends is (scope == "Terminating")
    if scope in ("BestEffort", "NotBestEffort"):
        return (qos_class(spec) == BEST_EFFORT) is (scope == "BestEffort")
    return False


def _containers(spec: Document) -> Iterator[Document]:
    yield from spec.get("containers") or ()
    yield from spec.get("initContainers") or ()


def unsaid(quota: Document, pod: Document) -> list[str]:
    """Return `key: containers` of what a quota counts and containers do not say.

    A pod that says its resources as a whole need not.
    """
    level = (pod.get("spec") or {}).get("resources") or {}
    if level.get("requests") or level.get("limits"):
        return []
    found = []
    for key in sorted(hard_of(quota)):
        part, name = parts_of(key)
        if name not in _MUST_SAY or not part:
            continue
        silent = {
            str(container.get("name", ""))
            for container in _containers(pod.get("spec") or {})
            if name not in _said(container, part)
        }
        if silent:
            found.append(f"{key} for: {','.join(sorted(silent))}")
    return found


def _said(container: Document, part: str) -> dict[str, Any]:
    """Return what a container asks for; its limits stand for requests it leaves out."""
    given = container.get("resources") or {}
    limits = given.get("limits") or {}
    said = given.get(part) or {}
    return {**limits, **said} if part == "requests" else dict(said)


def of_pod(
    keys: Iterable[str], pod: Document, *, ended: bool = False
) -> dict[str, int]:
    """Return what a pod uses of these keys, in canonical units.

    One that has `ended` is still an object: `count/pods` counts it.
    """
    spec = pod.get("spec") or {}
    asked: dict[str, Mapping[str, Fraction]] = {}
    found = {}
    for key in keys if not ended else {_ALL_PODS}.intersection(keys):
        part, name = parts_of(key)
        if key in (_PODS, _ALL_PODS):
            found[key] = 1
        elif part and is_of_pods(key):
            if part not in asked:
                asked[part] = _asked(spec, part)
            value = asked[part].get(name, Fraction(0))
            found[key] = math.ceil(value * 1000 if name == "cpu" else value)
    return found


def _asked(spec: Document, part: str) -> Mapping[str, Fraction]:
    """Return the requests, or the limits, of a whole pod."""

    def only(container: Document) -> dict[str, Any]:
        return {**container, "resources": {"requests": _said(container, part)}}

    return pod_requests(
        {
            **(only(spec) if spec.get("resources") else spec),
            "containers": [only(c) for c in spec.get("containers") or ()],
            "initContainers": [only(c) for c in spec.get("initContainers") or ()],
        }
    )


def most(key: str, hard: Document) -> int:
    """Return what a quota allows of a key, in canonical units."""
    return canonical(_unit(key), hard[key])


def text(key: str, amount: int) -> str:
    """Return an amount of a key as a quota shows it."""
    return text_of(_unit(key), amount)


def _unit(key: str) -> str:
    part, name = parts_of(key)
    return name if part else _PODS


def beyond(hard: Document, used: Document, asked: Document) -> list[str]:
    """Return the keys of which more would be used than is allowed, sorted."""
    return [
        key
        for key in sorted(hard)
        if asked.get(key) and used.get(key, 0) + asked[key] > most(key, hard)
    ]


def exceeded(
    name: str, hard: Document, used: Document, asked: Document, keys: Iterable[str]
) -> str:
    """Return why something is beyond the quota of this name, as an API server says it."""
    keys = list(keys)
    parts = (
        ("requested", {key: text(key, asked[key]) for key in keys}),
        ("used", {key: text(key, used.get(key, 0)) for key in keys}),
        ("limited", {key: str(hard[key]) for key in keys}),
    )
    said = ", ".join(
        f"{word}: {','.join(f'{key}={value}' for key, value in values.items())}"
        for word, values in parts
    )
    return f"exceeded quota: {name}, {said}"
