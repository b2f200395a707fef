"""What the API server's admission does to a pod before a scheduler sees it.

Source: docs/semantics/kube-scheduler.md#admission-before-scheduling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from scheduler.model.errors import ManifestError
from scheduler.model.pod_defaults import default_pod_spec
from scheduler.model.podset_template import pod_requests
from scheduler.model.problems import Problem, in_field
from scheduler.model.resource_limits import Quantities, quantities

Manifest = Mapping[str, Any]
Spec = dict[str, Any]


def apply_runtime_class(spec: Spec, runtime_class: Manifest) -> None:
    """Give a pod its RuntimeClass's overhead, node selector and tolerations.

    Raises ManifestError for an overhead or a selector that contradicts it.
    """
    overhead = (runtime_class.get("overhead") or {}).get("podFixed")
    if overhead:
        given = spec.get("overhead")
        if given and quantities(given) != quantities(overhead):
            raise ManifestError(
                Problem.OVERHEAD.said(
                    given=f"spec.overhead: {dict(given)}", known=dict(overhead)
                )
            )
        spec["overhead"] = dict(overhead)
    scheduling = runtime_class.get("scheduling") or {}
    selector = scheduling.get("nodeSelector")
    if selector:
        spec["nodeSelector"] = _merged(spec.get("nodeSelector") or {}, selector)
    more = [
        toleration
        for toleration in scheduling.get("tolerations") or ()
        if toleration not in (spec.get("tolerations") or ())
    ]
    if more:
        spec["tolerations"] = [*(spec.get("tolerations") or ()), *more]


def _merged(own: Manifest, selector: Manifest) -> dict[str, Any]:
    for key, value in selector.items():
        if own.get(key, value) != value:
            raise ManifestError(
                Problem.CONTRADICTS.said(
                    given=f"spec.nodeSelector.{key}: {own[key]!r}", other=repr(value)
                )
            )
    return {**own, **selector}


def apply_limit_ranges(spec: Spec, ranges: Iterable[tuple[str, Manifest]]) -> None:
    """Fill in defaults of (name, LimitRange)s, then hold the pod to all of them.

    Raises ManifestError naming the LimitRange and the bound, or a request above its
    limit, which a default limit may be.
    """
    default_pod_spec(spec)
    found = [(name, item) for name, one in ranges for item in _items(one)]
    for _, item in found:
        if item.get("type") == "Container":
            _apply_defaults(spec, item)
    default_pod_spec(spec)
    _check_own_limits(spec)
    for name, item in found:
        for problem in _violations(spec, item):
            raise ManifestError(Problem.LIMIT_RANGE.said(name=name, problem=problem))


def _items(limit_range: Manifest) -> Iterator[Manifest]:
    yield from (limit_range.get("spec") or {}).get("limits") or ()


def _containers(spec: Manifest) -> list[dict[str, Any]]:
    return [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]


def _apply_defaults(spec: Spec, item: Manifest) -> None:
    limits = {**(item.get("max") or {}), **(item.get("default") or {})}
    requests = {
        **(item.get("min") or {}),
        **limits,
        **(item.get("defaultRequest") or {}),
    }
    for container in _containers(spec):
        resources = container["resources"] = dict(container.get("resources") or {})
        for part, defaults in (("requests", requests), ("limits", limits)):
            if defaults:
                resources[part] = {**defaults, **(resources.get(part) or {})}


def _check_own_limits(spec: Manifest) -> None:
    for holder in (*_containers(spec), spec):
        given = holder.get("resources") or {}
        if not given.get("limits"):
            continue
        requests = quantities(given.get("requests"))
        for name, most in quantities(given["limits"]).items():
            if requests.get(name, most) > most:
                where = f"container {holder['name']}" if "name" in holder else "the pod"
                raise ManifestError(
                    in_field(
                        where,
                        Problem.ABOVE_LIMIT.said(
                            given=given["requests"][name],
                            name=name,
                            most=given["limits"][name],
                        ),
                    )
                )


def _violations(spec: Manifest, item: Manifest) -> Iterator[str]:
    kind = item.get("type")
    if kind == "Container":
        for container in _containers(spec):
            given = container.get("resources") or {}
            requests = quantities(given.get("requests"))
            yield from _outside(item, kind, requests, quantities(given.get("limits")))
    elif kind == "Pod":
        requests, limits = (_of_pod(spec, part) for part in ("requests", "limits"))
        yield from _outside(item, kind, requests, limits)


def _of_pod(spec: Manifest, part: str) -> Quantities:
    """Return the requests, or the limits, of a whole pod without its overhead."""

    def asked(holder: Manifest) -> dict[str, Any]:
        given = (holder.get("resources") or {}).get(part)
        return {**holder, "resources": {"requests": given}}

    return pod_requests(
        {
            **asked(spec),
            "initContainers": [asked(c) for c in spec.get("initContainers") or ()],
            "containers": [asked(c) for c in spec.get("containers") or ()],
            "overhead": None,
        }
    )


def _outside(
    item: Manifest, kind: str, requests: Quantities, limits: Quantities
) -> Iterator[str]:
    for name, bound in quantities(item.get("min")).items():
        text = f"minimum {name} usage per {kind} is {item['min'][name]}"
        if name not in requests:
            yield f"{text}, but no request is given"
        elif requests[name] < bound:
            yield f"{text}, but the request is {_number(requests[name])}"
        elif limits.get(name, bound) < bound:
            yield f"{text}, but the limit is {_number(limits[name])}"
    for name, bound in quantities(item.get("max")).items():
        text = f"maximum {name} usage per {kind} is {item['max'][name]}"
        if name not in limits:
            yield f"{text}, but no limit is given"
        elif limits[name] > bound:
            yield f"{text}, but the limit is {_number(limits[name])}"
        elif requests.get(name, bound) > bound:
            yield f"{text}, but the request is {_number(requests[name])}"
    for name, bound in quantities(item.get("maxLimitRequestRatio")).items():
        request, limit = requests.get(name), limits.get(name)
        text = (
            f"{name} may have a limit of at most {_number(bound)} times its request "
            f"per {kind}"
        )
        if not request or not limit:
            yield f"{text}, but a request or limit is missing"
        elif limit / request > bound:
            yield f"{text}, but it is {_number(limit / request)} times"


def _number(value: Fraction) -> str:
    return f"{float(value):g}"
