"""A sandbox shows what a real control plane showed at each step of a script."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.truth import shown, shown_yunikorn
from tests.truth.playing import Player
from tests.truth.shown import differences

FOLDER = Path(os.environ.get("QUOTALAB_TRUTH") or Path(__file__).parent / "records")
RECORDS = sorted(FOLDER.glob("*.json"))


@pytest.mark.django_db
@pytest.mark.parametrize("file", RECORDS, ids=[file.stem for file in RECORDS])
def test_a_sandbox_shows_what_a_control_plane_showed(client, person, file):
    record = json.loads(file.read_text())
    ours = Player(client, person, record["script"]).play()
    script = record["script"]
    of_stack = shown_yunikorn if "queues" in script else shown
    real, made = (of_stack.compared(seen, script) for seen in (record["seen"], ours))
    found = list(differences(real, made))
    messages = [
        *record["seen"].get("# messages", {}).items(),
        *ours.get("# messages", {}).items(),
    ]
    assert not found, "\n".join([*found, *map(str, messages)])
