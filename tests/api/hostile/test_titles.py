"""Titles and names that reach terminals and tables hold nothing that cannot be seen."""

from __future__ import annotations

import pytest

from api.command.output import Found, show
from scheduler.model.texts.plain_text import printable, unseen

HOSTILE = [
    "ok\x1b]0;x\x07\x1b[2J\x1b[31mred\nfake-id0000  line two",
    "\u202etxt",
    "\u200b",
    "\u200d",
    "two\u2028lines",
    "\u2066isolated\u2069",
    "\ufeffmark",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_it_is_refused_as_a_title(text):
    assert unseen(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_it_is_printed_on_one_line_with_escapes(text, capsys):
    show(Found(rows=[{"title": text}], columns=["title"]), as_json=False)
    _, line = capsys.readouterr().out.splitlines()
    assert not unseen(line) or text == "\u200d"


@pytest.mark.parametrize(
    "text",
    ["Friday rush", "周五高峰", "\U0001f469\u200d\U0001f4bb", "é", "می\u200cخواهم", ""],
)
def test_what_people_write_is_a_title(text):
    assert not unseen(text)
    assert printable(text) == text


@pytest.mark.django_db
@pytest.mark.parametrize("text", HOSTILE)
def test_a_sandbox_is_not_made_nor_renamed_with_it(text):
    from api.serializers.sandboxes import ChangeSerializer, CreateSerializer

    for serializer in (CreateSerializer, ChangeSerializer):
        asked = serializer(data={"title": text})
        assert not asked.is_valid()
        assert "title" in asked.errors
