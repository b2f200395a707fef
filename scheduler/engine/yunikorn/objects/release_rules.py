"""What releases of YuniKorn decide otherwise, asked once for a partition."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.model.releases.release import Release
from scheduler.model.releases.rules import (
    YUNIKORN_ATTEMPTS,
    YUNIKORN_BACKOFF,
    YUNIKORN_QUOTA,
    YUNIKORN_RESERVATIONS,
    YUNIKORN_RESERVED_NODES,
    YUNIKORN_SCOPE,
    YUNIKORN_TYPES,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRules:
    """The rules of `scheduler/model/releases/rules.py` that a partition follows."""

    asked_types: bool = True  # preemption compares the types of the ask alone
    counts_attempts_made: bool = True  # and no attempt that was too early
    overdue_nodes: bool = True  # their reservations do not bar preemption
    backoff: bool = True
    quota_preemption: bool = True
    reservations_end: bool = True  # after the wait
    fenced_by_next: bool = True  # a maximum that the ask would pass ends the scope


def rules_of(release: Release) -> ReleaseRules:
    """Return the rules of a release; one that is not given has all."""
    return ReleaseRules(
        asked_types=YUNIKORN_TYPES.holds(release),
        counts_attempts_made=YUNIKORN_ATTEMPTS.holds(release),
        overdue_nodes=YUNIKORN_RESERVED_NODES.holds(release),
        backoff=YUNIKORN_BACKOFF.holds(release),
        quota_preemption=YUNIKORN_QUOTA.holds(release),
        reservations_end=YUNIKORN_RESERVATIONS.holds(release),
        fenced_by_next=YUNIKORN_SCOPE.holds(release),
    )


#: Of a partition that is made without a release.
NEWEST_RULES = ReleaseRules()
