"""One beginning under many settings and seeds, as a frame of runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from api.notebook.local import LocalSandbox
from api.notebook.served import ServedSandbox
from api.notebook.verdicts import Table, extra
from scheduler.analysis.experiments.bases import WorldBase
from scheduler.analysis.experiments.document import read_experiment
from scheduler.analysis.experiments.runs import plan, run
from scheduler.analysis.measures import flat
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import Wanted, expected

Grid = Mapping[str, Sequence[Any]]


class Sweep:
    """The runs of a sweep: a row per run, with its settings and its measures."""

    def __init__(self, rows: Table) -> None:
        self.rows = rows

    def frame(self) -> Any:
        """Return a pandas DataFrame. Raises ImportError without pandas."""
        return self.rows.frame()

    def _repr_html_(self) -> str:
        return self.rows._repr_html_()


def sweep(
    sb: LocalSandbox | ServedSandbox,
    grid: Grid,
    *,
    seeds: int | Sequence[int] = 1,
    horizon: str = "1h",
    progress: bool = False,
) -> Sweep:
    """Run the sandbox from where it stands under every combination, with every seed.

    `grid` names what is set and its values: a path in the policy's spec, such as
    `kueue.fairSharing`, `Kind/NAME:FIELD` or `Kind/NAMESPACE/NAME:FIELD` of an object, or
    `arrivals` for their pace. A number of `seeds` counts from 1. Nothing of the sandbox
    changes. `progress` shows a bar for runs in this process; a server's page shows its
    own. Raises SchedulerError, of a server ApiError. Cost: combinations x seeds runs.
    """
    counted = list(range(1, seeds + 1)) if isinstance(seeds, int) else list(seeds)
    spec = {
        "seeds": counted,
        "horizon": horizon,
        "grid": [_axis(name, values) for name, values in grid.items()],
    }
    if isinstance(sb, ServedSandbox):
        return Sweep(sb.experiment(spec))
    base = {"files": ["world.yaml"]}  # named, and not read: the world is given
    document = read_experiment({"spec": {"base": base, **spec}})
    given = WorldBase(sb.world.encode())
    planned = plan(document.spec, given)
    todo = list(planned.runs())
    rows = []
    for variant, seed in (
        extra("tqdm.auto").tqdm(todo, unit="run") if progress else todo
    ):
        measures = flat(run(given, planned, variant, seed).summary)
        name = planned.variants[variant].name
        rows.append({"variant": name, "seed": seed, **measures})
    return Sweep(Table(rows))


def _axis(name: str, values: Sequence[Any]) -> dict[str, Any]:
    if not values:
        raise SchedulerError(
            expected(Wanted.AT_LEAST_ONE_OF.said(kind=f"value of {name}"))
        )
    axis: dict[str, Any] = {"name": name, "values": list(values)}
    if name == "arrivals":
        return axis
    if "/" not in name:
        return axis | {"policy": name}
    obj, _, field = name.partition(":")
    return axis | {"object": obj, "field": field}
