"""Many rows in one statement, in the way that each database is quickest at.

Measured: an ORM `bulk_update` of 5,000 rows takes seconds, one statement
tens of milliseconds. SQLite is quickest with a prepared statement run over
all rows; PostgreSQL with one JSON text that the server takes apart (arrays
cost the driver more time than the server saves).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from django.db import connection
from django.db.models import Model

Values = Sequence[tuple[Any, ...]]

_encode = msgspec.json.Encoder().encode  # bytes become base64


def insert(model: type[Model], columns: Sequence[str], rows: Values) -> None:
    """Add rows; one statement. Columns are database columns, in `rows`' order."""
    _write(model, columns, rows, "")


def upsert(
    model: type[Model], columns: Sequence[str], rows: Values, *, identity: Sequence[str]
) -> None:
    """Insert rows, or overwrite rows of the same identity; one statement."""
    sets = ", ".join(
        f"{_quoted(name)} = excluded.{_quoted(name)}"
        for name in columns
        if name not in identity
    )
    names = ", ".join(map(_quoted, identity))
    clause = f" ON CONFLICT ({names}) DO UPDATE SET {sets}"
    _write(model, columns, rows, clause)


def _write(
    model: type[Model], columns: Sequence[str], rows: Values, clause: str
) -> None:
    if not rows:
        return
    names = ", ".join(map(_quoted, columns))
    head = f"INSERT INTO {_quoted(model._meta.db_table)} ({names})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            picked, shape = _recordset(model, columns)
            query = f"{head} SELECT {picked} FROM json_to_recordset(%s) AS r({shape})"
            cursor.execute(query + clause, [_json(columns, rows)])
        else:
            places = ", ".join(["%s"] * len(columns))
            cursor.executemany(f"{head} VALUES ({places}){clause}", rows)


def _recordset(model: type[Model], columns: Sequence[str]) -> tuple[str, str]:
    """Return what to pick of the records and how they are shaped; bytes are base64."""
    by_column = {field.column: field for field in model._meta.concrete_fields}
    types = [str(by_column[name].rel_db_type(connection)) for name in columns]
    picked = (
        f"decode(c{n}, 'base64')" if kind == "bytea" else f"c{n}"
        for n, kind in enumerate(types)
    )
    shape = (
        f"c{n} {'text' if kind == 'bytea' else kind}" for n, kind in enumerate(types)
    )
    return ", ".join(picked), ", ".join(shape)


def _json(columns: Sequence[str], rows: Values) -> str:
    names = [f"c{n}" for n in range(len(columns))]
    return _encode([dict(zip(names, row, strict=True)) for row in rows]).decode()


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)


def select(model: type[Model], columns: Sequence[str], sandbox_id: str) -> list[Any]:
    """Return the named columns of a sandbox's rows, as tuples in no order."""
    names = ", ".join(map(_quoted, columns))
    table = _quoted(model._meta.db_table)
    query = f"SELECT {names} FROM {table} WHERE sandbox_id = %s"
    with connection.cursor() as cursor:
        cursor.execute(query, [sandbox_id])
        return list(cursor.fetchall())
