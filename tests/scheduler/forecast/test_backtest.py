"""`python -m tests.backtest`: one closing line, the same for the same seed."""

from __future__ import annotations

import gzip
import io
import json
import re

from tests.backtest.__main__ import main

CLOSING = re.compile(
    r"coverage50 [0-9.]+, coverage90 [0-9.]+, crps [0-9.]+, baselines [0-9.]+ [0-9.]+"
)
SHORT = ["--instants", "6", "--futures", "5"]


def said(*arguments: str) -> list[str]:
    out = io.StringIO()
    assert main([*arguments, *SHORT], out) == 0
    return out.getvalue().splitlines()


def swf(*, waits: bool) -> str:
    rows = [
        f"{n} {n * 30} {n % 40 if waits else -1} {40 + n % 7 * 60} {1 + n % 4} -1 -1 -1 "
        f"600 -1 1 {n % 3} -1 -1 -1 -1 -1 -1"
        for n in range(200)
    ]
    return "\n".join(["; MaxProcs: 8", *rows])


def test_a_trace_at_two_loads_closes_with_one_line(tmp_path):
    file = tmp_path / "t.swf"
    file.write_text(swf(waits=False))
    lines = said(str(file), "--load", "0.9", "1.1")
    assert CLOSING.fullmatch(lines[-1])
    assert sum("BestEffortFIFO, load" in line for line in lines) == 2
    assert lines == said(str(file), "--load", "0.9", "1.1")


def test_a_trace_with_waits_is_held_against_them(tmp_path):
    file = tmp_path / "t.swf.gz"
    file.write_bytes(gzip.compress(swf(waits=True).encode()))
    lines = said(str(file))
    assert "real waits" in lines[0]
    assert CLOSING.fullmatch(lines[-1])


def test_the_folder_of_a_recording_is_held_against_its_first_admissions(tmp_path):
    arrivals = [
        {
            "name": f"train-{n}",
            "namespace": "team-a",
            "seenAt": n * 2.0,
            "clusterQueue": "a",
            "parallelism": 2,
            "runtimeSeconds": 6.0,
            "admissions": [{"at": n * 2.0 + n % 9}] if n % 10 else [],
        }
        for n in range(80)
    ]
    (tmp_path / "arrivals.json").write_text(json.dumps(arrivals))
    lines = said(str(tmp_path))
    assert "72 jobs (8 left out)" in lines[0]
    assert CLOSING.fullmatch(lines[-1])


def test_a_file_that_is_not_there_is_named(capsys):
    assert main(["nothing.swf"]) == 2
    assert "nothing.swf: expected a trace" in capsys.readouterr().err


def test_a_trace_without_jobs_enough_says_how_many(tmp_path, capsys):
    file = tmp_path / "t.swf"
    file.write_text("; MaxProcs: 8\n1 0 -1 5 1 -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n")
    assert main([str(file), "--load", "0.7"]) == 2
    assert "expected at least 50 jobs, got 1" in capsys.readouterr().err
