"""The other views: the past, forks compared, reconnecting."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.board import PREEMPTED, Board, prepared
from tests.e2e.facts import truth
from tests.services.default_run import DefaultRun


def test_the_scrubber_shows_the_past_and_comes_back(played: Board) -> None:
    slider = played.page.get_by_role("slider", name="Tick shown")
    slider.focus()
    slider.press("Home")
    for _ in range(3):
        slider.press("ArrowRight")
    expect(played.page.get_by_role("banner")).to_contain_text("Past")
    expect(played.page.get_by_test_id("tick")).to_have_text("3")
    played.sees("alpha", "second", "Admitted")
    expect(
        played.queue("alpha").get_by_role("button", name=re.compile("^urgent"))
    ).to_have_count(0)
    played.agrees()
    played.agrees_in("Workloads", "Fairness", "Preemptions")
    played.page.get_by_role("button", name="Back to live").click()
    played.visit("Board")
    played.sees("alpha", "urgent", "Admitted")
    played.agrees()
    played.agrees_in("Inspector", "Workloads", "Fairness")


def test_a_rewind_right_after_opening_changes_the_page_once(board: Board) -> None:
    states: list[str] = []

    def count(frame: str | bytes) -> None:
        if str(frame).startswith('{"type":"page_state"'):
            states.append("page")

    page = board.page
    page.on("websocket", lambda socket: socket.on("framereceived", count))
    board.begin("two-teams.yaml", tick=PREEMPTED)
    for at in (PREEMPTED - 1, PREEMPTED - 2):
        page.keyboard.press(",")
        expect(page.get_by_test_id("tick")).to_have_text(str(at))
    expect(page.get_by_role("banner")).to_contain_text("Past")
    page.keyboard.press("Shift+R")
    expect(page.get_by_role("banner")).not_to_contain_text("Past")
    expect(page.get_by_test_id("tick")).to_have_text(str(PREEMPTED - 2))
    board.agrees()
    page.keyboard.press(".")
    expect(page.get_by_test_id("tick")).to_have_text(str(PREEMPTED - 1))
    board.agrees()
    assert len(states) == 2  # at its opening, and of the new past


def test_space_plays_after_a_menu_was_left(played: Board) -> None:
    page = played.page
    page.get_by_role("button", name=re.compile("^Menu of alpha")).click()
    expect(page.locator("[popover]:popover-open")).to_have_count(1)
    page.keyboard.press("Escape")
    expect(page.locator("[popover]:popover-open")).to_have_count(0)
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    expect(page.locator("[popover]:popover-open")).to_have_count(0)


def test_a_sandbox_gets_another_name_or_keeps_its_own(played: Board) -> None:
    page, top = played.page, played.page.get_by_role("banner")
    title = top.get_by_role("button", name=re.compile("^Menu of "))

    def rename(to: str, end: str) -> None:
        title.click()
        page.get_by_role("button", name="Rename").click()
        expect(page.get_by_label("Name of the sandbox")).to_be_focused()
        page.keyboard.type(to)
        page.keyboard.press(end)

    before = title.inner_text()
    rename("not this", "Escape")
    expect(title).to_have_text(before)
    rename("Two teams", "Enter")
    expect(title).to_have_text("Two teams")


def test_what_was_undone_is_not_offered_to_be_undone(played: Board) -> None:
    page = played.page
    page.get_by_role("button", name=re.compile("^Menu of alpha")).click()
    page.get_by_role("button", name="Hold").click()
    played.keep()
    toasts = page.get_by_role("region", name="Messages")
    expect(toasts).to_contain_text("stopPolicy: None → Hold")
    page.keyboard.press("Control+z")
    expect(toasts).to_contain_text("The last edit is undone")
    expect(toasts.get_by_role("button", name="Undo")).to_have_count(0)
    expect(toasts.get_by_role("button", name="Redo")).to_be_visible()


def test_an_undo_makes_the_ticks_since_the_edit_again(played: Board) -> None:
    """The edit took a preemption away: its badge, its row and its card come back."""
    page = played.page
    api = page.url.replace("/s/", "/api/v1/sandboxes/").removesuffix("/board")
    badge = page.get_by_role("link", name=re.compile("^Decisions"))
    expect(badge).to_contain_text("1new")
    page.request.post(f"{api}/actions/rewind", data={"tick": 3})
    expect(page.get_by_test_id("tick")).to_have_text("3")
    page.get_by_role("button", name=re.compile("^Menu of alpha")).click()
    page.get_by_role("button", name="Hold").click()
    played.keep()
    toasts = page.get_by_role("region", name="Messages")
    expect(toasts).to_contain_text("stopPolicy: None → Hold")
    page.request.post(f"{api}/actions/step", data={"untilTick": PREEMPTED})
    expect(page.get_by_test_id("tick")).to_have_text(str(PREEMPTED))
    expect(badge).not_to_contain_text("new")
    page.keyboard.press("Control+z")
    expect(toasts).to_contain_text("The last edit is undone")
    played.sees("alpha", "urgent", "Admitted")
    expect(badge).to_contain_text("1new")
    played.agrees()
    played.agrees_in("Preemptions", "Fairness", "Workloads")


def test_a_fork_with_another_policy_is_compared(played: Board) -> None:
    page = played.page
    parent = page.url.split("/s/")[1].split("/")[0]
    page.goto(f"{page.url}?tick=3")
    expect(page.get_by_role("banner")).to_contain_text("Past")
    page.get_by_role("button", name="Fork here").click()
    expect(page).not_to_have_url(re.compile(parent))
    expect(page.get_by_test_id("tick")).to_have_text("3")
    played.visit("What-if")
    settings = page.get_by_role("group", name="Of a queue")
    settings.get_by_role("button", name="alpha", exact=True).click()
    within = "Preemption within the ClusterQueue"
    page.get_by_role("combobox", name=within).select_option("Never")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_test_id("lives")).to_contain_text("urgent")
    played.keep()
    played.visit("Branches")
    page.get_by_role("button", name=re.compile("^Run both to")).click()
    expect(page.get_by_text(re.compile(r"First difference, tick \d+"))).to_be_visible()
    outcomes = page.get_by_role("region", name="Workloads whose outcome differs")
    expect(outcomes).to_contain_text("urgent")
    expect(outcomes).to_contain_text("second")
    differ = page.get_by_role("list", name="Settings that differ")
    expect(differ).to_contain_text("alpha withinClusterQueue")
    played.agrees_in("Branches")
    played.agrees()


def test_a_lost_cluster_says_so_beside_the_others(board: Board) -> None:
    page, world = board.page, {"scenario": "two-clusters-one-lost"}
    page.goto(f"{board.url}/s/{prepared(page.request, board.url, world, 10)}/board")
    for cluster in ("east", "west"):
        expect(board.queue(f"{cluster}:shared")).to_be_visible()
    page.get_by_role("button", name="Cluster east").click()
    page.get_by_role("button", name="Lose the connection").click()
    board.keep()
    expect(
        page.get_by_role("button", name=re.compile("^east.*not reached$"))
    ).to_be_visible()
    board.card("shared", "train", "Admitted").click()
    asked = page.get_by_role("region", name="Worker clusters")
    expect(asked).to_contain_text("ClientConnectionFailed")
    expect(asked).to_contain_text("another cluster admitted it first")


def test_why_pending_says_what_would_help(played: Board) -> None:
    played.card("alpha", "waiting", "Inadmissible").click()
    drawer = played.page.get_by_role("complementary", name="Inspector")
    expect(drawer).to_contain_text("short by 2")
    api = re.sub(r"/s/(\w+)/.*", r"/api/v1/sandboxes/\1", played.page.url)
    (key,) = re.findall("sel=Workload/([^&]+)", unquote(played.page.url))
    told = played.page.request.get(f"{api}/explain/{key}").json()["sentences"]
    for sentence in told[:7]:
        if "job-" not in sentence:  # the page names jobs as their owner does
            expect(drawer).to_contain_text(sentence)
    drawer.get_by_role("button", name="Forecast its start").click()
    expect(drawer).to_contain_text("of 20 futures ended", timeout=60_000)
    expect(played.page.locator("[data-forecast]").first).to_be_visible()
    drawer.get_by_role("button", name="Try them").click()
    expect(drawer.get_by_role("button", name="Show").first).to_be_visible(
        timeout=60_000
    )


def test_the_form_of_a_workload_says_in_which_queue_it_starts_soonest(
    played: Board,
) -> None:
    page = played.page
    played.visit("Workloads")
    page.get_by_role("button", name="Add", exact=True).first.click()
    form = page.get_by_role("dialog", name="Add by hand")
    form.get_by_role("button", name="Would it start?").click()
    expect(form.get_by_test_id("would")).to_contain_text(
        re.compile("It would (start now|wait)"), timeout=60_000
    )
    form.get_by_role("button", name="Forecast it in every queue").click()
    expect(form).to_contain_text("Soonest in", timeout=60_000)
    expect(form.get_by_role("row")).not_to_have_count(1)


def test_the_overview_says_what_waits_and_leads_to_it(played: Board) -> None:
    page = played.page
    played.visit("Board")
    page.keyboard.press("Escape")
    page.get_by_text("What waits here, and for what").click()
    waits = page.get_by_test_id("what-waits")
    expect(waits).to_contain_text("not enough quota is free", timeout=60_000)
    waits.get_by_role("button").first.click()
    expect(page).to_have_url(re.compile("sel=Workload"))


def test_a_node_of_the_table_is_found_by_its_address(played: Board) -> None:
    page = played.page
    played.visit("Workloads")
    page.get_by_role("button", name="ClusterQueues", exact=True).click()
    page.get_by_role("searchbox", name="Filter").fill("alpha")
    expect(page.get_by_text("1 to 1 of 1")).to_be_visible()
    address = page.url
    page.goto("about:blank")
    page.goto(address)
    expect(page.get_by_text("1 to 1 of 1")).to_be_visible()


def test_the_palette_finds_a_workload(played: Board) -> None:
    page = played.page
    page.keyboard.press("Control+k")
    page.get_by_role("combobox").fill("urgent")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("sel=Workload"))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Play or pause")
    page.keyboard.press("Escape")
    played.agrees()


def test_the_palette_finds_lessons_and_how_one_is_written(played: Board) -> None:
    page = played.page
    for sought, leads in (("lesson", "lesson=1"), ("write", "write=1")):
        page.keyboard.press("Control+k")
        page.get_by_role("combobox").fill(sought)
        page.keyboard.press("Enter")
        expect(page).to_have_url(re.compile(leads))


def test_the_palette_finds_a_recipe_and_opens_its_file(board: Board) -> None:
    page = board.page
    page.goto(board.url)
    page.get_by_role("button", name="Search or run a command").click()
    page.get_by_placeholder("An object, a view").fill("idle 8 GPUs")
    page.get_by_role("option", name=re.compile("^Guarantee 8 GPUs")).click()
    page.wait_for_url(re.compile("/board"))
    expect(page.get_by_role("banner")).to_contain_text("Guarantee 8 GPUs")


def test_what_is_typed_while_the_palette_comes_is_sought_and_is_no_command(
    played: Board,
) -> None:
    page = played.page
    held: list[Route] = []
    page.route("**/Palette-*.js", lambda asked: held.append(asked))
    page.reload()
    expect(page.get_by_test_id("tick")).not_to_be_empty()
    with page.expect_request("**/Palette-*.js"):
        page.keyboard.press("Control+k")
    page.keyboard.type("u ota")
    held[0].continue_()
    expect(page.get_by_role("combobox")).to_have_value("u ota")
    expect(page.get_by_role("button", name="Play")).to_be_visible()


def test_what_is_typed_while_a_form_comes_is_no_command(played: Board) -> None:
    page = played.page
    held: list[Route] = []
    page.route("**/AddDialog-*.js", lambda asked: held.append(asked))
    page.reload()
    expect(page.get_by_test_id("tick")).not_to_be_empty()
    with page.expect_request("**/AddDialog-*.js"):
        page.keyboard.press("n")
    page.keyboard.type(" ztgw")
    held[0].continue_()
    expect(page.get_by_role("dialog")).to_be_visible()
    expect(page.get_by_role("button", name="Play")).to_be_visible()
    assert "/board" in page.url


def test_a_part_that_does_not_arrive_is_said_and_comes_with_the_next_loading(
    board: Board,
) -> None:
    page = board.page
    page.route("**/Curves-*.css", lambda asked: asked.abort())
    board.begin("two-teams.yaml", tick=PREEMPTED)
    said = page.get_by_text("A part of the page did not arrive.")
    expect(said).to_be_visible()
    board.agrees()
    page.unroute("**/Curves-*.css")
    page.get_by_role("button", name="Load the page again").click()
    expect(page.locator(".uplot").first).to_be_visible()
    expect(said).not_to_be_visible()


def test_the_page_goes_on_after_the_server_comes_back(
    page: Page, tmp_path: Path
) -> None:
    page.set_default_timeout(20_000)
    with DefaultRun(tmp_path / "default_run") as default_run:
        board = Board(page, default_run.url).begin("two-teams.yaml", tick=PREEMPTED)
        port = default_run.url.rsplit(":", 1)[1]
        tick = page.get_by_test_id("tick").inner_text()
    expect(page.get_by_role("banner")).to_contain_text("Reconnecting")
    expect(page.get_by_test_id("tick")).to_have_text(tick)
    again = DefaultRun(tmp_path / "default_run")
    again.arguments = ("--port", port, "--no-open")
    with again:
        expect(page.get_by_role("banner")).to_contain_text("Paused", timeout=30_000)
        expect(page.get_by_test_id("tick")).to_have_text(tick)
        board.agrees()


#: Worlds, the tick to look at, and the fewest numbers that each view has then.
WORLDS = [
    (
        ("friday-rush", 120),
        {"Workloads": 99, "Nodes": 70, "Fairness": 40, "Preemptions": 15}
        | {"Branches": 15, "What-if": 0, "Decisions": 150},
    ),
    (
        ("preemption-budget", 40),
        {
            "Workloads": 6,
            "Nodes": 20,
            "Preemptions": 3,
            "Branches": 15,
            "Decisions": 10,
        },
    ),
    (
        ("yunikorn-no-storm", 60),
        {"Workloads": 6, "Nodes": 30, "Fairness": 25, "Preemptions": 3}
        | {"Branches": 15, "Decisions": 99},
    ),
]


@pytest.mark.parametrize(("world", "views"), WORLDS)
def test_every_number_of_every_view_is_rests(
    board: Board, world: tuple[str, int], views: dict[str, int]
) -> None:
    page, (scenario, tick) = board.page, world
    made = prepared(page.request, board.url, {"scenario": scenario}, tick)
    forks = f"{board.url}/api/v1/sandboxes/{made}/actions/fork"
    page.request.post(forks, data={"tick": tick // 2})
    page.goto(f"{board.url}/s/{made}/board")
    expect(page.get_by_test_id("tick")).to_have_text(str(tick))
    board.agrees()
    for view, fewest in views.items():
        board.visit(view)
        truth.agrees(page, fewest)
