"""What was asserted as JUnit XML, which pipelines show: a test case per assertion."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal
from xml.etree import ElementTree as ET

import msgspec

#: What XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What came out -> the element that says it, and its type.
_SAID = {
    "failed": ("failure", "assertion"),
    "refused": ("error", "input"),
    "skipped": ("skipped", ""),
}


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One assertion; `said` says why it did not hold, was refused or not tried."""

    name: str
    came: Literal["held", "failed", "refused", "skipped"] = "held"
    said: str = ""
    file: str = ""
    line: int = 0


def junit_of(suite: str, cases: Iterable[Case]) -> str:
    """Return the document of one suite, such as "plan"."""
    listed = list(cases)
    counts = {
        "tests": len(listed),
        "failures": sum(case.came == "failed" for case in listed),
        "errors": sum(case.came == "refused" for case in listed),
    }
    words = {name: str(value) for name, value in counts.items()}
    root = ET.Element("testsuites", {"name": f"quotalab {suite}", **words})
    part = ET.SubElement(root, "testsuite", dict(root.attrib))
    for case in listed:
        _add(part, f"quotalab.{suite}", case)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add(suite: ET.Element, group: str, case: Case) -> None:
    words = {"classname": group, "name": _text(case.name)}
    if case.file:
        words |= {"file": _text(case.file), "line": str(case.line)}
    element = ET.SubElement(suite, "testcase", words)
    if case.came == "held":
        return
    tag, type_ = _SAID[case.came]
    said = _text(case.said)
    given = {"message": said, **({"type": type_} if type_ else {})}
    ET.SubElement(element, tag, given).text = said


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
