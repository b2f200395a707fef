"""Twelve small worlds whose best setting is known: every setting was tried.

`python -m tests.scheduler.advice.worlds [NUMBER...]` runs all of it again and writes
tests/vectors/advice, which the tests read: to run all takes ten minutes.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from scheduler.analysis.advice.advisor import Advisor
from scheduler.analysis.advice.surrogates.expected_improvement import measures_of
from scheduler.analysis.advice.surrogates.parts import parts_of
from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.document import ExperimentSpec, read_experiment
from tests.builders import cluster_queue, flavor, job, local_queue, workload_priority

Manifest = dict[str, Any]
TABLES = Path(__file__).resolve().parents[2] / "vectors" / "advice"
_INSTANT = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Policy",
    "spec": {"simulation": {"latencies": None}},
}


_NOTHING: dict[str, Any] = {}
_SHORT_WAITS: list[dict[str, Any]] = [{"measure": "workloads.meanMs"}]
_UNBOUND: list[Any] = []


class Team(NamedTuple):
    """A queue, and the jobs that come to it."""

    name: str
    cpu: int
    jobs: int
    every_s: int
    asks: int
    runs_s: int
    priority: str = ""
    more: dict[str, Any] = _NOTHING


class SmallWorld(NamedTuple):
    """A world, what may change in it, and what is wanted."""

    name: str
    teams: tuple[Team, ...]
    change: list[dict[str, Any]]
    objectives: list[dict[str, Any]] = _SHORT_WAITS
    constraints: list[Any] = _UNBOUND
    seeds: int = 2
    cohort: str = "all"


def manifests_of(teams: tuple[Team, ...], cohort: str = "all") -> list[Manifest]:
    """The queues and jobs of some teams, in one cohort."""
    found: list[Manifest] = [flavor(), _INSTANT]
    found += [workload_priority("high", 100), workload_priority("low", 1)]
    for team in teams:
        found.append(cluster_queue(team.name, cohort=cohort, cpu=team.cpu, **team.more))
        found.append(local_queue(team.name, cluster_queue=team.name))
        found += [
            job(
                f"{team.name}-{n}",
                queue=team.name,
                cpu=team.asks,
                priority_class=team.priority,
                arrival=f"{n * team.every_s}s",
                runtime=f"uniform({team.runs_s // 2}s,{team.runs_s * 3 // 2}s)",
            )
            for n in range(team.jobs)
        ]
    return found


def base_of(*manifests: Manifest) -> FileBase:
    return FileBase.read([("world.yaml", yaml.safe_dump_all(manifests))])


def spec_of(world: SmallWorld, **search: Any) -> ExperimentSpec:
    """The document of a search in this world."""
    return spec_of_goal(
        {
            "seeds": {"count": world.seeds},
            "horizon": "10m",
            "objectives": world.objectives,
        },
        {"change": world.change, "constraints": world.constraints, **search},
    )


def spec_of_goal(spec: Manifest, search: Manifest) -> ExperimentSpec:
    """A document with this spec and this search, over the files of `base_of`."""
    files = {"files": ["world.yaml"]}
    held_out = {"heldOut": {"count": 2}, **search}
    whole = {"base": files, **spec, "search": held_out}
    return read_experiment({"kind": "Experiment", "spec": whole}).spec


def advisor_of(world: SmallWorld, **search: Any) -> tuple[Advisor, FileBase]:
    base = base_of(*manifests_of(world.teams, world.cohort))
    return Advisor.of(spec_of(world, **search), base), base


def measures_read(advisor: Advisor, base: Mapping[str, float]) -> list[str]:
    """The measures that the goal reads, and those of the queues that these are made of."""
    names = measures_of(advisor.goal, advisor.goal.bounds([base]))
    parts = [part for name in names for part in parts_of(name, base)]
    came = [name for name in base if name.endswith(".arrived")]
    return list(dict.fromkeys([*names, *parts, *(came if parts != names else [])]))


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


def tried(world: SmallWorld) -> dict[str, Any]:
    """Every setting of a world with every seed, really run: what the goal reads."""
    advisor, base = advisor_of(world)
    first = advisor.run(base, (advisor.space.base, advisor.seeds[0]))
    names = measures_read(advisor, first or {})
    found = {}
    for point in advisor.space.points():
        runs = [advisor.run(base, (point, seed)) for seed in advisor.seeds]
        found[",".join(map(str, point))] = [
            run and [_rounded(run.get(name)) for name in names] for run in runs
        ]
    return {"world": world.name, "measures": names, "runs": found}


_QUOTA = {"quota": {"flavor": "default", "resource": "cpu", "step": 1}}
_COARSE = {"quota": {"flavor": "default", "resource": "cpu", "step": 2}}
_RECLAIM = {"within": "LowerPriority", "reclaim": "Any"}
_FAIR_ON = {"fairSharing": {"preemptionStrategies": ["LessThanOrEqualToFinalShare"]}}


def _limits(kind: str, *values: Any, queues: tuple[str, ...] = ()) -> dict[str, Any]:
    more = {"queues": list(queues)} if queues else {}
    given = {"flavor": "default", "resource": "cpu", "values": list(values)}
    return {kind: {**given, **more}}


WORLDS = (
    SmallWorld(
        "three queues that share nothing",
        (
            Team("a", 8, 7, 4, 2, 30),
            Team("b", 8, 4, 8, 3, 20),
            Team("c", 6, 8, 3, 1, 30),
        ),
        [_QUOTA],
        cohort="",
    ),
    SmallWorld(
        "one queue starves beside a rich one",
        (
            Team("a", 2, 8, 4, 2, 25),
            Team("b", 18, 3, 9, 4, 20),
            Team("c", 2, 4, 6, 1, 20),
        ),
        [_QUOTA],
        cohort="",
    ),
    SmallWorld(
        "the slowest of three should be faster",
        (
            Team("a", 9, 7, 4, 3, 30),
            Team("b", 9, 3, 9, 2, 20),
            Team("c", 4, 7, 4, 2, 25),
        ),
        [_QUOTA],
        [{"measure": "slowdownRatio"}],
        cohort="",
    ),
    SmallWorld(
        "one team's p95 under a bound, the others as little worse as can be",
        (
            Team("web", 4, 8, 5, 2, 20),
            Team("etl", 12, 6, 6, 4, 40),
            Team("ml", 6, 3, 9, 3, 40),
        ),
        [_QUOTA],
        [{"measure": "workloads.meanMs"}],
        ["queue web p95 wait under 10 s"],
        cohort="",
    ),
    SmallWorld(
        "who may borrow how much",
        (
            Team("a", 6, 8, 3, 2, 30),
            Team("b", 6, 4, 8, 3, 25),
            Team("c", 6, 5, 6, 2, 30),
        ),
        [_limits("borrowingLimit", 0, 1, 2, 4, 6, None)],
        [{"measure": "queues.c.meanMs", "weight": 2}, {"measure": "workloads.meanMs"}],
    ),
    SmallWorld(
        "who lends how much",
        (
            Team("a", 4, 8, 3, 2, 30),
            Team("b", 8, 4, 8, 3, 25),
            Team("c", 8, 5, 6, 2, 30),
        ),
        [
            _limits("lendingLimit", 0, 1, 2, 3, 4, 6, None, queues=("b", "c")),
            {"queueingStrategy": {"queues": ["b", "c"]}},
        ],
        [{"measure": "queues.b.p95Ms"}, {"measure": "workloads.meanMs"}],
    ),
    SmallWorld(
        "preemption that loses little work",
        (
            Team("a", 6, 7, 1, 3, 40, "low", _RECLAIM),
            Team("b", 6, 6, 7, 2, 20, "high", _RECLAIM),
            Team("c", 4, 4, 8, 2, 30, "low", _RECLAIM),
        ),
        [{"preemption": {}}],
        [{"measure": "queues.b.meanMs"}, {"measure": "workLostMs"}],
    ),
    SmallWorld(
        "preemption and quota together",
        (
            Team("a", 6, 7, 1, 3, 40, "low", _RECLAIM),
            Team("b", 4, 7, 5, 2, 20, "high", _RECLAIM),
        ),
        [
            _QUOTA,
            {
                "preemption": {
                    "reclaimWithinCohort": ["Never", "LowerPriority", "Any"],
                    "withinClusterQueue": ["Never", "LowerPriority"],
                }
            },
        ],
        [{"measure": "preemptions"}],
        ["queue b p95 wait under 20 s"],
    ),
    SmallWorld(
        "fair sharing, weights and reclaiming",
        (
            Team("a", 4, 9, 1, 2, 30, "", _RECLAIM),
            Team("b", 4, 5, 5, 2, 30, "", _RECLAIM),
            Team("c", 4, 3, 8, 3, 30, "", _RECLAIM),
        ),
        [{"fairSharing": {}}, {"weight": {"values": [0.5, 1, 2, 4]}}],
        [{"measure": "slowdownRatio"}, {"measure": "workLostMs", "weight": 0.5}],
    ),
    SmallWorld(
        "priorities and limits",
        (
            Team("a", 5, 8, 1, 2, 30, "low", _RECLAIM),
            Team("b", 5, 6, 5, 2, 20, "high", _RECLAIM),
        ),
        [
            {"priority": {"classes": ["low", "high"], "values": [1, 100, 200]}},
            _limits("borrowingLimit", 0, 2, 4),
            {"queueingStrategy": {}},
        ],
        [{"measure": "workloads.p95Ms"}],
        ["no more than 12 preemptions per hour"],
    ),
    SmallWorld(
        "a budget of quota to buy",
        (
            Team("a", 4, 7, 4, 2, 30),
            Team("b", 4, 4, 8, 3, 25),
            Team("c", 4, 6, 5, 2, 25),
        ),
        [
            {
                "quota": {
                    "flavor": "default",
                    "resource": "cpu",
                    "step": 1,
                    "total": 20,
                    "low": 4,
                    "high": 12,
                }
            }
        ],
        [{"measure": "workloads.meanMs"}],
        ["nobody loses more than 10%"],
        cohort="",
    ),
    SmallWorld(
        "four queues in coarse steps",
        (
            Team("a", 6, 5, 4, 2, 30),
            Team("b", 6, 3, 8, 3, 25),
            Team("c", 4, 5, 5, 2, 25),
            Team("d", 8, 3, 6, 4, 20),
        ),
        [_COARSE],
        [{"measure": "workloads.p95Ms"}],
        cohort="",
    ),
)


def main(numbers: list[str]) -> None:
    """Write the tables of the worlds with these numbers, or of all."""
    TABLES.mkdir(exist_ok=True)
    for number in map(int, numbers or range(len(WORLDS))):
        text = json.dumps(tried(WORLDS[number]), separators=(",", ":"))
        data = gzip.compress(text.encode(), mtime=0)
        (TABLES / f"{number:02}.json.gz").write_bytes(data)


if __name__ == "__main__":
    main(sys.argv[1:])
