"""What msgspec and libyaml say of a value or a text, as sentences with codes."""

from __future__ import annotations

import re
from functools import cache

from scheduler.model.problems.forms import Checked, Form
from scheduler.model.problems.library import NotYaml
from scheduler.model.problems.problems import Problem
from scheduler.model.problems.wanted import Wanted
from scheduler.model.sentence import Sentence, Stated, plain

_FORMS = (
    *(Problem.DOMAINS, Form.NOT_A_TIME),
    *(Form.RAW_GOT, Form.RAW, Form.RAW_MISSING, Form.RAW_UNEXPECTED),
    *(Form.RAW_ENUMERATION, Form.GOT, Form.EXPECTED, Form.MISSING),
    *(Form.UNEXPECTED, Form.ENUMERATION),
)
_WANTED = (
    *(Wanted.WHOLE_LEAST, Wanted.WHOLE_MOST, Wanted.NUMBER_LEAST, Wanted.NUMBER_MOST),
    *(Wanted.TIME, Wanted.TYPED_LEAST, Wanted.TYPED_MOST, Wanted.TYPED),
    *(one for one in Wanted if "{" not in one.english),
)


def said_of_value(text: str) -> Sentence:
    """Return the sentence of a ValidationError of msgspec; other texts unchanged."""
    problem, placed, path = text.rpartition(" - at `")
    if placed:
        what = said_of_value(problem)
        return Form.PLACED.said(what=what, path=path.removesuffix("`"))
    return _first(_FORMS, text) or plain(text)


def said_of_check(text: str) -> Sentence:
    """Return the sentence of a REST framework error; other texts unchanged."""
    return _first(tuple(Checked), text) or plain(text)


def said_of_yaml(problem: str) -> Sentence:
    """Return the sentence of a libyaml error."""
    return next(
        (one.said() for one in NotYaml if one.english == problem), plain(problem)
    )


def _first(forms: tuple[Stated, ...], text: str) -> Sentence | None:
    for one in forms:
        if found := _pattern(one.english).fullmatch(text):
            holes: dict[str, object] = dict(found.groupdict())
            if "wanted" in holes:
                holes["wanted"] = _first(_WANTED, found["wanted"]) or plain(
                    found["wanted"]
                )
            return one.said(**holes)
    return None


@cache
def _pattern(english: str) -> re.Pattern[str]:
    return re.compile(
        re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(english)), re.DOTALL
    )
