"""A Pod as placement sees it: its shape, shared among equals, and who it is."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from scheduler.model.amounts import parse
from scheduler.model.devices.claims import PodClaim, read_pod_claims
from scheduler.model.durations import stamp_or_none
from scheduler.model.node import normalized_image
from scheduler.model.objects import Key
from scheduler.model.reasons import has_ended
from scheduler.model.requests import Container, PodRequests, read_requests, read_resize
from scheduler.model.selectors import (
    NodeTerm,
    Selector,
    Toleration,
    read_node_term,
    read_selector,
    read_tolerations,
)
from scheduler.model.storage.claims import ClaimVolume, read_claim_volumes

GUARANTEED, BURSTABLE, BEST_EFFORT = "Guaranteed", "Burstable", "BestEffort"
#: Labels that name the PodGroup of a pod, the newest first; the last has no object.
OLD_GROUP_LABEL = "pod-group.scheduling.sigs.k8s.io/name"
GANG_LABELS = (
    "scheduling.x-k8s.io/pod-group",
    "pod-group.scheduling.sigs.k8s.io",  # of the group scheduling.sigs.k8s.io
    OLD_GROUP_LABEL,
)
_DIGITS = "456789bcdf"  # of a pod template's hash
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def gang_of(labels: Mapping[str, Any]) -> str:
    """Return the name of the PodGroup that labels put a pod in; "" where they name none."""
    return next((str(labels[one]) for one in GANG_LABELS if labels.get(one)), "")


class PodTerm(msgspec.Struct, frozen=True, gc=False):
    """One pod (anti-)affinity term.

    `namespaces` empty and `namespace_selector` None mean the owner's own.
    """

    selector: Selector
    topology_key: str
    namespaces: tuple[str, ...] = ()
    namespace_selector: Selector | None = None
    weight: int = 0
    match_keys: tuple[str, ...] = ()
    mismatch_keys: tuple[str, ...] = ()


class Spread(msgspec.Struct, frozen=True, gc=False):
    """One topologySpreadConstraint."""

    selector: Selector
    topology_key: str
    max_skew: int
    hard: bool
    min_domains: int = 1
    honour_affinity: bool = True
    honour_taints: bool = False
    match_keys: tuple[str, ...] = ()


class Gang(msgspec.Struct, frozen=True, gc=False):
    """What a pod's schedulingGroup or workloadRef names."""

    group: str
    workload: str = ""  # "" for a PodGroup of its own
    replica: str = ""  # podGroupReplicaKey


class Shape(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """All that a Pod's spec says to placement; equal specs share one object."""

    ordinal: int  # identifies the shape within a process
    requests: PodRequests
    containers: tuple[Container, ...]
    tolerations: tuple[Toleration, ...] = ()
    node_selector: tuple[tuple[str, str], ...] = ()
    node_required: tuple[NodeTerm, ...] | None = None  # None: nothing required
    node_preferred: tuple[NodeTerm, ...] = ()
    affinity: tuple[PodTerm, ...] = ()
    anti_affinity: tuple[PodTerm, ...] = ()
    preferred_affinity: tuple[PodTerm, ...] = ()
    preferred_anti_affinity: tuple[PodTerm, ...] = ()
    spread: tuple[Spread, ...] = ()
    ports: tuple[tuple[str, str, int], ...] = ()  # (ip, protocol, port)
    claims: tuple[ClaimVolume, ...] = ()
    device_claims: tuple[PodClaim, ...] = ()
    image_volumes: tuple[str, ...] = ()  # what images volumes hold
    gang: Gang | None = None
    gates: tuple[str, ...] = ()
    qos: str = BEST_EFFORT
    never_preempts: bool = False

    def selects(self, name: str, labels: Mapping[str, str]) -> bool:
        """Return whether its node selector and required node affinity allow a node."""
        if any(labels.get(key) != value for key, value in self.node_selector):
            return False
        terms = self.node_required
        return terms is None or any(term.matches(name, labels) for term in terms)

    @property
    def has_pod_terms(self) -> bool:
        """Return whether other pods decide where it may or wants to go."""
        return bool(
            self.affinity
            or self.anti_affinity
            or self.preferred_affinity
            or self.preferred_anti_affinity
        )


class Pod(msgspec.Struct, frozen=True, kw_only=True):
    """One Pod: identity, labels, priority, and where it stands."""

    key: Key
    uid: str
    labels: dict[str, str]
    shape: Shape
    priority: int = 0
    scheduler_name: str = "default-scheduler"
    wanted_node: str = ""  # spec.nodeName of a pod that was not placed by us
    nominated: str = ""
    created_us: int = 0
    started_us: int | None = None  # None counts as "now" in preemption
    terminating: bool = False
    disrupted: bool = False  # being removed because of preemption
    finished: bool = False
    owner_kind: str = ""
    owner_name: str = ""
    qos: str = BEST_EFFORT

    @property
    def name(self) -> str:
        """Return the bare name."""
        return self.key.name

    @property
    def namespace(self) -> str:
        """Return the namespace."""
        return self.key.namespace


def read_pod(
    manifest: Mapping[str, Any],
    status: Mapping[str, Any],
    *,
    sidecar_ports: bool = True,
) -> Pod:
    """Return the Pod of a manifest and its status.

    Without `sidecar_ports` host ports of sidecars are nobody's. Raises QuantityError for an amount or time that cannot be read. Equal specs
    are parsed once.
    """
    metadata = manifest.get("metadata") or {}
    spec = manifest.get("spec") or {}
    namespace = str(metadata.get("namespace") or "default")
    shape = shape_of(spec, status, sidecar_ports=sidecar_ports)
    labels = metadata.get("labels") or {}
    owners: Any = metadata.get("ownerReferences") or ({},)
    started = status.get("startTime")
    created = metadata.get("creationTimestamp")
    return Pod(
        key=Key("Pod", namespace, str(metadata.get("name", ""))),
        uid=str(metadata.get("uid") or ""),
        labels={str(k): str(v) for k, v in labels.items()},
        shape=shape,
        priority=int(spec.get("priority") or 0),
        scheduler_name=str(spec.get("schedulerName") or "default-scheduler"),
        wanted_node=str(spec.get("nodeName") or ""),
        nominated=str(status.get("nominatedNodeName") or ""),
        created_us=stamp_or_none(created) or 0,
        started_us=stamp_or_none(started),
        terminating=bool(metadata.get("deletionTimestamp")),
        disrupted=_disrupted(status),
        finished=has_ended(status),
        owner_kind=str(owners[0].get("kind", "")),
        owner_name=str(owners[0].get("name", "")),
        qos=str(status.get("qosClass") or shape.qos),
    )


def _disrupted(status: Mapping[str, Any]) -> bool:
    return any(
        condition.get("type") == "DisruptionTarget"
        and condition.get("status") == "True"
        and condition.get("reason") == "PreemptionByScheduler"
        for condition in status.get("conditions") or ()
    )


_PLACED = ("nodeName", "schedulerName", "priority", "priorityClassName")


def shape_of(
    spec: Mapping[str, Any], status: Mapping[str, Any], *, sidecar_ports: bool = True
) -> Shape:
    """Return the shared shape of this spec (and resize status, when there is one)."""
    asked = {key: value for key, value in spec.items() if key not in _PLACED}
    return _shape(msgspec.json.encode([asked, _resized(status)]), sidecar_ports)


def _resized(status: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a status that says what is resized; mostly nothing."""
    kept = (
        "containerStatuses",
        "initContainerStatuses",
        "resources",
        "allocatedResources",
        "conditions",
    )
    listed = [*(status.get(kept[0]) or ()), *(status.get(kept[1]) or ())]
    if all(item.get("resources") is None for item in [*listed, status]):
        return {}
    return {name: status[name] for name in kept if name in status}


_ordinals = iter(range(1, 2**62))


@lru_cache(maxsize=65536)
def _shape(encoded: bytes, sidecar_ports: bool) -> Shape:
    spec, resized = msgspec.json.decode(encoded)
    requests, containers = read_requests(spec, read_resize(resized))
    affinity = spec.get("affinity") or {}
    node = affinity.get("nodeAffinity") or {}
    near = affinity.get("podAffinity") or {}
    apart = affinity.get("podAntiAffinity") or {}
    return Shape(
        ordinal=next(_ordinals),
        requests=requests,
        containers=containers,
        tolerations=read_tolerations(spec.get("tolerations")),
        node_selector=tuple(sorted((spec.get("nodeSelector") or {}).items())),
        node_required=_required_nodes(node),
        node_preferred=read_preferred_nodes(node.get(_PREFERRED)),
        affinity=_pod_terms(near.get(_REQUIRED)),
        anti_affinity=_pod_terms(apart.get(_REQUIRED)),
        preferred_affinity=_weighted_terms(near.get(_PREFERRED)),
        preferred_anti_affinity=_weighted_terms(apart.get(_PREFERRED)),
        spread=tuple(
            read_spread(item) for item in spec.get("topologySpreadConstraints") or ()
        ),
        ports=_ports(spec, sidecars=sidecar_ports),
        claims=read_claim_volumes(spec),
        device_claims=read_pod_claims(spec),
        image_volumes=tuple(
            normalized_image(str(volume["image"].get("reference")))
            for volume in spec.get("volumes") or ()
            if volume.get("image")
        ),
        gang=_gang(spec),
        gates=tuple(str(g.get("name")) for g in spec.get("schedulingGates") or ()),
        qos=qos_class(spec),
        never_preempts=spec.get("preemptionPolicy") == "Never",
    )


def _gang(spec: Mapping[str, Any]) -> Gang | None:
    if group := (spec.get("schedulingGroup") or {}).get("podGroupName"):
        return Gang(str(group))
    if named := spec.get("workloadRef"):
        replica = str(named.get("podGroupReplicaKey") or "")
        return Gang(str(named.get("podGroup")), str(named.get("name")), replica)
    return None


def _required_nodes(node: Mapping[str, Any]) -> tuple[NodeTerm, ...] | None:
    required = node.get(_REQUIRED)
    if required is None:
        return None
    return tuple(read_node_term(t) for t in required.get("nodeSelectorTerms") or ())


def read_preferred_nodes(items: Any) -> tuple[NodeTerm, ...]:
    """Return preferred node terms as declared.

    An empty one and one of weight 0 match nothing but still are declared.
    """
    return tuple(
        read_node_term(item.get("preference") or {}, int(item.get("weight") or 0))
        for item in items or ()
    )


def _pod_terms(items: Any, weight: int = 0) -> tuple[PodTerm, ...]:
    return tuple(_pod_term(item, weight) for item in items or ())


def _weighted_terms(items: Any) -> tuple[PodTerm, ...]:
    return tuple(
        _pod_term(item.get("podAffinityTerm") or {}, int(item.get("weight") or 0))
        for item in items or ()
    )


def _pod_term(item: Mapping[str, Any], weight: int) -> PodTerm:
    selector = item.get("namespaceSelector")
    return PodTerm(
        selector=read_selector(item.get("labelSelector")),
        topology_key=str(item.get("topologyKey", "")),
        namespaces=tuple(sorted(item.get("namespaces") or ())),
        namespace_selector=None if selector is None else read_selector(selector),
        weight=weight,
        match_keys=tuple(item.get("matchLabelKeys") or ()),
        mismatch_keys=tuple(item.get("mismatchLabelKeys") or ()),
    )


def read_spread(item: Mapping[str, Any]) -> Spread:
    """Return a topologySpreadConstraint."""
    return Spread(
        selector=read_selector(item.get("labelSelector")),
        topology_key=str(item.get("topologyKey", "")),
        max_skew=int(item.get("maxSkew") or 1),
        hard=item.get("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule",
        min_domains=int(item.get("minDomains") or 1),
        honour_affinity=item.get("nodeAffinityPolicy", "Honor") == "Honor",
        honour_taints=item.get("nodeTaintsPolicy", "Ignore") == "Honor",
        match_keys=tuple(item.get("matchLabelKeys") or ()),
    )


def _ports(
    spec: Mapping[str, Any], *, sidecars: bool
) -> tuple[tuple[str, str, int], ...]:
    holders = list(spec.get("containers") or ())
    if sidecars:
        holders += [
            c
            for c in spec.get("initContainers") or ()
            if c.get("restartPolicy") == "Always"
        ]
    # An API server writes each port of a pod in its host's network as one of the host.
    instead = "containerPort" if spec.get("hostNetwork") else ""
    return tuple(
        (
            str(port.get("hostIP") or "0.0.0.0"),
            str(port.get("protocol") or "TCP"),
            int(number),
        )
        for container in holders
        for port in container.get("ports") or ()
        if (number := port.get("hostPort") or port.get(instead))
    )


def qos_class(spec: Mapping[str, Any]) -> str:
    """Return Guaranteed, Burstable or BestEffort.

    Source: docs/semantics/kube-scheduler.md#quality-of-service-class.
    """
    level = spec.get("resources") or {}
    if level.get("requests") or level.get("limits"):
        holders = [spec]
    else:
        holders = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
    requests: dict[str, Any] = {}
    limits: dict[str, Any] = {}
    complete = True
    for holder in holders:
        given = holder.get("resources") or {}
        _add_positive(requests, given.get("requests") or {})
        found = _add_positive(limits, given.get("limits") or {})
        complete = complete and len(found) == 2
    if not requests and not limits:
        return BEST_EFFORT
    same = requests.keys() == limits.keys() and all(
        requests[name] == limits[name] for name in requests
    )
    return GUARANTEED if complete and same else BURSTABLE


def _add_positive(sums: dict[str, Any], given: Mapping[str, Any]) -> set[str]:
    found = set()
    for name in ("cpu", "memory"):
        value = parse(given[name]) if name in given else 0
        if value > 0:
            found.add(name)
            sums[name] = sums.get(name, 0) + value
    return found


# ------------------------------------------------------------------------
# Defaults that the API server gives a pod spec.


def default_pod_spec(spec: dict[str, Any]) -> None:
    """Give containers requests equal to limits where only limits are given.

    Source: docs/semantics/kube-scheduler.md#admission-before-scheduling.
    """
    for holder in (
        *(spec.get("containers") or ()),
        *(spec.get("initContainers") or ()),
        spec,
    ):
        resources = holder.get("resources") or {}
        limits = resources.get("limits")
        if limits:
            resources["requests"] = {**limits, **(resources.get("requests") or {})}


def default_container(container: dict[str, Any]) -> None:
    """Fill in what every container has, of a pod and of a template."""
    image = str(container.get("image", ""))
    tag = image.rpartition("/")[2].partition(":")[2] or "latest"
    latest = tag == "latest" and "@" not in image
    _default(
        container,
        terminationMessagePath="/dev/termination-log",
        terminationMessagePolicy="File",
    )
    if image:
        _default(container, imagePullPolicy="Always" if latest else "IfNotPresent")
    for port in container.get("ports") or ():
        _default(port, protocol="TCP")
    for variable in container.get("env") or ():
        source = (variable.get("valueFrom") or {}).get("fieldRef")
        if isinstance(source, dict):
            _default(source, apiVersion="v1")
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        probe = container.get(name)
        if isinstance(probe, dict):
            for field, value in _PROBE.items():
                if not probe.get(field):  # a zero is none
                    probe[field] = value
            if isinstance(probe.get("httpGet"), dict):
                _default(probe["httpGet"], scheme="HTTP", path="/")


_PROBE = {
    "failureThreshold": 3,
    "periodSeconds": 10,
    "successThreshold": 1,
    "timeoutSeconds": 1,
}


def _default(holder: dict[str, Any], **values: Any) -> None:
    for name, value in values.items():
        if holder.get(name) is None:
            holder[name] = value


def template_hash(template: Any) -> str:
    """Return the hash by which a Deployment tells its pod templates apart."""
    text = msgspec.json.encode(template, order="deterministic")
    number = int.from_bytes(hashlib.sha256(text).digest()[:4]) | 1 << 31
    return "".join(_DIGITS[int(digit)] for digit in str(number))
