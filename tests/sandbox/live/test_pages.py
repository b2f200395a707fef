"""What a whole page holds."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sandbox import actions
from sandbox.live import pages
from sandbox.models import Sandbox
from sandbox.page.diffs import MOST_EVENTS
from sandbox.world import history
from sandbox.world.kept import forget_all
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db(transaction=True)]


def types(lines: list[dict[str, object]]) -> set[object]:
    return {line["type"] for line in lines}


def test_a_page_keeps_its_events_for_decisions(busy: Sandbox) -> None:
    for _ in range(3):
        tick(busy)
    sandbox = row(busy)
    all_types = {
        event.type
        for event in history.newest_events(sandbox, sandbox.revision, MOST_EVENTS)
    }
    page = history.page_at(sandbox, sandbox.revision)
    state = pages.state_of(sandbox, sandbox.revision, page)
    assert {"Arrive", "Wait", "Admit"} <= all_types
    assert types(state["events"]) == all_types - {"Arrive", "Wait"}  # type: ignore[arg-type]


@pytest.mark.skipif(connection.vendor != "sqlite", reason="counts SQLite's steps")
def test_a_page_that_opens_after_a_night_does_not_read_the_night(busy: Sandbox) -> None:
    def steps(since: int | None) -> tuple[int, int]:
        """Return the statements, and the database's own steps, of a page that has `since`."""
        forget_all()
        made = [0]

        def count() -> None:
            made[0] += 1

        with CaptureQueriesContext(connection) as asked:
            connection.connection.set_progress_handler(count, 10)
            pages.frames_for(busy.pk, since)
            connection.connection.set_progress_handler(None, 0)
        return len(asked), made[0]

    tick(busy, 640)  # as many curves as a page has
    early = [steps(None), steps(row(busy).revision - 9)]
    tick(busy, 640)  # as far from its checkpoint as before
    late = [steps(None), steps(row(busy).revision - 9)]
    assert [one[0] for one in late] == [one[0] for one in early]
    assert [
        (after, before)
        for (_, after), (_, before) in zip(late, early, strict=True)
        if after > 1.1 * before + 5
    ] == []


def test_an_edit_has_its_code_in_a_diff_and_on_a_page(
    busy: Sandbox, person: User
) -> None:
    made = actions.do_speed(person, busy.pk, 2.0)
    sandbox = row(busy)
    state = pages.state_of(
        sandbox, sandbox.revision, history.page_at(sandbox, sandbox.revision)
    )
    said = {
        "code": "edit.speed",
        "text": f"{person.username} sets the speed to 2 ticks/s",
        "holes": {"who": person.username, "speed": "2"},
    }
    assert [event["said"] for event in made.events] == [said]
    assert state["events"][-1]["said"] == said  # type: ignore[index]


def test_a_schedulers_own_words_have_no_code(busy: Sandbox) -> None:
    events = [event for step in tick(busy, 3) for event in step.events]
    decided = [event for event in events if event["type"] in ("Admit", "Wait")]
    assert decided
    assert not [event for event in decided if "said" in event]
