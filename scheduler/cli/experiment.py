"""`python -m scheduler experiment`: an experiment on files, in this process."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from scheduler.analysis.experiments.assertions import judge
from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.document import (
    ExperimentDocument,
    ExperimentError,
    read_experiment,
)
from scheduler.analysis.experiments.results import (
    AssertionVerdict,
    Interval,
    VariantMeasure,
    VariantResult,
    table,
)
from scheduler.analysis.experiments.runs import plan, run
from scheduler.analysis.junit import Case, junit_of
from scheduler.analysis.measures import flat
from scheduler.assembly import StackOpenError
from scheduler.cli.files import add_stack_word
from scheduler.cli.run import read_sources
from scheduler.cli.statuses import refused, try_to_write
from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import Wanted, expected
from scheduler.model.sentence import plain
from scheduler.words.gaps import of_proposal

#: What the table on the screen has room for.
COLUMNS = (
    "waitP50Ms",
    "waitP95Ms",
    "waiting",
    "preemptions",
    "workLostMs",
    "shareError",
    "timeToFairMs",
    "jain",
    "makespanMs",
)


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Run every variant with every seed; 1 when an assertion failed, 2 on bad
    input.
    """
    out = out or sys.stdout
    options = _parser().parse_args(arguments)
    try:
        try_to_write([options.junit])
        experiment, files = read_file(options.file)
        sources = sources_of(experiment, options.file, files)
        stack = options.stack or experiment.spec.base.stack
        base = FileBase.read(sources, stack=stack)
        todo = plan(experiment.spec, base)
        names = [variant.name for variant in todo.variants]
        # Once before the work: what the assertions name must be there.
        judge(experiment.spec.assertions, names, [], [], files)
        cells = []
        for variant, seed in todo.runs():
            result = run(base, todo, variant, seed, clock=time.process_time)
            numbers = flat(result.summary)
            cells.append(VariantMeasure(variant=variant, seed=seed, numbers=numbers))
    except StackOpenError as error:
        return refused(SchedulerError(f"{error}; give --stack"))
    except (SchedulerError, OSError) as error:
        return refused(error)
    lines = table(cells, len(names), experiment.spec.objectives)
    verdicts = judge(experiment.spec.assertions, names, lines, cells, files)
    report = write_json if options.json else write_table
    report(out, names, lines, verdicts)
    for one in todo.variants:
        for said in of_proposal(base.world(one, todo.seeds[0]).policy.spec):
            sys.stderr.write(f"note: {one.name}: {said.text}\n")
    for assumed in base.assumed(base.seed()):
        sys.stderr.write(f"note: {assumed}\n")
    if options.junit:
        options.junit.write_text(junit_text(names, verdicts), encoding="utf-8")
    return status_of(verdicts)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m scheduler experiment",
        description="Run an experiment on files, one run after the other.",
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    add_junit_word(parser)
    add_stack_word(parser)
    return parser


def add_junit_word(parser: argparse.ArgumentParser) -> None:
    """Add the word that names a file for the assertions as JUnit XML."""
    parser.add_argument(
        "--junit", type=Path, metavar="FILE", help="write assertions as JUnit XML here"
    )


def read_file(path: Path) -> tuple[ExperimentDocument, dict[str, str]]:
    """Return the experiment of a file and the texts that it names beside it.

    Raises SchedulerError with the file and line of what is wrong.
    """
    [(name, text)] = read_sources([path])
    documents = read_documents(text, file=name)
    if len(documents) != 1:
        raise ExperimentError(
            expected(Wanted.ONE_DOCUMENT_IN.said(name=name), len(documents))
        )
    try:
        experiment = read_experiment(documents[0].data)
    except ExperimentError as error:
        raise documents[0].error(error.field, error.problem) from error
    beside = [a.rangespec for a in experiment.spec.assertions]
    files = {n: _beside(path, n) for n in beside if isinstance(n, str) and n}
    return experiment, files


def _beside(path: Path, name: str) -> str:
    [(_, text)] = read_sources([path.parent / name])
    return text


def sources_of(
    experiment: ExperimentDocument, path: Path, files: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return the texts of the base's files, which lie beside the experiment's.

    Folders are opened. Raises ExperimentError when the base is not of files.
    """
    names = experiment.spec.base.files
    if not names:
        raise ExperimentError(
            plain(
                "without a database the base is of files; `quotalab experiment` "
                "knows the library's scenarios and sandboxes"
            ),
            "spec.base",
        )
    found = read_sources([path.parent / name for name in names])
    return [(name, text) for name, text in found if name not in files]


def status_of(verdicts: Sequence[AssertionVerdict]) -> int:
    """Return the exit status: 1 when an assertion failed."""
    return int(any(verdict.holds is False for verdict in verdicts))


def junit_text(names: Sequence[str], verdicts: Iterable[AssertionVerdict]) -> str:
    """Return the assertions as JUnit XML, a case for each variant."""
    return junit_of("experiment", [_case(names, verdict) for verdict in verdicts])


def _case(names: Sequence[str], verdict: AssertionVerdict) -> Case:
    name = f"{names[verdict.variant]}: {verdict.text}"
    if verdict.holds is None:
        said = "a simulation cannot show it"
        return Case(name=name, came="skipped", said=said)
    return (
        Case(name=name) if verdict.holds else Case(name=name, came="failed", said=name)
    )


def write_json(
    out: TextIO,
    names: list[str],
    lines: list[VariantResult],
    verdicts: list[AssertionVerdict],
) -> None:
    """Print everything as one JSON object."""
    body = {"variants": names, "lines": lines, "verdicts": verdicts}
    out.write(msgspec.json.format(msgspec.json.encode(body)).decode() + "\n")


def write_table(
    out: TextIO,
    names: list[str],
    lines: list[VariantResult],
    verdicts: list[AssertionVerdict],
) -> None:
    """Print means and half intervals, a variant per line."""
    width = max(len(name) for name in [*names, "variant"])
    head = "  ".join(f"{name:>18}" for name in COLUMNS)
    out.write(f"  {'variant':<{width}}  runs  {head}\n")
    for line in lines:
        values = "  ".join(f"{_text(line.measures.get(n)):>18}" for n in COLUMNS)
        mark = "*" if line.front else " "
        out.write(f"{mark} {names[line.variant]:<{width}}  {line.runs:>4}  {values}\n")
    words = {True: "ok  ", False: "FAIL", None: "-   "}
    out.writelines(
        f"{words[verdict.holds]} {names[verdict.variant]}: {verdict.text}\n"
        for verdict in verdicts
    )


def _text(found: Interval | None) -> str:
    if found is None:
        return "-"
    if found.high is None:
        return f"{found.mean:.4g}"
    return f"{found.mean:.4g} ±{found.high - found.mean:.3g}"
