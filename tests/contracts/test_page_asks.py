"""What the page expects of each route is what the route is documented to answer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from drf_spectacular.generators import SchemaGenerator

PAGE = Path(__file__).parents[2] / "frontend" / "src"
_ASK = re.compile(r'\bask\(\s*"(\w+)",\s*"([A-Z]+)",\s*[`"]([^`"]*)[`"]')


def asks() -> list[tuple[str, str, str]]:
    found = set()
    for path in sorted([*PAGE.rglob("*.ts"), *PAGE.rglob("*.svelte")]):
        found.update(_ASK.findall(path.read_text()))
    # A path that begins with another function's result is built from parts.
    return sorted(one for one in found if one[2].startswith("/"))


@pytest.fixture(scope="module")
def document():
    return SchemaGenerator().get_schema(request=None, public=True)


def answers(document, method: str, path: str) -> set[str]:
    """Return the components that this route answers with, a 2xx each."""
    wanted = re.sub(r"\$\{[^}]*\}", "{}", path)
    found: set[str] = set()
    for template, operations in document["paths"].items():
        if re.sub(r"\{[^}]*\}", "{}", template).removeprefix("/api/v1") != wanted:
            continue
        for status, answer in operations.get(method.lower(), {})["responses"].items():
            schema = answer.get("content", {}).get("application/json", {}).get("schema")
            if status.startswith("2") and schema:
                found.update(re.findall(r"#/components/schemas/(\w+)", str(schema)))
    return found


@pytest.mark.parametrize(("name", "method", "path"), asks())
def test_the_page_checks_an_answer_as_it_is_documented(document, name, method, path):
    assert name in answers(document, method, path), (method, path)
