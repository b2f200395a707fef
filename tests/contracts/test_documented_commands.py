"""Every command of README and docs/ is one that its program takes, word by word."""

from __future__ import annotations

import argparse
import re
import shlex
from pathlib import Path

import pytest
from django.core.management import load_command_class

from api.command.parser import parser
from scheduler.cli.verbs import VERBS, Verb

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    *(ROOT / package / "README.md" for package in ("scheduler", "sandbox", "api")),
    *sorted((ROOT / "docs").glob("*.md")),
]
#: Where a command ends within a line, and what may stand before it.
_ENDS = {"|", ">", ">>", "<", "&", "&&", ";"}
_BEFORE = re.compile(r"^(\$ )?(\.venv/bin/)?((QUOTALAB_\w+)=\S+ )*(\.venv/bin/)?")
#: Lines that show the form of a command: [OPTION], FILE..., NAME|OTHER.
_FORM = re.compile(r"\[|\.\.\.|\w\|\w")


class TakenError(Exception):
    """The words were parsed; nothing is to be done."""


def lines() -> list[tuple[str, str]]:
    """Return (document, line) of each command of ours."""
    found = []
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        for block in re.findall(
            r"^```(?:sh)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL
        ):
            for line in block.replace("\\\n", " ").splitlines():
                shown = _BEFORE.sub("", line.strip())
                if re.match(r"quotalab |python (-m scheduler|manage.py) ", shown):
                    found.append((path.name, shown))
    return found


def words_of(line: str) -> list[str]:
    """Return the words up to a pipe, a redirection or a comment."""
    words = shlex.split(line, comments=True)
    end = next((n for n, word in enumerate(words) if word in _ENDS), len(words))
    return words[:end]


@pytest.fixture
def only_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a program end as soon as it took its words."""
    parse = argparse.ArgumentParser.parse_args

    def stop(self, *given, **named):
        parse(self, *given, **named)
        raise TakenError

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", stop)


def ask(words: list[str]) -> None:
    """Give a command its words, as a shell does."""
    if words[0] == "quotalab":
        verb = VERBS.get(words[1])
        if verb is not None and verb.process:
            manage(words[1], words[2:])
        elif verb is not None and (verb.do is None or _is_of_files(verb, words)):
            verb.run(words[2:])
        parser().parse_args(words[1:])
    elif words[1] == "manage.py":
        manage(words[2], words[3:])
    else:
        VERBS[words[3]].run(words[4:])


def _is_of_files(verb: Verb, words: list[str]) -> bool:
    return verb.takes_either and (ROOT / words[2]).exists()


def manage(name: str, words: list[str]) -> None:
    app = "django.core" if name == "migrate" else "sandbox"
    load_command_class(app, name).create_parser("manage.py", name).parse_args(words)


@pytest.mark.usefixtures("only_parsed")
def test_every_command_is_taken_as_it_is_written(capsys):
    wrong = []
    shown = [
        (name, line) for name, line in lines() if not _FORM.search(line.split("#")[0])
    ]
    assert len(shown) > 40
    for name, line in shown:
        try:
            ask(words_of(line))
        except TakenError:
            continue
        except SystemExit:
            wrong.append(f"{name}: {line}: {capsys.readouterr().err.splitlines()[-1]}")
        else:
            wrong.append(f"{name}: {line}: its words are not parsed")
    assert wrong == []


@pytest.mark.usefixtures("only_parsed")
@pytest.mark.parametrize("line", ["quotalab plan --bogus", "quotalab bogus"])
def test_a_word_that_no_program_takes_is_found(line):
    with pytest.raises(SystemExit):
        ask(words_of(line))
