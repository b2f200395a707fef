"""Log lines: one line each, whatever is in them."""

from __future__ import annotations

import json
import logging
import sys

from sandbox.base.logs import JsonLine, OneLine


def record(message: str, **fields: object) -> logging.LogRecord:
    logger = logging.getLogger("sandbox.test")
    return logger.makeRecord(
        logger.name, logging.INFO, __file__, 1, message, (), None, extra=fields
    )


def test_fields_follow_the_message():
    line = OneLine().format(record("tick committed", tick=7, sandbox="abc"))
    assert line.endswith("INFO sandbox.test: tick committed tick=7 sandbox=abc")


def test_a_field_with_spaces_is_quoted():
    assert 'reason="two words"' in OneLine().format(record("x", reason="two words"))


def test_no_line_break_gets_out():
    line = OneLine().format(record("one\ntwo", text="a\nb"))
    assert "\n" not in line


def test_a_traceback_stays_on_the_line():
    try:
        raise ValueError("no")
    except ValueError:
        failed = record("failed")
        failed.exc_info = sys.exc_info()
    line = OneLine().format(failed)
    assert "ValueError: no" in line
    assert "\n" not in line


def test_a_collector_gets_the_same_fields():
    told = json.loads(JsonLine().format(record("tick committed", tick=7)))
    assert (told["message"], told["tick"], told["level"]) == (
        "tick committed",
        7,
        "INFO",
    )
