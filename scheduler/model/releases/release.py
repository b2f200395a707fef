"""The release of each scheduler that a world decides as; part of its policy."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Annotated, Literal

import msgspec

from scheduler.model import reasons
from scheduler.model.errors import PolicyError
from scheduler.model.problems import Form, Problem
from scheduler.model.releases.kueue_gates import KUEUE_GATES


class Release(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """Kueue's, kube-scheduler's and YuniKorn's release, each apart.

    One that is not given decides as this product does by itself: as Kueue's default
    branch, as the newest kube-scheduler and YuniKorn.
    """

    kueue: (
        Annotated[str, msgspec.Meta(extra_json_schema={"default": "main"})]
        | msgspec.UnsetType
    ) = msgspec.UNSET
    kubernetes: str | msgspec.UnsetType = msgspec.UNSET
    yunikorn: str | msgspec.UnsetType = msgspec.UNSET

    def of(self, scheduler: Scheduler) -> str | None:
        """Return the release of a scheduler; None where none is given."""
        given: str | msgspec.UnsetType = getattr(self, scheduler)
        return None if given is msgspec.UNSET else given

    def given(self) -> Iterator[tuple[Scheduler, str]]:
        """Yield what is given, Kueue's first."""
        for scheduler in TITLES:
            version = self.of(scheduler)
            if version is not None:
                yield scheduler, version

    def older(self) -> Iterator[tuple[Scheduler, str]]:
        """Yield what is given and is older than what is followed."""
        for scheduler, version in self.given():
            if older(version, FOLLOWED_FROM[scheduler]):
                yield scheduler, version


#: Of a world without one.
NO_RELEASE = Release()


def read_release(given: Release) -> Release:
    """Return a release as it is stored. PolicyError names one that is not known."""
    found: dict[str, str] = {}
    for scheduler, text in given.given():
        version = canonical(scheduler, text)
        if version is None:
            raise PolicyError(
                Form.UNKNOWN_NAME.said(
                    family=f"release of {TITLES[scheduler]}",
                    name=text,
                    known=known(scheduler),
                ),
                f"policy: release.{scheduler}",
            )
        found[scheduler] = version
    return Release(**found)


# ------------------------------------------------------------------------
# The releases that are known of each scheduler, and how they are compared.


Scheduler = Literal["kueue", "kubernetes", "yunikorn"]
Version = tuple[int, int, int]

#: How people spell them.
TITLES: dict[Scheduler, str] = {
    "kueue": "Kueue",
    "kubernetes": "Kubernetes",
    "yunikorn": "YuniKorn",
}
#: What decides in a world whose Kueue has no release: the default branch, not released.
UNRELEASED = "0.20.0-devel"
#: Minor -> its last patch. None: no rule asks for a patch, and any is taken.
KUEUE: dict[str, int | None] = {
    "0.11": 9,
    "0.12": 10,
    "0.13": 10,
    "0.14": 8,
    "0.15": 8,
    "0.16": 9,
    "0.17": 8,
    "0.18": 6,
    "0.19": 2,
}
KUBERNETES: dict[str, int | None] = {
    "1.30": None,
    "1.31": None,
    "1.32": None,
    "1.33": None,
    "1.34": None,
    "1.35": None,
    "1.36": None,
}
YUNIKORN: dict[str, int | None] = {"1.6": 3, "1.7": 0, "1.8": 0, "1.9": 0}
KNOWN: dict[Scheduler, dict[str, int | None]] = {
    "kueue": KUEUE,
    "kubernetes": KUBERNETES,
    "yunikorn": YUNIKORN,
}
#: Stack -> the schedulers whose releases decide in it.
DECIDING: dict[str, tuple[Scheduler, ...]] = {
    "kueue": ("kueue", "kubernetes"),
    "kube": ("kubernetes",),
    "yunikorn": ("yunikorn",),
}
#: The newest release of each, of one day.
NEWEST: dict[Scheduler, str] = {
    "kueue": "0.19.2",
    "kubernetes": "1.36.3",
    "yunikorn": "1.9.0",
}
#: From here on what is asked for is followed but for what `rules.py` names; an older
#: release is taken, and decides as this one where no rule says otherwise.
FOLLOWED_FROM: dict[Scheduler, str] = {
    "kueue": "0.16.0",
    "kubernetes": "1.32.0",
    "yunikorn": "1.7.0",
}
_TEXT = re.compile(r"v?([0-9]+\.[0-9]+)(?:\.([0-9]+))?")


@cache
def followed(scheduler: Scheduler) -> tuple[str, ...]:
    """Return the last patch of each branch that is followed, the newest first."""
    names = [f"{minor}.{most or 0}" for minor, most in KNOWN[scheduler].items()]
    least = FOLLOWED_FROM[scheduler]
    found = [name for name in names if not older(name, least)]
    return tuple(sorted(found, key=parsed, reverse=True))


@lru_cache(maxsize=1024)
def canonical(scheduler: Scheduler, text: str) -> str | None:
    """Return a release as it is stored, of `v0.19.2`, `0.19` (its last patch) and the
    like; None where it is not known.
    """
    plain = text.strip().removeprefix("v")
    if scheduler == "kueue" and plain in (UNRELEASED, "main"):
        return UNRELEASED
    found = _TEXT.fullmatch(text.strip())
    if found is None or found[1] not in KNOWN[scheduler]:
        return None
    most = KNOWN[scheduler][found[1]]
    if found[2] is None:
        return f"{found[1]}.{most or 0}"
    if most is not None and int(found[2]) > most:
        return None
    return f"{found[1]}.{int(found[2])}"


def known(scheduler: Scheduler) -> str:
    """Return the releases that are taken, for a sentence."""
    names = [
        f"{minor}.x"
        if most is None
        else f"{minor}.0 to {minor}.{most}"
        if most
        else f"{minor}.0"
        for minor, most in KNOWN[scheduler].items()
    ]
    if scheduler == "kueue":
        names.append(UNRELEASED)
    return ", ".join(names)


@lru_cache(maxsize=1024)
def parsed(version: str) -> Version:
    """Return a stored release as numbers that compare."""
    major, minor, patch = version.partition("-")[0].split(".")
    return int(major), int(minor), int(patch)


def older(first: str, second: str) -> bool:
    """Return whether one stored release comes before another."""
    return parsed(first) < parsed(second)


@lru_cache(maxsize=4096)
def reaches(version: str, since: str) -> bool:
    """Return whether a release has what `since` names: the first patch of each branch.

    A branch that is not named has it if all named ones are older.
    """
    ours = parsed(version)
    firsts = [parsed(one) for one in since.split()]
    for first in firsts:
        if first[:2] == ours[:2]:
            return ours >= first
    return ours > max(firsts)


# ------------------------------------------------------------------------
# Asks the table of gates: what a gate is in a release, and what may be given.


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


# ------------------------------------------------------------------------
# The apiVersions of a Configuration that a release reads.


#: The apiVersion of a Configuration that names none: the newest that a release reads.
API_VERSIONS = (("v1beta1", "0.11.0"), ("v1beta2", "0.15.0"))


def reads(version: str, release: str) -> bool:
    """Return whether a release reads a Configuration of that apiVersion."""
    since = dict(API_VERSIONS).get(version)
    return since is not None and not older(release, since)


def api_version(release: str) -> str:
    """Return the newest apiVersion of the Configuration that a release reads."""
    known = [name for name, since in API_VERSIONS if parsed(since) <= parsed(release)]
    return known[-1]


# ------------------------------------------------------------------------
# Reasons of a Workload's conditions that releases spell otherwise.


PENDING = "Pending"
INADMISSIBLE = "Inadmissible"
WAITING_WORDS = "Waiting"
UNSATISFIED_CHECKS = "UnsatisfiedChecks"
NO_RESERVATION_UNSATISFIED_CHECKS = "NoReservationUnsatisfiedChecks"
NEITHER_SENTENCE = "The workload has no reservation and not all checks ready"

#: What QuotaReserved=False may say without the gate, and hardly with it.
COARSE = frozenset({PENDING, INADMISSIBLE, WAITING_WORDS, reasons.ON_HOLD})
#: What the scheduler says with the gate -> without; all others are Pending.
_BY_SCHEDULER = {
    reasons.WAITING_FOR_PODS_READY: WAITING_WORDS,
    reasons.ADMISSION_GATED: reasons.ADMISSION_GATED,
    reasons.ON_HOLD: reasons.ON_HOLD,
}
#: What the controllers say with the gate -> without; all others are Pending.
_BY_CONTROLLER = {
    **_BY_SCHEDULER,
    reasons.MISCONFIGURED: INADMISSIBLE,
    reasons.SUSPENDED: INADMISSIBLE,
}
_OF_ADMITTED = {reasons.UNSATISFIED_CHECKS: UNSATISFIED_CHECKS}


def coarse(reason: str, *, by_scheduler: bool = False) -> str:
    """Return the reason of QuotaReserved=False without the gate."""
    table = _BY_SCHEDULER if by_scheduler else _BY_CONTROLLER
    return table.get(reason, PENDING)


def coarse_admitted(reason: str) -> str:
    """Return the reason of Admitted=False without the gate."""
    return _OF_ADMITTED.get(reason, reason)
