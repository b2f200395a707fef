"""What a plan writes for others is as their formats ask: each object, each property.

Sources: SARIF 2.1.0, <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>,
section 3; of JUnit, which no body has standardised, the attributes that
<https://github.com/testmoapp/junitxml> collects.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit
from xml.etree import ElementTree as ET

import pytest

from tests.builders import cluster_queue
from tests.scheduler.plan.test_plan import checked, example, policy, write

__all__ = ["policy"]
Holds = Callable[[Any], object]


def one_of(*values: str) -> Holds:
    return lambda value: value in values


def text(value: Any) -> bool:
    return isinstance(value, str) and value != ""


def number_from(least: int) -> Holds:
    return lambda value: type(value) is int and value >= least


def reference(value: Any) -> bool:
    """A URI reference of RFC 3986."""
    return (
        text(value) and value.isascii() and " " not in value and bool(urlsplit(value))
    )


#: Object -> property -> another object, [one] for a list of them, or what must hold.
SARIF: dict[str, dict[str, Any]] = {
    "sarifLog": {"$schema": reference, "version": one_of("2.1.0"), "runs": ["run"]},
    "run": {
        "tool": "tool",
        "results": ["result"],
        "columnKind": one_of("utf16CodeUnits", "unicodeCodePoints"),
    },
    "tool": {"driver": "toolComponent"},
    "toolComponent": {"name": text, "rules": ["reportingDescriptor"]},
    "reportingDescriptor": {"id": text, "shortDescription": "message"},
    "result": {
        "ruleId": text,
        "level": one_of("none", "note", "warning", "error"),
        "message": "message",
        "locations": ["location"],
        "relatedLocations": ["location"],
        "partialFingerprints": lambda value: all(map(text, value.values())),
    },
    "message": {"text": text},
    "location": {
        "id": number_from(0),
        "physicalLocation": "physicalLocation",
        "message": "message",
    },
    "physicalLocation": {"artifactLocation": "artifactLocation", "region": "region"},
    "artifactLocation": {"uri": reference},
    "region": {"startLine": number_from(1)},
}
REQUIRED = {
    "sarifLog": {"version", "runs"},
    "run": {"tool"},
    "tool": {"driver"},
    "toolComponent": {"name"},
    "reportingDescriptor": {"id"},
    "result": {"message"},
    "message": {"text"},
    "physicalLocation": {"artifactLocation"},
    "artifactLocation": {"uri"},
    "region": {"startLine"},
}
JUNIT = {
    "testsuites": {"name", "tests", "failures", "errors"},
    "testsuite": {"name", "tests", "failures", "errors"},
    "testcase": {"name", "classname", "file", "line"},
    "failure": {"message", "type"},
    "error": {"message", "type"},
}
INSIDE = {
    "testsuites": {"testsuite"},
    "testsuite": {"testcase"},
    "testcase": {"failure", "error"},
}


def expect_object(kind: str, value: Any, where: str) -> None:
    assert isinstance(value, dict), where
    assert REQUIRED.get(kind, set()) <= value.keys() <= SARIF[kind].keys(), where
    for name, found in value.items():
        wanted, place = SARIF[kind][name], f"{where}.{name}"
        if isinstance(wanted, list):
            assert isinstance(found, list), place
            for at, each in enumerate(found):
                expect_object(wanted[0], each, f"{place}[{at}]")
        elif isinstance(wanted, str):
            expect_object(wanted, found, place)
        else:
            assert wanted(found), f"{place}: {found!r}"


def expect_element(element: ET.Element) -> None:
    assert set(element.attrib) == JUNIT[element.tag]
    assert {child.tag for child in element} <= INSIDE.get(element.tag, set())
    for child in element:
        expect_element(child)


def written(case: str, folder, given) -> int:
    """The exit status of a plan that wrote both forms."""
    forms = ("--sarif", folder / "s", "--junit", folder / "j")
    if case == "changed":
        return example(*forms)[0]
    if case == "faults":
        write(given / "changed/queues.yaml", cluster_queue("main", cpu="many"))
    name = "x`|<img src=a>\n\n# @everyone \x07 \u6392"
    most = -1 if case == "the same" else 100
    asserted = {"name": name, "measure": "waiting", "max": most}
    return checked(given, asserted, words=forms)[0]


CASES = {"holds": 0, "changed": 1, "the same": 1, "faults": 2}


@pytest.mark.parametrize("case", CASES)
def test_what_is_written_is_as_the_formats_ask(case, tmp_path, policy):
    assert written(case, tmp_path, policy) == CASES[case]
    document = json.loads((tmp_path / "s").read_text())
    expect_object("sarifLog", document, "sarif")
    [run] = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    assert {result["ruleId"] for result in run["results"]} <= set(rules)
    assert bool(run["results"]) == (CASES[case] > 0)
    root = ET.parse(tmp_path / "j").getroot()
    expect_element(root)
    for suite in (root, root[0]):
        for tag, count in (
            ("testcase", "tests"),
            ("failure", "failures"),
            ("error", "errors"),
        ):
            assert len(suite.findall(f".//{tag}")) == int(suite.attrib[count])
