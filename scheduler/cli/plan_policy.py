"""`python -m scheduler plan CHANGED`: a change of policy on the same work as its base."""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

import msgspec

import scheduler
from scheduler.analysis.experiments.bases import FileBase
from scheduler.analysis.junit import Case, junit_of
from scheduler.analysis.plan import markdown, sarif
from scheduler.analysis.plan.assertions import Assertion, quantile_of, read_assertions
from scheduler.analysis.plan.changes import changes
from scheduler.analysis.plan.counterexample import counterexample
from scheduler.analysis.plan.faults import Fault, FaultsError, faults_of
from scheduler.analysis.plan.judging import Pair, Verdict, judge, sentence_of
from scheduler.analysis.plan.measuring import (
    RunNumbers,
    horizon_of,
    measure,
    usual_seeds,
)
from scheduler.analysis.plan.outcome import Outcome, check_queues, outcome_of
from scheduler.analysis.plan.sides import Inputs, Joined, join
from scheduler.cli.files import add_stack_word, read_one
from scheduler.cli.plan_input import (
    MOST_WORKERS,
    Library,
    horizon_in,
    in_range,
    no_library,
    read_inputs,
)
from scheduler.cli.run_time_words import add_trace_words
from scheduler.cli.statuses import OURS, REFUSED, try_to_write
from scheduler.model.errors import InvariantError, NoProgressError, SchedulerError

_FILES = ("markdown", "junit", "sarif", "result")
_MOST_SEEDS = 1000


def main(
    arguments: Sequence[str],
    out: TextIO | None = None,
    *,
    library: Library = no_library,
    prog: str = "python -m scheduler plan",
) -> int:
    """Plan a change; 0 when every assertion holds, 1 when one does not, 2 for input
    that cannot be taken. `library` finds scenarios by name.
    """
    out = out or sys.stdout
    options = _parser(prog).parse_args(arguments)
    try:
        try_to_write([getattr(options, name) for name in _FILES])
        outcome = _shown(options) if options.show else run(options, library)
        written = {
            "markdown": markdown.markdown_of(outcome),
            "junit": junit_of("plan", map(_case, outcome.verdicts)),
            "sarif": sarif.sarif_of(outcome, uri_of),
            "result": _json(outcome),
        }
        if options.counterexamples:
            _write_counterexamples(options.counterexamples, outcome)
    except (SchedulerError, OSError) as error:
        return _refused(options, out, error)
    _write(options, written)
    out.write(written["result" if options.json else "markdown"])
    return 0 if outcome.holds else 1


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=prog,
        description="Run a changed policy and its base on the same work with the same "
        "random numbers, say who starts earlier, later or never, hold the changed one "
        "to assertions, and print a comment in Markdown. With --release in place of "
        "CHANGED two releases are compared. docs/plan.md has examples for pipelines.",
        epilog="exit status: 0 every assertion holds; 1 one does not; 2 the input "
        "cannot be taken.",
    )
    add = parser.add_argument
    add("changed", metavar="CHANGED", nargs="?", help="a folder or file of the changed "
        "policy; - reads rendered manifests from standard input")  # fmt: skip
    add("--against", metavar="BASE", help="the policy before; that of --on without it")
    add("--git", metavar="A..B", help="CHANGED as commit B has it (the working tree "
        "where B is left out) against A, or where both went apart (A...B)")  # fmt: skip
    add("--on", metavar="WORK", help="a recording (folder or .qrec), a "
        "scenario (name or folder), a folder of YAML, or a trace")  # fmt: skip
    add("--assert", dest="asserted", metavar="FILE", type=Path, help="what must hold")
    add("--seeds", type=int, default=0, metavar="N",
        help="runs of each side (3; 2 of more than 2,000 objects of work)")  # fmt: skip
    add("--seed", type=int, default=1, help="the first of them (1)")
    add("--horizon", default="", help="how long each run is, e.g. 24h; the scenario's, "
        "else until a day after the last arrival or nothing more happens")  # fmt: skip
    add("--at", default="0s", help="of a recording: the instant to begin at (0s)")
    add("--workers", type=int, default=0, help="processes (one for each CPU)")
    add("--json", action="store_true", help="print one JSON object instead")
    for name in ("markdown", "junit", "sarif"):
        add(f"--{name}", type=Path, metavar="FILE", help=f"write {name} here too")
    add(
        "--result",
        type=Path,
        metavar="FILE",
        help="keep the whole result here, as JSON",
    )
    add("--show", type=Path, metavar="FILE", help="run nothing: show a kept result")
    add(
        "--cache",
        type=Path,
        metavar="FOLDER",
        help="keep runs here, and run none twice",
    )
    search = parser.add_mutually_exclusive_group()
    search.add_argument("--counterexamples", type=Path, metavar="FOLDER",
        help="write the smallest world of each failed assertion here")  # fmt: skip
    search.add_argument(
        "--no-counterexamples", action="store_true", help="search for none"
    )
    add_trace_words(parser)
    add_stack_word(parser)
    return parser


def run(options: argparse.Namespace, library: Library) -> Outcome:
    """Return the result of the plan. Raises FaultsError, SchedulerError, OSError."""
    _expect_words(options)
    given_seeds = in_range("--seeds", options.seeds, _MOST_SEEDS)
    in_range("--workers", options.workers, MOST_WORKERS)
    first, given_ms = options.seed, horizon_in(options.horizon)
    assertions, inputs = _read(options, library)
    joined = join(inputs, first)
    check_queues(joined, assertions, first, ())
    count = given_seeds or usual_seeds(joined.bases[0])
    seeds = list(range(first, first + count))
    horizon_ms = given_ms or max(horizon_of(base) for base in joined.bases)
    wanted = tuple(sorted({a.measure for a in assertions if quantile_of(a.measure)}))
    pairs = _run(options, inputs, joined, seeds, horizon_ms, wanted)
    check_queues(joined, assertions, first, pairs)
    verdicts = judge(assertions, pairs)
    smallest = (
        [] if options.no_counterexamples else zip(assertions, verdicts, strict=True)
    )
    searched = [
        counterexample(joined, assertion, verdict, seeds, horizon_ms)
        for assertion, verdict in smallest
    ]
    found = [one for one in searched if one is not None]
    return outcome_of(joined, verdicts, pairs, seeds, horizon_ms, found)


def _expect_words(options: argparse.Namespace) -> None:
    for name, given in (("CHANGED", options.changed), ("--on", options.on)):
        if not given:
            raise SchedulerError(
                f"expected {name}, or --show FILE; --help says what it is"
            )
    if options.git and options.against:
        raise SchedulerError("expected --git or --against, got both")
    if options.git and options.changed == "-":
        raise SchedulerError(
            "--git reads CHANGED from commits: expected a path, got - (standard input)"
        )


_TO_RUN = {
    "CHANGED": "changed",
    "--against": "against",
    "--git": "git",
    "--on": "on",
    "--assert": "asserted",
}


def _shown(options: argparse.Namespace) -> Outcome:
    """Return a kept result. Raises SchedulerError for any other file."""
    file: Path = options.show
    given = [word for word, name in _TO_RUN.items() if getattr(options, name)]
    if given:
        said = ", ".join(given)
        raise SchedulerError(f"--show {file} runs nothing: leave out {said}")
    try:
        return msgspec.json.decode(file.read_bytes(), type=Outcome)
    except msgspec.DecodeError as error:
        raise SchedulerError(
            f"--show {file}: expected a file that --result wrote: {error}"
        ) from error


def _read(
    options: argparse.Namespace, library: Library
) -> tuple[list[Assertion], Inputs]:
    """Read everything; what is wrong in any of it is reported together."""
    faults: list[Fault] = []
    assertions: list[Assertion] = []
    inputs: Inputs | None = None
    try:
        if options.asserted:
            name, text = read_one(options.asserted)
            assertions = read_assertions(text, name)
    except SchedulerError as error:
        faults += faults_of(error, str(options.asserted))
    try:
        inputs = read_inputs(options, library)
        if faults:  # find the faults of the other files too
            join(inputs, options.seed)
    except SchedulerError as error:
        faults += faults_of(error, options.on)
    if faults or inputs is None:
        raise FaultsError(faults)
    return assertions, inputs


_Job = tuple[int, int]  # side, seed


def _run(
    options: argparse.Namespace,
    inputs: Inputs,
    joined: Joined,
    seeds: Sequence[int],
    horizon_ms: int,
    wanted: tuple[str, ...],
) -> list[Pair]:
    """Run both sides with every seed, in as many processes as there are CPUs.

    Sides without a difference are run once: equal input gives equal runs.
    """
    sides = (0, 1) if changes(joined.base, joined.changed) else (0,)
    jobs: list[_Job] = [(side, seed) for seed in seeds for side in sides]
    known: dict[_Job, RunNumbers] = {}
    keys: dict[_Job, str] = {}
    if folder := options.cache:
        for side, seed in jobs:
            key = keys[side, seed] = key_of(
                joined.bases[side], seed, horizon_ms, wanted
            )
            if (run := stored(folder, key)) is not None:
                known[side, seed] = run
    todo = [job for job in jobs if job not in known]
    workers = min(options.workers or os.cpu_count() or 1, len(todo))
    if workers > 1:
        given = (inputs, seeds[0], horizon_ms, wanted)
        with ProcessPoolExecutor(workers, initializer=_begin, initargs=given) as pool:
            made = list(pool.map(_one, todo))
    else:
        made = [measure(joined.bases[s], seed, horizon_ms, wanted) for s, seed in todo]
    for job, run in zip(todo, made, strict=True):
        known[job] = run
        if options.cache:
            store(options.cache, keys[job], run)
    return [(known[0, seed], known[sides[-1], seed]) for seed in seeds]


_work: list[Callable[[_Job], RunNumbers]] = []  # of this process


def _begin(inputs: Inputs, seed: int, horizon_ms: int, wanted: tuple[str, ...]) -> None:
    bases = join(inputs, seed).bases
    _work[:] = [lambda job: measure(bases[job[0]], job[1], horizon_ms, wanted)]


def _one(job: _Job) -> RunNumbers:
    return _work[0](job)


def _json(outcome: Outcome) -> str:
    return msgspec.json.format(msgspec.json.encode(outcome)).decode() + "\n"


def _refused(options: argparse.Namespace, out: TextIO, error: Exception) -> int:
    """Report faults in every form that was asked for."""
    found = FaultsError(faults_of(SchedulerError(str(error)), options.on or "input"))
    faults = error.faults if isinstance(error, FaultsError) else found.faults
    sys.stderr.write("".join(f"{fault}\n" for fault in faults))
    listed = [{**msgspec.to_builtins(f.place), "problem": f.problem} for f in faults]
    written = {
        "markdown": markdown.faults_markdown(faults),
        "junit": junit_of("plan", map(_refusal, faults)),
        "sarif": sarif.faults_sarif(faults, uri_of),
    }
    listed_json = msgspec.json.encode({"faults": listed}).decode() + "\n"
    try:
        _write(options, {**written, "result": listed_json})
    except OSError as problem:
        sys.stderr.write(f"{problem}\n")
    if options.json:
        out.write(listed_json)
    else:
        out.write(written["markdown"])
    return OURS if isinstance(error, InvariantError | NoProgressError) else REFUSED


def _case(verdict: Verdict) -> Case:
    return Case(
        name=verdict.name,
        came="held" if verdict.holds else "failed",
        said="" if verdict.holds else sentence_of(verdict),
        file=verdict.file,
        line=verdict.line,
    )


def _refusal(fault: Fault) -> Case:
    return Case(
        name=str(fault.place),
        came="refused",
        said=fault.problem,
        file=fault.place.file,
        line=fault.place.line,
    )


def _write(options: argparse.Namespace, written: dict[str, str]) -> None:
    for name in _FILES:
        if path := getattr(options, name):
            path.write_text(written[name], encoding="utf-8")


def _write_counterexamples(folder: Path, outcome: Outcome) -> None:
    for one in outcome.counterexamples:
        inside = folder / one.folder
        inside.mkdir(parents=True, exist_ok=True)
        for name, text in one.files.items():
            (inside / name).write_text(text, encoding="utf-8")


def uri_of(file: str) -> str:
    """Return a file as pipelines name it: from the working folder, in URI's letters."""
    path = Path(file)
    here = Path.cwd()
    if path.is_absolute() and path.is_relative_to(here):
        path = path.relative_to(here)
    return path.as_uri() if path.is_absolute() else quote(path.as_posix())


# ------------------------------------------------------------------------
# Runs of a plan that were run before, as files of a folder.

_DECODE = msgspec.msgpack.Decoder(RunNumbers)


def key_of(base: FileBase, seed: int, horizon_ms: int, wanted: tuple[str, ...]) -> str:
    """Return a name for the run: equal for equal input and the same program.

    Where objects come from (files, lines) is no part of it, as it decides nothing.
    """
    prepared = base.prepared
    loaded = prepared.loaded
    scenario = prepared.scenario
    parts: list[Any] = [
        _program(),
        [[obj.manifest, obj.status] for obj in loaded.objects],
        loaded.policy,
        None if scenario is None else msgspec.to_builtins(scenario.spec),
        prepared.files if scenario is not None else None,  # arrivals may read them
        [seed, horizon_ms, *wanted],
    ]
    return hashlib.sha256(msgspec.json.encode(parts, order="sorted")).hexdigest()


def stored(folder: Path, key: str) -> RunNumbers | None:
    """Return the run of this name; None where there is none, or none that is whole."""
    try:
        return _DECODE.decode((folder / key).read_bytes())
    except (OSError, msgspec.DecodeError):
        return None


def store(folder: Path, key: str, run: RunNumbers) -> None:
    """Keep a run. A reader beside it sees all of it or nothing. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
        file.write(msgspec.msgpack.encode(run))
    os.replace(file.name, folder / key)


@cache
def _program() -> str:
    """Return a digest of the engine's sources: another program may decide differently."""
    digest = hashlib.sha256()
    root = Path(scheduler.__file__).parent
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()
