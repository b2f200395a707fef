"""The five places: old addresses, settings found by typing, a search that inherits."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.board import Board, prepared
from tests.services.default_run import PATIENCE_S

RECLAIM = "Reclaim within the cohort"


@pytest.fixture
def reclaiming(board: Board) -> Board:
    """A board on which an owner's work waits for quota that is lent."""
    world = {"scenario": "classical-reclaim"}
    made = prepared(board.page.request, board.url, world, 20)
    board.page.goto(f"{board.url}/s/{made}/board")
    expect(board.page.get_by_test_id("tick")).to_have_text("20")
    return board


def never(board: Board) -> None:
    """Let team-a take nothing back, as a change of a what-if."""
    board.visit("What-if")
    board.page.get_by_role("button", name="team-a", exact=True).click()
    board.page.get_by_role("combobox", name=RECLAIM).select_option("Never")
    board.page.get_by_role("button", name="Apply", exact=True).click()
    expect(board.page.get_by_test_id("lives")).to_contain_text("owner")


@pytest.mark.parametrize(
    ("view", "place", "says"),
    [
        ("workloads", "/board", "Workloads"),
        ("events", "/decisions", "Decisions"),
        ("policy", "/what-if", "What can be changed"),
        ("advisor", "/what-if", "Goal"),
        ("lessons", "/board", "Stop 1 of"),
    ],
)
def test_an_address_of_an_earlier_version_leads_to_its_place(
    reclaiming: Board, view: str, place: str, says: str
) -> None:
    page = reclaiming.page
    page.goto(page.url.replace("/board", f"/{view}"))
    expect(page.get_by_text(says).first).to_be_visible()
    expect(page).to_have_url(re.compile(place))


def test_the_palette_finds_a_setting_and_changes_it(reclaiming: Board) -> None:
    page = reclaiming.page
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("reclaim team-a")
    option = page.get_by_role("option", name=re.compile(f"^team-a: {RECLAIM}"))
    expect(option).to_contain_text("Any")
    option.click()
    page.get_by_role("option", name="Never", exact=True).click()
    strip = reclaiming.verdict()
    expect(strip.locator("[data-cell=never]")).to_contain_text("owner")


def test_a_form_and_its_yaml_say_the_same(reclaiming: Board) -> None:
    page = reclaiming.page
    never(reclaiming)
    page.get_by_role("button", name="YAML", exact=True).first.click()
    text = page.get_by_role("textbox", name="Manifest").first
    expect(text).to_have_value(re.compile("reclaimWithinCohort: Never"))
    was = "reclaimWithinCohort: Never"
    now = "reclaimWithinCohort: LowerPriority"
    text.fill(text.input_value().replace(was, now))
    page.get_by_role("button", name="Apply", exact=True).first.click()
    page.get_by_role("button", name="Form", exact=True).click()
    combobox = page.get_by_role("combobox", name=RECLAIM)
    expect(combobox).to_have_value("LowerPriority")


def test_a_search_begins_with_the_changes_of_the_what_if(reclaiming: Board) -> None:
    page = reclaiming.page
    never(reclaiming)
    number = re.search(r"what-if=(\d+)", page.url)
    assert number is not None
    page.get_by_role("button", name="search for better").click()
    page.get_by_role("button", name="By hand").click()
    expect(page.get_by_role("textbox", name="Document")).to_have_value(
        re.compile(rf"whatIf: {number[1]}\b")
    )
    page.get_by_role("button", name=re.compile("^Start ")).click()
    results = page.get_by_role("region", name="Results")
    expect(results).to_be_visible(timeout=1000 * PATIENCE_S)
    run = re.search(r"run=(\w+)", page.url)
    assert run is not None
    address = f"{reclaiming.url}/api/v1/experiments/{run[1]}"
    opened = page.request.post(f"{address}/runs/0/open", data={"tick": 20}).json()
    sandbox = f"{reclaiming.url}/api/v1/sandboxes/{opened['id']}"
    queue = page.request.get(f"{sandbox}/objects/ClusterQueue/-/team-a").json()
    assert queue["spec"]["preemption"]["reclaimWithinCohort"] == "Never"


def test_what_was_kept_and_undone_is_kept_again(reclaiming: Board) -> None:
    page = reclaiming.page
    never(reclaiming)
    reclaiming.keep()
    toasts = page.get_by_role("region", name="Messages")
    toasts.get_by_role("button", name="Undo").last.click()
    expect(page.get_by_test_id("lives")).to_contain_text("owner")
    combobox = page.get_by_role("combobox", name=RECLAIM)
    expect(combobox).to_have_value("Never")
    reclaiming.keep()
    expect(combobox).to_have_value("Never")
    reclaiming.agrees()
