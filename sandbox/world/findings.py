"""What the importer found, as causes that name file, line and field."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.base.errors import Cause
from scheduler.input.manifests.loading.loaded import Finding
from scheduler.input.manifests.repairs import Repairs


def causes_of(
    findings: Iterable[Finding], repairs: Repairs | None = None
) -> list[Cause]:
    """Return the findings as causes, in their order, with what `repairs` knows.

    What repeats is one cause with the first place and a count: a warning of one sort,
    an error of the same words in one file.
    """
    sorts: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        if finding.level == "error":
            sort = ("error", finding.problem, finding.place.file)
        else:
            sort = (finding.level, (finding.sort or finding.said).text, "")
        sorts.setdefault(sort, []).append(finding)
    return [_cause(members, repairs) for members in sorts.values()]


def _cause(members: list[Finding], repairs: Repairs | None) -> Cause:
    first, several = members[0], len(members) > 1
    by_sort = first.sort if several and first.level != "error" else None
    said = by_sort or first.said
    return Cause(
        level=first.level,
        file=first.place.file,
        line=first.place.line,
        field=first.place.field,
        problem=said,
        count=len(members),
        repairs=() if repairs is None else repairs.of(first),
    )
