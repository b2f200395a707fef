"""A change and what it does: it stands beside the run until it is kept or put away."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.board import Board, prepared


def verdict_of(board: Board) -> dict:
    """Return the verdict over REST of the what-if that the address names."""
    sandbox, number = re.search(r"/s/(\w+)/.*what-if=(\d+)", board.page.url).groups()
    place = f"{board.url}/api/v1/sandboxes/{sandbox}/what-ifs/{number}"
    return board.page.request.get(place).json()["verdict"]["seeds"][0]["verdict"]


def test_a_drag_in_the_demo_shows_who_pays_and_is_kept(board: Board) -> None:
    page, world = board.page, {"scenario": "friday-rush"}
    page.goto(f"{board.url}/s/{prepared(page.request, board.url, world, 190)}/board")
    expect(page.get_by_test_id("tick")).to_have_text("190")
    card = board.queue("research").locator(".card.wide").first
    board.drag(card, board.queue("inference"))
    board.drop()
    strip = board.verdict()
    expect(page).to_have_url(re.compile("what-if="))
    found = verdict_of(board)
    for cell, starts in (
        ("earlier", ("earlier", "only")),
        ("later", ("later",)),
        ("never", ("never",)),
    ):
        count = sum(one["start"] in starts for one in found["workloads"])
        shown = strip.locator(f"[data-cell={cell}] b")
        expect(shown).to_have_text(str(count))
    worse = [one for one in found["workloads"] if one["loses"]]
    group = "never" if worse[0]["start"] == "never" else "later"
    strip.locator(f"[data-cell={group}]").click()
    name = worse[0]["subject"].rsplit("/", 1)[1]
    shown = re.sub(r"^job-(.*)-[a-z0-9]{5}$", r"\1", name)
    expect(strip.get_by_role("button", name=shown)).to_be_visible()
    board.keep()
    board.agrees()


def test_reclaiming_never_names_who_loses_and_is_put_away(board: Board) -> None:
    page, world = board.page, {"scenario": "classical-reclaim"}
    made = prepared(page.request, board.url, world, 20)
    page.goto(f"{board.url}/s/{made}/policy")
    state = f"{board.url}/api/v1/sandboxes/{made}/hash"
    before = page.request.get(state).json()
    reclaim = page.get_by_role("combobox", name="team-a: Reclaim within the cohort")
    reclaim.select_option("Never")
    strip = board.verdict()
    expect(strip.locator("[data-cell=never]")).to_contain_text("owner")
    expect(reclaim).to_have_value("Never")
    strip.get_by_role("button", name="Discard").click()
    expect(page.get_by_test_id("verdict")).to_have_count(0)
    expect(reclaim).to_have_value("Any")
    assert page.request.get(state).json() == before
    board.agrees()


def test_what_is_carried_and_put_back_leaves_no_what_if(board: Board) -> None:
    page, world = board.page, {"scenario": "friday-rush"}
    made = prepared(page.request, board.url, world, 190)
    page.goto(f"{board.url}/s/{made}/board")
    expect(page.get_by_test_id("tick")).to_have_text("190")
    card = board.queue("research").locator(".card.wide").first
    with page.expect_response(re.compile("/discard")):
        board.drag(card, board.queue("inference"))
        strip = page.get_by_test_id("verdict")
        expect(strip).to_contain_text("moved from research to inference")
        page.keyboard.press("Escape")
    board.drop()
    expect(strip).to_have_count(0)
    found = page.request.get(f"{board.url}/api/v1/sandboxes/{made}/what-ifs").json()
    assert [one["state"] for one in found["items"]] == ["discarded"]
    board.agrees()
