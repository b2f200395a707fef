"""Reports of imports, kept with the sandbox."""

from __future__ import annotations

import msgspec
from django.contrib.auth.models import User

from sandbox.models import ImportReport, Sandbox
from sandbox.retention.retention import drop_oldest
from scheduler.input.manifests.report import Report


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
    drop_oldest(ImportReport, sandbox)
