"""The harness that replays recorded decisions: what it cannot read."""

from __future__ import annotations

import json

from tests.conformance import main


def replay(tmp_path, *vectors) -> int:
    path = tmp_path / "vectors.jsonl"
    path.write_text("".join(json.dumps(vector) + "\n" for vector in vectors))
    return main([str(path)])


def test_a_vector_of_an_unknown_mode_is_skipped_with_a_word(tmp_path, capsys):
    vector = {"id": "a", "suite": "tides", "mode": "moon", "objects": [], "expect": {}}
    assert replay(tmp_path, vector) == 0
    out = capsys.readouterr().out
    assert "1 skipped: unknown mode" in out
    assert "0 passed, 0 failed, 1 skipped" in out


def test_a_document_that_is_no_vector_stops_the_replay(tmp_path, capsys):
    assert replay(tmp_path, {"id": "a", "kind": "Pod"}) == 2
    assert "expected the keys of a kueue, kube or yunikorn" in capsys.readouterr().err


def test_a_vector_of_an_unknown_mode_cannot_be_shown(tmp_path, capsys):
    path = tmp_path / "vectors.jsonl"
    path.write_text(json.dumps({"id": "a", "suite": "tides", "mode": "moon"}))
    assert main([str(path), "--show", "a"]) == 2
    assert "its mode is unknown" in capsys.readouterr().err
