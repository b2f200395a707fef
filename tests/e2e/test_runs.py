"""Experiments on the page: made, run for real, read, and a run opened as a sandbox."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.e2e.board import Board


def vary(board: Board) -> None:
    """Search for better by hand."""
    board.visit("What-if")
    board.page.get_by_role("button", name="search for better").click()
    board.page.get_by_role("button", name="By hand").click()


def test_two_variants_and_three_seeds_end_in_a_table_and_a_run_opens(
    played: Board,
) -> None:
    page = played.page
    vary(played)
    page.get_by_role("textbox", name="Name of variant 2").fill("quicker")
    page.get_by_role("textbox", name="Name of variant 2").press("Tab")
    found = page.get_by_role("combobox", name="Add a change").nth(1)
    found.fill("Pace of arrivals · The run")
    page.get_by_role("spinbutton", name="Seeds", exact=True).fill("3")
    page.get_by_role("spinbutton", name="Seeds", exact=True).press("Tab")
    expect(page.get_by_text("2 variants × 3 seeds = 6 runs")).to_be_visible()
    page.get_by_role("button", name="Start 6 runs").click()
    results = page.get_by_role("region", name="Results")
    expect(results.get_by_text("3 / 3")).to_have_count(2, timeout=90_000)
    expect(results).to_contain_text("quicker")
    expect(
        page.get_by_role("region", name="Two measures against each other")
    ).to_contain_text("Pareto front")
    page.get_by_role("button", name=re.compile("^quicker, seed 2:")).click()
    page.get_by_role("spinbutton", name="At tick").fill("9")
    page.get_by_role("spinbutton", name="At tick").press("Tab")
    page.get_by_role("button", name=re.compile("^Open as a sandbox at")).click()
    page.wait_for_url(re.compile(r"/s/\w+/board"))
    expect(page.get_by_role("banner")).to_contain_text("quicker, seed 2")


def test_a_draft_is_its_address(played: Board) -> None:
    page = played.page
    vary(played)
    page.get_by_role("button", name="Ready example").first.click()
    expect(page.get_by_role("button", name="Start 9 runs")).to_be_enabled()
    page.get_by_role("textbox", name="Title").fill("Kept in the address")
    page.get_by_role("textbox", name="Title").press("Tab")
    expect(page.get_by_role("textbox", name="Document")).to_have_value(
        re.compile("Kept in the address")
    )
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_role("textbox", name="Title")).to_have_value(
        "Kept in the address"
    )


def test_charts_are_saved_as_pictures_and_their_numbers_as_text(played: Board) -> None:
    page = played.page
    page.get_by_role("link", name=re.compile("^Fairness")).click()
    chart = page.get_by_role("region", name="Allocation and share on one time axis")
    expect(chart.get_by_role("img").first).to_be_visible()
    files = {}
    for kind in ("SVG", "PNG", "CSV"):
        with page.expect_download() as saved:
            chart.get_by_role("button", name=re.compile("^Save")).first.click()
            chart.get_by_role("button", name=re.compile(f"as {kind}$")).click()
        files[kind] = saved.value.path().read_bytes()
    assert files["SVG"].startswith(b"<svg")
    assert b"var(--" not in files["SVG"]
    assert files["PNG"].startswith(b"\x89PNG")
    assert files["CSV"].startswith(b"tick,alpha cpu")
