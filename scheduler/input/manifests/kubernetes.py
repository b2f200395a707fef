"""Checks of the core kinds: what a Pod, a Node and their like may say, and where.

Each check returns the manifest with the defaults of the API server that
scheduling depends on; the document itself is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import (
    expect_amount,
    expect_amounts,
    expect_choice,
    expect_items,
    expect_object,
    expect_optional_text,
    expect_text,
    expect_whole,
)
from scheduler.model.errors import PolicyError, QuantityError, UnknownNameError
from scheduler.model.kube.configuration import read_configurations
from scheduler.model.pod import default_pod_spec
from scheduler.model.problems import Problem, Wanted, expected
from scheduler.model.requests import quantities
from scheduler.model.selectors import Requirement
from scheduler.model.webhooks import KINDS as WEBHOOKS

#: The kinds whose pod templates the API server reads itself.
_VALIDATED = frozenset(
    {"CronJob", "DaemonSet", "Deployment", "Job", "Pod", "ReplicaSet", "StatefulSet"}
)
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
_MOST_PRIORITY = 1_000_000_000  # higher ones are the system's own


# --- Node


def check_node(document: Document) -> dict[str, Any]:
    """Check a Node and return its manifest.

    Allocatable that is missing is taken from capacity.

    Raises ManifestError naming the field.
    """
    manifest = document.copied()
    spec = expect_object(document, document.data, "spec")
    for path, taint in expect_items(document, spec, "spec.taints"):
        expect_text(document, taint, f"{path}.key")
        expect_choice(document, taint, f"{path}.effect", _EFFECTS)
    status = expect_object(document, document.data, "status")
    for part in ("allocatable", "capacity"):
        expect_amounts(document, status, f"status.{part}")
    for path, image in expect_items(document, status, "status.images"):
        expect_whole(document, image, f"{path}.sizeBytes", least=0, default=0)
    if status.get("capacity") and not status.get("allocatable"):
        manifest["status"]["allocatable"] = dict(status["capacity"])
    return manifest


# --- Pod


def check_pod(document: Document) -> dict[str, Any]:
    """Return a Pod; limits stand in for requests that are not given.

    Raises ManifestError naming the field.
    """
    expect_object(document, document.data, "spec", needed=True)
    check_pod_spec(document, document.data, "spec")
    manifest = document.copied()
    default_pod_spec(manifest["spec"])
    return manifest


def check_pod_spec(document: Document, holder: dict[str, Any], path: str) -> None:
    """Check the pod spec at `path` of a document; `holder` is what holds it."""
    spec = expect_object(document, holder, path, needed=True)
    containers = list(expect_items(document, spec, f"{path}.containers"))
    if not containers:
        raise document.error(
            f"{path}.containers",
            expected(Wanted.AT_LEAST_ONE_OF.said(kind="container")),
        )
    inits = list(expect_items(document, spec, f"{path}.initContainers"))
    for where, container in [*containers, *inits]:
        _check_container(document, container, where)
    _check_resources(document, spec, path)
    expect_amounts(document, spec, f"{path}.overhead")
    expect_optional_text(document, spec, f"{path}.runtimeClassName")
    expect_whole(document, spec, f"{path}.priority", least=-(2**31), default=0)
    policies = ("PreemptLowerPriority", "Never")
    if spec.get("preemptionPolicy") is not None:
        expect_choice(document, spec, f"{path}.preemptionPolicy", policies)
    for where, toleration in expect_items(document, spec, f"{path}.tolerations"):
        _check_toleration(document, toleration, where)
    for where, gate in expect_items(document, spec, f"{path}.schedulingGates"):
        expect_text(document, gate, f"{where}.name")
    _check_texts(document, spec, f"{path}.nodeSelector")
    _check_affinity(document, spec, f"{path}.affinity")
    for where, item in expect_items(
        document, spec, f"{path}.topologySpreadConstraints"
    ):
        _check_spread(document, item, where)


def _check_container(document: Document, container: dict[str, Any], path: str) -> None:
    expect_text(document, container, f"{path}.name")
    _check_resources(document, container, path)
    for where, port in expect_items(document, container, f"{path}.ports"):
        for field in ("hostPort", "containerPort"):
            expect_whole(document, port, f"{where}.{field}", least=0, default=0)


def _check_resources(document: Document, holder: dict[str, Any], path: str) -> None:
    resources = expect_object(document, holder, f"{path}.resources")
    for part in ("requests", "limits"):
        expect_amounts(document, resources, f"{path}.resources.{part}")
    if document.kind in _VALIDATED:
        _check_limits(document, resources, f"{path}.resources")


def _check_limits(document: Document, resources: dict[str, Any], path: str) -> None:
    """Refuse a request above its limit, as the API server does in its own kinds."""
    limits = quantities(resources.get("limits"))
    for name, asked in quantities(resources.get("requests")).items():
        if asked > limits.get(name, asked):
            raise document.error(
                f"{path}.requests.{name}",
                Problem.LIMIT.said(
                    most=resources["limits"][name], given=resources["requests"][name]
                ),
            )


def _check_toleration(document: Document, item: dict[str, Any], path: str) -> None:
    if item.get("operator"):
        expect_choice(document, item, f"{path}.operator", ("Equal", "Exists"))
    if item.get("effect"):
        expect_choice(document, item, f"{path}.effect", _EFFECTS)
    if not item.get("key") and item.get("operator") != "Exists":
        raise document.error(f"{path}.operator", Problem.EXISTS.said())


def _check_texts(document: Document, holder: dict[str, Any], path: str) -> None:
    for name, value in expect_object(document, holder, path).items():
        if not isinstance(value, str):
            raise document.error(f"{path}.{name}", expected(Wanted.QUOTED, value))


def _check_affinity(document: Document, spec: dict[str, Any], path: str) -> None:
    affinity = expect_object(document, spec, path)
    node = expect_object(document, affinity, f"{path}.nodeAffinity")
    for where, term in _node_terms(document, node, f"{path}.nodeAffinity"):
        for at, need in expect_items(document, term, f"{where}.matchExpressions"):
            _check_requirement(document, need, at)
    for kind in ("podAffinity", "podAntiAffinity"):
        at = f"{path}.{kind}"
        for where, term in _pod_terms(document, affinity, at):
            expect_text(document, term, f"{where}.topologyKey")
            _check_selector(document, term, f"{where}.labelSelector")


def _node_terms(
    document: Document, node: dict[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    at = f"{path}.{_REQUIRED}"
    required = expect_object(document, node, at)
    yield from expect_items(document, required, f"{at}.nodeSelectorTerms")
    for where, item in expect_items(document, node, f"{path}.{_PREFERRED}"):
        expect_whole(document, item, f"{where}.weight", least=0, default=1)
        preference = f"{where}.preference"
        yield preference, expect_object(document, item, preference)


def _pod_terms(
    document: Document, affinity: dict[str, Any], path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    terms = expect_object(document, affinity, path)
    yield from expect_items(document, terms, f"{path}.{_REQUIRED}")
    for where, item in expect_items(document, terms, f"{path}.{_PREFERRED}"):
        expect_whole(document, item, f"{where}.weight", least=1, default=1)
        term = f"{where}.podAffinityTerm"
        yield term, expect_object(document, item, term, needed=True)


def _check_selector(document: Document, holder: dict[str, Any], path: str) -> None:
    selector = expect_object(document, holder, path)
    _check_texts(document, selector, f"{path}.matchLabels")
    for where, need in expect_items(document, selector, f"{path}.matchExpressions"):
        choices = ("In", "NotIn", "Exists", "DoesNotExist")
        expect_choice(document, need, f"{where}.operator", choices)
        _check_requirement(document, need, where)


def _check_requirement(document: Document, need: dict[str, Any], path: str) -> None:
    expect_text(document, need, f"{path}.key")
    operator = str(need.get("operator", ""))
    values = need.get("values") or []
    if not isinstance(values, list):
        raise document.error(f"{path}.values", expected(Wanted.LIST_OF_TEXTS))
    read = Requirement("", operator, tuple(str(value) for value in values))
    if not read.valid:
        raise document.error(
            f"{path}.operator",
            Problem.OPERATOR.said(name=repr(operator), count=len(values)),
        )


def _check_spread(document: Document, item: dict[str, Any], path: str) -> None:
    expect_whole(document, item, f"{path}.maxSkew", least=1)
    expect_text(document, item, f"{path}.topologyKey")
    choices = ("DoNotSchedule", "ScheduleAnyway")
    expect_choice(document, item, f"{path}.whenUnsatisfiable", choices)
    _check_selector(document, item, f"{path}.labelSelector")


# --- the others


def check_namespace(document: Document) -> dict[str, Any]:
    """Check a Namespace and return its manifest.

    Raises ManifestError naming the field.
    """
    return document.copied()


def check_priority_class(document: Document) -> dict[str, Any]:
    """Return a PriorityClass; Kubernetes keeps values above a billion for itself.

    The API server takes one without a value: it is 0.
    """
    name = document.metadata.get("name") or ""
    value = expect_whole(document, document.data, "value", least=-(2**31), default=0)
    if value > _MOST_PRIORITY and not str(name).startswith("system-"):
        raise document.error(
            "value", expected(Wanted.AT_MOST.said(most=_MOST_PRIORITY), given=value)
        )
    policy = document.data.get("preemptionPolicy")
    if policy is not None:
        policies = ("PreemptLowerPriority", "Never")
        expect_choice(document, document.data, "preemptionPolicy", policies)
    return {**document.copied(), "value": value}


def check_disruption_budget(document: Document) -> dict[str, Any]:
    """Check a PodDisruptionBudget and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    _check_selector(document, spec, "spec.selector")
    if spec.get("minAvailable") is not None and spec.get("maxUnavailable") is not None:
        raise document.error("spec.maxUnavailable", Problem.BUDGET.said())
    status = expect_object(document, document.data, "status")
    expect_whole(
        document, status, "status.disruptionsAllowed", least=-(2**31), default=0
    )
    return document.copied()


def check_pod_group(document: Document) -> dict[str, Any]:
    """Check a PodGroup and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec")
    expect_whole(document, spec, "spec.minMember", least=0, default=1)
    expect_whole(document, spec, "spec.scheduleTimeoutSeconds", least=0, default=0)
    expect_amounts(document, spec, "spec.minResources")
    return document.copied()


def check_elastic_quota(document: Document) -> dict[str, Any]:
    """Check an ElasticQuota and return its manifest.

    Raises ManifestError naming the field.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    for name in ("min", "max"):
        expect_amounts(document, spec, f"spec.{name}")
    return document.copied()


def check_node_topology(document: Document) -> dict[str, Any]:
    """Return a NodeResourceTopology, whose zones hold amounts as resource items."""
    for path, zone in expect_items(document, document.data, "zones"):
        expect_text(document, zone, f"{path}.name")
        expect_text(document, zone, f"{path}.type")
        for where, item in expect_items(document, zone, f"{path}.resources"):
            name = expect_text(document, item, f"{where}.name")
            for part in ("capacity", "allocatable", "available"):
                if item.get(part) is not None:
                    expect_amount(document, name, item[part], f"{where}.{part}")
        for where, cost in expect_items(document, zone, f"{path}.costs"):
            expect_text(document, cost, f"{where}.name")
            expect_whole(document, cost, f"{where}.value", least=0)
    for path, attribute in expect_items(document, document.data, "attributes"):
        expect_text(document, attribute, f"{path}.name")
    return document.copied()


def check_gang_group(document: Document) -> dict[str, Any]:
    """Return a PodGroup of scheduling.k8s.io."""
    spec = expect_object(document, document.data, "spec", needed=True)
    _check_policy(document, spec, "spec.schedulingPolicy")
    return document.copied()


def check_gang_workload(document: Document) -> dict[str, Any]:
    """Return a Workload of scheduling.k8s.io, with its pod groups."""
    spec = expect_object(document, document.data, "spec", needed=True)
    for path, group in expect_items(document, spec, "spec.podGroups"):
        expect_text(document, group, f"{path}.name")
        _check_policy(document, group, f"{path}.policy")
    return document.copied()


def _check_policy(document: Document, holder: dict[str, Any], path: str) -> None:
    policy = expect_object(document, holder, path, needed=True)
    gang = expect_object(document, policy, f"{path}.gang")
    if policy.get("gang") is not None:
        expect_whole(document, gang, f"{path}.gang.minCount", least=1)


def check_webhooks(document: Document) -> dict[str, Any]:
    """Check a configuration of webhooks and return its manifest."""
    for path, item in expect_items(document, document.data, "webhooks"):
        for name in ("namespaceSelector", "objectSelector"):
            _check_selector(document, item, f"{path}.{name}")
        expect_whole(document, item, f"{path}.timeoutSeconds", least=1, default=10)
    return document.copied()


def check_configuration(document: Document) -> dict[str, Any]:
    """Return a KubeSchedulerConfiguration; wrong names and values name their path."""
    try:
        read_configurations(document.data)
    except (PolicyError, UnknownNameError, QuantityError) as error:
        path = str(error).split(":", 1)[0].removeprefix("kubeScheduler.")
        raise document.error(path, error.said) from error
    return document.copied()


CHECKS: dict[str, Callable[[Document], dict[str, Any]]] = {
    "Node": check_node,
    "Pod": check_pod,
    "Namespace": check_namespace,
    "PriorityClass": check_priority_class,
    "PodDisruptionBudget": check_disruption_budget,
    "PodGroup": check_pod_group,
    "ElasticQuota": check_elastic_quota,
    "NodeResourceTopology": check_node_topology,
    "PodGroup.scheduling.k8s.io": check_gang_group,
    "Workload.scheduling.k8s.io": check_gang_workload,
    **dict.fromkeys(WEBHOOKS, check_webhooks),
    "KubeSchedulerConfiguration": check_configuration,
}
