"""What the page expects of each route is what the route is documented to answer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from drf_spectacular.generators import SchemaGenerator

from scheduler.model.policy import Policy

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


#: Durations of Kueue's Configuration that hold nothing where they are not given.
WITHOUT_DEFAULT = {
    "kueue.admissionFairSharing.usageHalfLifeTime",
    "kueue.admissionFairSharing.usageSamplingInterval",
    "kueue.objectRetentionPolicies.workloads.afterFinished",
    "kueue.objectRetentionPolicies.workloads.afterDeactivatedByKueue",
}


def test_each_switch_of_the_page_is_in_the_schema_of_the_policy():
    text = (PAGE / "store/policy/switches.ts").read_text()
    paths = {
        f"{section}.{name}"
        for section, names in re.findall(r'of\("([\w.]+)", ([^)]*)\)', text)
        for name in re.findall(r"\w+", names)
    } - WITHOUT_DEFAULT
    assert len(paths) > 20
    schema = msgspec.json.schema(Policy)
    known = set(_leaves(schema["$defs"]["PolicySpec"], schema["$defs"]))
    assert paths - known == set()


def _leaves(schema: Any, shapes: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each field below a schema."""
    shape = shapes.get(schema.get("$ref", "").rpartition("/")[2], schema)
    for name, field in shape.get("properties", {}).items():
        yield f"{path}{name}"
        yield from _leaves(field, shapes, f"{path}{name}.")
