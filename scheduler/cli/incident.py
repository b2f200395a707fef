"""`python -m scheduler incident`: an instant of a recording, as files that go on."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from scheduler.cli.recording_file import read_file
from scheduler.cli.recording_folder import read_followed_folder
from scheduler.cli.statuses import refused
from scheduler.model import durations
from scheduler.model.annotations import ARRIVAL
from scheduler.model.errors import SchedulerError
from scheduler.model.releases.release import TITLES
from scheduler.recorded.followed import Source, incident


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Write the files of an instant and print one closing line; 2 on bad input."""
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        options.into.mkdir(parents=True, exist_ok=True)
        recording, configured = options.recording, list[Source]()
        if recording.is_dir():
            found, configured = read_followed_folder(recording)
        else:
            found = read_file(recording)
        at_us = found.start_us + 1000 * durations.span_ms(options.at)
        files, releases = [*configured, *incident(found, at_us)], found.releases()
        for name, text in files:
            (options.into / name).write_text(text, encoding="utf-8")
    except (SchedulerError, OSError) as error:
        return refused(error)
    ran = "".join(
        f"; {title} {releases[name]} ran"
        for name, title in TITLES.items()
        if name in releases
    )
    out.write(f"{options.into}: {_count(files[-1][1])}{ran}\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler incident",
        description="Write a recorded cluster as it was at an instant, with the work "
        "that really arrived afterwards and the times it really ran, as files for "
        "`quotalab import` or `python -m scheduler run`.",
    )
    parser.add_argument("recording", type=Path, metavar="RECORDING")
    parser.add_argument(
        "--at", default="0s", help='since its begin, e.g. "10m" (default %(default)s)'
    )
    parser.add_argument("--into", type=Path, required=True, metavar="FOLDER")
    return parser


def _count(text: str) -> str:
    items = json.loads(text)["items"]
    later = sum(
        ARRIVAL in (item["metadata"].get("annotations") or {}) for item in items
    )
    return f"{len(items) - later} objects stand, {later} arrive later"
