"""What claims of devices say that is not followed here.

Source: docs/semantics/kube-scheduler.md#devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.input.manifests.effects import Effect, Gap
from scheduler.model.devices.claims import read_rule
from scheduler.words.gaps import Devices

Fields = Iterator[Gap]

_EXPRESSION = (
    Devices.EXPRESSION.said(),
    Effect.ANY_DEVICE,
)
_FIRST = Devices.FIRST.said(), Effect.FIRST_ALTERNATIVE
_ADMIN = Devices.ADMIN.said(), Effect.ADMINISTRATIVE
_DISTINCT = (
    Devices.DISTINCT.said(),
    Effect.REFUSED_DEVICE,
)
_COUNTERS = (
    Devices.COUNTERS.said(),
    Effect.SHARED_COUNTERS,
)
_SHARE = Devices.SHARE.said(), Effect.FEWER_SHARE
_TAINTS = Devices.TAINTS.said(), Effect.TAINTED_DEVICE
_EXTENDED = (
    Devices.EXTENDED.said(),
    Effect.NO_DEVICE_RESOURCE,
)


def unread_devices(manifest: Mapping[str, Any]) -> Fields:
    """Yield the ignored fields of a claim, template, class or slice."""
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
