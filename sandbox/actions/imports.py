"""Reports of imports, kept with the sandbox."""

from __future__ import annotations

import msgspec
from django.contrib.auth.models import User

from sandbox.models import ImportReport, Sandbox
from scheduler.input.manifests.report import Report

#: Reports of one sandbox that are kept; the oldest go first.
MOST_REPORTS = 50


def keep_report(user: User, sandbox: Sandbox, revision: int, report: Report) -> None:
    """Keep what an import answered; one that read no file has nothing to say."""
    if not report.files:
        return
    ImportReport.objects.create(
        sandbox_id=sandbox.pk,
        revision=revision,
        tick=sandbox.tick,
        who=user.get_username(),
        report=msgspec.to_builtins(report),
    )
    kept = ImportReport.objects.filter(sandbox_id=sandbox.pk)
    old = kept.values_list("pk", flat=True)[MOST_REPORTS:]
    if old:
        ImportReport.objects.filter(pk__in=list(old)).delete()
