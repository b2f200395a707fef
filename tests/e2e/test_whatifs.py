"""A change and what it does: it stands beside the run until it is kept or put away."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from playwright.sync_api import expect

from tests.e2e.board import MANIFESTS, UNREADABLE, Board, prepared
from tests.e2e.facts import ghost


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
    for cell in ("earlier", "later", "never"):
        count = sum(ghost.group_of(one) == cell for one in found["workloads"])
        shown = strip.locator(f"[data-cell={cell}] b")
        expect(shown).to_have_text(str(count))
    worst = found["workloads"][0]
    strip.locator(f"[data-cell={ghost.group_of(worst)}]").click()
    name = worst["subject"].rsplit("/", 1)[1]
    shown = re.sub(r"^job-(.*)-[a-z0-9]{5}$", r"\1", name)
    expect(strip.get_by_role("button", name=shown)).to_be_visible()
    payer = found["by"]["queue"][0]
    strip.get_by_test_id("pays").click()
    for group in found["by"]["queue"]:
        team = page.locator(f"[data-team='{group['name']}'] [data-later]")
        expect(team).to_have_attribute("data-later", str(group["laterMs"]))
    expect(page.get_by_test_id("bill").locator("[data-team]").first).to_contain_text(
        payer["name"]
    )
    links = page.get_by_test_id("why").locator("[data-link]")
    expect(links.last).to_have_attribute("data-link", "change")
    board.keep()
    board.agrees()


def test_one_action_after_a_drop_shows_which_team_pays_and_why(board: Board) -> None:
    page, world = board.page, {"scenario": "friday-rush"}
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{board.url}/s/{prepared(page.request, board.url, world, 78)}/board")
    expect(page.get_by_test_id("tick")).to_have_text("78")
    card = board.queue("training").locator(".card", has_text="reward-model-0003")
    board.drag(card, board.queue("research"))
    board.drop()
    strip = board.verdict()
    found = verdict_of(board)
    payer, worst = found["by"]["queue"][0], found["workloads"][0]
    expect(strip.get_by_test_id("pays")).to_contain_text(payer["name"])

    strip.get_by_test_id("pays").click()

    teams = page.get_by_test_id("bill").locator("[data-team]")
    expect(teams).to_have_count(len(found["by"]["queue"]))
    assert [one.get_attribute("data-team") for one in teams.all()] == [
        group["name"] for group in found["by"]["queue"]
    ]
    later = [
        int(one.get_attribute("data-later"))
        for one in page.get_by_test_id("bill").locator("[data-later]").all()
    ]
    assert (
        sum(later)
        == found["laterMs"]
        == sum(row["laterMs"] for row in found["workloads"])
    )
    chosen = page.locator(f"[data-life='{worst['subject']}']")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    links = page.get_by_test_id("why").locator("[data-link]")
    expect(links.last).to_have_attribute("data-link", "change")
    for one in (*teams.all(), chosen, *links.all()):
        expect(one).to_be_in_viewport(ratio=1)
    assert page.evaluate(UNREADABLE) == []


SIDES = ("changed", "without")


def used_at(line: dict, side: str, at_ms: int) -> float:
    """Return what a side uses at an instant, as REST says it."""
    run = line[side]
    known = zip(run["atMs"], run["values"], strict=True)
    return ([value for ms, value in known if ms <= at_ms] or [0])[-1]


def test_bars_have_the_use_of_both_sides_and_the_timeline_goes_on(
    board: Board,
) -> None:
    page, world = board.page, {"scenario": "friday-rush"}
    page.goto(f"{board.url}/s/{prepared(page.request, board.url, world, 190)}/board")
    card = board.queue("research").locator(".card.wide").first
    board.drag(card, board.queue("inference"))
    board.drop()
    board.verdict()
    sandbox, number = re.search(r"/s/(\w+)/.*what-if=(\d+)", page.url).groups()
    place = f"{board.url}/api/v1/sandboxes/{sandbox}/what-ifs/{number}"
    lines = page.request.get(place).json()["verdict"]["lines"]
    timeline = page.get_by_role("slider", name="Tick shown")
    timeline.focus()
    for _ in range(20):  # into what is computed ahead
        timeline.press("Shift+ArrowRight")
    legend = page.get_by_test_id("ghost-at")
    at = int(re.search(r"tick (\d+)", legend.inner_text())[1])
    assert at > 190
    expect(page.get_by_test_id("tick")).to_have_text("190")
    bars = page.locator("tr[data-key^=ClusterQueue] [data-fact^='usage a100/nvidia']")
    for bar in bars.all():
        queue = bar.locator("xpath=..").get_attribute("data-key").rsplit("/", 1)[1]
        sides = [
            [used_at(one, side, at * 1000) for side in SIDES]
            for one in lines
            if (one["of"], one["queue"]) == ("used", queue)
            and one["resource"] == "nvidia.com/gpu"
        ]
        said = [f"{a:g} {b:g}" for a, b in sides if a != b]
        expect(bar.locator("[data-instead]")).to_have_text(said)
        share = bar.locator("xpath=..").locator("td[data-label='Weighted share']")
        shares = [one for one in lines if (one["of"], one["queue"]) == ("share", queue)]
        sides = [[used_at(one, side, at * 1000) for side in SIDES] for one in shares]
        said = [f"{a:g} {b:g}" for a, b in sides if a != b]
        expect(share.locator("[data-instead]")).to_have_text(said)
    board.visit("Workloads")
    expect(page.locator("tr [data-lives]").first).to_be_visible()
    page.get_by_role("link", name="Fairness").click()
    ghosts = {
        one["queue"]
        for one in lines
        if one["of"] == "share" and one["without"] != one["changed"]
    }
    expect(page.locator("g[data-ghost]")).to_have_count(len(ghosts))


def test_nodes_have_what_pods_hold_on_both_sides(board: Board) -> None:
    page, world = board.page, {"scenario": "friday-rush"}
    page.goto(f"{board.url}/s/{prepared(page.request, board.url, world, 190)}/board")
    card = board.queue("research").locator(".card.wide").first
    board.drag(card, board.queue("inference"))
    board.drop()
    board.verdict()
    sandbox, number = re.search(r"/s/(\w+)/.*what-if=(\d+)", page.url).groups()
    place = f"{board.url}/api/v1/sandboxes/{sandbox}/what-ifs/{number}"
    lines = page.request.get(place).json()["verdict"]["lines"]
    nodes = [one for one in lines if one["of"] == "node"]
    ghosts = page.locator("[data-ghost-held]")
    expect(ghosts.first).to_be_attached()
    for view, box in (("Board", "[data-fact^='used ']"), ("Nodes", "[data-node]")):
        page.get_by_role("link", name=view, exact=True).first.click()
        expect(ghosts.first).to_be_attached()
        at = int(
            re.search(r"tick (\d+)", page.get_by_test_id("ghost-at").inner_text())[1]
        )
        for line in nodes:
            if line["resource"] != "nvidia.com/gpu":
                continue
            key = f"Node//{line['queue']}"
            after, before = (used_at(line, side, at * 1000) for side in SIDES)
            shown = page.locator(f"{box}[data-key='{key}'] [data-ghost-held]")
            if page.locator(f"{box}[data-key='{key}']").count() == 0:
                continue  # the strip counts what it has no place for
            said = [] if after == before else [f"{after:g}, not {before:g}"]
            assert [one.get_attribute("title") for one in shown.all()] == said


def test_reclaiming_never_names_who_loses_and_is_put_away(board: Board) -> None:
    page, world = board.page, {"scenario": "classical-reclaim"}
    made = prepared(page.request, board.url, world, 20)
    page.goto(f"{board.url}/s/{made}/what-if?sel=ClusterQueue//team-a")
    state = f"{board.url}/api/v1/sandboxes/{made}/hash"
    before = page.request.get(state).json()
    reclaim = page.get_by_role("combobox", name="Reclaim within the cohort")
    reclaim.select_option("Never")
    page.get_by_role("button", name="Apply", exact=True).click()
    expect(page.get_by_test_id("lives")).to_contain_text("owner")
    expect(reclaim).to_have_value("Never")
    page.get_by_role("button", name="3 seeds").click()
    expect(page.get_by_test_id("bill")).to_contain_text("range of 3 seeds")
    board.verdict().get_by_role("button", name="Discard").click()
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


def ask(board: Board, place: str, queue: str, at: int = 0) -> None:
    """Open a what-if in its place: the queue preempts none of its own."""
    body = {"spec": {"preemption": {"withinClusterQueue": "Never"}}}
    change = {"patch": {"kind": "ClusterQueue", "name": queue, "body": body}}
    api = place.replace("/s/", "/api/v1/sandboxes/")
    found = board.page.request.post(
        f"{api}/what-ifs?wait=60", data={"at": at, "changes": [change]}
    ).json()
    board.page.goto(f"{place}/what-if?what-if={found['id']}")


def test_a_change_keeps_its_words_for_a_colleague_a_reload_and_the_markdown(
    board: Board,
) -> None:
    page = board.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    ask(board.begin("two-teams.yaml"), page.url.removesuffix("/board"), "alpha")
    words = "LowerPriority → Never"
    expect(board.verdict()).to_contain_text(words)
    page.reload()
    expect(board.verdict()).to_contain_text(words)
    page.get_by_role("button", name="Copy verdict as Markdown").click()
    assert words in page.evaluate("navigator.clipboard.readText()")


def test_seeds_run_beside_what_stands_are_seen_by_all_and_can_be_stopped(
    board: Board,
) -> None:
    page, world = board.page, {"scenario": "friday-rush"}  # its seeds take a while
    made = prepared(page.request, board.url, world, 190)
    ask(board, f"{board.url}/s/{made}", "research", at=190)
    before = page.url
    sure = page.get_by_role("group", name="How sure?")
    sure.get_by_role("button", name="30 seeds").click()
    expect(sure.get_by_role("status")).to_contain_text("of 30 seeds")
    expect(page).not_to_have_url(before)
    keep = page.get_by_test_id("verdict").get_by_role("button", name="Keep")
    expect(keep).to_be_enabled()
    other = page.context.new_page()
    other.goto(page.url)
    status = other.get_by_role("group", name="How sure?").get_by_role("status")
    expect(status).to_contain_text("of 30 seeds")
    other.close()
    sure.get_by_role("button", name="Stop").click()
    expect(sure.get_by_role("status")).not_to_contain_text("of 30 seeds")
    expect(page).to_have_url(before)


def test_an_address_of_what_was_replaced_leads_to_what_took_its_place(
    board: Board,
) -> None:
    page = board.page
    ask(board.begin("two-teams.yaml"), page.url.removesuffix("/board"), "alpha")
    before = page.url
    sure = page.get_by_role("group", name="How sure?")
    with page.expect_response(re.compile("/discard")):
        sure.get_by_role("button", name="3 seeds").click()
        expect(sure.get_by_role("status")).to_contain_text("seed")
    after = page.url
    page.goto(before)
    expect(page.get_by_text("was replaced").first).to_be_visible()
    expect(page).to_have_url(after)


def test_the_result_is_a_patch_of_the_file_that_it_came_from(
    board: Board, tmp_path: Path
) -> None:
    page = board.page
    ask(board.begin("two-teams.yaml"), page.url.removesuffix("/board"), "alpha")
    file = tmp_path / "two-teams.yaml"
    file.write_bytes((MANIFESTS / file.name).read_bytes())
    with page.expect_download() as saved, page.expect_file_chooser() as chooser:
        page.get_by_role("button", name="Patch of my files").click()
        chooser.value.set_files(file)
    expect(page.get_by_text("The patch changes two-teams.yaml.").first).to_be_visible()
    before = file.read_text()
    diff = saved.value.path().read_bytes()
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=diff, check=True)
    old, new = "{withinClusterQueue: LowerPriority}", "{withinClusterQueue: Never}"
    assert file.read_text() == before.replace(old, new, 1)


def test_the_patch_is_of_the_files_that_were_given_to_the_sandbox(
    board: Board,
) -> None:
    page = board.load("two-teams.yaml").page
    api = re.sub(r"/s/(\w+)/.*", r"/api/v1/sandboxes/\1", page.url)
    body = {"spec": {"preemption": {"withinClusterQueue": "Never"}}}
    change = {"patch": {"kind": "ClusterQueue", "name": "alpha", "body": body}}
    asked = {"at": 0, "changes": [change]}
    made = page.request.post(f"{api}/what-ifs?wait=60", data=asked).json()
    page.goto(page.url.replace("/board", f"/what-if?what-if={made['id']}"))
    with page.expect_download() as saved:  # nothing is chosen: the browser keeps them
        page.get_by_role("button", name="Patch of my files").click()
    assert "+++ b/two-teams.yaml" in saved.value.path().read_text()


def test_the_release_in_the_header_leads_to_another_one(board: Board) -> None:
    page = board.page
    board.begin("two-teams.yaml")
    page.get_by_test_id("release").click()
    field = page.get_by_label("Kueue", exact=True)
    before = field.input_value()
    field.fill("0.16.4")
    field.press("Enter")
    expect(board.verdict()).to_contain_text(f"Kueue: {before} → 0.16.4")
    expect(page.get_by_test_id("release")).to_have_text(f"as Kueue {before}")
    rules = page.get_by_role("region", name="Rules of the releases")
    expect(rules).to_contain_text("SchedulingEquivalenceHashing=true turns it back")
    expect(
        rules.get_by_text("Before: each Workload is tried by itself")
    ).to_be_visible()


def test_the_tick_of_the_pair_is_a_handle_and_the_run_stays(board: Board) -> None:
    page = board.page
    board.begin("two-teams.yaml", tick=12)
    board.drag(board.queue("alpha").locator(".card").first, board.queue("beta"))
    board.drop()
    board.verdict()
    handle = page.get_by_role("slider", name="Tick of both sides")
    box = handle.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(0, box["y"], steps=4)  # before the pair begins
    page.mouse.up()
    expect(handle).to_have_attribute("aria-valuenow", "13")
    handle.press("Shift+ArrowRight")
    expect(handle).to_have_attribute("aria-valuenow", "23")
    expect(page.get_by_test_id("ghost-at")).to_contain_text("tick 23")
    expect(page.get_by_test_id("tick")).to_have_text("12")
