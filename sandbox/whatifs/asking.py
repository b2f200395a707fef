"""A what-if is asked for; it is found again, with its verdict, and listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction

from sandbox.actions.sessions import refuse_stale
from sandbox.answers import asking
from sandbox.answers.work import document_of, raise_again
from sandbox.base.errors import (
    ConflictError,
    NotFoundError,
    NotYetError,
    SandboxError,
    TooManyError,
)
from sandbox.base.refusals import Absent, Refused
from sandbox.models import KeptWhatIf, Sandbox
from sandbox.models.sandbox import carried_out
from sandbox.retention.retention import drop_oldest
from sandbox.whatifs.changes import subjects_of
from sandbox.world import history
from scheduler.analysis.pairs import PairVerdict
from scheduler.model.errors import SchedulerError
from scheduler.model.sentence import Sentence

HORIZON_MS = 600_000
MOST_HORIZON_MS = 86_400_000
MOST_SEEDS = 30
MOST_CHANGES = 1000


class WhatIfState(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A what-if as it is looked at: where it begins, its changes, how far it is.

    `state`: "running", "open", "kept", "discarded", or "failed" with the reason in `said`.
    `replaced_by` is the last that took the place of a discarded one.
    """

    id: int
    state: str
    at: int  # tick
    revision: int
    changes: list[dict[str, Any]]
    horizon_ms: int
    seeds: list[int]  # none: the sandbox's own
    said: Sentence | None
    verdict: PairVerdict | None  # while it runs, up to its `toMs`, once that is known
    replaced_by: int | None = None


class WhatIfs(msgspec.Struct, frozen=True, kw_only=True):
    """The what-ifs of a sandbox, newest first; their verdicts without `seeds` and `lines`."""

    items: list[WhatIfState]


def begin(
    sandbox: Sandbox,
    user: User,
    tick: int | None,
    changes: Sequence[Mapping[str, Any]],
    *,
    horizon_ms: int = HORIZON_MS,
    seeds: Sequence[int] = (),
    seen: int | None = None,
) -> KeptWhatIf:
    """Write down a what-if that begins now or at a tick; a worker runs it.

    Raises NotFoundError and GoneError for a tick that does not exist, StaleError for
    changes of what a person changed since `seen` where it begins now.
    """
    at = sandbox.tick if tick is None else tick
    now = at == sandbox.tick
    if now and seen is not None:
        refuse_stale(sandbox, seen, subjects_of(changes))
    revision = sandbox.revision if now else history.revision_at(sandbox, at)
    with transaction.atomic():
        row = KeptWhatIf.objects.create(
            sandbox=sandbox,
            asked_by=user,
            revision=revision,
            tick=at,
            changes=list(changes),
            horizon_ms=horizon_ms,
            seeds=list(seeds),
        )
        carried_out()
    drop_oldest(KeptWhatIf, sandbox)
    return row


def answered(row: KeptWhatIf, *, wait_s: float, is_new: bool = False) -> WhatIfState:
    """Return a what-if with its verdict, waiting for it so long.

    One that runs on has the verdict so far. Raises what is wrong with its changes; of a
    new one nothing is left then.
    """
    try:
        if row.state == KeptWhatIf.RUNNING:
            question = asking.ask("whatIf", (), row.asked_by, what_if=row.pk)
            try:
                asking.result(question, wait_s=wait_s)
            except NotYetError:
                pass
            except TooManyError:
                raise
            except (SandboxError, SchedulerError) as error:
                running = KeptWhatIf.objects.filter(pk=row.pk, state=KeptWhatIf.RUNNING)
                running.update(state=KeptWhatIf.FAILED, error=document_of(error))
            row.refresh_from_db()
        if row.state == KeptWhatIf.FAILED:
            raise_again(row.error)
        return state_of(row)
    except (SandboxError, SchedulerError):
        if is_new:
            row.delete()
        raise


def find(sandbox: Sandbox, number: int, *states: str) -> KeptWhatIf:
    """Return a what-if of the sandbox. Raises NotFoundError, and ConflictError for other states."""
    found = KeptWhatIf.objects.filter(sandbox=sandbox, pk=number).first()
    if found is None:
        raise NotFoundError(Absent.WHAT_IF.said(number=number, sandbox=sandbox.pk))
    if states and found.state not in states:
        raise ConflictError(Refused.NOT_OPEN.said(number=number, state=found.state))
    return found


def listed(sandbox: Sandbox, most: int) -> WhatIfs:
    """Return the newest so many."""
    found = KeptWhatIf.objects.filter(sandbox=sandbox).defer("operation")
    items = [state_of(one, whole=False) for one in found.order_by("-pk")[:most]]
    return WhatIfs(items=items)


def state_of(row: KeptWhatIf, *, whole: bool = True) -> WhatIfState:
    """Return how far it is, with the verdict if there is one; its sums unless `whole`."""
    verdict = row.verdict
    if verdict is not None and not whole:
        verdict = {**verdict, "seeds": [], "lines": []}
    said = row.error.get("said")
    return WhatIfState(
        id=row.pk,
        state=row.state,
        at=row.tick,
        revision=row.revision,
        changes=row.changes,
        horizon_ms=row.horizon_ms,
        seeds=row.seeds,
        said=msgspec.convert(said, Sentence) if said else None,
        verdict=None if verdict is None else msgspec.convert(verdict, PairVerdict),
        replaced_by=_successor(row),
    )


def _successor(row: KeptWhatIf) -> int | None:
    """Return the last of those that took its place, one after the other, and are there."""
    found: int | None = None
    after = row.replaced_by
    while after is not None:
        rows = KeptWhatIf.objects.filter(sandbox=row.sandbox_id, pk=after)
        known = rows.values_list("pk", "replaced_by").first()
        found, after = known or (found, None)
    return found
