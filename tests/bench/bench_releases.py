"""How far the report of an upgrade can be trusted: scripts that real control planes of
several releases were played, and which of them a play of both in a sandbox names.

Run `./dev bench tests/bench/bench_releases.py`, or `python -m tests.bench.bench_releases
FOLDER...` with a folder of records for each release. For each pair of releases a line of
JSON. `real` scripts show something else on the two control planes, `named` on the two
sandboxes; recall is the part of `real` that is named, precision that of `named` that is
real. Events, messages and metrics are set aside. `PodsReady`, which 0.19 shows of each
Workload and 0.18 of none without `waitForPodsReady`, is set aside a second time.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from api.command.local import InProcess, begin, make_ticks
from api.proving import scripts
from api.proving.playing import SandboxServer, Seen, differences, play
from api.proving.scripts import Record
from api.proving.shown import Difference
from tests.bench.size import sized

FOLDER = Path(__file__).parents[1] / "truth" / "releases"


def played(record: Record) -> Seen:
    """Return what a sandbox of the record's release shows."""

    def ticks(key: str, count: int) -> None:
        for _ in make_ticks(key, count):
            pass

    with SandboxServer(InProcess(), ticks, record.script) as server:
        return play(server, record.script)


def seen_but_ready(found: Iterable[Difference]) -> list[Difference]:
    """Return the differences that are not of the condition PodsReady."""
    return [one for one in found if one.at[-1] != "PodsReady"]


def compared(folders: Iterable[Path], most: int) -> Iterator[dict[str, Any]]:
    """Yield the figures of each pair of folders, of at most so many scripts each."""
    kept = {
        folder.name: {one.file.name: one for one in scripts.read([folder])[:most]}
        for folder in folders
    }
    ours: dict[tuple[str, str], Seen] = {}
    for before, after in combinations(sorted(kept), 2):
        real, named = (
            [],
            [],
        )  # of each script: all differences, and but those of PodsReady
        names = sorted({*kept[before]} & {*kept[after]})
        for name in names:
            pair = [kept[release][name] for release in (before, after)]
            for record, release in zip(pair, (before, after), strict=True):
                if (name, release) not in ours:
                    ours[name, release] = played(record)
            seen = [record.seen or {} for record in pair]
            plays = [ours[name, release] for release in (before, after)]
            script = pair[0].script
            for listed, (one, other) in ((real, seen), (named, plays)):
                listed.append(differences(one, other, script, told=False))
        for what, keep in (
            ("all", list),
            ("but PodsReady", seen_but_ready),
        ):
            told = [
                {name for name, found in zip(names, listed, strict=True) if keep(found)}
                for listed in (real, named)
            ]
            yield {
                "before": before,
                "after": after,
                "compared": what,
                "scripts": len(names),
                **figures(*told),
            }


def figures(real: set[str], named: set[str]) -> dict[str, Any]:
    """Return recall and precision, and the scripts that spoil them."""
    both = len(real & named)
    return {
        "real": len(real),
        "named": len(named),
        "recall": round(both / len(real), 3) if real else None,
        "precision": round(both / len(named), 3) if named else None,
        "missed": sorted(real - named),
        "wrong": sorted(named - real),
    }


def main() -> None:
    """Print the figures of the folders that are given."""
    with tempfile.TemporaryDirectory() as data:
        os.environ["QUOTALAB_DATA"] = data
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "sandbox.settings")
        begin()
        for line in compared(map(Path, sys.argv[1:]), sys.maxsize):
            sys.stdout.write(json.dumps(line) + "\n")


@pytest.mark.bench
@pytest.mark.django_db(transaction=True)
@pytest.mark.timeout(1800)
def test_an_upgrade_names_the_scripts_that_differ_on_control_planes() -> None:
    folders = sorted(one for one in FOLDER.iterdir() if one.is_dir())
    for line in compared(folders, sized(sys.maxsize, 2)):
        sys.stderr.write(json.dumps(line) + "\n")
        assert line["scripts"]


if __name__ == "__main__":
    main()
