"""How much history is kept: what may go of a sandbox, and its deletion in batches.

Whole ranges go, oldest first, up to a checkpoint: the first revision that is
kept is one, so every tick that is still shown is shown as it was. Operations stay,
and a few checkpoints, so that old edits can still be undone. What a fork shares
stays for as long as the fork keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import Case, F, Model, Q, QuerySet, Value, When, Window
from django.db.models.functions import Greatest, RowNumber
from django.utils import timezone

from sandbox.models import (
    Answer,
    Audit,
    Checkpoint,
    Diff,
    Event,
    ImportReport,
    KeptForecast,
    KeptWhatIf,
    Revision,
    Sample,
    Sandbox,
)
from sandbox.world import history

#: Rows that go in one transaction: some ten milliseconds of work.
BATCH = 2000
#: Of the checkpoints before what is kept, those at multiples of this stay.
SPARSE = 1024
#: With less than this part too much, history is left alone: it goes in lumps.
SLACK = 8

_ROWS: tuple[type[Model], ...] = (Event, Diff, Sample)


class Keep(NamedTuple):
    """How much is kept; 0 = all."""

    ticks: int
    days: int


class HistoryStart(NamedTuple):
    """A revision and its tick."""

    revision: int
    tick: int


def most_ticks() -> int:
    """Return how many ticks a sandbox may keep now; 0 = all. O(sandboxes).

    HISTORY_TICKS, or fewer where all sandboxes keep more than HISTORY_TICKS_IN_ALL.
    What a fork shares is its parent's.
    """
    each, in_all = settings.HISTORY["ticks"], settings.HISTORY["in_all"]
    if not in_all:
        return each
    kept = Sandbox.objects.filter(archived_at=None).annotate(
        kept=F("revision") - Greatest("kept_revision", "parent_revision")
    )
    lengths = sorted(kept.values_list("kept", flat=True))
    return _stricter(each, level(lengths, in_all))


def level(lengths: Sequence[int], most: int) -> int:
    """Return the length that the longest may have for a sum of `most`; 0 = any.

    `lengths` rise; each may have at least one.
    """
    left = most
    for index, length in enumerate(lengths):
        rest = len(lengths) - index
        if length * rest > left:
            return max(1, left // rest)
        left -= length
    return 0


def keep_of(sandbox: Sandbox, most: int) -> Keep:
    """Return what holds here: the sandbox's own wish, and no more than `most` ticks."""
    return Keep(
        _stricter(sandbox.keep_ticks, most),
        _stricter(sandbox.keep_days, settings.HISTORY["days"]),
    )


def _stricter(one: int, other: int) -> int:
    return min(one, other) if one and other else one or other


def candidates(ticks: int) -> QuerySet[Sandbox]:
    """Return the sandboxes of which something may have to go.

    Those that are short of `ticks`, the most that one may keep, are not among them.
    """
    found = Sandbox.objects.filter(archived_at=None).defer("header", "start_policy")
    if settings.HISTORY["days"]:
        return found
    wished = Q(keep_ticks__gt=0) | Q(keep_days__gt=0) | Q(kept_revision__gt=0)
    if ticks:
        wished |= Q(tick__gt=F("kept_tick") + ticks + ticks // SLACK)
    return found.filter(wished)


def beginning(sandbox: Sandbox, most_ticks: int) -> HistoryStart | None:
    """Return where history should begin; None when nothing is to go.

    The newest checkpoint that leaves as many ticks and days as are to be kept.
    """
    own = history.rows_of(Revision, sandbox).filter(sandbox=sandbox)
    wanted = [_at(own, condition) for condition in _before(sandbox, most_ticks)]
    most = max(wanted, default=0)
    if most <= sandbox.kept_revision:
        return None
    found = (
        history.rows_of(Checkpoint, sandbox)
        .filter(sandbox=sandbox, revision__lte=most, revision__gt=sandbox.kept_revision)
        .order_by("-revision")
        .values_list("revision", "tick")
        .first()
    )
    return (
        None if found is None or found[0] <= _oldest(sandbox) else HistoryStart(*found)
    )


def _before(sandbox: Sandbox, most_ticks: int) -> Iterator[Q]:
    keep = keep_of(sandbox, most_ticks)
    if keep.ticks:
        first = sandbox.tick - keep.ticks
        if sandbox.kept_tick + keep.ticks // SLACK < first:
            yield Q(tick__lte=first)
    if keep.days:
        yield Q(at__lt=timezone.now() - timedelta(days=keep.days))


def _at(own: QuerySet[Revision], condition: Q) -> int:
    found = own.filter(condition).order_by("-number").values_list("number", flat=True)
    return found.first() or 0


def _oldest(sandbox: Sandbox) -> int:
    """Return the revision that the sandbox itself began with."""
    own = Revision.objects.filter(sandbox=sandbox).order_by("number")
    return own.values_list("number", flat=True).first() or sandbox.parent_revision + 1


def clear(sandbox: Sandbox, budget: int) -> int:
    """Delete up to about `budget` rows before what is kept; return how many went."""
    gone = 0
    for model, condition in _clearable(sandbox):
        rows = model._default_manager.filter(condition, sandbox=sandbox)
        while gone < budget and (count := _delete_batch(model, rows)):
            gone += count
    return gone


def _clearable(sandbox: Sandbox) -> Iterator[tuple[type[Model], Q]]:
    needed = Q(pk__in=())
    for low, high in _shared(sandbox):
        needed |= Q(revision__gte=low, revision__lte=high)
    past = Q(revision__lt=sandbox.kept_revision) & ~needed
    for model in _ROWS:
        yield model, past
    first = Q(revision=_oldest(sandbox))
    # No operation leads over a rewind or an undo: their checkpoints begin anew.
    reruns = Revision.objects.filter(sandbox=sandbox, kind=Revision.RERUN)
    begun = Q(revision__in=reruns.values("number"))
    yield Checkpoint, past & ~first & ~begun & ~Q(pk__in=_sparse(sandbox))


def _sparse(sandbox: Sandbox) -> Any:
    kept = Checkpoint.objects.filter(sandbox=sandbox).annotate(
        rest=F("revision") % SPARSE
    )
    return kept.filter(rest=0).values("pk")


def _shared(sandbox: Sandbox) -> Iterator[tuple[int, int]]:
    """Yield the revisions of this sandbox that forks, and theirs, still show."""
    for fork in descendants(sandbox):
        if fork.archived_at is None:
            for part in history.lineage(fork):
                if part.sandbox_id == sandbox.pk:
                    yield part.after + 1, part.upto


def descendants(sandbox: Sandbox) -> Iterator[Sandbox]:
    """Yield the forks of a sandbox, their forks, and so on."""
    rank = [sandbox.pk]
    while rank:
        forks = list(Sandbox.objects.filter(parent_id__in=rank))
        yield from forks
        rank = [fork.pk for fork in forks]


def prune() -> int:
    """Delete a batch of old audit lines, answers and sessions; return how many went."""
    gone = sum(
        _delete_batch(model, model._default_manager.filter(at__lt=_ago(days)))
        for model, days in (
            (Audit, settings.AUDIT_DAYS),
            (Answer, settings.ANSWERS_DAYS),
        )
        if days
    )
    # A day later than they ended, whatever the clock of this host says.
    return gone + _delete_batch(
        Session, Session.objects.filter(expire_date__lt=_ago(1))
    )


class NewestRows(NamedTuple):
    """Rows of a sandbox that are kept while they are among the newest."""

    asker: str  # the column that names who asked for one; null: the sandbox itself
    most: int  # of the owner, and as many again of all others together
    at_work: tuple[str, ...] = ()  # states in which a row goes after all others


#: Every table of which a sandbox keeps the newest rows.
NEWEST: dict[type[Model], NewestRows] = {
    KeptWhatIf: NewestRows(
        "asked_by__username", 200, (KeptWhatIf.RUNNING, KeptWhatIf.OPEN)
    ),
    KeptForecast: NewestRows("asked_by__username", 200, (KeptForecast.RUNNING,)),
    ImportReport: NewestRows("who", 50),
}


def drop_oldest(model: type[Model], sandbox: Sandbox) -> None:
    """Delete the rows of a sandbox that are beyond what `NEWEST` keeps.

    Nobody pushes out the owner's. The others share their room evenly: whoever has
    most of it loses the oldest. Two queries.
    """
    kept = NEWEST[model]
    rows = model._default_manager.filter(sandbox=sandbox)
    order: list[Any] = [F("pk").desc()]
    if kept.at_work:
        on = When(state__in=kept.at_work, then=Value(0))
        order.insert(0, Case(on, default=Value(1)))
    owner = Q((kept.asker, sandbox.owner.get_username())) | Q((kept.asker, None))
    for whose in (owner, ~owner):
        rank = Window(RowNumber(), partition_by=F(kept.asker), order_by=order)
        ranked = rows.filter(whose).annotate(rank=rank).order_by("rank", "-pk")
        beyond = list(ranked.values_list("pk", flat=True)[kept.most :])
        if beyond:
            rows.filter(pk__in=beyond).delete()


def _ago(days: int) -> datetime:
    return timezone.now() - timedelta(days=days)


def _delete_batch(model: type[Model], rows: QuerySet[Model]) -> int:
    with transaction.atomic():
        keys = list(rows.order_by("pk").values_list("pk", flat=True)[:BATCH])
        if not keys:
            return 0
        # By the range of keys: a list of thousands would be bound one by one.
        chosen = rows.filter(pk__gte=keys[0], pk__lte=keys[-1])
        return chosen.delete()[0]
