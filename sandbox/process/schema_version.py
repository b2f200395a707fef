"""Whether this program knows the database: one that a newer program wrote is refused."""

from __future__ import annotations

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader

APPS = ("sandbox", "api")


def refuse_newer_database() -> None:
    """Raise ImproperlyConfigured for a database with migrations that are not here.

    An older program would tick on and write a history that the newer one cannot
    read. A database that does not answer, or is empty, is somebody else's matter.
    """
    try:
        loader = MigrationLoader(connection, ignore_no_migrations=True)
    except DatabaseError:
        return
    known = set(loader.disk_migrations)
    newer = sorted(
        name
        for app, name in loader.applied_migrations
        if app in APPS and (app, name) not in known and not _replaced(loader, app, name)
    )
    if newer:
        raise ImproperlyConfigured(
            f"the database is newer than this program: it has the migration "
            f"{', '.join(newer)}, which this version does not know. Start the version "
            "that wrote it, or restore a backup made before the upgrade."
        )


def _replaced(loader: MigrationLoader, app: str, name: str) -> bool:
    return any((app, name) in one.replaces for one in loader.disk_migrations.values())
