"""A file is a chapter, a function fits on a screen, and the page imports one way.

Lines are those that are not blank. Tables of data (assignments at the top of a module)
do not count for their file; nor do the page's catalogues.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "frontend/src"
MOST_OF_FILE, MOST_OF_FUNCTION = 600, 60
_IMPORT = re.compile(r"""(?:from|import)\s*\(?\s*["'](@/|\.{1,2}/)([^"']+)["']""")
_ENDINGS = ("", ".ts", "/index.ts")


def modules() -> Iterator[tuple[str, str]]:
    for package in ("scheduler", "sandbox", "api"):
        for path in (ROOT / package).rglob("*.py"):
            made = path.parent.name == "client" and path.stem in (
                "records",
                "operations",
            )
            if "migrations" not in path.parts and not made:
                yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def lines(text: str) -> int:
    return sum(bool(line.strip()) for line in text.splitlines())


def test_no_function_is_longer_than_a_screen():
    long = []
    for name, text in modules():
        every = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                count = lines("\n".join(every[node.lineno - 1 : node.end_lineno]))
                if count > MOST_OF_FUNCTION:
                    long.append(f"{name}: {node.name}: {count}")
    assert long == []


def test_no_file_is_longer_than_a_chapter():
    long = []
    for name, text in modules():
        every = text.splitlines()
        tables = sum(
            lines("\n".join(every[node.lineno - 1 : node.end_lineno]))
            for node in ast.parse(text).body
            if isinstance(node, ast.Assign | ast.AnnAssign)
        )
        if (count := lines(text) - tables) > MOST_OF_FILE:
            long.append(f"{name}: {count}")
    for path in [*PAGE.rglob("*.ts"), *PAGE.rglob("*.svelte")]:
        count = lines(path.read_text(encoding="utf-8"))
        if count > MOST_OF_FILE and not {"catalogue", "protocol"} & set(path.parts):
            long.append(f"{path.relative_to(ROOT)}: {count}")
    assert long == []


def imported(path: Path) -> Iterator[Path]:
    """Yield the files of the page that a file imports, for types too."""
    for begin, rest in _IMPORT.findall(path.read_text(encoding="utf-8")):
        root = PAGE if begin == "@/" else path.parent / begin
        for ending in _ENDINGS:
            if (found := (root / f"{rest}{ending}").resolve()).is_file():
                yield found
                break


def test_files_of_the_page_import_in_no_circle():
    files = [*PAGE.rglob("*.ts"), *PAGE.rglob("*.svelte")]
    # A component may draw itself.
    todo = {path.resolve(): set(imported(path)) - {path.resolve()} for path in files}
    while free := [path for path, needs in todo.items() if not needs & todo.keys()]:
        for path in free:
            del todo[path]
    assert sorted(str(path.relative_to(PAGE)) for path in todo) == []
