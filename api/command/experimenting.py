"""The verb `experiment`: the exit status says whether its assertions hold, for CI."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import msgspec

from api.command.output import Bar, Found
from api.command.verbs import Asked, Part, WrongError, verb
from scheduler.analysis.experiments.results import AssertionVerdict
from scheduler.cli.experiment import add_junit_word, junit_text, read_file, sources_of
from scheduler.model.errors import SchedulerError

LOOK_EVERY_S = 0.3
_WORDS = {True: "ok  ", False: "FAIL", None: "-   "}


def _arguments(part: Part) -> None:
    part.add_argument("file", help="the document of the experiment")
    part.add_argument("--workers", type=int, help="processes to start here")
    add_junit_word(part)


@verb(
    "experiment",
    "run variants x seeds; the exit status says whether the assertions hold",
    "experiment compare.yaml --junit report.xml",
    "experiment compare.yaml --server https://quotalab.example --json",
    arguments=_arguments,
)
def experiment(asked: Asked) -> Found:
    """Run an experiment: on a server by its workers, else by processes of our own."""
    words = asked.words
    if not asked.remote:
        return _here(words)
    operations = asked.client.operations
    made = operations.experiments_create(body_of(Path(words.file)))
    bar = Bar(quiet=words.quiet)
    while True:
        found: Any = operations.experiments_read(made["id"])
        bar.at(found["done"], found["total"], "runs")
        if found["state"] != "running":
            break
        time.sleep(LOOK_EVERY_S)
    bar.end()
    if words.junit:
        verdicts = msgspec.convert(found["verdicts"], list[AssertionVerdict])
        words.junit.write_text(junit_text(found["variants"], verdicts), "utf-8")
    failed = any(verdict["holds"] is False for verdict in found["verdicts"])
    status = int(failed or found["failed"] > 0 or found["state"] != "done")
    return Found(document=found, text=_text(found), status=status)


def body_of(path: Path) -> Any:
    """Return what the API takes: the document, and the files that lie beside it."""
    try:
        read, files = read_file(path)
        document: dict[str, Any] = msgspec.to_builtins(read)
        if read.spec.base.files:
            sources = sources_of(read, path, files)
            document["spec"]["base"]["files"] = [name for name, _ in sources]
            files = {**files, **dict(sources)}
    except SchedulerError as error:
        raise WrongError(str(error)) from error
    listed = [{"name": name, "text": text} for name, text in files.items()]
    return {"document": document, "files": listed}


def _text(found: dict[str, Any]) -> str:
    names = found["variants"]
    lines = [f"{found['done']} runs, {found['failed']} failed"]
    for verdict in found["verdicts"]:
        word = _WORDS[verdict["holds"]]
        lines.append(f"{word} {names[verdict['variant']]}: {verdict['text']}")
    return "\n".join(lines)


def _here(words: Any) -> Found:
    from api.command.local import manage

    words_given = ["experiment", words.file]
    words_given += ["--json"] if words.json else []
    words_given += ["--junit", str(words.junit)] if words.junit else []
    words_given += [] if words.workers is None else ["--workers", str(words.workers)]
    return Found(status=manage(words_given))
