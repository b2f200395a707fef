"""Whether this program knows the database: one that a newer program wrote is refused."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Callable

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponseBase, JsonResponse

from sandbox.base.security import status

APPS = ("sandbox", "api")
HEALTH = ("/healthz", "/readyz")
#: A process that was left behind by an upgrade goes on for no longer than this.
LOOK_EVERY_S = 5.0
Respond = Callable[[HttpRequest], HttpResponseBase]


def refuse_newer_database(program: str = "program") -> None:
    """Raise ImproperlyConfigured for a database with migrations that are not here.

    `program` is what is to be upgraded.

    An older program would tick on and write a history that the newer one cannot
    read. A database that does not answer, or is empty, is somebody else's matter.
    """
    try:
        newer = newer_migrations()
    except DatabaseError:
        return
    if newer:
        raise ImproperlyConfigured(_problem(newer, program))


def newer_migrations() -> list[str]:
    """Return the applied migrations that are not here. One query; may raise DatabaseError."""
    applied = MigrationRecorder(connection).applied_migrations()
    known = _known()
    return sorted(
        name for app, name in applied if app in APPS and (app, name) not in known
    )


@functools.cache
def _known() -> frozenset[tuple[str, str]]:
    """Return the migrations of this program."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


def _problem(newer: list[str], program: str = "program") -> str:
    return (
        f"upgrade this {program}: the database is newer, it has the migration "
        f"{', '.join(newer)}, which this version does not know. Or restore a backup "
        "made before the database was upgraded."
    )


class _Look:
    """What was found at the last look, which is repeated every few seconds."""

    at = -math.inf  # monotonic seconds
    problem = ""


def problem_now() -> str:
    """Return why this program must not serve the database; at most LOOK_EVERY_S old."""
    now = time.monotonic()
    if now - _Look.at > LOOK_EVERY_S:
        _Look.at = now
        with contextlib.suppress(DatabaseError):
            newer = newer_migrations()
            _Look.problem = _problem(newer) if newer else ""
    return _Look.problem


def refuse_requests(respond: Respond) -> Respond:
    """Middleware: a process that an upgrade left behind answers 503, health excepted."""

    def answer(request: HttpRequest) -> HttpResponseBase:
        problem = "" if request.path_info in HEALTH else problem_now()
        if not problem:
            return respond(request)
        body = status(503, "ServiceUnavailable", problem)
        return JsonResponse(body, status=503, headers={"Retry-After": "60"})

    return answer
