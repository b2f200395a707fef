"""What a whole page holds."""

from __future__ import annotations

import pytest

from sandbox.live import pages
from sandbox.models import Sandbox
from sandbox.page.diffs import MOST_EVENTS
from sandbox.world import history
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
