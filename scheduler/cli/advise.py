"""`python -m scheduler advise`: what should be set, searched and proven on files."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from scheduler.analysis.advice.advisor import Advisor, advise
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.reports.markdown import markdown_of
from scheduler.analysis.advice.reports.page import html_of
from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.experiments.document import ExperimentDocument
from scheduler.assembly import Sources, StackOpenError
from scheduler.cli.experiment import read_file, sources_of
from scheduler.cli.files import add_stack_word
from scheduler.cli.plan_input import Library, no_library
from scheduler.cli.run import read_sources
from scheduler.cli.statuses import refused, try_to_write
from scheduler.model.errors import SchedulerError

#: The exit status of each verdict.
STATUS = {"improved": 0, "no improvement found": 1, "unmet": 1}


def main(arguments: Sequence[str], out: TextIO | None = None) -> int:
    """Search and prove; 0 = improved, 1 = nothing better was found, 2 = bad input."""
    options = parser("python -m scheduler advise").parse_args(arguments)
    return run(options, out or sys.stdout)


def run(options: argparse.Namespace, out: TextIO, library: Library = no_library) -> int:
    """Do what the words say. `library` finds scenarios by name."""
    try:
        try_to_write([options.patches, options.undo, options.markdown, options.html])
        experiment, sources = _read(options, library)
        stack = options.stack or experiment.spec.base.stack
        base = FileBase.read(sources, stack=stack)
        advisor = Advisor.of(experiment.spec, base)
        began = time.process_time()
        advisor.run(base, (advisor.space.base, advisor.seeds[0]))
        each = time.process_time() - began
        estimate = estimate_text(advisor.space.count(), advisor.most_runs(), each)
        if options.estimate:
            out.write(estimate)
            return 0
        sys.stderr.write(estimate)
        answer = advise(advisor, lambda ask: advisor.run(base, ask), hear=_bar(advisor))
        write(options, out, answer, title_of(experiment))
    except StackOpenError as error:
        return refused(SchedulerError(f"{error}; give --stack"))
    except (SchedulerError, OSError) as error:
        return refused(error)
    return STATUS[answer.verdict]


def parser(prog: str) -> argparse.ArgumentParser:
    """Return the parser of the words, for a command of this name."""
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Search for the smallest change that reaches a goal, and prove it "
        "on seeds that the search did not use.",
    )
    parser.add_argument(
        "goal", type=Path, help="the document: an Experiment with search.change"
    )
    parser.add_argument(
        "files",
        type=Path,
        nargs="*",
        help="the base, instead of the document's: files and folders",
    )
    parser.add_argument(
        "--estimate", action="store_true", help="say what it would take, and stop"
    )
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument(
        "--patches", type=Path, help="write what kubectl apply -f takes"
    )
    parser.add_argument("--undo", type=Path, help="write the same objects as they are")
    parser.add_argument("--markdown", type=Path, help="write the report as Markdown")
    parser.add_argument("--html", type=Path, help="write the report as one HTML file")
    add_stack_word(parser)
    return parser


def _read(
    options: argparse.Namespace, library: Library
) -> tuple[ExperimentDocument, Sources]:
    experiment, files = read_file(options.goal)
    if options.files:
        return experiment, given_base(options)
    scenario = experiment.spec.base.scenario
    if scenario and (known := library(scenario)) is not None:
        return experiment, known
    return experiment, sources_of(experiment, options.goal, files)


def given_base(options: argparse.Namespace) -> Sources:
    """Return the files that were given as the base; the goal is none of them."""
    goal = str(options.goal)
    return [(n, text) for n, text in read_sources(options.files) if n != goal]


def estimate_text(settings: int, runs: int, each: float) -> str:
    """Return the cost of a search in words; `each` is CPU seconds per run."""
    return (
        f"{settings} settings; at most about {runs} runs of {each:.2g} s: "
        f"{runs * each:.0f} s of CPU\n"
    )


def _bar(advisor: Advisor) -> Callable[[int], None]:
    """Return what reports on a terminal how many runs there have been."""
    most, shown = advisor.most_runs(), sys.stderr.isatty()

    def hear(runs: int) -> None:
        if shown:
            sys.stderr.write(f"\r{runs} of at most about {most} runs")

    return hear


def title_of(experiment: ExperimentDocument) -> str:
    """Return the title of the goal, else its name."""
    name = experiment.metadata.get("name") or "Advisor"
    return experiment.spec.title or str(name)


def write(
    options: argparse.Namespace, out: TextIO, answer: AdviceAnswer, title: str
) -> None:
    """Write the files that were asked for, and the report or the answer in JSON."""
    report = markdown_of(answer, title)
    written = {
        options.patches: answer.patches,
        options.undo: answer.undo,
        options.markdown: report,
        options.html: html_of(answer, title) if options.html else "",
    }
    for path, text in written.items():
        if path is not None:
            path.write_text(text, encoding="utf-8")
    if options.json:
        out.write(msgspec.json.format(msgspec.json.encode(answer)).decode() + "\n")
    else:
        out.write(report)
