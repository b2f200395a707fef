"""Log lines: one event a line, its fields as key=value behind the message."""

from __future__ import annotations

import json
import logging

# What every record carries; the rest came in by `extra`.
STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime"}
# Objects that libraries attach for their own handlers.
NOISE = frozenset({"color_message", "request", "server_time", "data", "websocket"})


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
    if record.exc_info:
        found["traceback"] = logging.Formatter().formatException(record.exc_info)
    return found


def _text(value: object) -> str:
    text = str(value)
    plain = text and not any(letter in text for letter in ' "=\n')
    return text if plain else json.dumps(text, ensure_ascii=False)
