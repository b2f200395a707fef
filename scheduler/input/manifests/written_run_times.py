"""Run times that a manifest holds without an annotation of ours: commands, deadlines.

**Source:** the manual pages of `sleep` and `stress-ng`; `activeDeadlineSeconds` of Jobs
and Pods in the Kubernetes API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from scheduler.model.annotations import FROM_COMMAND, FROM_DEADLINE
from scheduler.model.kueue.deadlines import deadline_of
from scheduler.model.policy import RunTimesFrom

Manifest = Mapping[str, Any]

_UNIT_S = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,3})?[smhd]?")
#: Between words, quotes and brackets of a shell; a `$` stays, for it is no number.
_BETWEEN = re.compile(r"[\s;&|()\"'`]+")
#: A command that repeats says nothing of the whole by one of its parts.
_REPEATS = frozenset({"for", "while", "until", "xargs", "watch"})
_STRESS = frozenset({"stress", "stress-ng"})
_DEEPEST = 12


def written_run_time(manifest: Manifest, given: RunTimesFrom) -> tuple[str, str] | None:
    """Return a run time that the manifest holds, and what it is taken from.

    `given` names what is read, in order. Cost: O(manifest).
    """
    reads = (read for name, read in _READS.items() if name in given.split("-"))
    found = (read(manifest) for read in reads)
    return next((one for one in found if one is not None), None)


def says_its_time(manifest: Manifest) -> bool:
    """Return whether its pods run only commands whose time can be read."""
    return _by_command(manifest) is not None


def _by_command(manifest: Manifest) -> tuple[str, str] | None:
    """Return the longest of its pods' times; None where one cannot be read."""
    times = [_pod_seconds(pod) for pod in pods_of(manifest)]
    if not times or None in times:
        return None
    return f"{round(1000 * max(one or 0 for one in times))}ms", FROM_COMMAND


def _pod_seconds(pod: Manifest) -> float | None:
    """Return the time of its longest container after its init containers."""
    times = [_container_seconds(one) for one in _dicts(pod.get("containers"))]
    first = [
        _container_seconds(one) or 0
        for one in _dicts(pod.get("initContainers"))
        if one.get("restartPolicy") != "Always"
    ]
    known = [one for one in times if one is not None]
    return max(known) + sum(first) if known and len(known) == len(times) else None


def _container_seconds(container: Manifest) -> float | None:
    parts = (container.get("command"), container.get("args"))
    text = " ".join(
        str(word) for part in parts if isinstance(part, list) for word in part
    )
    words = [word.rpartition("/")[2] for word in _BETWEEN.split(text)]
    if not _REPEATS.isdisjoint(words):
        return None
    return sum(_seconds(span) for span in _spans(words)) or None


def _spans(words: list[str]) -> Iterator[str]:
    """Yield the spans after `sleep`, and after the option of `stress` that limits it."""
    command = ""
    for number, word in enumerate(words):
        if word == "sleep" or word in _STRESS:
            command = word
        elif command == "sleep" and _SPAN.fullmatch(word):
            yield word
        elif command in _STRESS:
            option, _, span = word.partition("=")
            span = span or "".join(words[number + 1 : number + 2])
            if option in ("-t", "--timeout") and _SPAN.fullmatch(span):
                yield span
        else:
            command = ""


def _seconds(span: str) -> float:
    number = span.rstrip("smhd")
    return float(number) * _UNIT_S[span[len(number) :]]


def _by_deadline(manifest: Manifest) -> tuple[str, str] | None:
    """Return the shorter of the job's deadline by its rounds and that of its pods."""
    found = [_whole(pod.get("activeDeadlineSeconds")) for pod in pods_of(manifest)]
    whole = deadline_of(manifest)
    if whole is not None:
        spec = manifest.get("spec")
        found.append(whole // _rounds(spec if isinstance(spec, Mapping) else {}))
    given = [one for one in found if one > 0]
    return (f"{min(given)}s", FROM_DEADLINE) if given else None


#: What the policy names -> what reads it, in this order.
_READS = {"sleep": _by_command, "deadline": _by_deadline}


def _rounds(spec: Manifest) -> int:
    at_once = max(1, _whole(spec.get("parallelism", 1)))
    return max(1, -(-_whole(spec.get("completions", 1)) // at_once))


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def pods_of(manifest: Manifest) -> Iterator[Manifest]:
    """Yield the specs of pods that it is or holds."""
    left: list[tuple[object, int]] = [(manifest.get("spec"), 0)]
    while left:
        value, depth = left.pop()
        if isinstance(value, list):
            left += [(one, depth + 1) for one in value]
        elif isinstance(value, dict) and depth < _DEEPEST:
            if isinstance(value.get("containers"), list):
                yield value
            else:
                left += [(one, depth + 1) for one in value.values()]


def _dicts(value: object) -> list[Manifest]:
    found = value if isinstance(value, list) else []
    return [one for one in found if isinstance(one, dict)]
