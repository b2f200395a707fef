"""One name means one class wherever two classes can meet in a reader's eye."""

from __future__ import annotations

import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("scheduler", "sandbox", "api")
MADE = "api.client.records"  # of the schema: one TypedDict for each shape that is sent
#: What Django looks for by this name in every command.
EXPECTED = {"Command"}
#: Patterns and not a parser, which takes twenty seconds for all files.
CLASS = re.compile(r"^class (\w+)", re.MULTILINE)
IMPORT = re.compile(r"^ *from ([\w.]+) import (\([^)]*\)|[^\n(]+)", re.MULTILINE)
NAME = re.compile(r"(\w+)(?: as (\w+))?")
REACHED = re.compile(r"\b([a-z]\w*)\.([A-Z]\w*)")
Class = tuple[str, str]  # its module, its name


def test_no_module_names_two_classes_of_one_name():
    meeting = {
        f"{module} names {name} of {' and of '.join(sorted(owners))}"
        for module in texts()
        for name, owners in named_in(module).items()
        if len(owners) > 1
    }
    assert sorted(meeting) == []


#: A constant of a module or of a class, with its value on the same or a later line.
CONSTANT = re.compile(r"^([A-Z][A-Z0-9_]+)(?:: [^=\n]+)? = ", re.MULTILINE)


def test_no_module_gives_a_constant_two_values():
    twice = [
        f"{module}.{name}"
        for module, text in texts().items()
        for name, count in Counter(CONSTANT.findall(text)).items()
        if count > 1
    ]
    assert twice == []


@functools.cache
def texts() -> dict[str, str]:
    """Return the text of each module of the packages by its dotted name."""
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path.read_text()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*.py")
        if "migrations" not in path.parts
    }


@functools.cache
def classes() -> set[Class]:
    return {
        (module, name)
        for module, text in texts().items()
        for name in CLASS.findall(text)
    }


@functools.cache
def imported(module: str) -> dict[str, Class]:
    """Return what each name that a module imports is in the module it comes from."""
    return {
        alias or name: (owner, name)
        for owner, names in IMPORT.findall(texts()[module])
        for name, alias in NAME.findall(names.partition("#")[0])
    }


def named_in(module: str) -> dict[str, set[str]]:
    """Return the modules whose classes a module defines, imports or reaches, by name."""
    found = defaultdict(set)
    for owner, name in reached(module):
        if defined := resolved(owner, name):
            found[defined[1]].add(defined[0])
    return found


def reached(module: str) -> Iterator[Class]:
    """Yield each name that may be a class: its own, an imported one, `imported.Name`."""
    names = imported(module)
    yield from names.values()
    yield from ((module, name) for name in CLASS.findall(texts()[module]))
    for base, name in set(REACHED.findall(texts()[module])):
        if base in names:
            yield ".".join(names[base]), name


def resolved(module: str, name: str) -> Class | None:
    """Follow a name through modules that only hand it on; None when it is no class."""
    seen = set()
    while (module, name) not in classes():
        seen.add((module, name))
        after = imported(module).get(name) if module in texts() else None
        if after is None or after in seen:
            return None
        module, name = after
    return module, name
