"""The wheel: every package is below `quotalab`, so that none takes a name of its user's.

Here the packages are `scheduler`, `sandbox`, `api` and `frontend`; a project that has a
`scheduler` of its own must be able to import both. What is copied into the wheel imports
by the names that it has there, and so do the texts that name a module.
"""

from __future__ import annotations

import re
from pathlib import Path

from setuptools import find_namespace_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
NAMES = ("scheduler", "sandbox", "api", "frontend")
NAME = "|".join(NAMES)
FROM = re.compile(rf"^([ \t]*)from ({NAME})(?=[. ])", re.MULTILINE)
IMPORT = re.compile(rf"^([ \t]*)import (({NAME})(?:\.\w+)*)(?= as |$)", re.MULTILINE)
#: A whole text such as "api.urls", or the begin of one: "scheduler.", "api.x:y".
TEXT = re.compile(rf"([\"'])(?=({NAME})\.)([\w.]+)(?=[\"':])")


class BuildPy(build_py):
    """Copies modules, with the names that they have in the wheel."""

    def build_module(self, module: str, module_file: str, package: str) -> object:
        """Copy one module."""
        built = super().build_module(module, module_file, package)
        target = Path(built[0])
        text = target.read_text(encoding="utf-8")
        target.write_text(renamed(text), encoding="utf-8")
        return built


def renamed(text: str) -> str:
    """Return a module's text with the names of the wheel."""
    text = FROM.sub(r"\1from quotalab.\2", text)
    text = IMPORT.sub(_import, text)
    return TEXT.sub(_text, text)


def _import(found: re.Match[str]) -> str:
    indent, path, first = found[1], found[2], found[3]
    if found.string[found.end() :].startswith(" as "):
        return f"{indent}import quotalab.{path}"
    return f"{indent}import quotalab.{path}\n{indent}from quotalab import {first}"


def _text(found: re.Match[str]) -> str:
    quote, path = found[1], found[3]
    return f"{quote}quotalab.{path}" if _is_module(path) else found[0]


def _is_module(path: str) -> bool:
    """Return whether a dotted text begins with a module or package of ours."""
    first, *rest = path.rstrip(".").split(".")
    if not rest:  # "scheduler.": the begin of the names of modules
        return True
    place = ROOT / first / rest[0]
    return place.is_dir() or place.with_suffix(".py").exists()


packages = {
    "quotalab": "api/wheel/quotalab",
    "quotalab.client": "api/wheel/quotalab/client",
}
for name in NAMES:
    packages[f"quotalab.{name}"] = name
    for inner in find_namespace_packages(
        name, exclude=["wheel*", "client.build*", "node_modules*", "src*"]
    ):
        packages[f"quotalab.{name}.{inner}"] = f"{name}/{inner.replace('.', '/')}"

setup(packages=sorted(packages), package_dir=packages, cmdclass={"build_py": BuildPy})
