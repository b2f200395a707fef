"""What is wrong with a field has words in every language: its text is in a known form.

Read from the source: every text that is raised about a manifest or a policy, with
something in its holes. A text in a new form is English on the page until `forms.py`,
`wanted.py` or `problems.py` of `scheduler/words` has it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from scheduler.words.reading import read

SCHEDULER = Path(__file__).parents[2] / "scheduler"
PARTS = (
    "input/manifests",
    "engine/kueue",
    "engine/kube/noderesources",
    "engine/kube/plugins",
    "engine/yunikorn/placement",
    "engine/yunikorn/shim",
    "engine/autoscaling",
    "engine/lifetime",
    "model",
)
#: What raises, or makes, what is raised of a field.
ERRORS = {"error", "ManifestError", "PolicyError", "QuantityError"}
#: What stands in the holes of a text, tried one after the other.
FILLERS = (
    *("3", "'x'", "ab", "spec.x", "In, NotIn", "a whole number", "Job", "a check"),
    "no values",
)
PROBLEM = "expected a number, got 'x'"


def texts() -> Iterator[tuple[str, list[str]]]:
    """Yield each text with its place, filled in each of the ways."""
    for path in sorted(found for part in PARTS for found in _files(SCHEDULER / part)):
        for call in ast.walk(ast.parse(path.read_text())):
            text = _text(call)
            if text is not None:
                place = f"{path.relative_to(SCHEDULER)}:{text.lineno}"
                yield place, [_filled(text, filler) for filler in FILLERS]


def _files(part: Path) -> list[Path]:
    return [part] if part.suffix else list(part.rglob("*.py"))


def _text(call: ast.AST) -> ast.expr | None:
    """Return the text of a call that makes an error; None where it is no text."""
    if not isinstance(call, ast.Call) or not call.args:
        return None
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    at = 1 if name == "error" and len(call.args) > 1 else 0
    text = call.args[at]
    is_text = isinstance(text, ast.JoinedStr | ast.Constant)
    return text if name in ERRORS and is_text else None


def _filled(text: ast.expr, filler: str) -> str:
    """Return a text with something in its holes: a problem where it is one."""
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(_part(part, filler) for part in parts)


def _part(part: ast.expr, filler: str) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    what = ast.unparse(part.value)
    if what in ("error", "problem"):
        return PROBLEM
    return f"'{filler}'" if part.conversion == ord("r") else filler


def test_every_text_about_a_field_is_in_a_known_form() -> None:
    found = {place: any(map(read, filled)) for place, filled in texts()}
    assert len(found) > 200
    assert [place for place, is_read in found.items() if not is_read] == []


def test_what_is_read_says_the_text_itself() -> None:
    for _, filled in texts():
        for text in filled:
            said = read(text)
            assert said is None or said.text == text
