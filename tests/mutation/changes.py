"""Changes of the engine that break a statement of docs/texts.md, and how one is made."""

from __future__ import annotations

import ast
import gc
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType

import msgspec

from scheduler.input.manifests.documents import read_documents

ROOT = Path(__file__).parents[2]


class Change(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What a mutant writes instead of a text that its file has once.

    `also` has more such texts with what replaces them: where several rules each hold a
    statement, all have to go.
    """

    file: str
    replace: str
    by: str
    also: dict[str, str] = {}

    def text(self) -> str:
        """Return the changed file; ValueError where it does not have a text once."""
        text = (ROOT / self.file).read_text(encoding="utf-8")
        for old, new in {self.replace: self.by, **self.also}.items():
            count = text.count(old)
            if count != 1:
                raise ValueError(f"{self.file} has {count} times, not once: {old}")
            text = text.replace(old, new)
        return text

    def function(self) -> str:
        """Return the name of the innermost function that the text is of."""
        source = (ROOT / self.file).read_text(encoding="utf-8")
        at = source[: source.index(self.replace)].count("\n") + 1
        names = [
            node.name
            for node in ast.walk(ast.parse(source))
            if isinstance(node, ast.FunctionDef)
            and node.lineno <= at <= (node.end_lineno or 0)
        ]
        if not names:
            raise ValueError(f"{self.file} has it in no function: {self.replace}")
        return names[-1]

    def make(self) -> None:
        """Give every function of the file that lives in this process its changed code."""
        module = importlib.import_module(
            self.file.removesuffix(".py").replace("/", ".")
        )
        path = str(module.__file__)
        changed = dict(_codes(compile(self.text(), path, "exec", dont_inherit=True)))
        source = Path(path).read_text(encoding="utf-8")
        former = {
            (code.co_qualname, code.co_firstlineno): key
            for key, code in _codes(compile(source, path, "exec", dont_inherit=True))
        }
        for one in gc.get_objects():
            if isinstance(one, FunctionType) and one.__code__.co_filename == path:
                code = one.__code__
                key = former.get((code.co_qualname, code.co_firstlineno))
                if key in changed:
                    one.__code__ = changed[key]


def _codes(code: CodeType) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Yield each code within, by its qualified name and its place among its like."""
    seen: dict[str, int] = {}
    left = [code]
    while left:
        for one in left.pop().co_consts:
            if isinstance(one, CodeType):
                place = seen[one.co_qualname] = seen.get(one.co_qualname, -1) + 1
                yield (one.co_qualname, place), one
                left.append(one)


def changes() -> dict[str, Change]:
    """Return the changes of `texts.yaml` by name."""
    path = Path(__file__).with_name("texts.yaml")
    [document] = read_documents(path.read_text(encoding="utf-8"), file=path.name)
    return msgspec.convert(document.data, dict[str, Change])
