"""A sandbox shows what a real control plane showed at each step of a script."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from api.proving import scripts
from api.proving.playing import MESSAGES, differences

HERE = Path(__file__).parent
GIVEN = os.environ.get("QUOTALAB_TRUTH")
FOLDERS = [Path(GIVEN)] if GIVEN else [HERE / "records", *(HERE / "releases").iterdir()]
RECORDS = sorted(file for folder in FOLDERS for file in folder.glob("*.json"))

#: What of a record is not as recorded, by its name, and why.
LEFT_OUT = {
    # The shim knew of the cordon before the core, which asked it once more.
    "yunikorn-taints-and-cordon": {"log"},
}


def name_of(file: Path) -> str:
    """Return the name of a record, after its release where it is of an older one."""
    older = file.parent.parent.name == "releases"
    return f"{file.parent.name}/{file.stem}" if older else file.stem


@pytest.mark.django_db
@pytest.mark.parametrize("file", RECORDS, ids=map(name_of, RECORDS))
def test_a_sandbox_shows_what_a_control_plane_showed(played, file):
    record = scripts.read_file(file)
    ours = played(record.script)
    found = differences(record.seen, ours, record.script, others=record.others)
    found = [one for one in found if one.at[-1] not in LEFT_OUT.get(file.stem, ())]
    messages = [
        *record.seen.get(MESSAGES, {}).items(),
        *ours.get(MESSAGES, {}).items(),
    ]
    assert not found, "\n".join(map(str, [*found, *messages]))
