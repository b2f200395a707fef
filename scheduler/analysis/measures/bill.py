"""Who pays for a change, and why, in words: for a shell, an assistant, a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from scheduler.analysis.measures.chains import Link
from scheduler.analysis.measures.verdict import (
    ChangeVerdict,
    GroupVerdict,
    WorkloadVerdict,
)
from scheduler.model.durations import duration_text

#: So many of those that lose are told why.
MOST_LOSERS = 3
#: A longer chain is told by its first links and its last.
_MOST_LINKS = 6
#: What becomes of a unit, in words.
FATES = {
    "never": "never runs before the horizon",
    "endsLater": "ends later, or not before the horizon",
    "evictedMore": "is evicted more often",
    "losesMore": "loses more work",
    "startsLater": "starts later",
    "waitsLonger": "waits longer",
    "onlyWithout": "is there without the change alone",
    "onlyWith": "is there with the change alone",
    "moved": "is moved by the change",
    "elsewhere": "runs elsewhere",
    "only": "runs before the horizon with the change alone",
    "endsEarlier": "ends earlier, or before the horizon",
    "evictedLess": "is evicted less often",
    "losesLess": "loses less work",
    "startsEarlier": "starts earlier",
    "waitsLess": "waits less",
    "equal": "comes out the same",
}


def teams_of(found: ChangeVerdict) -> tuple[str, list[GroupVerdict]]:
    """Return by what work is parted, and the teams for which anything differs, worst first.

    By queue; where no work has a queue, by namespace.
    """
    by = "queue" if any(one.name for one in found.by["queue"]) else "namespace"
    return by, [
        one
        for one in found.by[by]
        if one.later_ms or one.later or one.earlier or one.added or one.removed
    ]


def losers_of(found: ChangeVerdict) -> list[WorkloadVerdict]:
    """Return the units that lose most, at most `MOST_LOSERS`."""
    return [row for row in found.workloads if row.loses][:MOST_LOSERS]


def chain_of(found: ChangeVerdict, row: WorkloadVerdict) -> list[Link]:
    """Return the decisions that lead from a unit back to the change; none: it is not told."""
    chain, at = list[Link](), -1 if row.why is None else row.why
    while at >= 0:
        chain.append(found.links[at])
        at = found.links[at].cause
    return chain


def shift_text(later_ms: int) -> str:
    """Return "2m later", "10s earlier" or "even"."""
    if not later_ms:
        return "even"
    word = "later" if later_ms > 0 else "earlier"
    return f"{duration_text(abs(later_ms))} {word}"


def row_text(row: WorkloadVerdict) -> str:
    """Return what becomes of a unit: by how much, and all that holds of it."""
    fates = "; ".join(FATES[one] for one in row.fates)
    return f"{shift_text(row.later_ms)}: {fates}" if row.later_ms else fates


def link_texts(found: ChangeVerdict, row: WorkloadVerdict) -> Iterator[str]:
    """Yield in English each decision that led to what happened to a unit, back to the change."""
    chain = chain_of(found, row)
    left = len(chain) - _MOST_LINKS
    for number, link in enumerate(chain):
        if left > 0 and _MOST_LINKS - 2 <= number < len(chain) - 2:
            if number == _MOST_LINKS - 2:
                yield f"and {left} more decisions between"
            continue
        side = "" if link.event == "change" else f", {_SIDES[link.side]}"
        how = "" if link.how is None else f" ({link.how.text})"
        yield f"at {duration_text(link.at_ms)}{side}: {link.said.text}{how}"


_SIDES = {"changed": "only with the change", "without": "only without it"}


def team_text(group: GroupVerdict) -> str:
    """Return what a team pays or gains."""
    counts = (
        (group.later, "later"),
        (group.earlier, "earlier"),
        (group.never, "never run"),
        (group.added, "added by the change"),
        (group.removed, "taken away by the change"),
    )
    parts = [f"{count} {word}" for count, word in counts if count]
    sums = f"waiting {_signed(group.waiting_ms)}, work lost {_signed(group.lost_ms)}"
    return f"{shift_text(group.later_ms)} ({sums}); {', '.join(parts) or 'nobody'}"


def _signed(span_ms: int) -> str:
    return ("-" if span_ms < 0 else "+") + duration_text(abs(span_ms))


def lines_of(found: ChangeVerdict) -> Iterator[str]:
    """Yield the bill: the whole, each team, and why the largest losers lose."""
    if not found.differs:
        yield "nothing comes out otherwise"
        return
    by, teams = teams_of(found)
    yield (
        f"job time: {shift_text(found.later_ms)} "
        f"(waiting {_signed(found.waiting_ms)}, work lost {_signed(found.lost_ms)})"
    )
    for group in teams:
        yield f"{by} {group.name or '(none)'}: {team_text(group)}"
    for row in losers_of(found):
        yield f"{row.subject}: {row_text(row)}"
        yield from (f"  {one}" for one in link_texts(found, row))
