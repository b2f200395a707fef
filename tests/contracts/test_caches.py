"""What is kept without a bound answers a question that can be asked in a few ways only."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
KEPT = re.compile(r"^@(?:functools\.)?cache\b.*\ndef (\w+)\(\s*(?!\))", re.MULTILINE)
#: Function -> what it is asked about: nothing that people write or send.
CLOSED = {
    "api/cluster/openapi/documents.py _document": "group versions that are served",
    "api/cluster/openapi/documents.py _hash": "group versions that are served",
    "api/cluster/presenting.py _plan": "types of the schemas",
    "api/cluster/protobuf.py _by_number": "types of the schemas",
    "api/cluster/protobuf.py _writers": "types of the schemas",
    "api/views/reading.py _fields": "tables of the page",
    "scheduler/input/manifests/known_fields/finding.py _known": "types of the schemas",
    "scheduler/model/problems/validation.py _pattern": "words of the program",
    "scheduler/model/releases/release.py followed": "schedulers",
    "scheduler/model/schemas/faults.py _fillings": "types of the schemas",
    "scheduler/model/schemas/faults.py _plan": "types of the schemas",
    "scheduler/model/sentence.py _parts": "words of the program",
}


def test_no_text_that_people_write_or_send_is_kept_without_a_bound():
    found = {
        f"{path.relative_to(ROOT)} {name}"
        for package in ("scheduler", "sandbox", "api")
        for path in sorted((ROOT / package).rglob("*.py"))
        for name in KEPT.findall(path.read_text("utf-8"))
    }
    assert found == set(CLOSED)
