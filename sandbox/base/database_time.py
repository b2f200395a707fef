"""The clock that all processes share: the database's, whatever a host's own clock says.

Leases and due times are compared across hosts, and one host's clock may be an hour
off. They are written and read by the database's clock alone.
"""

from __future__ import annotations

from typing import Any

from django.db import connection
from django.db.models import FloatField, Func

_WORDS = {
    # Of the statement, so that an index still serves a comparison with it.
    "postgresql": "EXTRACT(EPOCH FROM statement_timestamp())::double precision",
    "sqlite": "((julianday('now') - 2440587.5) * 86400.0)",  # to the millisecond
}


class DatabaseTime(Func):
    """Unix seconds by the database's clock, at the begin of the statement."""

    arity = 0
    output_field = FloatField()

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return SQLite's words."""
        return self.as_sql(compiler, connection, template=_WORDS["sqlite"], **context)

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        """Return PostgreSQL's words."""
        template = _WORDS["postgresql"]
        return self.as_sql(compiler, connection, template=template, **context)


def words() -> str:
    """Return what `DatabaseTime` is in a statement that is written out."""
    return _WORDS[connection.vendor]


def database_seconds() -> float:
    """Ask the database what time it is. One query."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {words()}")
        (seconds,) = cursor.fetchone()
    return float(seconds)
