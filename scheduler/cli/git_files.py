"""Files of a folder as a commit of git has them."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from typing import NamedTuple

from scheduler.input.files.unpacking import Text, Unpacking, is_read
from scheduler.model.errors import SchedulerError


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
