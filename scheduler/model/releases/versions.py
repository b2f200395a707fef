"""The releases that are known of each scheduler, and how they are compared."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Literal

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
