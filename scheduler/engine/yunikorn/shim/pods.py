"""Pods and Nodes of Kubernetes to asks, applications and nodes of YuniKorn."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from scheduler.engine.yunikorn.objects.gang_state import (
    DEFAULT_TIMEOUT_MS,
    GangState,
    Style,
    TaskGroup,
    by_name,
)
from scheduler.engine.yunikorn.shim.pod_predicates import predicate_of
from scheduler.model.amounts import is_whole
from scheduler.model.errors import QuantityError
from scheduler.model.node import Node as NodeRecord
from scheduler.model.node import read_node
from scheduler.model.objects import Object
from scheduler.model.pod import Pod, Shape, read_pod, shape_of
from scheduler.model.problems import GivenUp, Problem, in_field
from scheduler.model.sentence import Sentence
from scheduler.model.yunikorn.resources import PODS, VCORE, Amounts
from scheduler.model.yunikorn.task_groups import (
    TASK_GROUP_NAME,
    TASK_GROUPS,
    declared,
)

DOMAIN = "yunikorn.apache.org/"
APP_ID = DOMAIN + "app-id"
QUEUE = DOMAIN + "queue"
ALLOW_PREEMPTION = DOMAIN + "allow-preemption"
PARAMETERS = DOMAIN + "schedulingPolicyParameters"
USER_INFO = DOMAIN + "user.info"
USER_NAME = DOMAIN + "username"
SCHEDULER = "yunikorn"

#: What a node that does not say takes: the kubelet's own default.
DEFAULT_PODS = 110
_SYSTEM = "kube-system"
_RUNNERS = frozenset({"Job", "JobSet", "Workload"})
_APP_IDS = (APP_ID, "applicationId", "spark-app-selector")
_QUEUES = (QUEUE, "queue")


def is_ours(pod: Pod) -> bool:
    """Return whether YuniKorn schedules this pod.

    It takes every pod over, as its admission controller does, but those of
    kube-system and those that name another scheduler.
    """
    if pod.scheduler_name == SCHEDULER:
        return True
    return pod.scheduler_name == "default-scheduler" and pod.namespace != _SYSTEM


def app_id(obj: Object) -> str:
    """Return the application that a pod belongs to.

    By label or annotation, else the Job or Workload that made the pod, else
    one per namespace. Source: docs/semantics/yunikorn.md#pods-to-applications
    """
    return named_app(obj) or f"yunikorn-{obj.key.namespace}-autogen"


def named_app(obj: Object) -> str:
    """Return the application that a pod or its job names; "" where none does."""
    given = _text(obj, _APP_IDS)
    if given:
        return given
    for reference in obj.metadata.get("ownerReferences") or ():
        if reference.get("kind") in _RUNNERS:
            kind = str(reference["kind"]).lower()
            return f"{kind}-{obj.key.namespace}-{reference.get('name')}"
    return ""


def queue_name(obj: Object) -> str:
    """Return the queue that a pod asks for; "" when it names none."""
    return _text(obj, _QUEUES)


def user_of(obj: Object) -> tuple[str, tuple[str, ...]]:
    """Return the user and groups that a pod runs for."""
    info = obj.annotations.get(USER_INFO)
    if info:
        try:
            data = json.loads(info)
            groups = tuple(str(group) for group in data.get("groups") or ())
            return str(data.get("user") or "nobody"), groups
        except (ValueError, AttributeError):
            pass
    return _text(obj, (USER_NAME,)) or "nobody", ()


def _text(obj: Object, names: tuple[str, ...]) -> str:
    for name in names:
        value = obj.labels.get(name) or obj.annotations.get(name)
        if value:
            return str(value)
    return ""


def resource_of(shape: Shape) -> Amounts:
    """Return the resources of one pod of this shape.

    Source: docs/semantics/yunikorn.md#pods-to-applications
    """
    return {**_renamed(shape.requests.exact), PODS: 1}


def _renamed(amounts: Mapping[str, int]) -> Amounts:
    return {VCORE if t == "cpu" else t: v for t, v in amounts.items()}


def capacity_of(record: NodeRecord) -> Amounts:
    """Return the capacity of a node; pods default to 110."""
    return {PODS: DEFAULT_PODS, **_renamed(record.allocatable)}


def required_node(pod: Pod) -> str | None:
    """Return the node that a DaemonSet pod must run on."""
    if pod.owner_kind != "DaemonSet" or pod.shape.node_required is None:
        return None
    for term in pod.shape.node_required:
        names = term.names()
        if names is not None and len(names) == 1:
            return next(iter(names))
    return None


def is_originator(obj: Object, *, first: bool) -> bool:
    """Return whether a pod drives its application: Spark's driver, else the first."""
    role = obj.labels.get("spark-role")
    return role == "driver" if role else first


def unsimulated(shape: Shape) -> Iterator[Sentence]:
    """Yield the requests of a pod that placement under YuniKorn ignores."""
    if shape.node_preferred:
        yield GivenUp.HINT.said()


@dataclass(frozen=True, slots=True, kw_only=True)
class PodDetails:
    """What one Pod object says to YuniKorn, read once."""

    pod: Pod
    app: str
    queue: str
    group: str
    resource: Amounts


def read_details(obj: Object) -> PodDetails:
    """Return the details of a Pod object. Raises QuantityError for bad amounts."""
    pod = read_pod(obj.manifest, obj.status)
    return PodDetails(
        pod=pod,
        app=app_id(obj),
        queue=queue_name(obj),
        group=str(obj.annotations.get(TASK_GROUP_NAME) or ""),
        resource=resource_of(pod.shape),
    )


def read_node_object(obj: Object) -> NodeRecord:
    """Return the node that a Node object says; capacity stands in for allocatable."""
    status = obj.status
    if not status.get("allocatable") and status.get("capacity"):
        status = {**status, "allocatable": status["capacity"]}
    return read_node(obj.manifest, status)


def read_gang(obj: Object) -> GangState | None:
    """Return the task groups that a pod declares for its application.

    Raises QuantityError for a declaration that the shim does not take.
    Source: docs/semantics/yunikorn.md#gang-scheduling
    """
    text = obj.annotations.get(TASK_GROUPS)
    if not text:
        return None
    try:
        items = declared(obj.annotations)
        _check_groups(items, text)
        groups = [read_task_group(item) for item in items]
    except (ValueError, TypeError, AttributeError, KeyError) as error:
        raise QuantityError(
            in_field(TASK_GROUPS, Problem.TASK_GROUPS.said(problem=error)), str(obj.key)
        ) from error
    style, timeout = _parameters(obj.annotations.get(PARAMETERS, ""))
    return GangState(groups=by_name(groups), style=style, timeout_ms=timeout)


def _check_groups(items: list[Mapping[str, Any]], text: str) -> None:
    """Raise ValueError with the shim's words for groups that it does not take."""
    for item in items:
        for field, name in (
            ("name", "Name"),
            ("minResource", "MinResource"),
            ("minMember", "MinMember"),
        ):
            if field == "minResource" and isinstance(item.get(field), dict):
                continue  # an empty one is one
            if not item.get(field):
                raise ValueError(
                    f"can't get taskGroup {name} from pod annotation, {text}"
                )
        if int(item["minMember"]) < 0:
            raise ValueError(f"minMember cannot be negative, {text}")
        _check_resources(str(item["name"]), item["minResource"])


def _check_resources(group: str, wanted: Mapping[str, Any]) -> None:
    seen = {PODS}
    for name, amount in wanted.items():
        if str(amount).startswith("-"):
            raise ValueError(
                f'minResource "{name}" in taskGroup "{group}" cannot be negative'
            )
        canonical = VCORE if name == "cpu" else name
        if canonical in seen:
            raise ValueError(
                f'minResource "{name}" in taskGroup "{group}" collides with another '
                f'resource under canonical key "{canonical}"'
            )
        seen.add(canonical)


def read_task_group(item: Mapping[str, Any]) -> TaskGroup:
    """Return one declared task group; raises KeyError, TypeError or ValueError."""
    requests = dict(item.get("minResource") or {})
    spec = {
        "containers": [{"name": "placeholder", "resources": {"requests": requests}}],
        **{
            k: item[k] for k in ("nodeSelector", "tolerations", "affinity") if k in item
        },
    }
    shape = shape_of(spec, {})
    return TaskGroup(
        name=str(item["name"]),
        members=int(item["minMember"]),
        resource=resource_of(shape),
        predicate=predicate_of(shape, tainted=True),
        source=item,
    )


def _parameters(text: str) -> tuple[Style, int]:
    """Read `placeholderTimeoutInSeconds=60 gangSchedulingStyle=Hard`."""
    style: Style = "Soft"
    timeout = DEFAULT_TIMEOUT_MS
    for part in text.split():
        name, _, value = part.partition("=")
        if name == "gangSchedulingStyle" and value == "Hard":
            style = "Hard"
        elif name == "placeholderTimeoutInSeconds" and is_whole(value) and int(value):
            timeout = int(value) * 1000
    return style, timeout
