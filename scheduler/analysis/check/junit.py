"""A check as JUnit XML: a test case per assertion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from scheduler.analysis.check.faults import Fault
from scheduler.analysis.check.judging import Verdict, sentence_of

#: What XML 1.0 cannot hold.
_NO_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_of(verdicts: Sequence[Verdict]) -> str:
    """Return the document; a failure has the numbers in its message."""
    failed = sum(not verdict.holds for verdict in verdicts)
    suite = _suite(tests=len(verdicts), failures=failed, errors=0)
    for verdict in verdicts:
        case = _case(suite, verdict.name, verdict.file, verdict.line)
        if not verdict.holds:
            said = _text(sentence_of(verdict))
            ET.SubElement(case, "failure", message=said, type="assertion").text = said
    return _written(suite)


def faults_junit(faults: Sequence[Fault]) -> str:
    """Return the document of a check whose input cannot be taken."""
    suite = _suite(tests=len(faults), failures=0, errors=len(faults))
    for fault in faults:
        case = _case(suite, str(fault.place), fault.place.file, fault.place.line)
        said = _text(fault.problem)
        ET.SubElement(case, "error", message=said, type="input").text = said
    return _written(suite)


def _suite(*, tests: int, failures: int, errors: int) -> ET.Element:
    counts = {"tests": tests, "failures": failures, "errors": errors}
    words = {name: str(value) for name, value in counts.items()}
    return ET.Element("testsuite", {"name": "quotalab check", **words})


def _case(suite: ET.Element, name: str, file: str, line: int) -> ET.Element:
    words = {"name": _text(name), "file": _text(file), "line": str(line)}
    return ET.SubElement(suite, "testcase", {"classname": "quotalab.check", **words})


def _written(suite: ET.Element) -> str:
    root = ET.Element("testsuites", dict(suite.attrib))
    root.append(suite)
    ET.indent(root)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        + ET.tostring(root, encoding="unicode")
        + "\n"
    )


def _text(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
