"""A random cluster that is edited while it runs: what it says, by its seed.

`python -m tests.scheduler.kueue.random_runs.run SEED` prints one run;
`--write` keeps the digests of all.
"""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import msgspec

from scheduler.engine.kueue import queries
from scheduler.engine.kueue.workload.families import make_variant
from scheduler.engine.stage import Context
from scheduler.model import durations
from scheduler.model.decisions import Admit
from scheduler.model.objects import Object
from tests.scheduler.kueue.random_runs.edits import begin, edit
from tests.scheduler.kueue.random_runs.objects import EPOCH_US, ObjectsOfRun
from tests.scheduler.kueue.random_runs.said import places_used
from tests.scheduler.kueue.transcripts.transcript import written

KEPT = Path(__file__).parent / "digests.txt"
INSTANTS = 16
_MOST_CYCLES, _PACED_CYCLES = 12, 6
_SOON, _LATE = (0, 1, 700, 1000, 3000, 9000), (1000, 60_000, 299_999)


class Run(ObjectsOfRun):
    """A run: time goes on, and the stage decides."""

    def decide(self) -> None:
        """Run controllers and cycles until nothing moves, or for long enough."""
        self._controllers()
        if self.stage.pace.paced:
            self._decide_at_pace()
        else:
            self._decide_at_once()
        for key in self.stage.expired():
            self.transcript.say("expired", str(key))
            self.remove(key)

    def _decide_at_once(self) -> None:
        for _ in range(_MOST_CYCLES):
            before = len(self.stage.context.journal.decisions)
            if not self.stage.cycle():
                break
            moved = len(self.stage.context.journal.decisions) > before
            self.transcript.note(self.objects)
            self.stage.context.journal.take_decisions()
            self._controllers()
            if not moved:
                break

    def _decide_at_pace(self) -> None:
        """Let a few cycles begin and end, each at its time."""
        context, pace = self.stage.context, self.stage.pace
        for _ in range(_PACED_CYCLES):
            if pace.over(context.now_ms):
                self._end_cycle()
                self._controllers()
            if self.stage.has_heads():
                go_on = pace.resume if self.stage.heads.held else pace.begin
                go_on(context.now_ms, self.stage.cluster.cycle + 1)
            self.transcript.note(self.objects)
            if pace.ends_ms is None or self.draw.chance(0.2):
                break
            context.now_ms = max(context.now_ms, pace.ends_ms)

    def _end_cycle(self) -> None:
        context, pace = self.stage.context, self.stage.pace
        before = queries.pending_counts(self.stage)
        self.stage.cycle()
        decided = context.journal.decisions
        admitted = any(isinstance(one, Admit) for one in decided)
        pace.end(
            context.now_ms,
            self.stage.cluster.cycle,
            admitted=admitted and not self.stage.gated,
            moved=bool(decided) or queries.pending_counts(self.stage) != before,
        )

    def _controllers(self) -> None:
        self.stage.reconcile()
        for key in self.stage.stopping():
            if self.draw.chance(0.7):
                self.stage.stopped(key)
        self.stage.reconcile()
        while self._make_variants():
            self.stage.reconcile()
        self.transcript.note(self.objects)
        self.stage.context.journal.take_decisions()

    def _make_variants(self) -> bool:
        """Put the variants that Workloads lack, delete those that nothing has."""
        if self.stage.variants is None:
            return False
        making = self.stage.variants.making
        wanted, gone = making.take()
        for parent, flavor, place in wanted:
            variant = make_variant(self.objects[parent], flavor, place)
            made = durations.stamp_text(self.stage.context.now_us)
            variant.metadata["creationTimestamp"] = made
            self.objects[variant.key] = variant
            self.stage.put(variant)
            making.made(parent, variant.key)
        for key in gone:
            self.remove(key)
        return bool(wanted or gone)

    def go_on(self) -> None:
        """Go to a later instant, or to the next timer."""
        context, due = self.stage.context, self.stage.due()
        later = context.now_ms + self.draw.choice(_LATE if self.draw.long else _SOON)
        if due is not None and self.draw.chance(0.6):
            most = 400_000 if self.draw.long else 20_000
            later = min(max(due, context.now_ms), context.now_ms + most)
        context.now_ms = later

    def read_back(self) -> None:
        """Go on with a stage made of what this one stores, which is written alike."""
        old = self.stage
        old.reconcile()
        now = old.context.now_ms
        seed = old.context.seed
        again = self.new_stage(Context(seed=seed, epoch_us=EPOCH_US, now_ms=now))
        again.load_state(_copied(old.dump_state(), dict[str, Any]))
        for key in sorted(self.objects):
            obj = self.objects[key]
            old.write(obj)
            again.put(_copied(obj, Object), restore=True)
        again.settle()
        self.transcript.note(self.objects)
        self.transcript.stage = self.stage = again
        for obj in self.objects.values():
            assert written(again, obj) == written(old, obj)
        assert again.dump_state() == old.dump_state()
        assert again.due() == old.due()
        assert places_used(again) == places_used(old)
        assert list(queries.violations(again)) == []


def _copied(value: Any, kind: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value), type=kind)


def play(seed: int) -> Run:
    """Return a run after all of its instants."""
    run = Run(seed)
    begin(run)
    for _ in range(INSTANTS):
        run.decide()
        if run.draw.chance(0.15):
            run.read_back()
        run.go_on()
        edit(run)
    run.decide()
    run.transcript.close(run.objects)
    return run


def digest(seed: int) -> str:
    return hashlib.sha256(b"\n".join(play(seed).transcript.lines)).hexdigest()[:16]


def kept() -> dict[str, str]:
    """Return the digests of all runs by their seeds."""
    return dict(line.split() for line in KEPT.read_text().splitlines())


def main(words: list[str]) -> None:
    """Print the runs of these seeds, or write the digests of all with `--write`."""
    if words == ["--write"]:
        KEPT.write_text("".join(f"{seed} {digest(int(seed))}\n" for seed in kept()))
        return
    for word in words:
        for line in play(int(word)).transcript.lines:
            sys.stdout.write(line.decode() + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
