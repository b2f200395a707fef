"""A stop of a lesson under several policies: beside each other, and at the setting."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.board import Board, prepared


@pytest.mark.parametrize(
    ("scenario", "stop", "tick", "besides", "until"),
    [
        ("fair-strategies-in-order", 1, 20, 2, 90),
        ("kube-locks-deadlock", 1, 4, 2, 100),
    ],
)
def test_a_stop_runs_its_policies_side_by_side(
    board: Board, scenario: str, stop: int, tick: int, besides: int, until: int
) -> None:
    page = board.page
    made = prepared(page.request, board.url, {"scenario": scenario}, tick)
    page.goto(f"{board.url}/s/{made}/board?lesson={stop}")
    page.get_by_role("button", name=re.compile("side by side")).click()
    page.wait_for_url(re.compile("/what-if"))
    for letter in "ABC"[: besides + 1]:
        expect(page.get_by_role("button", name=f"against {letter}")).to_be_visible()
    deltas = page.get_by_role("region", name=f"Deltas, ticks {tick} to {until}")
    expect(deltas).to_be_visible()
    expect(page.get_by_text("First difference").first).to_be_visible()


def test_a_stop_about_locks_leads_to_the_switch(board: Board) -> None:
    page, world = board.page, {"scenario": "kube-locks-deadlock"}
    made = prepared(page.request, board.url, world, 4)
    page.goto(f"{board.url}/s/{made}/lessons?stop=1")
    page.get_by_role("link", name="To the setting").click()
    lock = page.get_by_label("How several schedulers share the nodes")
    expect(lock).to_be_in_viewport()
    expect(lock).to_have_value("pessimistic")
