"""What people give goes through one entrance: YAML, patterns, numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for name in ("scheduler", "sandbox", "api")
    for path in (ROOT / name).rglob("*.py")
)
#: Who may import a module that has no limits of its own.
ENTRANCES = {
    "yaml": {
        "scheduler/input/manifests/documents.py",
        "scheduler/model/texts/rewriting.py",
        "scheduler/model/texts/values.py",
        "scheduler/model/texts/plain_text.py",
    },
    "re2": {"scheduler/model/texts/plain_text.py"},
}
#: Patterns that are put together here, of parts of ours: no text of a person.
OURS = {
    "scheduler/analysis/advice/goal.py": "the rows of a table of ours",
    "scheduler/analysis/plan/assertions.py": "the forms of a table of ours",
    "scheduler/model/problems/validation.py": "our forms, with all letters escaped",
    "scheduler/model/texts/values.py": "a column, which is a number",
    "api/cluster/checks/names.py": "the rows of a table of ours",
    "api/proving/shown.py": "the rows of a table of ours",
    "api/generating/page.py": "the head of the schema that we write",
}
MATCHING = {
    "compile",
    "match",
    "fullmatch",
    "search",
    "sub",
    "subn",
    "split",
    "findall",
    "finditer",
}


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


@pytest.mark.parametrize("module", sorted(ENTRANCES))
def test_only_its_entrance_imports(module):
    found = {
        name(path)
        for path in SOURCES
        if module in set(imports(ast.parse(path.read_text())))
    }
    assert found == ENTRANCES[module]


def written(node: ast.expr) -> bool:
    """Return whether a pattern is written in the source, of constants alone."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=of):
            return of.isupper()
        case ast.BinOp(left=left, right=right):
            return written(left) and written(right)
        case ast.JoinedStr(values=values):
            return all(written(one) for one in values)
        case ast.FormattedValue(value=value):
            return written(value)
    return False


def test_no_pattern_of_a_person_is_run_by_re():
    """Use `scheduler.model.texts.plain_text`; a pattern of ours is a constant in capitals."""
    found = [
        f"{name(path)}:{node.lineno}"
        for path in SOURCES
        if name(path) not in OURS
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "re"
        and node.func.attr in MATCHING
        and not written(node.args[0])
    ]
    assert found == []


def test_a_pattern_of_lines_stays_in_its_line():
    """One that runs on is tried anew from each line of a text that someone gives."""
    found = [
        f"{name(path)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).startswith("re.")
        and any("re.MULTILINE" in ast.unparse(given) for given in node.args)
        and runs_on(node.args[0])
    ]
    assert found == []


def runs_on(node: ast.expr) -> bool:
    """Return whether a pattern has a set of characters that takes the end of a line."""
    text = "".join(
        str(one.value) for one in ast.walk(node) if isinstance(one, ast.Constant)
    )
    open_sets = re.findall(r"\[\^(?:[^\]\\]|\\.)*\]", text)
    return r"\s" in text or any(r"\n" not in one for one in open_sets)


def test_numbers_are_read_in_the_digits_of_the_real_systems():
    """`[0-9]`, and `amounts.is_whole`: other digits are no numbers there."""
    found = [
        f"{name(path)}:{number}"
        for path in SOURCES
        if name(path) != "scheduler/model/amounts.py"
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if any(
            word in line
            for word in ("\\d", ".isdigit()", ".isdecimal()", ".isnumeric()")
        )
    ]
    assert found == []
