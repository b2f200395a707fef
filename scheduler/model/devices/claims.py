"""Claims to devices: ResourceClaims, their templates, and the pods that name them."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.errors import QuantityError
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


# ------------------------------------------------------------------------
# ResourceSlices and DeviceClasses: which devices there are, where, and of what sort.


SLICE = "ResourceSlice"
DEVICE_CLASS = "DeviceClass"


class ResourceSlice(msgspec.Struct, frozen=True, kw_only=True):
    """Devices of one pool: of one node, of the nodes of a selector, or of all."""

    name: str
    driver: str = ""
    pool: str = ""
    generation: int = 0
    node: str = ""
    terms: tuple[NodeTerm, ...] | None = None  # None: no selector
    all_nodes: bool = False
    devices: tuple[Device, ...] = ()

    def reaches(self, node: str, labels: Mapping[str, str]) -> bool:
        """Return whether its devices can be used on a node."""
        if self.all_nodes or self.node == node:
            return True
        return any(term.matches(node, labels) for term in self.terms or ())


class DeviceClass(msgspec.Struct, frozen=True, kw_only=True):
    """A DeviceClass: the CEL expressions that each of its devices meets."""

    name: str
    selectors: tuple[str, ...] = ()


def read_slice(manifest: Mapping[str, Any]) -> ResourceSlice:
    """Return the slice of a document. Raises QuantityError for a capacity."""
    spec = manifest.get("spec") or {}
    pool, driver = spec.get("pool") or {}, str(spec.get("driver") or "")
    selector = spec.get("nodeSelector")
    terms = (selector or {}).get("nodeSelectorTerms") or ()
    return ResourceSlice(
        name=str((manifest.get("metadata") or {}).get("name", "")),
        driver=driver,
        pool=str(pool.get("name") or ""),
        generation=int(pool.get("generation") or 0),
        node=str(spec.get("nodeName") or ""),
        terms=None if selector is None else tuple(read_node_term(t) for t in terms),
        all_nodes=bool(spec.get("allNodes")),
        devices=tuple(
            _device(item, driver, str(pool.get("name") or ""))
            for item in spec.get("devices") or ()
        ),
    )


def _device(item: Mapping[str, Any], driver: str, pool: str) -> Device:
    inner = item.get("basic") or item  # v1beta1 has one level more
    return Device(
        driver=driver,
        pool=pool,
        name=str(item.get("name")),
        attributes={
            full_name(name, driver): _value(given)
            for name, given in (inner.get("attributes") or {}).items()
        },
        capacity={
            full_name(name, driver): amounts.canonical("memory", _amount(given))
            for name, given in (inner.get("capacity") or {}).items()
        },
    )


def full_name(name: str, driver: str) -> str:
    """Return an attribute's name with its domain, the driver's where it has none."""
    return name if "/" in name else f"{driver}/{name}"


def _value(given: Any) -> Attribute:
    for kind in ("string", "int", "bool", "version"):
        if isinstance(given, Mapping) and kind in given:
            found: Attribute = given[kind]
            return found
    return ""


def _amount(given: Any) -> Any:
    return given.get("value", 0) if isinstance(given, Mapping) else given


def read_device_class(manifest: Mapping[str, Any]) -> DeviceClass:
    """Return the class of a document."""
    spec = manifest.get("spec") or {}
    return DeviceClass(
        name=str((manifest.get("metadata") or {}).get("name", "")),
        selectors=read_expressions(spec.get("selectors")),
    )


def read_expressions(items: Any) -> tuple[str, ...]:
    """Return the CEL expressions of a list of selectors."""
    return tuple(
        str((item.get("cel") or {}).get("expression") or "") for item in items or ()
    )


# ------------------------------------------------------------------------
# Which devices a CEL expression selects, where it only compares attributes.


Attribute = str | int | bool


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One device of a pool; attributes and capacity by their full names."""

    driver: str
    pool: str
    name: str
    attributes: dict[str, Attribute] = {}
    capacity: dict[str, int] = {}

    @property
    def id(self) -> tuple[str, str, str]:
        """Return its unique name."""
        return self.driver, self.pool, self.name


Rule = Callable[[Device], bool]
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_OPERATOR = r"\s*(==|!=|>=|<=|>|<)\s*"
_TEXT = r"""("[^"]*"|'[^']*')"""  # CEL has both quotes
_NAMED = rf"\[{_TEXT}\]\.([A-Za-z_]\w*)"
_DRIVER = re.compile(r"device\.driver" + _OPERATOR + _TEXT)
_FLAG = re.compile(r"(!?)\s*device\.attributes" + _NAMED)
_ATTRIBUTE = re.compile(
    rf"device\.attributes{_NAMED}{_OPERATOR}({_TEXT}|-?[0-9]+|true|false)"
)
_CAPACITY = re.compile(
    rf"device\.capacity{_NAMED}\.compareTo\(quantity\({_TEXT}\)\){_OPERATOR}0"
)


def read_rule(expression: str) -> Rule | None:
    """Return the rule of a CEL expression; None for one that is not simple.

    Simple: terms joined by `&&`, each of which compares the driver, an attribute or a
    capacity with a literal, or names a boolean attribute. A device without the
    attribute is not selected. Source: docs/semantics/kube-scheduler.md#devices.
    """
    rules = [_term(term.strip()) for term in expression.split("&&")]
    known = [rule for rule in rules if rule is not None]
    if len(known) < len(rules):
        return None
    return lambda device: all(rule(device) for rule in known)


def _term(text: str) -> Rule | None:
    if found := _DRIVER.fullmatch(text):
        compare, driver = _COMPARE[found[1]], found[2][1:-1]
        return lambda device: compare(device.driver, driver)
    if found := _FLAG.fullmatch(text):
        flag, wanted = _full(found[2], found[3]), found[1] == ""
        return lambda device: device.attributes.get(flag) is wanted
    if found := _ATTRIBUTE.fullmatch(text):
        return _attribute(_full(found[1], found[2]), _COMPARE[found[3]], found[4])
    if found := _CAPACITY.fullmatch(text):
        return _capacity(_full(found[1], found[2]), _COMPARE[found[4]], found[3][1:-1])
    return None


def _full(quoted: str, name: str) -> str:
    """Return the full name of an attribute of a domain in quotes."""
    return f"{quoted[1:-1]}/{name}"


def _attribute(name: str, compare: Callable[[Any, Any], bool], text: str) -> Rule:
    literal: Attribute = text[1:-1]
    if text in ("true", "false"):
        literal = text == "true"
    elif text[0] not in "\"'":
        literal = int(text)

    def rule(device: Device) -> bool:
        value = device.attributes.get(name)
        return type(value) is type(literal) and compare(value, literal)

    return rule


def _capacity(name: str, compare: Callable[[Any, Any], bool], text: str) -> Rule | None:
    try:
        amount = amounts.canonical("memory", text)
    except QuantityError:
        return None
    return lambda device: (
        name in device.capacity and compare(device.capacity[name], amount)
    )
