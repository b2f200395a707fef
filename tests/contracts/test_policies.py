"""The policies of the documents are plug-ins: small, and made of the interface alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[2] / "docs/examples/policies").glob("*.py"))
MOST_LINES = 150
ALLOWED = {*sys.stdlib_module_names, "msgspec", "quotalab.policies"}


def imported(text: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        if isinstance(node, ast.ImportFrom):
            names.add(str(node.module))
    return names


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_policy_of_the_documents_imports_nothing_but_the_interface(path):
    found = {name for name in imported(path.read_text()) if name not in ALLOWED}
    assert {name for name in found if name.partition(".")[0] not in ALLOWED} == set()


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_policy_of_the_documents_fits_a_page(path):
    assert len(path.read_text().splitlines()) <= MOST_LINES
