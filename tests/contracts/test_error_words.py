"""Each sentence is said with what fills the holes of its words, and nothing else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from api.generating.words import kinds_of_words, sentences

ROOT = Path(__file__).parents[2]


def said() -> Iterator[tuple[str, str, str, set[str]]]:
    """Yield each place where a sentence is said: its class, its name, its holes."""
    for path in sorted(
        found
        for name in ("scheduler", "sandbox", "api")
        for found in (ROOT / name).rglob("*.py")
    ):
        for call in ast.walk(ast.parse(path.read_text())):
            match call:
                case ast.Call(
                    func=ast.Attribute(
                        value=ast.Attribute(value=ast.Name(id=kind), attr=name),
                        attr="said" | "at",
                    ),
                    args=[] | [_],
                    keywords=given,
                ) if all(one.arg for one in given):
                    place = f"{path.relative_to(ROOT)}:{call.lineno}"
                    yield place, kind, name, {str(one.arg) for one in given}


def holes() -> dict[tuple[str, str], set[str]]:
    """Return the holes of each sentence by its class and name."""
    assert len(sentences()) > 1000
    return {
        (kind.__name__, one.name): {*re.findall(r"\{(\w+)\}", one.english)}
        for kind in kinds_of_words()
        for one in kind
    }


def test_each_sentence_is_said_with_its_holes() -> None:
    known, found = holes(), list(said())
    assert len(found) > 800
    # `n` chooses between the forms of a number, and need not be shown.
    wrong = [
        (place, f"{kind}.{name}", given ^ known[kind, name])
        for place, kind, name, given in found
        if (kind, name) in known and (given ^ known[kind, name]) - {"n"}
    ]
    assert wrong == []


def test_each_sentence_is_said_somewhere() -> None:
    """A class that is named alone is taken whole: its sentences are looked through."""
    texts = "\n".join(
        path.read_text()
        for name in ("scheduler", "sandbox", "api")
        for path in (ROOT / name).rglob("*.py")
    )
    code = re.sub(r"^class .*$|^ *from .* import .*$", "", texts, flags=re.MULTILINE)
    named = set(re.findall(r"\b\w+\.[A-Z][A-Z0-9_]*\b", code))
    whole = set(re.findall(r"(?:tuple\(|\*|\bin )(\w+)", code))
    unsaid = [
        f"{kind.__name__}.{one.name}"
        for kind in kinds_of_words()
        if kind.__name__ not in whole and not kind.__module__.startswith("tests.")
        for one in kind
        if named.isdisjoint(f"{of}.{one.name}" for of in (kind.__name__, "cls", "self"))
    ]
    assert unsaid == []
