"""AdmissionChecks, and which of them a ClusterQueue asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Manifest = Mapping[str, Any]

#: The condition of a check whose controller works.
ACTIVE_CHECK = {
    "type": "Active",
    "status": "True",
    "reason": "Active",
    "message": "The admission check is active",
}
MULTI_KUEUE = "kueue.x-k8s.io/multikueue"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"
#: What MultiKueue says of a check that names no parameters.
NO_PARAMETERS = {
    "type": "Active",
    "status": "False",
    "reason": "BadConfig",
    "message": "Cannot load the AdmissionChecks parameters: "
    "missing parameters reference",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionCheck:
    """An AdmissionCheck; `active` is what its controller reports."""

    name: str
    controller: str = ""
    active: bool = False
    parameters: tuple[str, str] = ("", "")  # kind and name


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCheck:
    """A check that a ClusterQueue asks for, in some of its flavors or in all.

    `on_flavors` is what the document says: naming all flavors means the same as
    naming none, and yet changing one into the other is an edit.
    """

    name: str
    flavors: frozenset[str]
    on_flavors: tuple[str, ...] = ()


def read_admission_check(manifest: Manifest, status: Manifest) -> AdmissionCheck:
    """Return the AdmissionCheck of a served manifest with this status."""
    spec = manifest.get("spec") or {}
    parameters = spec.get("parameters") or {}
    return AdmissionCheck(
        name=manifest["metadata"]["name"],
        controller=spec.get("controllerName") or "",
        active=_is_active(status),
        parameters=(parameters.get("kind") or "", parameters.get("name") or ""),
    )


def _is_active(status: Manifest) -> bool:
    """Return whether the last Active condition is True."""
    found = [c for c in status.get("conditions") or () if c.get("type") == "Active"]
    return bool(found) and found[-1].get("status") == "True"


def read_queue_checks(spec: Manifest, flavors: Iterable[str]) -> tuple[QueueCheck, ...]:
    """Return the checks of a ClusterQueue with these flavors, by name.

    Source: docs/semantics/kueue-admission-checks.md#which-checks-a-workload-needs.
    """
    strategy = spec.get("admissionChecksStrategy") or {}
    every = frozenset(flavors)
    checks = [
        QueueCheck(
            name=item["name"],
            flavors=frozenset(item.get("onFlavors") or ()) or every,
            on_flavors=tuple(item.get("onFlavors") or ()),
        )
        for item in strategy.get("admissionChecks") or ()
    ]
    return tuple(sorted(checks, key=lambda check: check.name))
