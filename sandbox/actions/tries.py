"""Imports: counted before they begin, and stopped when they take too long.

A process that is lost while it reads somebody's files leaves a row whose lease lapses.
Files that left as many as MOST_TRIES are refused, so that they cost no more. A process
that its operator ends leaves none, even where it is killed because it takes long to end.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.conf import settings

from sandbox.base.database_time import DatabaseTime, database_seconds
from sandbox.base.errors import BusyError, InvalidError
from sandbox.base.refusals import NotNow, NotTaken
from sandbox.models import ImportTry
from sandbox.process import watchdog

Files = Sequence[tuple[str, str]] | Sequence[tuple[str, bytes]]

LEASE_S = 10.0
#: Files whose reading was lost this often are not read again.
MOST_TRIES = 2
#: What was lost so long ago is forgotten: it may have been the machine.
FORGET_S = 3600.0


@contextmanager
def counted(files: Files) -> Iterator[None]:
    """Read files in the block, under the limit of STANDSTILL_SECONDS.

    Raises InvalidError where they cost MOST_TRIES processes before, and when the block
    takes too long; BusyError when this process is to end. Two writes to the database;
    none without files.
    """
    if not files:
        yield
        return
    row = _begin(_digest(files))
    lost = False
    try:
        with (
            watchdog.renewing(lambda: _renew(row), LEASE_S / 3),
            watchdog.stopped_after(settings.STANDSTILL_S),
        ):
            yield
    except watchdog.OverdueError:
        lost = True  # as good as lost: the row stays and counts
        raise InvalidError(NotTaken.LONG.said(seconds=settings.STANDSTILL_S)) from None
    except watchdog.EndedError:
        raise BusyError(NotNow.ENDING.said()) from None
    finally:
        if lost:
            ImportTry.objects.filter(pk=row.pk).update(lease_until=DatabaseTime() - 1)
        else:
            ImportTry.objects.filter(pk=row.pk).delete()


def _begin(digest: str) -> ImportTry:
    now = DatabaseTime()
    lapsed = ImportTry.objects.filter(lease_until__lt=now)
    lapsed.filter(lease_until__lt=now - FORGET_S).delete()
    lost = lapsed.filter(files=digest).count()
    if lost >= MOST_TRIES:
        said = NotTaken.COSTLY.said(count=lost, seconds=settings.STANDSTILL_S)
        raise InvalidError(said)
    return ImportTry.objects.create(
        files=digest, lease_until=database_seconds() + LEASE_S
    )


def _renew(row: ImportTry) -> bool:
    held = ImportTry.objects.filter(pk=row.pk)
    if watchdog.is_ending():  # a call into C may go on until the process is killed
        held.delete()
        return False
    return held.update(lease_until=DatabaseTime() + LEASE_S) == 1


def _digest(files: Files) -> str:
    found = hashlib.sha256()
    for name, content in files:
        for part in (name, content):
            data = (
                part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
            )
            found.update(b"%d:" % len(data))
            found.update(data)
    return found.hexdigest()
