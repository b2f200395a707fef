"""A recorded cluster on the page: marked as real, scrubbed, not edited, forked."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.board import UNREADABLE, Board
from tests.sandbox.twins.conftest import played as recorded  # noqa: F401 - fixture


def test_a_recording_is_opened_played_and_forked(
    board: Board,
    recorded,  # noqa: F811 - the fixture
) -> None:
    page = board.page
    page.goto(board.url)
    file = {"name": "prod.qrec", "mimeType": "", "buffer": recorded.file()}
    page.locator("input[type=file]").set_input_files(file)
    mark = page.get_by_test_id("real")
    expect(mark).to_contain_text("Real")
    board.play()
    expect(page.get_by_test_id("tick")).to_have_text("40", timeout=30_000)
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    board.agrees_in("Workloads")
    page.goto(re.sub(r"\?.*", "", page.url) + "?tick=5")
    expect(page.get_by_text("live is at 40")).to_be_visible()
    expect(mark).to_contain_text("Real")
    page.get_by_role("button", name="Fork here").click()
    expect(page.get_by_test_id("tick")).to_have_text("5")
    expect(mark).to_be_hidden()
    board.agrees()


@pytest.mark.parametrize("width", [1280, 1440, 1920])
def test_its_title_leaves_branch_and_date_their_place(
    board: Board,
    recorded,  # noqa: F811 - the fixture
    width: int,
) -> None:
    page = board.page
    page.set_viewport_size({"width": width, "height": 720})
    page.goto(board.url)
    name = "production-cluster-west-2-with-a-long-name.qrec"
    file = {"name": name, "mimeType": "", "buffer": recorded.file()}
    page.locator("input[type=file]").set_input_files(file)
    expect(page.get_by_test_id("real")).to_contain_text("Real")
    expect(page.get_by_text("Nothing waits here.", exact=True)).to_have_count(2)
    problems = page.evaluate(UNREADABLE)
    assert [one for one in problems if "header.top" in one] == []


def test_the_lesson_for_teams_leads_through_a_forecast_and_its_outcome(
    board: Board,
) -> None:
    page = board.page
    page.goto(board.url)
    page.get_by_role("button", name=re.compile("^For teams: follow")).click()
    expect(page.get_by_test_id("real")).to_contain_text("Real")
    page.goto(re.sub(r"/board.*", "/lessons?stop=3", page.url))
    page.get_by_role("button", name="Run to tick 360").click()
    page.get_by_role("button", name="Show the answer").click(timeout=120_000)
    expect(page.get_by_text("25 s to 1 min 14 s in the band")).to_be_visible()
    expect(page.get_by_role("button", name="Back to this stop")).to_have_count(0)
    page.get_by_text("index-search-0005").first.click()
    page.get_by_role("button", name="Forecast its start").click()
    # How many futures end in the time that they have depends on the machine.
    band = page.get_by_text(
        re.compile(r"Likely in \d+.s; \d+.s to .* in 8 of 10 futures")
    )
    expect(band.first).to_be_visible(timeout=240_000)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Close the lesson").click()
    shaded = page.get_by_text("Shaded: 8 of 10 futures of the forecast")
    expect(shaded.first).to_be_visible()  # beside the curves of all
    page.get_by_role("link", name="Fairness").click()
    expect(page.locator("[data-fan]")).to_have_count(3)
    expect(shaded.first).to_be_visible()
