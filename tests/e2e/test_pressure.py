"""A person lets a node run out of memory, and its kubelet evicts pods."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.e2e.board import Board, prepared


def test_a_node_that_runs_out_of_memory_evicts_in_the_what_if(board: Board) -> None:
    page, world = board.page, {"scenario": "node-pressure"}
    made = prepared(page.request, board.url, world, 20)
    page.goto(f"{board.url}/s/{made}/nodes?sel=Node//node-1")
    page.get_by_role("button", name="Run out of memory").click()
    expect(board.verdict()).to_contain_text("node-1 runs out of memory")
    board.keep()
    api = f"{board.url}/api/v1/sandboxes/{made}"
    page.request.post(f"{api}/actions/step", data={"untilTick": 25})
    expect(page.get_by_test_id("tick")).to_have_text("25")
    found = page.request.get(f"{api}/events?type=Evict").json()
    assert [one["reason"] for one in found["items"]][:1] == ["Evicted"]
