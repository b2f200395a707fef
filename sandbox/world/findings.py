"""What the importer found, as causes that name file, line and field."""

from __future__ import annotations

from collections.abc import Iterable

from sandbox.base.errors import Cause
from scheduler.input.manifests.loading.loaded import Finding


def causes_of(findings: Iterable[Finding]) -> list[Cause]:
    """Return a cause per finding, in their order."""
    return [
        Cause(
            level=finding.level,
            file=finding.place.file,
            line=finding.place.line,
            field=finding.place.field,
            problem=finding.problem,
            said=finding.said,
        )
        for finding in findings
    ]
