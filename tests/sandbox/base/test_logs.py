"""Log lines: one line each, whatever is in them."""

from __future__ import annotations

import json
import logging
import sys

from django.test import Client

from sandbox.base.logs import REQUEST_ID, JsonLine, OneLine


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
    reported = json.loads(JsonLine().format(record("tick committed", tick=7)))
    assert (reported["message"], reported["tick"], reported["level"]) == (
        "tick committed",
        7,
        "INFO",
    )


def test_each_answer_and_each_line_of_it_names_the_request(db, caplog):
    caplog.set_level("WARNING")
    client = Client(raise_request_exception=False)
    answer = client.get("/api/v1/sandboxes/nowhere", headers={"X-Request-ID": "abc-1"})
    assert answer.headers["X-Request-ID"] == "abc-1"
    made = client.get("/healthz", headers={"X-Request-ID": "a b\tc"})
    assert len(made.headers["X-Request-ID"]) == 16


def test_a_line_outside_of_requests_names_none_and_one_inside_its_own():
    record = logging.makeLogRecord({"msg": "tick"})
    assert "request_id" not in OneLine().format(record)
    token = REQUEST_ID.set("abc-1")
    try:
        assert "request_id=abc-1" in OneLine().format(record)
    finally:
        REQUEST_ID.reset(token)
