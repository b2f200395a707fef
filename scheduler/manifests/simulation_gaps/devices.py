"""What claims of devices say that is not followed here.

Source: docs/semantics/kube-scheduler.md#devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.manifests.effects import Effect, Gap
from scheduler.records.devices.selectors import read_rule

Fields = Iterator[Gap]

_EXPRESSION = (
    "an expression that does more than compare is not read; it accepts all",
    Effect.ANY_DEVICE,
)
_FIRST = "of alternatives only the first is tried", Effect.FIRST_ALTERNATIVE
_ADMIN = "administrative access counts as any other use", Effect.ADMINISTRATIVE
_DISTINCT = (
    "distinctAttribute is not followed: devices may be equal in it",
    Effect.REFUSED_DEVICE,
)
_COUNTERS = (
    "shared counters are not followed: partitions of a device are all free",
    Effect.SHARED_COUNTERS,
)
_SHARE = "a share of a device takes all of it", Effect.FEWER_SHARE
_TAINTS = "taints of devices are not followed", Effect.TAINTED_DEVICE
_EXTENDED = (
    "a pod that asks for it as a resource gets no device of the class",
    Effect.NO_DEVICE_RESOURCE,
)


def unread_devices(manifest: Mapping[str, Any]) -> Fields:
    """Yield what is not followed of a claim, template, class or slice."""
    yield from _fields(manifest.get("spec"), "spec")


def _fields(value: Any, path: str) -> Fields:
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _fields(item, f"{path}[{index}]")
    if not isinstance(value, Mapping):
        return
    for name, inner in value.items():
        if name == "expression" and isinstance(inner, str) and read_rule(inner) is None:
            yield Gap(f"{path}.{name}", *_EXPRESSION)
        if name in _UNREAD and inner:
            yield Gap(f"{path}.{name}", *_UNREAD[name])
        if name == "capacity" and isinstance(inner, Mapping) and "requests" in inner:
            yield Gap(f"{path}.{name}", *_SHARE)
        yield from _fields(inner, f"{path}.{name}")


_UNREAD = {
    "firstAvailable": _FIRST,
    "adminAccess": _ADMIN,
    "distinctAttribute": _DISTINCT,
    "consumesCounters": _COUNTERS,
    "taints": _TAINTS,
    "extendedResourceName": _EXTENDED,
}
