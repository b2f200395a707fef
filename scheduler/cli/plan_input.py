"""What a plan is given on the command line, read from disk: work, base and change."""

from __future__ import annotations

import argparse
import io
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from scheduler.analysis.plan.faults import Fault, FaultsError, faults_of
from scheduler.analysis.plan.sides import Inputs
from scheduler.cli.files import read_paths
from scheduler.cli.recording_file import read_file
from scheduler.cli.recording_folder import read_followed_folder
from scheduler.cli.run_time_words import options_of
from scheduler.input.files.unpacking import Text, Unpacking, is_read
from scheduler.model import durations
from scheduler.model.errors import SchedulerError, SourceLocation
from scheduler.model.problems import Wanted, expected, in_field
from scheduler.recorded.followed import incident
from scheduler.recorded.qrec.frames import MAGIC
from scheduler.recorded.qrec.reading import Followed

Source = tuple[str, str]
#: From the name of a scenario to its files; None when there is none of that name.
Library = Callable[[str], list[Source] | None]


MOST_WORKERS = 64


def no_library(_: str) -> list[Source] | None:
    """Know no scenario by name."""
    return None


def in_range(word: str, count: int, most: int) -> int:
    """Return a count from the command line, 0 when absent. Raises on values out of range."""
    if not 0 <= count <= most:
        wanted = Wanted.RANGE.said(least="1", most=most)
        raise SchedulerError(in_field(word, expected(wanted, given=count)))
    return count


def horizon_in(text: str) -> int:
    """Return a horizon in ms, 0 where none is given; refuse one that is not above 0."""
    horizon = durations.span_ms(text) if text else 0
    if horizon < 0 or (text and not horizon):
        problem = expected(Wanted.ABOVE.said(kind="duration", least="0"), text)
        raise SchedulerError(in_field("--horizon", problem))
    return horizon


def read_inputs(options: argparse.Namespace, library: Library) -> Inputs:
    """Read all three. Raises FaultsError with everything that cannot be read."""
    faults: list[Fault] = []

    def tried(given: str, read: Callable[[str], list[Source]]) -> list[Source]:
        try:
            return read(given)
        except (SchedulerError, OSError) as error:
            known = error if isinstance(error, SchedulerError) else None
            faults.extend(faults_of(known or SchedulerError(str(error)), given))
            return []

    changed_of, base_of = _policies(options)
    found = Inputs(
        work=tried(options.on, lambda given: read_work(given, options.at, library)),
        changed=tried(options.changed, changed_of),
        base=tried(options.against or options.changed, base_of) if base_of else None,
        traces=options_of(options),
        stack=options.stack,
    )
    if faults:
        raise FaultsError(faults)
    return found


_Read = Callable[[str], list[Source]]


def _policies(options: argparse.Namespace) -> tuple[_Read, _Read | None]:
    """Return what reads the changed policy and the base; None for the base of the work.

    Raises SchedulerError for a range that git does not know.
    """
    if not options.git:
        return _policy, _policy if options.against else None
    base, changed = range_of(options.git, Path(options.changed))

    def at(commit: str) -> _Read:
        return lambda path: _some(path, files_at(commit, Path(path)))

    return (_policy if changed is None else at(changed)), at(base)


def _policy(path: str) -> list[Source]:
    return _some(path, read_paths([path]))


def _some(path: str, found: list[Source]) -> list[Source]:
    if not found:
        place = SourceLocation(file=path, line=1)
        raise FaultsError([Fault(place, "expected manifests, found none")])
    return found


def read_work(given: str, at: str, library: Library) -> list[Source]:
    """Return the files of the work: of a recording, a scenario, a folder or a trace.

    Raises SchedulerError that says what was expected.
    """
    path = Path(given)
    if not path.exists():
        if (found := library(given)) is not None:
            _expect_begin(at)
            return found
        raise SchedulerError(
            f"--on: expected a recording, a folder, a file or the name of a scenario "
            f"(`quotalab scenarios` lists them), got {given!r}"
        )
    if (recorded := _followed(path)) is not None:
        followed, config = recorded
        at_us = followed.start_us + 1000 * durations.span_ms(at)
        files = incident(followed, at_us)
        known = {name for name, _ in files}
        return [*(one for one in config if one[0] not in known), *files]
    _expect_begin(at)
    found = read_paths([given])
    if not found:
        raise SchedulerError(
            f"--on: {given}: expected manifests or a trace, found none"
        )
    return [(_short(name, path), text) for name, text in found]


def _expect_begin(at: str) -> None:
    if durations.span_ms(at):
        raise SchedulerError(
            f"--at {at}: expected a recording to begin within; other work begins at 0s"
        )


def _short(name: str, path: Path) -> str:
    """Return the name from the folder on, as a scenario names its files."""
    return name.removeprefix(f"{path}/") if path.is_dir() else name


def _followed(path: Path) -> tuple[Followed, list[Source]] | None:
    """Return the recording that lies there with its configuration, or None."""
    if path.is_dir():
        is_recording = (path / "watch.jsonl.gz").is_file()
        return read_followed_folder(path) if is_recording else None
    with path.open("rb") as stream:
        begin = stream.read(200)
    if begin.startswith(MAGIC) or b'"type":' in begin.replace(b" ", b"")[:40]:
        return read_file(path), []
    return None


# ------------------------------------------------------------------------
# Files of a folder as a commit of git has them.


class Range(NamedTuple):
    """Two states of a repository; `changed` = None is the working tree."""

    base: str
    changed: str | None


def range_of(text: str, folder: Path) -> Range:
    """Return the commits of `A..B` or `A...B`; A or B may be left out (HEAD, working tree).

    Three dots begin where A and B went apart. Raises SchedulerError for what git does
    not know.
    """
    dots = "..." if "..." in text else ".."
    first, found, last = text.partition(dots)
    if not found:
        raise SchedulerError(
            f"--git: expected A..B or A...B, such as origin/main..., got {text!r}"
        )
    base = _commit(folder, first or "HEAD")
    changed = _commit(folder, last) if last else None
    if dots == "...":
        base = _git(folder, "merge-base", base, changed or "HEAD").decode().strip()
    return Range(base, changed)


def _commit(folder: Path, name: str) -> str:
    words = (
        "rev-parse",
        "--verify",
        "--quiet",
        "--end-of-options",
        f"{name}^{{commit}}",
    )
    return _git(folder, *words, what=f"no commit {name!r}").decode().strip()


def files_at(commit: str, path: Path) -> list[Text]:
    """Return (name, text) of each file of a path at a commit; names as on disk.

    Raises SchedulerError where the commit has no such path.
    """
    # The path of the last commit need not be there in the working tree.
    inside = next(one for one in (path, *path.absolute().parents) if one.is_dir())
    relative = path.absolute().relative_to(inside.absolute())
    data = _git(
        inside,
        *("archive", "--format=tar", commit, "--", str(relative)),
        what=f"{path} is not in commit {commit[:12]}",
    )
    texts: list[Text] = []
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        for member in archive:
            if not member.isfile() or not is_read(member.name):
                continue
            stream = archive.extractfile(member)
            assert stream is not None
            name = str(path / Path(member.name).relative_to(relative))
            texts += Unpacking().texts(name, stream.read())
    return texts


def _git(folder: Path, *words: str, what: str = "") -> bytes:
    inside = folder if folder.is_dir() else Path.cwd()
    try:
        done = subprocess.run(
            ["git", "-C", str(inside), *words], capture_output=True, check=False
        )
    except OSError as error:
        raise SchedulerError(f"--git needs git: {error.strerror}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        why = what or (said[-1] if said else f"git {words[0]} failed")
        raise SchedulerError(f"--git: {why}")
    return done.stdout
