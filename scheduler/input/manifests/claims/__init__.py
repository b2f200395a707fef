"""Checks of what pods claim: volumes and devices, their classes and where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scheduler.input.manifests.claims import volumes
from scheduler.input.manifests.documents import Document

CHECKS: Mapping[str, Callable[[Document], dict[str, Any]]] = {
    **volumes.CHECKS,
    **volumes.DEVICE_CHECKS,
}
