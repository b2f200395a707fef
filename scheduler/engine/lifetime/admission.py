"""What the API server's admission does to a pod before a scheduler sees it.

Source: docs/semantics/kube-scheduler.md#admission-before-scheduling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import msgspec

from scheduler.engine.kueue.topology.tree import PLACED_BY_TOPOLOGY, UNCONSTRAINED
from scheduler.model.annotations import PREFIX
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, Object
from scheduler.model.pod import default_pod_spec
from scheduler.model.podset_template import pod_requests
from scheduler.model.problems import Problem, in_field
from scheduler.model.requests import Quantities, quantities
from scheduler.model.topology import Path

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


# ------------------------------------------------------------------------
# Pods as job controllers make them: from a template, named after their owner.


POD_SET = "kueue.x-k8s.io/podset"  # label: the pod set that a pod belongs to


def make_pod(
    owner: Object,
    pod_set: dict[str, Any],
    ordinal: int,
    *,
    node_selector: dict[str, str],
    tolerations: list[dict[str, Any]],
) -> Object:
    """Return one pod of this pod set, with what its admission adds.

    `node_selector` and `tolerations` come from the flavors assigned, as Kueue
    injects them into the pod template at start, and from admission checks, as do
    `labels` and `annotations` of the pod set.
    Source: <https://kueue.sigs.k8s.io/docs/concepts/resource_flavor/>
    """
    template = pod_set.get("template") or {}
    spec: dict[str, Any] = msgspec.to_builtins(template.get("spec") or {})  # a copy
    if node_selector:
        spec["nodeSelector"] = {**(spec.get("nodeSelector") or {}), **node_selector}
    if tolerations:
        spec["tolerations"] = [*(spec.get("tolerations") or []), *tolerations]
    key = pod_key(owner, pod_set["name"], ordinal)
    return Object(key=key, manifest=_manifest(key, owner, template, spec, pod_set))


def pod_key(owner: Object, pod_set: str, ordinal: int) -> Key:
    """Return the key of a pod that is made for an owner."""
    name = f"{owner.key.name}-{pod_set}-{ordinal}"
    return Key("Pod", owner.key.namespace, name)


def _manifest(
    key: Key,
    owner: Object,
    template: dict[str, Any],
    spec: dict[str, Any],
    pod_set: dict[str, Any],
) -> dict[str, Any]:
    metadata = template.get("metadata") or {}
    labels = {**(metadata.get("labels") or {}), **(pod_set.get("labels") or {})}
    annotations = {
        name: value
        for name, value in (metadata.get("annotations") or {}).items()
        if not name.startswith(PREFIX)
    } | (pod_set.get("annotations") or {})
    reference = {
        "apiVersion": owner.manifest["apiVersion"],
        "kind": owner.key.kind,
        "name": owner.key.name,
        "uid": owner.uid,
        "controller": True,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": key.name,
            "namespace": key.namespace,
            "labels": {**labels, POD_SET: pod_set["name"]},
            "annotations": annotations,
            "ownerReferences": [reference],
        },
        "spec": spec,
    }


def owner_key(pod: Object, kinds: frozenset[str]) -> Key | None:
    """Return the key of the pod's owner, if it is of one of these kinds."""
    for reference in pod.metadata.get("ownerReferences") or []:
        if reference.get("kind") in kinds:
            return Key(
                str(reference["kind"]), pod.key.namespace, str(reference.get("name"))
            )
    return None


def by_topology(pod_set: dict[str, Any]) -> dict[str, Any]:
    """Return the pod set with the annotation that its pods are placed by topology.

    Kueue adds it where the template asks for nothing: such pods are counted where
    their assignment is.
    """
    template = pod_set.get("template") or {}
    metadata = template.get("metadata") or {}
    annotations = metadata.get("annotations") or {}
    if any(name in annotations for name in PLACED_BY_TOPOLOGY):
        return pod_set
    own = {**annotations, UNCONSTRAINED: "true"}
    return {
        **pod_set,
        "template": {**template, "metadata": {**metadata, "annotations": own}},
    }


def domain_of(pod: Object, levels: tuple[str, ...]) -> Path | None:
    """Return the domain that a pod's node selector names; None while it is gated."""
    selector = pod.spec.get("nodeSelector") or {}
    values = tuple(selector.get(level) for level in levels)
    return None if None in values else tuple(str(value) for value in values)
