"""Asks the table of gates: what a gate is in a release, and what may be given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from scheduler.model.errors import PolicyError
from scheduler.model.problems import Problem
from scheduler.model.releases.kueue_gates import KUEUE_GATES
from scheduler.model.releases.versions import UNRELEASED, followed, parsed


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate in one release."""

    stage: str  # alpha, beta, ga, deprecated
    on: bool
    locked: bool = False


@lru_cache(maxsize=256)
def kueue_gates(release: str) -> dict[str, Gate]:
    """Return the gates that a release of Kueue knows, by name."""
    at = parsed(release)
    found: dict[str, Gate] = {}
    for name, runs in KUEUE_GATES.items():
        for run in runs.split("; "):
            since, stage, *rest = run.split()
            if parsed(since) > at:
                break
            found.pop(name, None)
            if stage != "absent":
                found[name] = Gate(stage, rest[0] == "on", "locked" in rest)
    return found


@lru_cache(maxsize=1024)
def usual(name: str) -> bool | None:
    """Return the default of a gate without a release; None for an unknown one.

    That of the default branch, or what it last was.
    """
    gate = kueue_gates(UNRELEASED).get(name)
    if gate is not None:
        return gate.on
    last = [run for run in KUEUE_GATES.get(name, "").split("; ") if "absent" not in run]
    return last[-1].split()[2] == "on" if last and last[-1] else None


def newest_with(given: Mapping[str, bool]) -> str | None:
    """Return the newest release of Kueue that starts with such gates, of those followed.

    None where only the default branch does, or nothing.
    """
    for release in followed("kueue"):
        try:
            check_gates(given, release)
        except PolicyError:
            continue
        return release
    return None


def check_gates(given: Mapping[str, bool], release: str) -> None:
    """Refuse what that release of Kueue does not start with. PolicyError."""
    known = kueue_gates(release)
    for name, on in given.items():
        gate = known.get(name)
        path = f"kueue.featureGates.{name}"
        if gate is None:
            raise PolicyError(Problem.GATE.said(name=name, release=release), path)
        if gate.locked and bool(on) is not gate.on:
            raise PolicyError(
                Problem.GATE_LOCKED.said(
                    name=name, given=_text(on), literal=_text(gate.on), release=release
                ),
                path,
            )


def _text(on: object) -> str:
    return "true" if on else "false"
