"""The first story: drop a file, play, see it decide, drag, change the policy."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Browser, Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.e2e.board import MANIFESTS, Board


def test_a_policy_change_changes_who_is_preempted(board: Board) -> None:
    board.load("two-teams.yaml")
    board.play()
    board.sees("alpha", "first", "Admitted")
    board.sees("alpha", "urgent", "Admitted")
    board.sees("alpha", "second", "Evicted")
    board.sees("alpha", "waiting", "Inadmissible")

    board.drag(board.card("alpha", "waiting", "Inadmissible"), board.queue("beta"))
    expect(board.verdict().locator("[data-cell=idle]")).to_contain_text("1 other")
    board.drop()
    expect(board.verdict()).to_contain_text("waiting moved from alpha to beta")
    board.keep()
    board.play(fast=False)
    board.sees("beta", "waiting", "Admitted")

    board.visit("What-if")
    settings = board.page.get_by_role("group", name="Of a queue")
    settings.get_by_role("button", name="alpha", exact=True).click()
    within = "Preemption within the ClusterQueue"
    board.page.get_by_role("combobox", name=within).select_option("Never")
    board.page.get_by_role("button", name="Apply", exact=True).click()
    expect(board.verdict()).to_contain_text("Nothing differs within 10 min")
    board.keep()
    expect(board.page.get_by_role("combobox", name=within)).to_have_value("Never")
    board.page.get_by_role("link", name="Board", exact=True).click()
    board.play(fast=False)
    with board.page.expect_response(re.compile("/actions/import")):
        add_file(board, "urgent-again.yaml")
    board.sees("alpha", "urgent-again", "Inadmissible")
    board.sees("alpha", "first", "Admitted")
    board.agrees()


def test_with_the_first_policy_the_same_job_preempts(played: Board) -> None:
    board = played
    board.play()
    add_file(board, "urgent-again.yaml")
    board.sees("alpha", "urgent-again", "Admitted")
    board.sees("alpha", "first", "Evicted")
    board.agrees()


def test_two_browsers_are_in_step(board: Board, browser: Browser) -> None:
    board.begin("two-teams.yaml")
    other = browser.new_context().new_page()
    other.goto(board.page.url)
    second = Board(other, board.url)
    board.play()
    second.sees("alpha", "urgent", "Admitted")
    second.pause()
    tick = other.get_by_test_id("tick").inner_text()
    expect(board.page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(board.page.get_by_test_id("tick")).to_have_text(tick)
    board.agrees()
    second.agrees()
    other.context.close()


def test_a_card_is_carried_by_the_keyboard(played: Board) -> None:
    board = played
    board.play()
    card = board.card("alpha", "waiting", "Inadmissible")
    card.focus()
    card.press(" ")
    said = board.page.get_by_test_id("announcer")
    expect(said).to_contain_text("waiting picked up")
    card.press("ArrowRight")
    expect(said).to_contain_text("Over beta")
    card.press("Enter")
    board.keep()
    board.play(fast=False)
    board.sees("beta", "waiting", "Admitted")
    board.agrees()


def test_what_is_carried_stays_under_the_pointer(played: Board) -> None:
    page = played.page
    card = played.card("alpha", "urgent", "Admitted").bounding_box()
    assert card is not None
    page.mouse.move(card["x"] + 20, card["y"] + 8)
    page.mouse.down()
    for x, y in ((300, 400), (900, 300), (1430, 890)):
        page.mouse.move(x, y)
        page.wait_for_function(
            """([x, y]) => {
              const box = document.querySelector("[data-testid=carrying]")?.getBoundingClientRect();
              return box && box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
            }""",
            arg=[x, y],
        )
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("carrying")).to_have_count(0)


def test_escape_puts_a_carried_card_back(played: Board) -> None:
    board = played
    board.play()
    board.drag(board.card("alpha", "waiting", "Inadmissible"), board.queue("beta"))
    board.page.keyboard.press("Escape")
    board.drop()
    expect(board.page.get_by_test_id("verdict")).to_have_count(0)
    board.sees("alpha", "waiting", "Inadmissible")
    board.agrees()


def test_a_dropped_folder_names_what_is_wrong_and_reports_what_came_of_the_rest(
    board: Board, tmp_path: Path
) -> None:
    text = (MANIFESTS / "two-teams.yaml").read_text()
    broken = text.replace("nominalQuota: 4", "nominalQuota: four", 1)
    line = broken[: broken.index("four")].count("\n") + 1
    followed = (MANIFESTS / "urgent-again.yaml").read_text()
    later = followed.replace("spec:\n", "spec:\n  backoffLimit: 3\n", 1)
    given = {"teams.yaml": broken, "jobs/later.yaml": later, "notes.md": "Ours."}
    for name, content in given.items():
        path = tmp_path / "given" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    page = board.page
    page.goto(board.url)
    expect(page.get_by_test_id("load")).to_be_visible()
    drop_folder(page, tmp_path / "given")
    bench = page.get_by_test_id("workbench")
    expect(bench).to_contain_text(f"given/teams.yaml:{line}")
    expect(bench).to_contain_text("four")
    expect(page).to_have_url(re.compile(r"/$"))

    page.get_by_role("button", name="Load the rest").click()
    page.wait_for_url(re.compile(r"/s/\w+/board"))
    expect(board.queue("beta")).to_be_visible()
    page.get_by_role("button", name="What came of it").click()
    report = page.get_by_role("dialog", name="What came of it")
    expect(report).to_contain_text("given/notes.md:1")
    report.get_by_text("Fields of Job that are kept and not followed").click()
    limit = report.get_by_role("row").filter(has_text="backoffLimit")
    expect(limit).to_contain_text("given/jobs/later.yaml:")


def test_jobs_that_come_without_their_queue_are_shown_all_the_same(
    board: Board,
) -> None:
    board.begin("jobs-alone.yaml")
    column = board.page.get_by_role("region", name="Without a queue")
    card = column.get_by_role("button", name="alone, Pending")
    card.click()  # a job is seen before its Workload is made
    drawer = board.page.get_by_role("complementary")
    expect(drawer).to_contain_text("Its Workload is made in the first tick")
    board.agrees_in("Workloads", "Board")
    board.page.get_by_role("button", name="Step one tick").click()
    expect(drawer).to_contain_text("Why pending")
    expect(card).to_be_visible()
    board.agrees_in("Board", "Workloads")


FOLDER = {
    "queues.yaml": """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: research}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: plain
      resources:
      - name: cpu
        nominalQuota: 4
      - name: memory
        nominalQuota: 36Gb
""",
    "jobs/train.yaml": """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: team
  labels: {kueue.x-k8s.io/queue-name: main}
spec:
  paralelism: 2
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: c
        command: [sleep, "300"]
        resources: {requests: {cpu: 2, memory: 4Gi}}
""",
    "jobs/nightly.yaml": """\
apiVersion: batch/v1beta1
kind: Job
metadata:
  name: nightly
  namespace: team
  labels: {kueue.x-k8s.io/queue-name: main}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: c
        command: [sleep, "120"]
        resources: {requests: {cpu: 2, memory: 1Gi}}
""",
}


def test_a_folder_with_five_faults_becomes_a_running_what_if_on_the_page(
    board: Board, tmp_path: Path
) -> None:
    for name, content in FOLDER.items():
        path = tmp_path / "ours" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    page = board.page
    page.goto(board.url)
    expect(page.get_by_test_id("load")).to_be_visible()
    drop_folder(page, tmp_path / "ours")
    bench = page.get_by_test_id("workbench")
    # Each fault is named with its file; what the first two hide shows once they are gone.
    bench.get_by_role("button", name="ours/queues.yaml:14").click()
    text = bench.get_by_role("textbox", name="Text of ours/queues.yaml")
    expect(text).to_be_focused()
    bench.get_by_role("button", name="Write 36G instead of 36Gb").click()
    expect(text).to_have_value(re.compile(r"nominalQuota: 36G\n"))
    bench.get_by_role("button", name="Repair all that have one repair").click()
    expect(bench.get_by_role("status")).to_contain_text("No errors")
    bench.get_by_role("button", name=re.compile("^added.yaml")).click()
    added = bench.get_by_role("textbox", name="Text of added.yaml")
    expect(added).to_have_value(re.compile("LocalQueue(.|\n)*ResourceFlavor"))
    bench.get_by_label("from sleep commands and deadlines").check()
    expect(bench).to_contain_text("take their run time from their command")
    bench.get_by_role("button", name="Load", exact=True).click()

    page.wait_for_url(re.compile(r"/s/\w+/board"))
    made = re.search(r"/s/(\w+)/", page.url)[1]
    jobs = f"{board.url}/api/v1/sandboxes/{made}/objects/Job/team"
    ours = page.request.get(f"{jobs}/train").json()["metadata"]["annotations"]
    assert ours["quotalab.dev/runtime"] == "300000ms"
    assert ours["quotalab.dev/runtime-source"] == "its command"
    quota = page.get_by_role("slider", name="Nominal quota of research, plain cpu")
    quota.focus()
    quota.press("ArrowRight")
    quota.press("ArrowRight")
    quota.press("Enter")
    board.verdict()


SLEEPS = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: late
  namespace: default
  labels: {kueue.x-k8s.io/queue-name: nowhere}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: c
        command: [sleep, "90"]
        resources: {requests: {cpu: 1}}
"""


def test_run_times_are_given_by_hand_to_what_comes_into_an_open_sandbox(
    board: Board, tmp_path: Path
) -> None:
    board.begin("two-teams.yaml")
    page = board.page
    (tmp_path / "given").mkdir()
    (tmp_path / "given" / "late.yaml").write_text(SLEEPS)
    drop_folder(page, tmp_path / "given")
    bench = page.get_by_test_id("workbench")
    bench.get_by_text("Each by hand").click()
    field = bench.get_by_label("Run time of Job default/late")
    field.fill("lognormal(median 5m, p90 20m)")
    field.blur()
    expect(bench).to_contain_text("takes its run time from the choice")
    bench.get_by_role("button", name="Load", exact=True).click()
    expect(bench).to_have_count(0)
    made = re.search(r"/s/(\w+)/", page.url)[1]
    place = f"{board.url}/api/v1/sandboxes/{made}/objects/Job/default/late"
    ours = page.request.get(place).json()["metadata"]["annotations"]
    assert ours["quotalab.dev/runtime"] == "lognormal(median 5m, p90 20m)"

    # What the report of it offers is added by one click.
    page.get_by_role("button", name="What came of it").click()
    report = page.get_by_role("dialog", name="What came of it")
    offered = report.get_by_role("button", name=re.compile("Add LocalQueue nowhere"))
    with page.expect_response(re.compile("actions/import$")):
        offered.first.click()
    queue = f"{board.url}/api/v1/sandboxes/{made}/objects/LocalQueue/default/nowhere"
    assert page.request.get(queue).ok


def test_a_report_leads_back_to_the_choice_of_run_times(
    board: Board, tmp_path: Path
) -> None:
    board.begin("two-teams.yaml")
    page = board.page
    (tmp_path / "given").mkdir()
    plain = SLEEPS.replace("nowhere", "to-alpha").replace("default", "teams")
    plain = plain.replace('command: [sleep, "90"]', "image: i")
    (tmp_path / "given" / "late.yaml").write_text(plain)
    drop_folder(page, tmp_path / "given")
    page.get_by_role("button", name="Add it").click()
    page.get_by_role("button", name="What came of it").click()
    report = page.get_by_role("dialog", name="What came of it")
    report.get_by_role("button", name="Choose run times…").click()
    bench = page.get_by_test_id("workbench")
    bench.get_by_label("one time, or one distribution, for all").check()
    expect(bench).to_contain_text("takes its run time from the choice 5m")
    bench.get_by_role("button", name="Load", exact=True).click()
    expect(bench).to_have_count(0)
    made = re.search(r"/s/(\w+)/", page.url)[1]
    place = f"{board.url}/api/v1/sandboxes/{made}/objects/Job/teams/late"
    ours = page.request.get(place).json()["metadata"]["annotations"]
    assert ours["quotalab.dev/runtime"] == "5m"


def test_the_start_page_gives_the_line_that_brings_a_cluster(board: Board) -> None:
    page = board.page
    page.goto(board.url)
    page.get_by_text("From a running cluster").click()
    panel = page.get_by_test_id("load")
    expect(panel).to_contain_text("kubectl api-resources --verbs=list")
    expect(panel).to_contain_text("fullstatedump")
    expect(
        panel.get_by_role("button", name="Copy: a cluster's objects")
    ).to_be_enabled()


PODS = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: runs, namespace: default}
  spec:
    nodeName: worker-1
    containers: [{name: c, image: i, resources: {requests: {cpu: 30}}}]
- apiVersion: v1
  kind: Pod
  metadata: {name: waits, namespace: default}
  spec:
    containers: [{name: c, image: i, resources: {requests: {cpu: 2}}}]
"""


def test_pods_alone_are_offered_the_nodes_that_they_name(board: Board) -> None:
    page = board.page
    page.goto(board.url)
    page.locator("input[type=file]").set_input_files(
        {"name": "pods.yaml", "mimeType": "text/yaml", "buffer": PODS.encode()}
    )
    bench = page.get_by_test_id("workbench")
    bench.get_by_role(
        "button", name="Add the node, as large as what runs on it"
    ).click()
    bench.get_by_role("button", name="Load", exact=True).click()
    page.wait_for_url(re.compile(r"/s/\w+/nodes"))
    made = re.search(r"/s/(\w+)/", page.url)[1]
    place = f"{board.url}/api/v1/sandboxes/{made}/objects/Node/-/worker-1"
    assert page.request.get(place).json()["status"]["allocatable"]["cpu"] == "32"


def test_a_text_is_checked_again_as_it_is_written(board: Board) -> None:
    page = board.page
    page.goto(board.url)
    page.locator("input[type=file]").set_input_files(
        {"name": "v.yaml", "mimeType": "text/yaml", "buffer": b"kind: [Job"}
    )
    bench = page.get_by_test_id("workbench")
    expect(bench.get_by_role("button", name="Load the rest")).to_be_visible()
    text = bench.get_by_role("textbox", name="Text of v.yaml")
    text.fill("apiVersion: v1\nkind: Namespace\nmetadata: {name: n}\n")
    expect(bench.get_by_role("button", name="Load", exact=True)).to_be_enabled()
    bench.get_by_role("button", name="Cancel").click()
    expect(bench).to_have_count(0)


def test_what_is_wrong_with_a_file_is_brought_into_sight(board: Board) -> None:
    page = board.page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(board.url)
    # What comes after a place was scrolled to moves it: the list of scenarios is above.
    expect(page.get_by_role("button", name="Open Friday rush")).to_be_visible()
    with page.expect_file_chooser() as asked:
        page.get_by_role("button", name="Load your own").click()
    asked.value.set_files(
        {"name": "v.yaml", "mimeType": "text/yaml", "buffer": b"kind: [Job"}
    )
    fault = page.get_by_test_id("workbench").get_by_role("button", name="v.yaml:2")
    expect(fault).to_be_in_viewport()


def test_a_scenario_opens_at_its_first_question_and_sums_up_nothing_before_it(
    board: Board,
) -> None:
    page = board.page
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{board.url}/?q=classical-reclaim")
    # A sandbox of the scenario may be among the recent ones, with a menu of this name.
    card = re.compile("^Reclaiming what was lent")
    page.get_by_role("button", name=card).click()
    expect(page.locator(".lesson .say")).to_be_in_viewport()
    expect(page.get_by_test_id("tick")).to_have_text("29")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_visible()
    expect(
        page.get_by_role("heading", name="Reclaiming what was lent", level=2)
    ).to_be_visible()
    expect(page.get_by_test_id("story")).to_have_count(0)


VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {reclaimable: false, deserved: {cpu: "2"}}
"""


def test_objects_of_volcano_are_converted_when_that_is_chosen(board: Board) -> None:
    page = board.page
    page.goto(board.url)
    page.locator("input[type=file]").set_input_files(
        {"name": "v.yaml", "mimeType": "text/yaml", "buffer": VOLCANO.encode()}
    )
    offered = page.get_by_test_id("conversion")
    expect(offered).to_contain_text("ClusterQueue")
    expect(offered).to_contain_text("reclaimable: false")
    offered.get_by_role("button", name="Convert").click()
    page.wait_for_url(re.compile(r"/s/\w+/board"))
    expect(board.queue("research")).to_be_visible()


def drop_file(board: Board, name: str) -> None:
    """Drop a file of manifests on the page, as the file manager would."""
    board.page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name, { type: "text/yaml" }));
            const init = { dataTransfer: data, bubbles: true, cancelable: true };
            document.body.dispatchEvent(new DragEvent("drop", init));
        }""",
        [name, (MANIFESTS / name).read_text()],
    )


def add_file(board: Board, name: str) -> None:
    """Drop a file of new work, and add it without waiting for when it would start."""
    drop_file(board, name)
    asked = board.page.get_by_role("dialog", name=re.compile("^Add "))
    asked.get_by_role("button", name="Add it").click()


def drop_folder(page: Page, path: Path) -> None:
    """Drop a folder in the middle of the page, as the file manager would.

    A browser under load may swallow the drop of a drag that moved once only, so the
    drag is made again until the page was given a drop.
    """
    page.evaluate(
        """() => addEventListener("drop",
            () => { document.documentElement.dataset.dropSeen = "yes"; }, true)"""
    )
    seen = page.locator("html[data-drop-seen]")
    session = page.context.new_cdp_session(page)
    files = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for _ in range(20):
        for step in ("dragEnter", "dragOver", "dragOver", "drop"):
            where = {"type": step, "x": 400, "y": 400, "data": files}
            session.send("Input.dispatchDragEvent", where)
        with suppress(PlaywrightTimeout):
            seen.wait_for(state="attached", timeout=2_000)
            return
    raise AssertionError("the page was given no drop in 20 drags")
