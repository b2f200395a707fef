"""Whether the process lives, and whether what it needs answers."""

from __future__ import annotations

import logging

import redis
from django.conf import settings
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse

logger = logging.getLogger(__name__)


def alive(_request: HttpRequest) -> JsonResponse:
    """Answer 200 while requests are served at all; touches nothing."""
    return JsonResponse({"status": "ok"})


def ready(_request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database and the bus answer, else 503 and which failed."""
    found = {"database": _database(), "bus": _bus()}
    good = all(found.values())
    words = {name: "ok" if fine else "unreachable" for name, fine in found.items()}
    return JsonResponse(words, status=200 if good else 503)


def _database() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as problem:
        logger.warning("database does not answer", extra={"problem": problem})
        return False
    return True


def _bus() -> bool:
    client = redis.Redis.from_url(settings.BUS_URL, socket_timeout=1, retry=None)
    try:
        client.ping()
    except redis.RedisError as problem:
        logger.warning("bus does not answer", extra={"problem": problem})
        return False
    finally:
        client.close()
    return True
