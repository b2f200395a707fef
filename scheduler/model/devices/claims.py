"""Claims to devices: ResourceClaims, their templates, and the pods that name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model.devices.slices import read_expressions
from scheduler.model.objects import Key
from scheduler.model.selectors import NodeTerm, read_node_term

CLAIM = "ResourceClaim"
TEMPLATE = "ResourceClaimTemplate"
POD_CLAIM = "resource.kubernetes.io/pod-claim-name"
_ALL = "All"


class DeviceRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Devices of one class: how many (None: all there are), and which."""

    name: str
    class_name: str = ""
    count: int | None = 1
    selectors: tuple[str, ...] = ()


class Constraint(msgspec.Struct, frozen=True, gc=False):
    """An attribute in which the devices of some requests (none: all) are equal."""

    attribute: str
    requests: tuple[str, ...] = ()


class Allocation(msgspec.Struct, frozen=True, kw_only=True):
    """The devices of a claim, as (request, driver, pool, device), and where they are."""

    devices: tuple[tuple[str, str, str, str], ...] = ()
    terms: tuple[NodeTerm, ...] | None = None  # None: on every node
    node: str = ""  # the only one

    def reaches(self, node: str, labels: Mapping[str, str]) -> bool:
        """Return whether the devices can be used on a node."""
        if self.node:
            return self.node == node
        if self.terms is None:
            return True
        return any(term.matches(node, labels) for term in self.terms)


class DeviceClaim(msgspec.Struct, frozen=True, kw_only=True):
    """A ResourceClaim, or what a template makes one of."""

    key: Key
    uid: str = ""
    requests: tuple[DeviceRequest, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    terminating: bool = False
    allocation: Allocation | None = None  # as the document says
    pod: str = ""  # for which it was made, by its name in the pod
    pod_claim: str = ""


class PodClaim(msgspec.Struct, frozen=True, gc=False):
    """An entry of a pod's resourceClaims: a claim's name, or a template's."""

    name: str
    claim: str = ""
    template: str = ""


def read_pod_claims(spec: Mapping[str, Any]) -> tuple[PodClaim, ...]:
    """Return the resourceClaims of a pod spec, in order."""
    return tuple(
        PodClaim(
            str(item.get("name")),
            str(item.get("resourceClaimName") or ""),
            str(item.get("resourceClaimTemplateName") or ""),
        )
        for item in spec.get("resourceClaims") or ()
    )


def read_device_claim(
    manifest: Mapping[str, Any], status: Mapping[str, Any], key: Key
) -> DeviceClaim:
    """Return the claim of a document, or of a template's inner one."""
    metadata = manifest.get("metadata") or {}
    devices = (manifest.get("spec") or {}).get("devices") or {}
    owners = [o for o in metadata.get("ownerReferences") or () if o["kind"] == "Pod"]
    named = (metadata.get("annotations") or {}).get(POD_CLAIM)
    given = status.get("allocation")
    return DeviceClaim(
        key=key,
        uid=str(metadata.get("uid") or ""),
        requests=tuple(_request(item) for item in devices.get("requests") or ()),
        constraints=tuple(
            Constraint(item["matchAttribute"], tuple(item.get("requests") or ()))
            for item in devices.get("constraints") or ()
            if item.get("matchAttribute")
        ),
        terminating=bool(metadata.get("deletionTimestamp")),
        allocation=None if given is None else _allocation(given),
        pod=str(owners[0].get("name")) if owners and named else "",
        pod_claim=str(named or ""),
    )


def _request(item: Mapping[str, Any]) -> DeviceRequest:
    # v1beta1 has one level less; of alternatives the first is taken.
    inner = item.get("exactly") or (item.get("firstAvailable") or [item])[0]
    everything = inner.get("allocationMode") == _ALL
    return DeviceRequest(
        name=str(item.get("name")),
        class_name=str(inner.get("deviceClassName") or ""),
        count=None if everything else int(inner.get("count") or 1),
        selectors=read_expressions(inner.get("selectors")),
    )


def _allocation(given: Mapping[str, Any]) -> Allocation:
    results = (given.get("devices") or {}).get("results") or ()
    selector = given.get("nodeSelector")
    terms = (selector or {}).get("nodeSelectorTerms") or ()
    return Allocation(
        devices=tuple(
            (
                str(r.get("request")),
                str(r.get("driver")),
                str(r.get("pool")),
                str(r.get("device")),
            )
            for r in results
        ),
        terms=None if selector is None else tuple(read_node_term(t) for t in terms),
    )
