"""An outline at the head of a module names functions that there are."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OUTLINED = (
    "scheduler/engine/kueue/scheduler/cycle.py",
    "scheduler/engine/tick.py",
    "sandbox/whatifs/work.py",
    "sandbox/world/commits.py",
)
_STEP = re.compile(r"^(\d+)\. .*(?:\n  +.*)*", re.MULTILINE)


@pytest.mark.parametrize("path", OUTLINED)
def test_the_steps_are_numbered_in_their_order(path):
    steps = [int(one[1]) for one in _STEP.finditer(_head(path))]
    assert len(steps) >= 4
    assert steps == list(range(1, len(steps) + 1))


@pytest.mark.parametrize("path", OUTLINED)
def test_each_function_that_a_step_names_is_there_or_called_there(path):
    lost = []
    for step in _STEP.finditer(_head(path)):
        beside = re.findall(r"`(\w+\.py)`", step[0])
        files = [(ROOT / path).with_name(name) for name in beside]
        known = _named(ROOT / path).union(*map(_named, files))
        lost += [
            name for name in re.findall(r"`(\w+)\(\)`", step[0]) if name not in known
        ]
    assert lost == []


def test_each_function_of_the_flows_is_there_and_counted():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    flows = text.partition("## Three flows")[2].partition("\n## ")[0]
    found = re.findall(
        r"^\*\*.*?\*\* \((\d+)\)(.*?)(?:\n\n|\Z)", flows, re.MULTILINE | re.DOTALL
    )
    assert len(found) == 3
    for count, flow in found:
        hops = re.findall(r"`([\w/.]+\.(?:py|ts|svelte)) #?(\w+)`", flow)
        assert len(hops) == int(count)
        assert [hop for hop in hops if not _holds(*hop)] == []


def _holds(path: str, name: str) -> bool:
    file = ROOT / path
    return file.is_file() and re.search(rf"\b{name}\b", file.read_text()) is not None


def _head(path: str) -> str:
    return ast.get_docstring(ast.parse((ROOT / path).read_text())) or ""


def _named(path: Path) -> set[str]:
    """Return the functions that a module defines or calls."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Call):
            called = node.func
            found.add(getattr(called, "attr", getattr(called, "id", "")))
    return found
