"""Titles and names that reach terminals and tables hold nothing that cannot be seen."""

from __future__ import annotations

import io
import json

import pytest

from api.command.output import Found, show
from scheduler.analysis.experiments.results import Verdict
from scheduler.cli.experiment import write_table
from scheduler.cli.statuses import refused
from scheduler.model.errors import SchedulerError
from scheduler.model.scenario import read_scenario
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


@pytest.mark.parametrize("text", [*HOSTILE[:3], *HOSTILE[4:]])
def test_no_line_of_a_command_has_it(text, capsys, tmp_path):
    shown = Found(document={"title": text})
    show(shown, as_json=True)
    answer = capsys.readouterr().out
    assert json.loads(answer) == {"title": text}
    names = [text, "plain"]
    table = io.StringIO()
    write_table(table, names, [], [Verdict(variant=0, text=text, holds=True)])
    refused(SchedulerError(text.replace("\n", " ")))
    said = [answer, table.getvalue(), capsys.readouterr().err]
    assert not any(unseen(line) for one in said for line in one.splitlines())


@pytest.mark.parametrize("text", [*HOSTILE[:3], *HOSTILE[4:]])
def test_it_is_refused_as_the_title_of_a_scenario(text):
    texts = {"en": "A title"}
    spec = {"title": {"en": text}, "summary": texts, "policy": {}, "arrivals": []}
    with pytest.raises(SchedulerError, match=r"spec\.title\.en: .* on one line"):
        read_scenario({"kind": "Scenario", "metadata": {"name": "s"}, "spec": spec})
