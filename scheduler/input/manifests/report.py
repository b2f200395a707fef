"""What came of an import: per file, per kind, and each sort of finding once.

Made of what was loaded; nothing here decides what is taken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scheduler.input.manifests import kinds
from scheduler.input.manifests.loading.loaded import Finding, Level, Loaded, Unread
from scheduler.input.manifests.repairs import Repair, Repairs
from scheduler.input.manifests.run_times import assumed_run_times
from scheduler.model.errors import SourceLocation
from scheduler.model.sentence import Sentence
from scheduler.words.effects import Effect

#: Places of one sort of finding that are listed; the rest is a number.
MOST_PLACES = 5


@dataclass(slots=True, kw_only=True)
class FileOutcome:
    """What one file gave: how many documents were taken, by what became of them."""

    file: str
    simulated: int = 0
    kept: int = 0
    configuration: int = 0
    refused: int = 0
    kinds: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadField:
    """A field of a kind that is kept and not followed: how often, and where first.

    `code` names the effect, for those who translate it.
    """

    field: str
    count: int
    effect: str
    code: str
    place: SourceLocation


@dataclass(frozen=True, slots=True, kw_only=True)
class KindOutcome:
    """What became of the documents of one kind, and what that changes."""

    kind: str
    outcome: str  # simulated, kept, configuration or refused
    count: int
    effect: str = ""
    unread: list[UnreadField] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingGroup:
    """One sort of finding: how often, where first, and what it changes.

    `code` names the effect, for those who translate it; "" without an effect.
    `said` is the problem with its code, where it has one. `repairs` are the choices of
    the first place; one is the one repair.
    """

    level: Level
    problem: str
    effect: str
    code: str
    count: int
    places: list[SourceLocation]
    said: Sentence | None = None
    repairs: list[Repair] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was taken, what was kept, what was left out and why."""

    files: list[FileOutcome]
    kinds: list[KindOutcome]
    findings: list[FindingGroup]


def report_of(
    loaded: Loaded,
    findings: Iterable[Finding] | None = None,
    *,
    default_runtime: str | None = None,
    repairs: Repairs | None = None,
) -> Report:
    """Return the report of what was loaded. Cost: O(documents + findings).

    `default_runtime` is the policy's: what is assumed where nobody gave a run time.
    Without it nothing is said of that. `repairs` knows what repairs a finding.
    """
    found = list(loaded.findings if findings is None else findings)
    if default_runtime is not None:
        found += assumed_run_times(loaded, default_runtime)
    return Report(
        files=list(_files(loaded)),
        kinds=list(_kinds(loaded)),
        findings=groups_of(found, repairs),
    )


def _files(loaded: Loaded) -> Iterator[FileOutcome]:
    found = {name: FileOutcome(file=name) for name in loaded.files}
    for (file, kind, level), count in loaded.outcomes.items():
        outcome = found.setdefault(file, FileOutcome(file=file))
        setattr(outcome, level, getattr(outcome, level) + count)
        outcome.kinds[kind] = outcome.kinds.get(kind, 0) + count
    return iter(found.values())


def _kinds(loaded: Loaded) -> Iterator[KindOutcome]:
    counts: Counter[tuple[str, str]] = Counter()
    for (_, kind, level), count in loaded.outcomes.items():
        counts[kind, level] += count
    order = ("refused", "kept", "configuration", "simulated")
    for kind, level in sorted(counts, key=lambda one: (order.index(one[1]), one[0])):
        yield KindOutcome(
            kind=kind,
            outcome=level,
            count=counts[kind, level],
            effect=_effect(kind, level),
            unread=_unread(loaded, kind) if level == "simulated" else [],
        )


def _unread(loaded: Loaded, kind: str) -> list[UnreadField]:
    """Return the fields of a kind that are kept and not followed, the most first."""
    found = [
        _unread_field(name, one)
        for (of, name), one in loaded.unread.items()
        if of == kind
    ]
    return sorted(found, key=lambda one: (-one.count, one.field))


def unfollowed_fields(loaded: Loaded) -> list[tuple[str, UnreadField]]:
    """Return the fields that are kept and would decide, with their kinds, by kind.

    What counts by an annotation of ours in its place, and what decides nothing, is left
    out; the report has it.
    """
    return [
        (kind, _unread_field(name, one))
        for (kind, name), one in sorted(loaded.unread.items())
        if one.effect not in _TOLD_APART
    ]


_TOLD_APART = (
    Effect.NO_DECISION,
    Effect.READY_AFTER,
    Effect.FAILS_AFTER,
    Effect.STAYS_LISTED,
)


def _unread_field(name: str, found: Unread) -> UnreadField:
    return UnreadField(
        field=name,
        count=found.count,
        effect=found.effect.english,
        code=found.effect.value,
        place=found.place,
    )


def _effect(kind: str, level: str) -> str:
    if level == "refused":
        return Effect.LEFT_OUT.english
    if level != "kept":
        return ""
    entry = kinds.BY_KIND.get(kind)
    return (Effect.NOBODY_KNOWS if entry is None else entry.effect).english


def groups_of(
    findings: Iterable[Finding], repairs: Repairs | None = None
) -> list[FindingGroup]:
    """Return each sort of finding once, errors first."""
    return list(_groups(findings, repairs))


def _groups(
    findings: Iterable[Finding], repairs: Repairs | None
) -> Iterator[FindingGroup]:
    groups: dict[tuple[Level, str], list[Finding]] = {}
    for finding in findings:
        sort = (finding.level, (finding.sort or finding.said).text)
        groups.setdefault(sort, []).append(finding)
    order = ("error", "unsupported", "warning")
    for level, problem in sorted(groups, key=lambda one: order.index(one[0])):
        members = groups[level, problem]
        effect = Effect.LEFT_OUT if level == "error" else members[0].effect
        yield FindingGroup(
            level=level,
            problem=problem,
            effect=effect.english,
            code=effect.value,
            count=len(members),
            places=[member.place for member in members[:MOST_PLACES]],
            said=members[0].sort or members[0].said,
            repairs=[] if repairs is None else list(repairs.of(members[0])),
        )
