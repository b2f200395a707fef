"""A bake-off: the variants of an experiment side by side in one HTML file.

    python -m docs.examples.bake_off EXPERIMENT.yaml OUT.html [PICTURE.svg]

Any policies, seeds and loads that an experiment can name: measures, waits by team, shares
over time, and who pays. The file has no scripts and asks nothing of elsewhere, as it goes
into the thread of a proposal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from scheduler.analysis.advice.reports.markdown import mean
from scheduler.analysis.advice.reports.page import WIDE, page, svg, table, text
from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.results import (
    Interval,
    VariantMeasure,
    VariantResult,
)
from scheduler.analysis.experiments.results import table as measured
from scheduler.analysis.experiments.runs import Plan, plan, run_until
from scheduler.analysis.measures import Measures, bill, flat
from scheduler.analysis.measures.fairness import dominant
from scheduler.analysis.measures.lives import Lives
from scheduler.analysis.measures.verdict import verdict
from scheduler.cli.experiment import read_file, sources_of
from scheduler.engine.world import World
from scheduler.model.decisions import Decision
from scheduler.model.durations import duration_text
from scheduler.model.errors import SchedulerError
from scheduler.words.gaps import of_proposal

#: The measures of the first table.
SHOWN = (
    *("waitMeanMs", "waitP95Ms", "waiting", "preemptions", "workLostMs"),
    *("shareError", "timeToFairMs", "makespanMs"),
)
_COLOURS = ("#1769d2", "#c2570c", "#2e7d32", "#8e24aa", "#b3261e", "#00838f", "#6d4c41")
_HIGH = 150


class Course:
    """What the first run of a variant came to over time."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.said = [one.text for one in of_proposal(world.policy.spec)]
        self.shares: dict[str, list[tuple[int, float]]] = {}  # queue -> (ms, share)

    def hear(self, decisions: list[Decision], measures: Measures) -> None:
        """Take the decisions of an instant, after the measures did."""
        capacity = measures.samples.capacities.capacity
        for queue, held in measures.ledger.using.items():
            line = self.shares.setdefault(queue, [])
            share = dominant(held, capacity)
            if not line or line[-1][1] != share:
                line.append((self.world.context.now_ms, share))


def played(
    base: FileBase, todo: Plan, variant: int, seed: int
) -> tuple[VariantMeasure, Course, Lives]:
    """Run one variant with one seed; return its numbers and its course."""
    world = base.world(todo.variants[variant], seed)
    until_ms = world.context.now_ms + todo.horizon_ms
    measures = Measures(world, limit_ms=todo.limit_ms, until_ms=until_ms)
    course = Course(world)

    def hear(decisions: list[Decision]) -> None:
        measures.observe(decisions)
        course.hear(decisions, measures)

    run_until(world, until_ms, hear=hear)
    numbers = flat(measures.summary())
    cell = VariantMeasure(variant=variant, seed=seed, numbers=numbers)
    return cell, course, measures.reader.lives(until_ms, world)


def main(arguments: Sequence[str]) -> int:
    """Write the bake-off; return 2, with what is wrong said, where nothing is written."""
    try:
        write(*map(Path, arguments))
    except SchedulerError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def write(path: Path, out: Path, *pictures: Path) -> None:
    """Run every variant with every seed; write the file, and its picture alone."""
    experiment, files = read_file(path)
    spec = experiment.spec
    base = FileBase.read(sources_of(experiment, path, files), stack=spec.base.stack)
    todo = plan(spec, base)
    names = [variant.name for variant in todo.variants]
    cells, first = [], list[tuple[Course, Lives]]()
    for variant, seed in todo.runs():
        cell, course, lives = played(base, todo, variant, seed)
        cells.append(cell)
        if seed == todo.seeds[0]:
            first.append((course, lives))
    lines = measured(cells, len(names), spec.objectives)
    about = f"{len(todo.seeds)} seeds, {duration_text(todo.horizon_ms)} each."
    text_ = html_of(spec.title or path.stem, names, lines, first, about)
    out.write_text(text_, encoding="utf-8")
    for picture in pictures:
        picture.write_text(_alone(text_), encoding="utf-8")


def _alone(text_: str) -> str:
    """Return the picture of a file as one of its own, which has no style around it."""
    found = text_[text_.index("<svg ") + 5 : text_.index("</svg>")]
    usual = 'font-family="sans-serif" font-size="12" fill="#6b7489"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {usual} {found}</svg>\n'


def html_of(
    title: str,
    names: Sequence[str],
    lines: Sequence[VariantResult],
    first: Sequence[tuple[Course, Lives]],
    about: str,
) -> str:
    """Return the file: measures, waits by team, shares over time, who pays."""
    by_name = [(name, course) for name, (course, _) in zip(names, first, strict=True)]
    used = sorted({n for one in lines for n in one.measures if "utilisation." in n})
    teams = [n for one in lines for n in one.measures if n.startswith("queues.")]
    waits = sorted({n for n in teams if n.endswith((".meanMs", ".p95Ms"))})
    parts = [
        f"<h1>{escape(title)}</h1><p>{escape(about)}</p>",
        *(
            f"<p><strong>{escape(f'{name}: {said}')}</strong></p>"
            for name, course in by_name
            for said in course.said
        ),
        "<h2>Measures</h2><p>Means with half of their 95% interval; * where the difference "
        "from the first variant, seed by seed, is not by chance.</p>",
        _compared(names, lines, [*SHOWN, *used]),
        "<h2>Wait by team</h2>",
        _compared(names, lines, waits),
        "<h2>Shares over time</h2><p>What each queue holds of the cluster, by the "
        "resource of which it holds most; the first seed.</p>",
        _picture(by_name),
        "<h2>Who pays</h2><p>Against the first variant, with the first seed.</p>",
        *_bills(names, [lives for _, lives in first]),
    ]
    return page(title, "\n".join(parts))


def _compared(
    names: Sequence[str], lines: Sequence[VariantResult], measures: Sequence[str]
) -> str:
    """Return a row per measure; a star where the difference from the first is sure."""
    rows = []
    for name in measures:
        unit = name if "utilisation" in name else name.rpartition(".")[2]
        cells = []
        for line in lines:
            star = " *" if _is_sure(line.differences.get(name)) else ""
            cells.append(mean(unit, line.measures.get(name)) + star)
        rows.append([name, *cells])
    return table(["measure", *names], rows)


def _is_sure(found: Interval | None) -> bool:
    if found is None or found.low is None or found.high is None:
        return False
    return not found.low <= 0 <= found.high


def _picture(by_name: Sequence[tuple[str, Course]]) -> str:
    queues = sorted({queue for _, course in by_name for queue in course.shares})
    colours = {q: _COLOURS[n % len(_COLOURS)] for n, q in enumerate(queues)}
    ends = [line[-1][0] for _, one in by_name for line in one.shares.values() if line]
    most, body = max(ends, default=1) or 1, []
    for n, (name, course) in enumerate(by_name):
        top = n * _HIGH
        body.append(text(10, top + 16, name))
        body.append(text(WIDE - 10, top + _HIGH - 4, duration_text(most), "end"))
        for queue, line in course.shares.items():
            path = "".join(_steps(line, most, top))
            body.append(
                f'<path fill="none" stroke="{colours[queue]}" stroke-width="1.5" '
                f'd="{path}"><title>{escape(queue)}</title></path>'
            )
    high = len(by_name) * _HIGH
    for n, queue in enumerate(queues):
        mark = f'<tspan fill="{colours[queue]}">■</tspan> {escape(queue)}'
        body.append(
            f'<text x="{10 + n % 4 * 150}" y="{high + 16 + n // 4 * 16}">{mark}</text>'
        )
    return svg(high + 24 + len(queues) // 4 * 16, "".join(body), "Shares over time")


def _steps(line: Sequence[tuple[int, float]], most: int, top: int) -> Iterator[str]:
    """Yield the parts of a path that goes on at each level until the next one."""
    letter = "M"
    for at_ms, share in line:
        x = 10 + (WIDE - 20) * at_ms / most
        y = top + _HIGH - 18 - (_HIGH - 44) * min(share, 1.0)
        yield f"M{x:.1f} {y:.1f}" if letter == "M" else f"H{x:.1f}V{y:.1f}"
        letter = "H"
    yield f"H{WIDE - 10}"


def _bills(names: Sequence[str], lives: Sequence[Lives]) -> Iterator[str]:
    for name, one in list(zip(names, lives, strict=True))[1:]:
        _, teams = bill.teams_of(verdict(lives[0], one))
        yield f"<h3>{escape(name)}</h3>"
        yield (
            "<p>Nothing comes out otherwise.</p>"
            if not teams
            else table(
                ["team", "what it pays"],
                [[team.name or "(none)", bill.team_text(team)] for team in teams],
            )
        )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
