"""Pairs that begin elsewhere than where the run stands: in the past, of two branches, of many."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.bench.size import sized
from tests.bench.worlds import crowded
from tests.e2e.board import Board, prepared
from tests.e2e.facts import ghost, truth, view


def both_sides_agree(board: Board) -> dict[str, Any]:
    """Hold the view and its ghosts against REST; return the verdict."""
    truth.agrees(board.page)
    number = ghost.number_of(board.page.url)
    verdict = view.fetched(board.page, f"/what-ifs/{number}")["verdict"]
    ghosts_agree(board, verdict)
    return verdict


def ghosts_agree(board: Board, verdict: dict[str, Any]) -> None:
    """Hold the ghosts of a view against a verdict, and the verdict against the run."""
    rows = {row["key"]: row for row in view.fetched(board.page, "/state")["rows"]}
    seen = board.page.evaluate(truth.READ)
    assert list(ghost.wrong(seen, verdict, rows)) == []


def test_a_change_in_the_past_stands_beside_what_is_recorded(board: Board) -> None:
    page, world = board.page, {"scenario": "classical-reclaim"}
    made = prepared(page.request, board.url, world, 40)
    page.goto(f"{board.url}/s/{made}/what-if?tick=20&sel=ClusterQueue//team-a")
    expect(page.get_by_role("banner")).to_contain_text("Past")
    reclaim = page.get_by_role("combobox", name="Reclaim within the cohort")
    reclaim.select_option("Never")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_test_id("lives")).to_contain_text("owner")
    board.visit("Board")
    truth.agrees(page)
    page.get_by_role("button", name="Step one tick").click()
    expect(page.get_by_test_id("tick")).to_have_text("21")
    assert both_sides_agree(board)["fromMs"] == 20_000
    board.keep()
    expect(page.get_by_test_id("tick")).to_have_text("20")
    truth.agrees(page)
    state = view.fetched(page, "/objects/ClusterQueue/-/team-a")
    assert state["spec"]["preemption"]["reclaimWithinCohort"] == "Never"


def test_two_old_branches_are_a_pair(board: Board) -> None:
    page, world = board.page, {"scenario": "classical-reclaim"}
    made = prepared(page.request, board.url, world, 40)
    api = f"{board.url}/api/v1/sandboxes"
    forks = []
    for tick, rule in ((5, "Any"), (10, "Never")):
        forked = page.request.post(f"{api}/{made}/actions/fork", data={"tick": tick})
        branch = f"{api}/{forked.json()['id']}"
        patch = {"spec": {"preemption": {"reclaimWithinCohort": rule}}}
        page.request.patch(f"{branch}/objects/ClusterQueue/-/team-a", data=patch)
        page.request.post(f"{branch}/actions/step", data={"untilTick": 40})
        forks.append(forked.json()["id"])
    page.goto(f"{board.url}/s/{forks[0]}/what-if?with={forks[1]}")
    expect(page.get_by_text(re.compile("First difference")).first).to_be_visible()
    expect(page.get_by_role("list", name="Settings that differ")).to_contain_text(
        "team-a reclaimWithinCohort"
    )
    truth.agrees(page, fewest=15)
    board.visit("Board")
    said = "beside this branch, since tick 5"
    expect(board.verdict()).to_contain_text(said)
    page.goto(f"{board.url}/s/{forks[0]}/board?with={forks[1]}&tick=20")
    strip = board.verdict()
    expect(page.get_by_test_id("tick")).to_have_text("20")
    truth.agrees(page)
    verdict = view.fetched(page, f"/pair?with={forks[1]}")
    assert (verdict["fromMs"], verdict["toMs"]) == (5_000, 40_000)
    ghosts_agree(board, verdict)
    rows = verdict["seeds"][0]["verdict"]["workloads"]
    later = sum(ghost.group_of(row) == "later" for row in rows)
    expect(strip.locator("[data-cell=later] b")).to_have_text(str(later))
    strip.get_by_role("button", name="This branch alone").click()
    expect(strip).to_have_count(0)


def test_a_change_among_many_workloads_names_whom_it_moves(board: Board) -> None:
    """At full size 5,000 workloads; QUOTALAB_BENCH=tiny takes a few hundred."""
    page = board.page
    ((name, text),) = crowded(
        workloads=sized(5000, 300), nodes=sized(500, 20), queues=sized(30, 4)
    )
    files = [{"name": name, "text": text}]
    made = prepared(page.request, board.url, {"files": files}, 20)
    api = f"{board.url}/api/v1/sandboxes/{made}"
    body = {"spec": {"stopPolicy": "HoldAndDrain"}}
    patch = {"kind": "ClusterQueue", "name": "cq1", "body": body}
    asked = {"changes": [{"patch": patch}], "horizonMs": 60_000}
    number = page.request.post(f"{api}/what-ifs", data=asked).json()["id"]
    page.goto(f"{board.url}/s/{made}/board?what-if={number}")
    strip = board.verdict()
    page.request.post(f"{api}/actions/step", data={"untilTick": 21})
    expect(page.get_by_test_id("tick")).to_have_text("21")
    found = both_sides_agree(board)
    rows = found["seeds"][0]["verdict"]["workloads"]
    assert rows
    for cell in ("later", "never"):
        count = sum(ghost.group_of(row) == cell for row in rows)
        expect(strip.locator(f"[data-cell={cell}] b")).to_have_text(f"{count:,}")
    board.keep()
    board.agrees()


#: The marks of cards that are narrower than their text, or reach out of their card.
CUT = """() => [...document.querySelectorAll('[data-card] [data-mark]')]
  .filter((mark) => mark.scrollWidth > mark.clientWidth + 1
    || mark.getBoundingClientRect().right > mark.closest('[data-card]').getBoundingClientRect().right)
  .map((mark) => mark.innerText)"""


def test_what_a_change_does_to_a_card_is_never_cut(board: Board) -> None:
    page = board.page
    made = prepared(page.request, board.url, {"scenario": "friday-rush"}, 90)
    hold = {"kind": "ClusterQueue", "namespace": "", "name": "etl"}
    change = {"patch": {**hold, "body": {"spec": {"stopPolicy": "Hold"}}}}
    asked = {"at": 60, "changes": [change]}
    api = f"{board.url}/api/v1/sandboxes/{made}/what-ifs"
    number = page.request.post(f"{api}?wait=60", data=asked).json()["id"]
    for width, height in ((1440, 900), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{board.url}/s/{made}/board?what-if={number}&tick=90")
        marks = page.locator("[data-card] [data-mark]")
        expect(marks.filter(has_text="evicted")).not_to_have_count(0)
        expect(marks.filter(has_text="elsewhere")).not_to_have_count(0)
        assert page.evaluate(CUT) == []
