"""Whether the process lives, and whether what it needs answers."""

from __future__ import annotations

import logging
import os
import shutil
from pathlib import Path

import psycopg
import redis
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection, transaction
from django.http import HttpRequest, JsonResponse

from sandbox.process.schema_version import refuse_newer_database

logger = logging.getLogger(__name__)

#: Below this the next commits may fail.
LEAST_FREE_BYTES = 64 * 2**20
#: What PostgreSQL is asked to write, for some 10 ms.
PROBE_BYTES = 4 * 2**20
#: A table of rows of 8 KiB, which has no place in 64 KiB of memory.
_WRITE = """
    WITH written AS MATERIALIZED (
        SELECT repeat('x', 8192) FROM generate_series(1, %s)
    ) SELECT count(*) FROM written
"""


def alive(_request: HttpRequest) -> JsonResponse:
    """Answer 200 while requests are served at all; touches nothing."""
    return JsonResponse({"status": "ok"})


def ready(_request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database and the bus answer, else 503 and which failed."""
    found = {"database": _database(), "bus": _bus(), "disk": _disk()}
    good = all(fine == "ok" for fine in found.values())
    return JsonResponse(found, status=200 if good else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        refuse_newer_database()
        if _is_read_only():
            logger.error("the database takes no changes")
            return "read-only"
    except DatabaseError as problem:
        logger.warning("database does not answer", extra={"problem": problem})
        return "unreachable"
    except ImproperlyConfigured as problem:
        logger.warning("%s", problem)
        return "newer than this program"
    return "ok"


def _is_read_only() -> bool:
    """Return whether nothing can be written: a standby, or a file without the right."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_read_only")
            return bool(cursor.fetchone() == ("on",))
    file = Path(settings.DATABASES["default"]["NAME"])
    return file.exists() and not (
        os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)
    )


def _disk() -> str:
    """Look at the disk of the database: SQLite's here, PostgreSQL's by writing."""
    if connection.vendor == "postgresql":
        return _disk_of_server()
    free = shutil.disk_usage(settings.DATA_FOLDER).free
    if free >= LEAST_FREE_BYTES:
        return "ok"
    logger.error("the disk is full", extra={"free": free})
    return f"full: {free} bytes are free, {LEAST_FREE_BYTES} are needed"


def _disk_of_server() -> str:
    """Have PostgreSQL write a temporary file: it says nothing of its free space."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL work_mem = '64kB'")
            cursor.execute("SET LOCAL temp_tablespaces = ''")  # that of the database
            cursor.execute(_WRITE, [PROBE_BYTES // 8192])
    except DatabaseError as problem:
        if not isinstance(problem.__cause__, psycopg.errors.DiskFull):
            return "ok"  # another fault, which the database's own line names
        logger.warning("the disk of the database is full", extra={"problem": problem})
        return f"full: the database cannot write {PROBE_BYTES} bytes more"
    return "ok"


def _bus() -> str:
    client = redis.Redis.from_url(settings.BUS_URL, socket_timeout=1, retry=None)
    try:
        client.ping()
    except redis.RedisError as problem:
        logger.warning("bus does not answer", extra={"problem": problem})
        return "unreachable"
    finally:
        client.close()
    return "ok"
