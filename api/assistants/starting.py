"""The smallest change that starts a workload in time, out of verdicts that were run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from api.assistants.wording import patches, plain, span

_MOST_OTHERS = 3


def lines_of(found: dict[str, Any], name: str) -> Iterator[str]:
    """Yield the answer: it is admitted without a change, the smallest change, other changes, or none.

    Smallest is: the fewest objects edited, then the fewest workloads preempted for
    it, then the least work lost, then the soonest. Those after which all pods get their
    nodes come first.
    """
    horizon = span(found["horizonMs"])
    begin = found["atMs"]
    waits = [one for one in found["verdicts"] if one["kind"] == "wait"]
    if waits and waits[0]["verdict"] == "yes":
        late = span(_late(waits[0], begin))
        yield f"{name} starts by itself in {late}; nothing has to be changed for that."
    else:
        yield f"{name} does not start by itself within {horizon}."
    changes = [one for one in found["verdicts"] if _starts(one, begin, found)]
    changes.sort(key=lambda one: _size(one, begin))
    if changes:
        sooner = bool(waits) and _yes(waits[0])
        yield from _smallest(changes, begin, sooner=sooner)
    elif not (waits and _yes(waits[0])):
        yield f"No single change that was tried starts it within {horizon}."
        for one in found["verdicts"][:_MOST_OTHERS]:
            yield f"tried: {_sentence(one)}"
    yield (
        f"{found['tried']} of {found['questions']} kinds of change were tried in "
        f"{found['runs']} runs on copies; the sandbox is as it was."
    )


def _smallest(
    changes: list[dict[str, Any]], begin: int, *, sooner: bool
) -> Iterator[str]:
    first = changes[0]
    word = "Sooner" if sooner else "Smallest change"
    yield f"{word}: {_sentence(first)} It starts in {span(_late(first, begin))}."
    victims = first["outcome"]["victims"]
    if victims:
        names = ", ".join(plain(one["workload"]) for one in victims[:5])
        lost = span(first["outcome"]["workLostMs"])
        yield f"It preempts {len(victims)}: {names}; {lost} of work is lost."
    if first["outcome"]["pods"] == "pending":
        pending = plain(first["outcome"]["podsMessage"])
        yield f"But it is admitted only; its pods stay pending: {pending}"
    yield from patches(first["change"])
    for one in changes[1 : 1 + _MOST_OTHERS]:
        yield f"Also: {_sentence(one)} It starts in {span(_late(one, begin))}."


def _yes(verdict: dict[str, Any]) -> bool:
    return bool(verdict["verdict"] == "yes")


def _starts(verdict: dict[str, Any], begin: int, found: dict[str, Any]) -> bool:
    """Return whether it is a change after which the workload is admitted in time."""
    if verdict["kind"] == "wait" or verdict["verdict"] not in ("yes", "but"):
        return False
    late = _late(verdict, begin)
    return late is not None and late <= found["horizonMs"]


def _late(verdict: dict[str, Any], begin: int) -> int | None:
    at = verdict["outcome"]["atMs"]
    return None if at is None else int(at) - begin


def _size(verdict: dict[str, Any], begin: int) -> tuple[float, ...]:
    change = verdict["change"] or {"edits": [], "pause": []}
    edited = {(e["kind"], e["namespace"], e["name"]) for e in change["edits"]}
    outcome = verdict["outcome"]
    return (
        verdict["verdict"] != "yes",
        len(edited),
        len(outcome["victims"]),
        outcome["workLostMs"],
        _late(verdict, begin) or 0,
    )


def _sentence(verdict: dict[str, Any]) -> str:
    """Return what is changed and what that does, each ending in a full stop."""
    parts = [plain(verdict[key], most=400) for key in ("subject", "effect")]
    return " ".join(part.rstrip(".") + "." for part in parts if part)
