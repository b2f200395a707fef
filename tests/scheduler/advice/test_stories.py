"""A worked story: the answer's patch, applied, holds on a seed that nothing before used."""

from __future__ import annotations

from pathlib import Path

from scheduler.experiments.bases import FileBase
from scheduler.experiments.document import Variant
from scheduler.experiments.runs import Plan, run
from scheduler.measures import flat

FOLDER = Path(__file__).resolve().parents[3] / "docs/examples/advice/half-the-bill"
DAY = ("world.yaml", "day-54.yaml", "day-54.swf")
FRESH = 31  # neither the search nor its proof ran this seed


def numbers(*names: str) -> dict[str, float]:
    """Return what a run of these files comes to; the later of two objects counts."""
    base = FileBase.read([(name, (FOLDER / name).read_text()) for name in names])
    plan = Plan(
        variants=[Variant(name="x")],
        seeds=[FRESH],
        horizon_ms=base.horizon_ms(),
        limit_ms=60_000,
    )
    return flat(run(base, plan, 0, FRESH).summary)


def test_half_the_bill_holds_on_a_fresh_seed():
    before, after = numbers(*DAY), numbers(*DAY, "set.yaml")
    assert after["cost"] < before["cost"] / 2
    assert after["finished"] >= before["finished"]
