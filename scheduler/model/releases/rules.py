"""The ledger: changes that can be seen from outside, since which patch of which branch.

`kueue.yaml`, `kubernetes.yaml` and `yunikorn.yaml` have a row for each; a row that is
`followed` is asked for by `holds`, in one place of the engine, or by its gate. Without it
a run decides for every release as the newest does, and that is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import msgspec

from scheduler.model.releases.release import (
    NEWEST,
    TITLES,
    Release,
    Scheduler,
    kueue_gates,
    reaches,
)

_MINUTE = 60_000
#: Who notices: a judgement.
Who = Literal["many", "some", "few"]
#: How it is known: played on the real one, read in its source, or told by its changelog.
Truth = Literal["recorded", "read", "told"]
#: What it needs beside what the objects say; a gate of a program that takes none here.
When = Literal["", "edit", "restart", "chance", "gate"]
#: What it changes.
Shows = Literal["decisions", "status", "messages", "answers", "metrics"]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One change. `since` names the first patch of each branch that has it.

    `concerns` are traits of worlds (`analysis/traits.py`): all of them, where "a|b" is
    one of both; none: any world. `section` is a path in Kueue's Configuration that is
    given, `without` one that is left out. `sign` is the reason of the
    evictions by which a run shows that the rule does something in it.
    """

    id: str
    scheduler: Scheduler = "kueue"
    pull: int = 0
    issue: str = ""
    since: str = ""
    gate: str = ""
    off_gate: str = ""  # without a gate of its own: the one that switches it off
    concerns: tuple[str, ...] = ()
    section: str = ""
    without: str = ""
    sign: str = ""
    when: When = ""
    shows: Shows = "decisions"
    who: Who = "some"
    followed: bool
    test: str = ""  # that fails when a followed row is turned over
    known: Truth = "read"
    now: str  # what is decided since then
    before: str  # and before

    def holds(self, release: Release) -> bool:
        """Return whether a release has it; one that is not given has all."""
        version = release.of(self.scheduler)
        if version is None:
            return True
        if self.gate:
            gate = kueue_gates(version).get(self.gate)
            return gate is not None and gate.on
        return reaches(version, self.since) != (self.id in _TURNED)

    @property
    def examined(self) -> bool:
        """Return whether somebody looked on which of its sides a run decides."""
        return self.followed or self.known != "told"

    @property
    def in_runs(self) -> bool:
        """Return whether it changes decisions of a run that nothing disturbs."""
        return self.shows == "decisions" and not self.when

    def matters(self, traits: Collection[str], kueue: Mapping[str, Any]) -> bool:
        """Return whether a world with such traits and settings may notice it."""
        seen = all(
            any(one in traits for one in group.split("|")) for group in self.concerns
        )
        asked = not self.section or _at(kueue, self.section) is not None
        return seen and asked and (not self.without or _at(kueue, self.without) is None)

    def switch(self, release: Release) -> tuple[str, bool] | None:
        """Return the gate, and what it is given, that turns the rule to its other side.

        None where that release has none, or has locked it.
        """
        version = release.of(self.scheduler)
        name = self.gate or self.off_gate
        gate = kueue_gates(version).get(name) if version and name else None
        if gate is None or gate.locked:
            return None
        return name, not self.holds(release) if self.gate else True


#: Rules that are held to their other side in this process now.
_TURNED: set[str] = set()


@contextmanager
def turned(name: str) -> Iterator[None]:
    """Hold a rule without a gate to its other side; worlds made in the block keep it."""
    _TURNED.add(name)
    try:
        yield
    finally:
        _TURNED.discard(name)


def _at(document: Mapping[str, Any], path: str) -> Any:
    found: Any = document
    for name in path.split("."):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _rows() -> tuple[Rule, ...]:
    found: list[Rule] = []
    for scheduler in TITLES:
        text = (Path(__file__).parent / f"{scheduler}.yaml").read_bytes()
        rows = msgspec.yaml.decode(text)
        found += (msgspec.convert({"scheduler": scheduler} | row, Rule) for row in rows)
    return tuple(found)


#: Kueue's first, of each scheduler first what people notice.
RULES: Final = _rows()
_BY_ID: Final = {rule.id: rule for rule in RULES}


def rule(name: str) -> Rule:
    """Return a row by its id; KeyError for an id that no row has."""
    return _BY_ID[name]


NO_CANDIDATES: Final = rule("no-candidates-last")
UNIFORM_BATCH: Final = rule("requeue-batches")
EACH_FLAVOR: Final = rule("non-borrowing-each-flavor")
EXACT_TRANSFORMATIONS: Final = rule("exact-transformations")
PREFERENCE: Final = rule("flavor-preference")
PODSETS: Final = rule("podsets")
SETS_ON_HOLD: Final = rule("statefulset-on-hold")
SELECTORS: Final = rule("selectors-per-flavor")
POD_LEVEL: Final = rule("pod-level-resources")
PLAIN_PODS_END: Final = rule("topology-plain-pods-end")
LEADER_FLAVOR: Final = rule("topology-leader-without-requests")
LEADER_ROOM: Final = rule("topology-leader-room")
ERRORS_DO_NOT_FIT: Final = rule("topology-errors-do-not-fit")
TERMINATING_STATUS: Final = rule("terminating-queue-status")
PODSETS_SHARE_PODS: Final = rule("topology-several-podsets-pods")
RAY: Final = rule("ray-autoscaler")
RAY_SUBMITTER: Final = rule("ray-submitter")
RAY_STATE: Final = rule("ray-fault-tolerance")
WAITS: Final = rule("wait-for-pods-ready")
RECOVERS: Final = rule("recovery-timeout")
FAILED_INDEXES_FREE: Final = rule("failed-indexes-free-quota")
REPLACEMENTS: Final = rule("replacement-pods")
FLAVOR_EDITS: Final = rule("flavor-edits-requeue")
BALANCE: Final = rule("balance-change")
BALANCE_SKIPS: Final = rule("balance-skips")
BACKOFF_POP: Final = rule("pop-from-backoff")
WAKES_KEPT_OUT: Final = rule("anti-affinity-hint")
SIDECAR_PORTS: Final = rule("ports-of-sidecars")
IMAGE_VOLUMES: Final = rule("image-volumes")
PERMITTED: Final = rule("preempted-while-permitted")
BINDING: Final = rule("preempted-while-binding")
YUNIKORN_TYPES: Final = rule("yunikorn-preemption-types")
YUNIKORN_ATTEMPTS: Final = rule("yunikorn-preemption-attempts")
YUNIKORN_RESERVED_NODES: Final = rule("yunikorn-reserved-nodes")
YUNIKORN_BACKOFF: Final = rule("yunikorn-backoff")
YUNIKORN_QUOTA: Final = rule("yunikorn-quota-preemption")
YUNIKORN_RESERVATIONS: Final = rule("yunikorn-reservations")
YUNIKORN_VICTIMS: Final = rule("yunikorn-victim-selection")
YUNIKORN_SCOPE: Final = rule("yunikorn-preemption-scope")


def most_pod_sets(release: Release) -> int:
    """Return how many podsets a Workload may have: the bound in its CRD."""
    if PODSETS.holds(release):
        return 18
    return 10 if reaches(release.of("kueue") or "", "0.18.0") else 8


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingDefaults:
    """Of waitForPodsReady, where a Configuration leaves it out."""

    on: bool  # where there is no section
    timeout_ms: int | None  # None: the field is required
    recovers: bool  # recoveryTimeout is the timeout; else there is none
    blocks: bool  # blockAdmission


def waiting_defaults(version: str, release: Release) -> WaitingDefaults:
    """Return the defaults of a release for an apiVersion of the Configuration."""
    first = version == "v1beta1"
    on = not first and WAITS.holds(release)
    return WaitingDefaults(
        on=on,
        timeout_ms=5 * _MINUTE if first else 30 * _MINUTE if on else None,
        recovers=RECOVERS.holds(release),
        blocks=first,
    )


def missing(release: Release) -> list[Rule]:
    """Return the rules that a release does not have yet, in the order of the table."""
    return [rule for rule in RULES if not rule.holds(release)]


def between(before: Release, after: Release) -> list[Rule]:
    """Return the rules that one of two releases has and the other has not."""
    return [rule for rule in RULES if rule.holds(before) != rule.holds(after)]


def not_told_apart(release: Release) -> list[Rule]:
    """Return the changes of decisions after a release that its runs do not tell apart."""
    newest = Release(**NEWEST)
    return [
        rule
        for rule in missing(release)
        if rule.in_runs and not rule.followed and rule.holds(newest)
    ]
