"""How nodes fail in a sandbox: mean times, repairs, and racks that fail whole."""

from __future__ import annotations

import msgspec

from scheduler.errors import PolicyError, QuantityError
from scheduler.records.spans import NEVER, read_span


class Failures(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """Failures as a process, drawn from the seed for each node and each domain.

    Each node fails after a time with the mean `meanTimeBetween` since it came or
    was repaired, and is back after `repair`. The nodes that share a value of the
    label `domain` (a rack) also fail at once, `domainMeanTimeBetween` apart, for
    `domainRepair`. `nodes` are labels that a node must have to fail at all.
    """

    mean_time_between: str = "never"
    repair: str = "30m"
    domain: str = ""
    domain_mean_time_between: str = "never"
    domain_repair: str = "1h"
    nodes: dict[str, str] = {}


def check_failures(failures: Failures) -> None:
    """Refuse lengths that are none, and a domain without its times; PolicyError."""
    for name in (
        "mean_time_between",
        "repair",
        "domain_mean_time_between",
        "domain_repair",
    ):
        _check_length(name, getattr(failures, name))
    if (failures.domain_mean_time_between != "never") and not failures.domain:
        raise PolicyError(
            "policy: simulation.failures.domain: expected the label whose values are "
            "the domains of domainMeanTimeBetween, got none"
        )


def _check_length(name: str, text: str) -> None:
    first, *rest = name.split("_")
    path = f"policy: simulation.failures.{first}{''.join(w.title() for w in rest)}"
    try:
        span = read_span(text)
    except QuantityError as error:
        raise PolicyError(f"{path}: {error}") from error
    mean = name.endswith("between")
    if mean and (span.shape != "fixed" or not 0 < span.values[0] <= NEVER):
        raise PolicyError(f"{path}: expected a mean above 0s or never, got {text!r}")
