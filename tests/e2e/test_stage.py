"""Stage mode: question, board and answer on one screen of 1280 x 720."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.e2e.board import UNREADABLE, prepared
from tests.e2e.stops import CUT, walk, walk_panel
from tests.e2e.stops import projector as stage_page

#: A lesson of each scheduler, with queues above nodes, beside them, and alone.
SAMPLE = ("classical-reclaim", "rack-local-training", "kube-pools", "yunikorn-no-storm")


@pytest.fixture
def projector(browser: Browser, live_server_url: str) -> Iterator[Page]:
    """A projector's page on a run of Friday rush that stands at its first tick."""
    context = browser.new_context(viewport={"width": 1280, "height": 720})
    page = context.new_page()
    page.set_default_timeout(120_000)
    request = context.request
    made = prepared(request, live_server_url, {"scenario": "friday-rush"}, 1)
    page.goto(f"{live_server_url}/s/{made}/board")
    yield page
    context.close()


def _stage(page: Page, stop: int, phase: str = "") -> None:
    page.goto(f"{page.url.split('?')[0]}?stage={stop}{phase}")
    expect(page.locator("[data-part=say]")).to_be_visible()


def test_a_clicker_leads_through_a_lesson_and_back_without_a_fork(
    projector: Page,
) -> None:
    page = projector
    _stage(page, 1)
    expect(page.locator("[data-part=ask]")).to_contain_text("gives back first")
    expect(page.locator(".corner")).to_contain_text("00:01:49")
    expect(page.locator("[data-part=answer]")).to_have_count(0)
    page.keyboard.press("PageDown")
    expect(page.locator("[data-part=answer]")).to_contain_text("etl")
    expect(page.locator(".corner")).to_contain_text("00:01:56")
    place = page.url.split("?")[0]
    page.reload()
    expect(page.locator("[data-part=answer]")).to_contain_text("etl")
    page.keyboard.press("PageUp")
    expect(page.locator("[data-part=answer]")).to_have_count(0)
    expect(page.locator(".corner")).to_contain_text("00:01:49")
    assert page.url.split("?")[0] == place
    page.keyboard.press(".")
    expect(page.get_by_test_id("stage-blank")).to_be_visible()
    page.keyboard.press(".")
    page.keyboard.press("PageDown")
    page.keyboard.press("PageDown")  # the world moves: read the answer at once
    expect(page.locator("[data-part=answer]")).to_contain_text("etl")
    page.keyboard.press("PageDown")
    expect(page.locator(".corner")).to_contain_text("2 of 3")


def test_a_letter_is_a_bet_and_then_blanks_the_screen(projector: Page) -> None:
    page = projector
    _stage(page, 1)
    page.keyboard.press("b")
    expect(page.get_by_role("radio").nth(1)).to_be_checked()
    expect(page.get_by_test_id("stage-blank")).to_have_count(0)
    page.keyboard.press("a")
    expect(page.get_by_role("radio").first).to_be_checked()
    page.keyboard.press("PageDown")
    expect(page.locator("[data-part=answer]")).to_be_visible()
    page.keyboard.press("b")
    expect(page.get_by_test_id("stage-blank")).to_be_visible()


def test_the_code_of_the_notes_is_in_their_window_alone(projector: Page) -> None:
    page = projector
    _stage(page, 1)
    page.keyboard.press("q")
    invite = page.get_by_role("dialog")
    expect(page.get_by_test_id("stage-code")).to_be_visible()
    expect(invite.get_by_role("img")).to_have_count(1)
    with page.expect_popup() as opened:
        invite.get_by_role("link", name="Your notes").click()
    notes = opened.value.get_by_test_id("lesson-notes")
    expect(notes).to_contain_text("gives back first")
    notes.get_by_text("On your own phone").click()
    expect(notes.get_by_role("img")).to_be_visible()


def test_the_world_moves_before_its_answer_is_read(projector: Page) -> None:
    page = projector
    _stage(page, 1)
    expect(page.locator(".corner")).to_contain_text("00:01:49")
    page.keyboard.press("PageDown")
    expect(page.locator(".corner")).to_contain_text(re.compile(r"00:01:5[0-5]"))
    expect(page.locator("[data-part=answer]")).to_have_count(0)
    expect(page.get_by_role("radio").first).to_be_disabled()
    expect(page.locator("[data-part=answer]")).to_contain_text("etl")
    expect(page.locator(".corner")).to_contain_text("00:01:56")


@pytest.mark.parametrize("language", ["en-US", "zh-CN"])
def test_no_stop_of_any_lesson_is_cut(
    browser: Browser, live_server_url: str, language: str
) -> None:
    """Every stop of the library, as one lesson over one board."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 720}, locale=language
    )
    page = context.new_page()
    made = prepared(context.request, live_server_url, {"scenario": "friday-rush"}, 1)
    library = context.request.get(f"{live_server_url}/api/v1/scenarios").json()
    stops = [stop for one in library["items"] for stop in one["checkpoints"]]
    for stop in stops:
        stop.update(atMs=0, shownMs=0)
    one = library["items"][0] | {"checkpoints": stops}
    body = json.dumps(one)
    page.route(
        re.compile(r"/script$"),
        lambda route: route.fulfill(body=body, content_type="application/json"),
    )
    page.goto(f"{live_server_url}/s/{made}/board?stage=1")
    expect(page.locator("[data-part=say]")).to_be_visible()
    cut: list[str] = []
    for number, stop in enumerate(stops, 1):
        expect(page.locator(".corner")).to_contain_text(
            re.compile(rf"(?<!\d){number}(?!\d)")
        )
        cut += [f"{number}: {one}" for one in page.evaluate(CUT)]
        page.keyboard.press("PageDown")
        if stop["answer"]:
            expect(page.locator("[data-part=answer]")).to_be_visible()
            cut += [f"{number}: {one}" for one in page.evaluate(CUT)]
            page.keyboard.press("PageDown")
    assert cut == []
    context.close()


@pytest.mark.parametrize("lesson", SAMPLE)
def test_nothing_is_cut_on_the_board_of_a_lesson(
    browser: Browser, live_server_url: str, lesson: str
) -> None:
    """`python -m tests.e2e.stops FOLDER` looks at every lesson."""
    page = stage_page(browser)
    cut = [
        f"{place}: {one}"
        for place in walk(page, live_server_url, lesson)
        for one in page.evaluate(CUT)
    ]
    assert cut == []
    page.context.close()


@pytest.mark.parametrize("lesson", ["execution-limit", "yunikorn-order-of-queues"])
def test_a_panel_of_long_words_is_whole_and_leads_on(
    browser: Browser, live_server_url: str, lesson: str
) -> None:
    page = stage_page(browser)
    cut = [
        f"{place}: {one}"
        for place in walk_panel(page, live_server_url, lesson)
        for one in page.evaluate(UNREADABLE)
        if ".pane" in one
    ]
    assert cut == []
    page.context.close()


def test_a_lesson_is_written_by_playing_and_presented(projector: Page) -> None:
    page = projector
    page.goto(f"{page.url.split('?')[0]}?write=1")
    panel = page.get_by_test_id("write-lesson")
    panel.get_by_role("button", name="Mark this moment").last.click()
    panel.get_by_label("To say").fill("The first second of the rush.")
    panel.get_by_label("The question").fill("Who comes first?")
    for number, words in enumerate(("training", "etl"), 1):
        panel.get_by_role("button", name="Add a choice").click()
        panel.get_by_label(f"Choice {number}", exact=True).fill(words)
    panel.get_by_label("Choice 2 is right").check()
    panel.get_by_label("The answer", exact=True).fill("etl.")
    panel.get_by_role("button", name="Save", exact=True).click()
    expect(panel.get_by_role("link", name="File")).to_be_visible()
    panel.get_by_role("button", name="Present").click()
    expect(page.get_by_test_id("lesson-stage")).to_contain_text("Who comes first?")
    page.keyboard.press("PageDown")
    expect(page.locator("[data-part=answer]")).to_have_text("etl.")
