"""The documents list every scenario of the library."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from docs.written.__main__ import pages, written
from sandbox.base import library
from scheduler.model.scenario import TEXTS
from tests.mutation.changes import Change, changes

ROOT = Path(__file__).parents[2]


def test_pages_that_are_written_from_the_code_are_what_it_says():
    stale = [path for path, text in pages().items() if written(path) != text]
    assert stale == [], "run python -m docs.written"


def shown() -> set[tuple[str, str]]:
    return {
        (one.text, one.statement)
        for name in library.names()
        for one in library.scenario_named(name).spec.shows
    }


def listed() -> dict[tuple[str, str], str]:
    return {
        (text, one.statement): one.test
        for text, statements in library.statements().items()
        for one in statements
    }


def test_every_statement_of_the_texts_is_shown_in_a_scenario():
    assert list(library.statements()) == list(TEXTS)
    assert listed().keys() - shown() == set()


def test_no_scenario_shows_a_statement_that_is_not_listed():
    assert shown() - listed().keys() == set()


def test_no_statement_is_listed_twice():
    count = sum(len(one) for one in library.statements().values())
    assert count == len({words for _, words in listed()})


def test_every_test_that_holds_a_statement_is_there():
    lost = []
    for test in filter(None, listed().values()):
        path, _, name = test.partition("::")
        name, _, case = name.partition("[")
        text = (ROOT / path).read_text(encoding="utf-8")
        if not re.search(rf"^def {name}\(", text, re.MULTILINE):
            lost.append(test)
        records = ROOT / "tests/truth/records"
        if case and not (records / f"{case.rstrip(']')}.json").is_file():
            lost.append(test)
    assert lost == []


def test_every_mutant_changes_a_function_and_breaks_a_row():
    known = changes()
    named = {
        one.mutant for listed in library.statements().values() for one in listed
    } - {""}
    assert named == set(known)
    for one in known.values():
        compile(one.text(), one.file, "exec")
        assert one.function()


def test_a_row_whose_test_is_the_killer_has_a_test_and_a_mutant():
    listed = [one for text in library.statements().values() for one in text]
    assert [one for one in listed if one.killer and not (one.test and one.mutant)] == []


def test_a_mutant_of_a_text_that_stands_twice_is_refused():
    twice = Change("scheduler/engine/latencies.py", "return", "yield")
    with pytest.raises(ValueError, match=r"latencies\.py has \d+ times, not once"):
        twice.text()


def test_a_part_of_the_rows_is_broken_by_their_mutants():
    tried = subprocess.run(
        [sys.executable, "-m", "tests.mutation.texts", "--each", "8"],
        cwd=ROOT,
        env={**os.environ, "QUOTALAB_COMPILED": "no"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert tried.returncode == 0, tried.stdout + tried.stderr
