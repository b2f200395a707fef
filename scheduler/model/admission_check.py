"""AdmissionChecks, and which of them a ClusterQueue asks for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec

from scheduler.model.durations import read_span
from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import Problem, Wanted, expected

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


# ------------------------------------------------------------------------
# How admission checks are answered in a sandbox: one rule per check.


Answer = Literal["Ready", "Retry", "Rejected"]

_PROBABILITY = msgspec.Meta(
    ge=0,
    le=1,
    title="How often the answer is given",
    description="Drawn from the seed for each reservation; else `otherwise` is.",
)


class RecordedAnswer(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """What a check said of a workload's `attempt`-th reservation, from 1 on.

    `workload` is "namespace/name"; `after` counts from the reservation.
    """

    workload: str
    answer: Answer
    attempt: Annotated[int, msgspec.Meta(ge=1)] = 1
    after: str = "0s"
    message: str = ""
    requeue_after_seconds: int | None = None


class CheckRule(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """How the AdmissionCheck `check` is answered for each reservation.

    `answer` comes `after` the reservation with `probability`, else `otherwise`.
    With `every` and `open` it is answered only in the first `open` of each `every`
    of virtual time. `byHand` leaves it to people; `recorded` answers come first.
    """

    check: str
    answer: Answer = "Ready"
    after: str = "0s"
    probability: Annotated[float, _PROBABILITY] = 1.0
    otherwise: Answer = "Rejected"
    message: str = ""
    requeue_after_seconds: Annotated[int, msgspec.Meta(ge=0)] | None = None
    every: str = ""
    open: str = ""
    by_hand: bool = False
    pod_set_updates: list[dict[str, Any]] = []
    recorded: list[RecordedAnswer] = []


def check_rules(rules: list[CheckRule]) -> None:
    """Refuse rules that say nothing; raises PolicyError with the path."""
    known: set[str] = set()
    for index, rule in enumerate(rules):
        path = f"simulation.admissionChecks[{index}]"
        if rule.check in known:
            raise PolicyError(Problem.RULE.said(name=rule.check), f"{path}.check")
        known.add(rule.check)
        _check_lengths(rule, path)


def _check_lengths(rule: CheckRule, path: str) -> None:
    texts = {"after": rule.after}
    if bool(rule.every) != bool(rule.open):
        raise PolicyError(Problem.EVERY_OPEN.said(), f"{path}.every")
    if rule.every:
        texts |= {"every": rule.every, "open": rule.open}
    for index, answer in enumerate(rule.recorded):
        texts[f"recorded[{index}].after"] = answer.after
    for name, text in texts.items():
        try:
            span = read_span(text)
        except QuantityError as error:
            raise PolicyError(error.said, f"{path}.{name}") from error
        if name == "every" and span.zero:
            raise PolicyError(
                expected(Wanted.MORE_THAN.said(least="0s"), text), f"{path}.every"
            )
