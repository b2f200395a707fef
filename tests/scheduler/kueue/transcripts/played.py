"""Plays a recorded case and returns its transcript: `python -m tests.scheduler.kueue.transcripts.played ID`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.conformance import vectors
from tests.conformance.kueue import loaded
from tests.conformance.kueue_inputs import objects_of
from tests.conformance.kueue_script import Script
from tests.conformance.kueue_timed import Timeline
from tests.scheduler.kueue.transcripts.transcript import Objects, Transcript

Vector = dict[str, Any]
VECTORS = Path(__file__).parents[3] / "vectors" / "kueue"
KEPT = Path(__file__).parent / "digests.txt"
#: Of each file of recorded cases every n-th, as all of them take too long.
STEPS = {
    "script": 3,
    "timed": 6,
    "checks": 3,
    "afs": 4,
    "topology-cycles": 3,
    "transform": 4,
    "settle": 9,
    "cycle": 6,
    "deep": 6,
}
_MOST_CYCLES = 20


def cases() -> Iterator[Vector]:
    for name, step in STEPS.items():
        yield from list(vectors(VECTORS / f"{name}.jsonl.gz"))[::step]


def play(vector: Vector) -> tuple[Transcript, Objects]:
    """Return the transcript of a case, and its objects at the end."""
    if vector["mode"] == "script":
        return _script(vector)
    if vector["mode"] == "timed":
        return _timeline(vector)
    return _cycles(vector, 1 if vector["mode"] == "cycle" else _MOST_CYCLES)


def _cycles(vector: Vector, most: int) -> tuple[Transcript, Objects]:
    stage = loaded(vector)
    objects = {obj.key: obj for obj in objects_of(vector)}
    transcript = Transcript(stage)
    transcript.note(objects)
    for number in range(1, most + 1):
        stage.context.now_ms = number * 1000
        found = stage.cycle()
        transcript.note(objects)
        stage.context.journal.take_decisions()
        if not found:
            break
        if most > 1:
            for key in stage.stopping():
                stage.stopped(key)
            stage.reconcile()
    transcript.close(objects)
    return transcript, objects


class _NotedScript(Script):
    def __init__(self, vector: Vector) -> None:
        super().__init__(loaded(vector), list(objects_of(vector)))
        self.transcript = Transcript(self.stage)

    def _record(self) -> bool:
        self.transcript.note(self.objects)
        return super()._record()


def _script(vector: Vector) -> tuple[Transcript, Objects]:
    script = _NotedScript(vector)
    script.run(vector["steps"], vector["untilMs"])
    script.transcript.close(script.objects)
    return script.transcript, script.objects


class _NotedTimeline(Timeline):
    def __init__(self, vector: Vector) -> None:
        super().__init__(vector)
        self.transcript = Transcript(self.stage)

    def _record(self) -> bool:
        self.transcript.note(self.script.objects)
        return super()._record()


def _timeline(vector: Vector) -> tuple[Transcript, Objects]:
    timeline = _NotedTimeline(vector)
    timeline.run()
    timeline.transcript.close(timeline.script.objects)
    return timeline.transcript, timeline.script.objects


def main(words: list[str]) -> None:
    """Print the transcripts of these cases, or write all digests with `--write`."""
    if words == ["--write"]:
        lines = [f"{case['id']} {play(case)[0].digest()}\n" for case in cases()]
        KEPT.write_text("".join(lines))
        return
    for case in cases():
        if case["id"] in words:
            for line in play(case)[0].lines:
                sys.stdout.write(line.decode() + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
