"""A sandbox shows what a real control plane showed at each step of a script."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from api.proving import scripts
from api.proving.playing import MESSAGES, differences

FOLDER = Path(os.environ.get("QUOTALAB_TRUTH") or Path(__file__).parent / "records")
RECORDS = sorted(FOLDER.glob("*.json"))


@pytest.mark.django_db
@pytest.mark.parametrize("file", RECORDS, ids=[file.stem for file in RECORDS])
def test_a_sandbox_shows_what_a_control_plane_showed(played, file):
    record = scripts.read_file(file)
    ours = played(record.script)
    found = differences(record.seen, ours, record.script)
    messages = [
        *record.seen.get(MESSAGES, {}).items(),
        *ours.get(MESSAGES, {}).items(),
    ]
    assert not found, "\n".join(map(str, [*found, *messages]))
