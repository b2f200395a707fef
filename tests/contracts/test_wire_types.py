"""The TypeScript of the live protocol is the one that the server's types give."""

from __future__ import annotations

import re
from pathlib import Path

from sandbox.page import typescript, wire

WIRE_TS = Path(__file__).parents[2] / "frontend/src/protocol/wire.ts"


def test_the_generated_file_is_current():
    assert WIRE_TS.read_text() == typescript.generate(), "run: manage.py wiretypes"


def test_every_struct_that_travels_has_an_interface():
    declared = set(
        re.findall(r"^export interface (\w+)", typescript.generate(), re.MULTILINE)
    )
    assert declared == {struct.__name__ for struct in typescript.structs()}


def test_every_row_is_told_apart_by_its_kind():
    tags = typescript._tagged()["AnyRow"]
    assert tags["Workload"] == "WorkloadRow"
    assert len(tags) == len(wire.AnyRow.__args__)
