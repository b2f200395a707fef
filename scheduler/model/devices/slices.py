"""ResourceSlices and DeviceClasses: which devices there are, where, and of what sort."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from scheduler.model import amounts
from scheduler.model.devices.selectors import Attribute, Device
from scheduler.model.selectors import NodeTerm, read_node_term

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
