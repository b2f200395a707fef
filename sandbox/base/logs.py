"""Log lines: one event a line, its fields as key=value behind the message."""

from __future__ import annotations

import json
import logging
import re
import secrets
from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponseBase

#: The id of the request that this thread answers; "" outside of requests.
REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")
_GIVEN = re.compile(r"[\w-]{1,64}", re.ASCII)

# What every record carries; the rest came in by `extra`.
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
# Objects that libraries attach for their own handlers.
NOISE = frozenset({"color_message", "request", "server_time", "data", "websocket"})


def with_request_id(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Middleware: each request has an id, in its answer and in every log line of it.

    A proxy may give one in X-Request-ID: up to 64 letters, digits, `-` and `_`.
    """

    def respond(request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        current = given if _GIVEN.fullmatch(given) else secrets.token_hex(8)
        token = REQUEST_ID.set(current)
        try:
            response = get_response(request)
        finally:
            REQUEST_ID.reset(token)
        response.headers["X-Request-ID"] = current
        return response

    return respond


class OneLine(logging.Formatter):
    """`time LEVEL logger: message key=value ...`, with no line break inside."""

    default_msec_format = "%s.%03d"

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line; a traceback follows as a field."""
        words = [
            self.formatTime(record),
            record.levelname,
            f"{record.name}:",
            record.getMessage().replace("\n", "\\n"),
        ]
        words += [f"{key}={_text(value)}" for key, value in fields(record).items()]
        return " ".join(words)


class JsonLine(logging.Formatter):
    """The same fields as one JSON object, for a log collector."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **fields(record),
        }
        return json.dumps(line, default=str, ensure_ascii=False)


def fields(record: logging.LogRecord) -> dict[str, object]:
    """Return what the caller attached, and the traceback if there is one."""
    known = STANDARD | NOISE
    found = {key: value for key, value in vars(record).items() if key not in known}
    if current := REQUEST_ID.get():
        found["request_id"] = current
    if record.exc_info:
        found["traceback"] = logging.Formatter().formatException(record.exc_info)
    return found


def _text(value: object) -> str:
    text = str(value)
    plain = text and not any(letter in text for letter in ' "=\n')
    return text if plain else json.dumps(text, ensure_ascii=False)
