"""How admission checks are answered in a sandbox: one rule per check."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

from scheduler.model.errors import PolicyError, QuantityError
from scheduler.model.problems import Problem, Wanted, expected
from scheduler.model.spans import read_span

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
