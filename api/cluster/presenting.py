"""Objects as an API server shows them: with its defaults, and what it always writes.

Nothing of this is kept: manifests stay as they were given, and what decides reads
those. An object is completed when it is read, in place.

Source: the defaults of each kind in
<https://kubernetes.io/docs/reference/kubernetes-api/>, those of Kueue's resource
definitions, and what Go writes of a field that is no pointer.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import math
import re
import uuid
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from api.cluster.resources import Resource
from api.cluster.role_hash import ROLE, role_hash
from scheduler.input.manifests.kinds import KUEUE
from scheduler.model import schemas
from scheduler.model.amounts import parse
from scheduler.model.errors import SchedulerError
from scheduler.model.pod import default_container, default_pod_spec
from scheduler.model.reasons import SLICE_REPLACED, condition
from scheduler.model.schemas import Field
from scheduler.model.schemas.faults import fill as fill_defaults

Document = dict[str, Any]
Fill = Callable[[Document], None]
NAME_LABEL = "kubernetes.io/metadata.name"
QUEUE = "kueue.x-k8s.io/queue-name"
IN_USE = "kueue.x-k8s.io/resource-in-use"
MANAGED = "kueue.x-k8s.io/managed"
#: What holds a pod that waits for its quota.
GATES = ("kueue.x-k8s.io/admission", "kueue.x-k8s.io/topology")
#: Built-in kinds whose objects count their generations; custom resources all do.
_COUNTED = frozenset(
    {
        "ControllerRevision",
        "CronJob",
        "CustomResourceDefinition",
        "DaemonSet",
        "Deployment",
        "DeviceClass",
        "EndpointSlice",
        "Ingress",
        "IngressClass",
        "Job",
        "NetworkPolicy",
        "Pod",
        "PodDisruptionBudget",
        "PodTemplate",
        "PriorityClass",
        "ReplicaSet",
        "ReplicationController",
        "ResourceSlice",
        "StatefulSet",
    }
)
#: The order in which metadata is written.
_METADATA = (
    "name",
    "generateName",
    "namespace",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
_ZEROS: dict[str, Any] = {
    "string": "",
    "int32": 0,
    "int64": 0,
    "double": 0,
    "bool": False,
    "IntOrString": 0,
    "Quantity": "0",
}


def complete(document: Document, resource: Resource) -> Document:
    """Return an object completed, its inner values in place. Cost: O(fields), some 20 us a pod."""
    kind, metadata = resource.kind.kind, document["metadata"]
    metadata.pop("revisions", None)  # of its template: nobody reads them here
    built_in = schemas.is_built_in(resource.kind.group)
    if built_in and kind not in _COUNTED:
        metadata.pop("generation", None)
    if "creationTimestamp" in metadata:
        metadata["creationTimestamp"] = whole_seconds(metadata["creationTimestamp"])
    fill = _FILLS.get(kind)
    type_ = resource.type_
    # A file may hold an object of a shape that its kind does not have: it stays so.
    with contextlib.suppress(AttributeError, TypeError, KeyError):
        if fill is not None and (built_in or resource.kind.group == KUEUE):
            fill(document)
        if type_ and not built_in:
            fill_defaults(document, type_)
        if type_:
            _follow(document, _plan(type_, built_in))
    if not built_in:
        return document
    ordered = {name: metadata[name] for name in _METADATA if name in metadata}
    head = {"kind": kind, "apiVersion": resource.group_version}
    return {**head, **document, "metadata": {**ordered, **metadata}}


@functools.lru_cache(maxsize=16384, typed=True)
def canonical_quantity(given: Any) -> Any:
    """Return a quantity as Go writes it back: "1000m" as "1", 0.5 as "500m".

    The suffix keeps its family: binary, decimal, exponent. What is none stays.
    Source: <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>
    """
    if isinstance(given, bool):
        return given
    try:
        value = parse(given)
    except SchedulerError:
        return given
    text = str(given)
    if text.endswith("i") and abs(value) >= 1024:
        whole, suffix = math.ceil(value), ""
        for name in _BINARY:
            if whole % 1024:
                break
            whole, suffix = whole // 1024, name
        return f"{whole}{suffix}"
    number, power = math.ceil(value * 10**9), -9
    while number and number % 1000 == 0 and power < 18:
        number, power = number // 1000, power + 3
    if not number:
        return "0"
    if re.search(r"[eE][+-]?[0-9]", text):
        return f"{number}e{power}" if power else str(number)
    return f"{number}{_DECIMAL[power]}"


def _in_milli(quantity: Any) -> Any:
    """Return an amount of a resource in whole thousandths, as they are kept."""
    if isinstance(quantity, str) and quantity[-1:] in ("n", "u"):
        return f"{math.ceil(parse(quantity) * 1000)}m"
    return quantity


_NUMBERS = (str, int, float)
_BINARY = ("Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL = {
    -9: "n",
    -6: "u",
    -3: "m",
    0: "",
    3: "k",
    6: "M",
    9: "G",
    12: "T",
    15: "P",
    18: "E",
}


def whole_seconds(stamp: Any) -> Any:
    """Return a time without its fraction, as API servers write times."""
    if isinstance(stamp, str) and "." in stamp:
        return f"{stamp.partition('.')[0]}Z"
    return stamp


#: (field, what to do there): a zero value to put, a plan to follow, or a stamp to cut.
_Step = tuple[str, str, Any]


@functools.cache
def _plan(type_: str, built_in: bool) -> tuple[_Step, ...]:
    return tuple(_steps(type_, built_in=built_in, above=()))


def _steps(type_: str, *, built_in: bool, above: tuple[str, ...]) -> Iterable[_Step]:
    for name, field in schemas.fields_of(type_).items():
        if name in ("apiVersion", "kind", "metadata", "") and not above:
            continue
        if field.type == "meta.v1.ObjectMeta":
            if field.always:
                yield name, "object", ()
            continue
        of = schemas.bare(field.type)
        if of == "Quantity" and built_in:
            if field.type in ("Quantity", "map Quantity"):
                zero = _zero(field)
                yield name, field.type, None if zero is msgspec.UNSET else zero
            continue
        if field.type == "Time":
            yield name, "stamp" if not field.always else "stamp or null", None
        elif schemas.fields_of(of):
            if of in above:
                continue
            inner = tuple(_steps(of, built_in=built_in, above=(*above, of)))
            if field.type.startswith("[]"):
                if inner or (built_in and field.always):
                    always = built_in and field.always
                    yield name, "items or null" if always else "items", inner
            elif field.type.startswith("map "):
                if inner:
                    yield name, "values", inner
            elif built_in and field.always and not field.pointer:
                yield name, "object", inner
            elif inner:
                yield name, "within", inner
        elif built_in and (zero := _zero(field)) is not msgspec.UNSET:
            yield name, "value", zero


def _zero(field: Field) -> Any:
    if not field.always:
        return msgspec.UNSET
    if field.pointer or field.type.startswith(("[]", "map ")):
        return None
    return _ZEROS.get(field.type, msgspec.UNSET)


def bare(resource: Resource, metadata: Document) -> Document:
    """Return an object of which nothing but some metadata is said, as a bookmark is."""
    document = {
        "apiVersion": resource.group_version,
        "kind": resource.kind.kind,
        "metadata": metadata,
    }
    if resource.is_built_in:
        _follow(document, _plan(resource.type_, True))
    return document


def _follow(document: Document, plan: tuple[_Step, ...]) -> None:
    for name, do, what in plan:
        value = document.get(name)
        if value is None:
            if do == "value" or (do == "Quantity" and what is not None):
                document[name] = what
            elif do in ("stamp or null", "items or null"):
                document[name] = None
            elif do == "object":
                document[name] = {}
                _follow(document[name], what)
        elif do == "Quantity":
            if isinstance(value, _NUMBERS):
                document[name] = canonical_quantity(value)
        elif do == "map Quantity":
            for key, amount in value.items():
                if isinstance(amount, _NUMBERS):
                    found = canonical_quantity(amount)
                    value[key] = _in_milli(found)
        elif do in ("stamp", "stamp or null"):
            document[name] = whole_seconds(value)
        elif do in ("items", "items or null"):
            for item in value:
                if isinstance(item, dict):
                    _follow(item, what)
        elif do == "values":
            for item in value.values():
                if isinstance(item, dict):
                    _follow(item, what)
        elif do != "value" and isinstance(value, dict):
            _follow(value, what)


def _default(holder: Document, **values: Any) -> None:
    for name, value in values.items():
        if holder.get(name) is None:
            holder[name] = value


def _objects(holder: Any, *path: str) -> Document:
    """Return an object below another one, made where it is missing."""
    for name in path:
        found = holder.get(name)
        if not isinstance(found, dict):
            found = holder[name] = {}
        holder = found
    return holder  # type: ignore[no-any-return]


def fill_pod_spec(spec: Document) -> None:
    """Fill in what every pod spec has, of a pod and of a template."""
    _default(
        spec,
        dnsPolicy="ClusterFirst",
        restartPolicy="Always",
        terminationGracePeriodSeconds=30,
    )
    if not spec.get("schedulerName"):
        spec["schedulerName"] = "default-scheduler"
    if _is_negative(spec["terminationGracePeriodSeconds"]):
        spec["terminationGracePeriodSeconds"] = 1
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    for part in ("containers", "initContainers", "ephemeralContainers"):
        for container in spec.get(part) or ():
            default_container(container)
    for volume in spec.get("volumes") or ():
        _fill_volume(volume)


def _is_negative(value: Any) -> bool:
    return isinstance(value, int) and value < 0


def _fill_volume(volume: Document) -> None:
    if len(volume) < 2 and "name" in volume:
        volume["emptyDir"] = {}
    for name in ("configMap", "secret", "downwardAPI", "projected"):
        source = volume.get(name)
        if isinstance(source, dict):
            _default(source, defaultMode=420)
    if isinstance(volume.get("hostPath"), dict):
        _default(volume["hostPath"], type="")


def _fill_template(holder: Document) -> None:
    fill_pod_spec(_objects(holder, "template", "spec"))


_LASTING = [
    {
        "effect": "NoExecute",
        "key": f"node.kubernetes.io/{what}",
        "operator": "Exists",
        "tolerationSeconds": 300,
    }
    for what in ("not-ready", "unreachable")
]


def _fill_pod(document: Document) -> None:
    spec = _objects(document, "spec")
    fill_pod_spec(spec)
    default_pod_spec(spec)
    _default(
        spec,
        enableServiceLinks=True,
        preemptionPolicy="PreemptLowerPriority",
        priority=0,
    )
    for part in ("containers", "initContainers") if spec.get("hostNetwork") else ():
        for container in spec.get(part) or ():
            for port in container.get("ports") or ():
                port["hostPort"] = port.get("hostPort") or port.get("containerPort")
    given = spec.get("tolerations") or []
    keys = {
        one.get("key") for one in given if one.get("effect") in (None, "", "NoExecute")
    }
    added = [
        dict(one) for one in _LASTING if one["key"] not in keys and None not in keys
    ]
    if added:
        spec["tolerations"] = [*given, *added]
    for name in ("nodeSelector", "schedulingGates"):
        if name in spec and not spec[name]:
            del spec[name]
    metadata = document["metadata"]
    if (metadata.get("labels") or {}).get(MANAGED) == "true":
        _objects(metadata, "annotations").setdefault(ROLE, role_hash(spec))


def _fill_job(document: Document) -> None:
    spec, metadata = _objects(document, "spec"), document["metadata"]
    queued = QUEUE in (metadata.get("labels") or {})
    if queued and not (document.get("status") or {}).get("startTime"):
        _default(spec, suspend=True)  # by Kueue's webhook, until it is admitted
    _default(
        spec,
        backoffLimit=6,
        completionMode="NonIndexed",
        manualSelector=False,
        suspend=False,
        podReplacementPolicy="Failed"
        if spec.get("podFailurePolicy")
        else "TerminatingOrFailed",
    )
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    _default(spec, parallelism=1)
    _fill_template(spec)
    uid = metadata.get("uid")
    if not uid or spec["manualSelector"]:
        return
    if not spec.get("selector"):
        spec["selector"] = {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    labels = _objects(spec["template"], "metadata", "labels")
    owned = {
        "batch.kubernetes.io/controller-uid": uid,
        "batch.kubernetes.io/job-name": metadata["name"],
        "controller-uid": uid,
        "job-name": metadata["name"],
    }
    for name, value in owned.items():
        labels.setdefault(name, value)
    if not metadata.get("labels"):
        metadata["labels"] = dict(labels)


def _fill_cron_job(document: Document) -> None:
    spec = _objects(document, "spec")
    _default(
        spec,
        concurrencyPolicy="Allow",
        failedJobsHistoryLimit=1,
        successfulJobsHistoryLimit=3,
        suspend=False,
    )
    _fill_template(_objects(spec, "jobTemplate", "spec"))


def _fill_deployment(document: Document) -> None:
    spec = _objects(document, "spec")
    _default(spec, replicas=1, progressDeadlineSeconds=600, revisionHistoryLimit=10)
    _fill_template(spec)
    strategy = _objects(spec, "strategy")
    _default(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = _objects(strategy, "rollingUpdate")
        _default(rolling, maxSurge="25%", maxUnavailable="25%")


def _fill_stateful_set(document: Document) -> None:
    spec = _objects(document, "spec")
    _default(spec, replicas=1, podManagementPolicy="OrderedReady")
    _default(spec, revisionHistoryLimit=10)
    _fill_template(spec)
    strategy = _objects(spec, "updateStrategy")
    _default(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        _default(_objects(strategy, "rollingUpdate"), partition=0)
    retained = _objects(spec, "persistentVolumeClaimRetentionPolicy")
    _default(retained, whenDeleted="Retain", whenScaled="Retain")


def _fill_daemon_set(document: Document) -> None:
    spec = _objects(document, "spec")
    _default(spec, revisionHistoryLimit=10)
    _fill_template(spec)
    strategy = _objects(spec, "updateStrategy")
    _default(strategy, type="RollingUpdate")
    if strategy["type"] == "RollingUpdate":
        rolling = _objects(strategy, "rollingUpdate")
        _default(rolling, maxSurge=0, maxUnavailable=1)


def _fill_replica_set(document: Document) -> None:
    spec = _objects(document, "spec")
    _default(spec, replicas=1)
    _fill_template(spec)


def _fill_namespace(document: Document) -> None:
    metadata = document["metadata"]
    labels = metadata.get("labels") or {}
    metadata["labels"] = {**labels, NAME_LABEL: metadata["name"]}
    spec = _objects(document, "spec")
    if "deletionTimestamp" not in metadata or "finalizers" not in spec:
        _default(spec, finalizers=["kubernetes"])
    going = "deletionTimestamp" in metadata
    _default(_objects(document, "status"), phase="Terminating" if going else "Active")


def _fill_priority_class(document: Document) -> None:
    _default(document, preemptionPolicy="PreemptLowerPriority")


def _fill_service(document: Document) -> None:
    spec = _objects(document, "spec")
    _default(spec, type="ClusterIP", sessionAffinity="None")
    uid = document["metadata"].get("uid")
    if spec["type"] != "ExternalName":
        _default(spec, internalTrafficPolicy="Cluster")
        if uid:
            number = uuid.UUID(str(uid)).int
            ip = f"10.{96 + number % 16}.{number >> 8 & 255}.{(number >> 16) % 254 + 1}"
            _default(spec, clusterIP=ip)
        if spec.get("clusterIP"):
            _default(spec, clusterIPs=[spec["clusterIP"]])
            _default(spec, ipFamilies=["IPv4"], ipFamilyPolicy="SingleStack")
    if spec["type"] in ("LoadBalancer", "NodePort"):
        _default(spec, externalTrafficPolicy="Cluster")
    if spec["type"] == "LoadBalancer":
        _default(spec, allocateLoadBalancerNodePorts=True)
    for port in spec.get("ports") or ():
        _default(port, protocol="TCP")
        if "port" in port:
            _default(port, targetPort=port["port"])


def _fill_secret(document: Document) -> None:
    _default(document, type="Opaque")
    given = document.pop("stringData", None)
    for name, text in (given or {}).items():
        data = _objects(document, "data")
        data[name] = base64.b64encode(str(text).encode()).decode()


def _fill_storage_class(document: Document) -> None:
    _default(document, reclaimPolicy="Delete", volumeBindingMode="Immediate")


def _fill_csi_driver(document: Document) -> None:
    _default(
        _objects(document, "spec"),
        attachRequired=True,
        podInfoOnMount=False,
        storageCapacity=False,
        fsGroupPolicy="ReadWriteOnceWithFSType",
        volumeLifecycleModes=["Persistent"],
        requiresRepublish=False,
        seLinuxMount=False,
    )


def _fill_node(document: Document) -> None:
    spec = _objects(document, "spec")
    if spec.get("podCIDR") and not spec.get("podCIDRs"):
        spec["podCIDRs"] = [spec["podCIDR"]]


def _fill_network_policy(document: Document) -> None:
    spec = _objects(document, "spec")
    both = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]
    _default(spec, policyTypes=both)
    for part in ("ingress", "egress"):
        for rule in spec.get(part) or ():
            for port in rule.get("ports") or ():
                _default(port, protocol="TCP")


def _fill_autoscaler(document: Document) -> None:
    spec = _objects(document, "spec")
    target = {"type": "Utilization", "averageUtilization": 80}
    metric = {"type": "Resource", "resource": {"name": "cpu", "target": target}}
    _default(spec, minReplicas=1, metrics=[metric])


def _fill_binding(document: Document) -> None:
    """Say the API group of a role, and of users and groups."""
    _default(_objects(document, "roleRef"), apiGroup=_RBAC)
    for one in document.get("subjects") or ():
        if one.get("kind") in ("User", "Group"):
            _default(one, apiGroup=_RBAC)


_RBAC = "rbac.authorization.k8s.io"


def _fill_claim(document: Document) -> None:
    _default(_objects(document, "spec"), volumeMode="Filesystem")
    _default(_objects(document, "status"), phase="Pending")
    metadata = document["metadata"]  # held while a pod uses it
    if not metadata.get("finalizers"):
        metadata["finalizers"] = ["kubernetes.io/pvc-protection"]


def _fill_volume_object(document: Document) -> None:
    spec = _objects(document, "spec")
    _default(spec, volumeMode="Filesystem", persistentVolumeReclaimPolicy="Retain")
    _default(_objects(document, "status"), phase="Pending")
    metadata = document["metadata"]
    if not metadata.get("finalizers"):
        metadata["finalizers"] = ["kubernetes.io/pv-protection"]


def _fill_limit_range(document: Document) -> None:
    for limit in _objects(document, "spec").get("limits") or ():
        if limit.get("type") != "Container":
            continue
        for name, amount in (limit.get("max") or {}).items():
            _objects(limit, "default").setdefault(name, amount)
        for source in ("default", "min"):
            for name, amount in (limit.get(source) or {}).items():
                _objects(limit, "defaultRequest").setdefault(name, amount)


def _fill_in_use(document: Document) -> None:
    """Show the finalizer with which Kueue holds what is in use."""
    metadata = document["metadata"]
    held = metadata.get("finalizers") or []
    if IN_USE not in held:
        metadata["finalizers"] = [*held, IN_USE]


def _is_over(workload: Document) -> bool:
    """Return whether the job of a Workload is over: Kueue lets go of it then."""
    found = condition(workload.get("status") or {}, "Finished") or {}
    over = found.get("status") == "True"
    return over and found.get("reason") != SLICE_REPLACED


def _fill_workload(document: Document) -> None:
    spec = _objects(document, "spec")
    _default(spec, active=True)
    owners = [
        one
        for one in document["metadata"].get("ownerReferences") or ()
        if one.get("controller")
    ]
    of_set = owners and owners[0].get("kind") in ("StatefulSet", "LeaderWorkerSet")
    if owners and not of_set and not _is_over(document):
        _fill_in_use(document)
    job = next((one for one in owners if one.get("kind") == "Job"), None)
    of_pods = any(
        one.get("kind") == "Pod"
        for one in document["metadata"].get("ownerReferences") or ()
    )
    for pod_set in spec.get("podSets") or ():
        if of_pods:
            inner = _objects(pod_set, "template")
            held = {"metadata": {}, "spec": {**(inner.get("spec") or {})}}
            _fill_pod(held)
            held["spec"]["schedulingGates"] = [{"name": name} for name in GATES]
            pod_set["template"] = held
        _fill_template(pod_set)
        if job is not None:
            labels = _objects(pod_set["template"], "metadata", "labels")
            labels.setdefault("batch.kubernetes.io/job-name", job["name"])
        _default(pod_set, count=1, name="main")


_FILLS: dict[str, Fill] = {
    "AdmissionCheck": _fill_in_use,
    "CSIDriver": _fill_csi_driver,
    "ClusterRoleBinding": _fill_binding,
    "ClusterQueue": _fill_in_use,
    "CronJob": _fill_cron_job,
    "DaemonSet": _fill_daemon_set,
    "Deployment": _fill_deployment,
    "HorizontalPodAutoscaler": _fill_autoscaler,
    "Job": _fill_job,
    "LimitRange": _fill_limit_range,
    "Namespace": _fill_namespace,
    "NetworkPolicy": _fill_network_policy,
    "Node": _fill_node,
    "PersistentVolume": _fill_volume_object,
    "PersistentVolumeClaim": _fill_claim,
    "Pod": _fill_pod,
    "PriorityClass": _fill_priority_class,
    "ReplicaSet": _fill_replica_set,
    "ResourceFlavor": _fill_in_use,
    "RoleBinding": _fill_binding,
    "Secret": _fill_secret,
    "Service": _fill_service,
    "StatefulSet": _fill_stateful_set,
    "StorageClass": _fill_storage_class,
    "Topology": _fill_in_use,
    "Workload": _fill_workload,
}
