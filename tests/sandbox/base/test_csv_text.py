"""CSV: one writer, which leaves no text that a spreadsheet would run."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.base import csv_text
from tests.services.default_run import ROOT

CELLS = st.lists(st.lists(st.one_of(st.text(), st.integers()), min_size=1), min_size=1)


@given(CELLS)
def test_no_text_begins_as_a_formula_and_all_else_is_read_back(rows):
    found = list(csv.reader(io.StringIO(csv_text.write(rows), newline="")))
    for given_row, row in zip(rows, found, strict=False):
        for cell, text in zip(given_row, row, strict=False):
            if isinstance(cell, str):
                assert text[:1] not in csv_text.RISKY
            else:
                assert text == str(cell)


@pytest.mark.parametrize(
    "text", ["=1+1", "\t=1", "\r=1", "\n=1", "＝1", "@x", "-x", "+x"]
)
def test_a_formula_gets_an_apostrophe(text):
    assert csv_text.write([[text]]).strip('"\n').startswith("'")


def test_nothing_else_writes_csv():
    writers = [
        path.relative_to(ROOT).as_posix()
        for package in ("api", "sandbox")
        for path in Path(ROOT, package).rglob("*.py")
        if "csv.writer(" in path.read_text()
    ]
    assert writers == ["sandbox/base/csv_text.py"]
