"""Pods to other nodes, quota by its handle, plug-ins by the form: foreseen, kept, to be copied."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, expect

from tests.e2e.board import Board


@pytest.fixture
def placed(board: Board) -> Board:
    """Two nodes, and a pod on one of them; paused."""
    board.begin("two-nodes.yaml", tick=2)
    expect(pod(board.page.locator("[data-node]"))).to_be_visible()
    return board


def node(board: Board, name: str) -> Locator:
    return board.page.locator(f"[data-node={name}]")


def pod(where: Locator) -> Locator:
    return where.get_by_role("button", name=re.compile("^roamer, 2"))


def ends(board: Board) -> tuple[str, str]:
    """Return the node that the pod is on, and the other one."""
    there = pod(node(board, "left")).count() == 1
    return ("left", "right") if there else ("right", "left")


def test_a_pod_is_carried_to_another_node_by_keyboard(placed: Board) -> None:
    page, (here, there) = placed.page, ends(placed)
    chip = pod(node(placed, here))
    chip.focus()
    chip.press("Space")
    chip.press("ArrowRight")
    expect(placed.verdict().locator("[data-cell=later] b")).to_have_text("1")
    chip.press("Enter")
    expect(placed.verdict()).to_contain_text(f"roamer moved from {here} to {there}")
    page.get_by_role("button", name="1 change").click()
    page.get_by_role("link", name="Result").click()
    expect(page.get_by_role("button", name="Copy REST call")).to_be_visible()
    page.go_back()
    placed.keep()
    page.get_by_role("button", name="Step one tick").click()
    expect(pod(node(placed, there))).to_be_visible()
    placed.agrees_in("Nodes")


def test_a_pods_scores_are_reported_node_by_node(placed: Board) -> None:
    here, there = ends(placed)
    placed.page.get_by_role("link", name=re.compile("^Nodes")).first.click()
    table = placed.page.get_by_test_id("scores")
    expect(table.get_by_role("row", name=re.compile(f"^{here}"))).to_contain_text(
        "bound"
    )
    expect(table.get_by_role("row", name=re.compile(f"^{there}"))).to_be_visible()
    expect(table).to_contain_text("NodeResourcesFit")


def test_a_nominal_quota_is_changed_by_its_handle(board: Board) -> None:
    board.begin("two-teams.yaml")
    handle = board.page.get_by_role("slider", name="Nominal quota of alpha, plain cpu")
    handle.focus()
    handle.press("ArrowRight")
    expect(handle).to_have_attribute("aria-valuetext", re.compile("5.CPU, now 4.CPU"))
    # Each job asks for 2 CPU, so one more CPU is room for none.
    expect(board.verdict()).to_contain_text("Nothing differs within 10 min")
    handle.press("Enter")
    done = "Nominal quota of alpha in plain is 5 CPU"
    expect(board.verdict()).to_contain_text(done)
    board.keep()
    expect(handle).to_have_attribute("aria-valuetext", re.compile("^5.CPU$"))
    board.agrees()


def test_a_plugin_is_put_off_at_one_extension_point(placed: Board) -> None:
    page = placed.page
    placed.visit("What-if")
    points = page.get_by_role("group", name="Extension points of NodeResourcesFit")
    score = points.get_by_role("button", name="score", exact=True)
    expect(score).to_have_attribute("aria-pressed", "true")
    score.click()
    placed.keep()
    expect(score).to_have_attribute("aria-pressed", "false")
    document = page.get_by_role("region", name="KubeSchedulerConfiguration")
    expect(document).to_contain_text("disabled")
    expect(
        page.get_by_role("spinbutton", name="Weight of NodeResourcesFit")
    ).to_have_count(0)
