"""Worlds that are no scenario: a namespace per team, pods alone, forty queues; forms and the line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.builders import cluster_queue, flavor, job, local_queue, node, pod
from tests.draws import fresh
from tests.e2e.board import Board, prepared
from tests.e2e.facts import form
from tests.services.default_run import wait_for

GPU = "nvidia.com/gpu"


def begin(board: Board, manifests: list[dict[str, Any]], tick: int) -> str:
    """Open the board of manifests at a tick; return the sandbox's address in REST."""
    text = "---\n".join(json.dumps(one) + "\n" for one in manifests)
    files = [{"name": "own.yaml", "text": text}]
    made = prepared(board.page.request, board.url, {"files": files}, tick)
    board.page.goto(f"{board.url}/s/{made}/board")
    expect(board.page.get_by_test_id("tick")).to_have_text(str(tick))
    return f"{board.url}/api/v1/sandboxes/{made}"


def teams() -> list[dict[str, Any]]:
    """Return two teams, a namespace and a ClusterQueue each, with two flavors in one group."""
    manifests: list[dict[str, Any]] = [flavor("cpu-std"), flavor("gpu", kind="gpu")]
    for name in ("a", "b"):
        metadata = {"name": f"gpu-{name}", "labels": {"kind": "gpu"}}
        free = {"cpu": "32", GPU: "8", "pods": "110"}
        status = {"allocatable": free, "capacity": free}
        manifests.append(
            {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": status}
        )
        queue = cluster_queue(f"team-{name}", cohort="all")
        flavors = [
            {
                "name": of,
                "resources": [
                    {"name": "cpu", "nominalQuota": 32},
                    {"name": GPU, "nominalQuota": gpus},
                ],
            }
            for of, gpus in (("cpu-std", 0), ("gpu", 8))
        ]
        group = {"coveredResources": ["cpu", GPU], "flavors": flavors}
        queue["spec"]["resourceGroups"] = [group]
        local = local_queue("main", cluster_queue=f"team-{name}", namespace=name)
        manifests += [queue, local]
        for n in range(6):
            one = job(f"train-{n}", queue="main", namespace=name)
            (container,) = one["spec"]["template"]["spec"]["containers"]
            container["resources"]["requests"][GPU] = "4"
            manifests.append(one)
    return manifests


def test_a_card_of_a_namespace_without_a_local_queue_there_brings_one(
    board: Board,
) -> None:
    page = board.page
    api = begin(board, teams(), 3)
    heads = page.get_by_role("columnheader")
    expect(heads.filter(has_text=GPU).first).to_have_text(f"gpu · {GPU}")
    card = board.queue("team-a").locator(".card", has_text="train").first
    board.drag(card, board.queue("team-b"))
    expect(page.get_by_test_id("makes")).to_contain_text("LocalQueue a/team-b")
    board.drop()
    strip = board.verdict()
    strip.get_by_role("button", name="2 changes").click()
    expect(strip).to_contain_text("LocalQueue a/team-b made")
    board.keep()
    path = "apis/kueue.x-k8s.io/v1beta2/namespaces/a/localqueues/team-b"
    made = page.request.get(f"{api}/{path}").json()
    assert made["spec"]["clusterQueue"] == "team-b"
    board.agrees()


def test_pods_without_queues_open_on_the_nodes_and_say_why_they_wait(
    board: Board,
) -> None:
    page = board.page
    pods = [pod(f"web-{n}", cpu=3, runtime="1h") for n in range(3)]
    text = "---\n".join(json.dumps(one) + "\n" for one in [node("one"), *pods])
    file = {"name": "pods.yaml", "mimeType": "text/plain", "buffer": text.encode()}
    page.goto(board.url)
    page.locator("input[type=file]").set_input_files(files=[file])
    page.wait_for_url(re.compile("/nodes"))
    page.get_by_role("button", name="Step one tick").click()
    waiting = page.get_by_role("region", name="Pods without a node")
    expect(waiting).to_contain_text("Insufficient cpu")
    expect(page.get_by_role("banner")).to_contain_text("as Kubernetes")
    waiting.get_by_role("button", name=re.compile("^web-")).first.click()
    page.get_by_role("button", name="What would start it?").click()
    expect(page.get_by_test_id("would")).to_contain_text("one more node like one")
    page.locator("[data-node=one] button.name").click()
    row = page.get_by_role("row", name=re.compile(r"^pods"))
    expect(row.get_by_role("cell").nth(1)).to_have_text("1")
    board.visit("Board")
    expect(page).to_have_url(re.compile("/board"))


def test_files_with_placeholders_are_taken_when_those_are_filled_in(
    board: Board,
) -> None:
    page = board.page
    texts = [json.dumps(one) for one in (node("one"), pod("$NAME", runtime="1h"))]
    page.goto(board.url)
    files = [
        {"name": f"{at}.yaml", "mimeType": "text/plain", "buffer": text.encode()}
        for at, text in enumerate(texts)
    ]
    page.locator("input[type=file]").set_input_files(files=files)
    form_ = page.get_by_role("form", name="To be filled in")
    expect(form_.get_by_role("button", name="1.yaml:1")).to_be_visible()
    form_.get_by_label("$NAME").fill("web")
    form_.get_by_role("button", name="Fill in and load").click()
    page.wait_for_url(re.compile("/nodes"))
    page.get_by_role("button", name="Step one tick").click()
    expect(page.locator("[data-node=one]")).to_be_visible()
    found = page.request.get(
        page.url.replace("/s/", "/api/v1/sandboxes/").rpartition("/")[0]
    )
    assert found.ok


def drop(page: Page, name: str, text: str) -> None:
    """Drop a file on the page, as the file manager would."""
    page.evaluate(
        """([name, text]) => {
            const data = new DataTransfer();
            data.items.add(new File([text], name, { type: "text/yaml" }));
            const init = { dataTransfer: data, bubbles: true, cancelable: true };
            document.body.dispatchEvent(new DragEvent("drop", init));
        }""",
        [name, text],
    )


def kueue_world() -> list[dict[str, Any]]:
    """Return a queue that is full for an hour."""
    queues = [
        cluster_queue("team", cpu=2, flavor="f"),
        local_queue("main", cluster_queue="team"),
    ]
    return [
        flavor("f"),
        node("n1", cpu=4),
        *queues,
        job("first", queue="main", cpu=2, runtime="1h"),
    ]


def yunikorn_world() -> list[dict[str, Any]]:
    """Return a node that one application fills for an hour."""
    root = {"name": "root", "submitacl": "*", "queues": [{"name": "default"}]}
    tree = {"partitions": [{"name": "default", "queues": [root]}]}
    data = {"queues.yaml": json.dumps(tree)}
    named = {"name": "yunikorn-configs", "namespace": "yunikorn"}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": named, "data": data}
    return [config, node("n1", cpu=2), _asking(pod("first", cpu=2, runtime="1h"))]


def _asking(one: dict[str, Any]) -> dict[str, Any]:
    name = one["metadata"]["name"]
    one["metadata"]["labels"] = {"applicationId": name, "queue": "root.default"}
    one["spec"]["schedulerName"] = "yunikorn"
    return one


@pytest.mark.parametrize(
    ("world", "work"),
    [
        (kueue_world, job("second", queue="main", cpu=2, runtime="1m")),
        (yunikorn_world, _asking(pod("second", cpu=2, runtime="1m"))),
    ],
)
def test_work_that_is_dropped_on_a_world_says_when_it_would_start_before_it_is_added(
    board: Board, world: Callable[[], list[dict[str, Any]]], work: dict[str, Any]
) -> None:
    page = board.page
    api = begin(board, world(), 3)
    name = f"{work['kind']}/default/second"
    before = page.request.get(api).json()["revision"]
    drop(page, "second.yaml", json.dumps(work))
    asked = page.get_by_role("dialog", name="Add second?")
    expect(asked.get_by_test_id("would")).to_contain_text("It would wait")
    assert page.request.get(api).json()["revision"] == before
    asked.get_by_role("button", name="Add it").click()
    expect(asked).to_have_count(0)
    assert page.request.get(f"{api}/objects/{name}").ok


def test_dropped_work_that_needs_a_look_says_there_when_it_would_start(
    board: Board,
) -> None:
    page = board.page
    begin(board, kueue_world(), 3)
    work = job("second", queue="main", cpu=2)
    (container,) = work["spec"]["template"]["spec"]["containers"]
    container["command"] = ["sleep", "60"]
    drop(page, "second.yaml", json.dumps(work))
    bench = page.get_by_test_id("workbench")
    expect(bench.get_by_test_id("would")).to_contain_text("It would wait")
    bench.get_by_role("button", name="Cancel").click()
    expect(bench).to_have_count(0)
    board.agrees()


def test_a_card_that_flies_says_no_number_twice(board: Board) -> None:
    page = board.page
    begin(board, kueue_world(), 0)
    page.evaluate(
        """() => new MutationObserver((changes) => {
            for (const { addedNodes } of changes) for (const node of addedNodes)
                if (node.classList?.contains("card"))
                    (window.flown ??= []).push(node.querySelectorAll("[data-fact]").length);
        }).observe(document.body, { childList: true })"""
    )
    step = page.get_by_role("button", name="Step one tick")
    for tick in (1, 2, 3):
        step.click()
        expect(page.get_by_test_id("tick")).to_have_text(str(tick))
    page.wait_for_function("() => window.flown !== undefined")
    assert set(page.evaluate("() => window.flown")) == {0}


def test_a_queue_without_quota_is_not_idle_and_forty_legends_leave_the_chart_room(
    board: Board,
) -> None:
    page = board.page
    manifests = [flavor(), *(node(f"node-{n}", cpu=8) for n in range(20))]
    for n in range(40):
        name = f"team-{n:02}"
        cpu = 0 if n == 7 else 4
        manifests.append(cluster_queue(name, cpu=cpu))
        manifests.append(local_queue(name, cluster_queue=name))
        manifests.append(job(f"train-{n}", queue=name, cpu=1 + n % 3))
    begin(board, manifests, 3)
    tile = page.locator("[data-key='ClusterQueue//team-07']").last
    expect(tile).to_contain_text("no quota")
    expect(tile).not_to_have_attribute("style", re.compile("--h0"))
    legend = page.locator("figure ul").first
    assert legend.locator("li").count() < 12
    page.keyboard.press("Control+k")
    for word, found in (
        ("lesson", "esson"),
        ("present", "resent"),
        ("script", "cript"),
    ):
        page.get_by_role("dialog").get_by_role("combobox").fill(word)
        option = page.get_by_role("option", name=re.compile(found)).first
        expect(option).to_be_visible()


def test_offline_the_stamp_says_that_it_reconnects_and_of_when_the_page_is(
    board: Board,
) -> None:
    page = board.page
    begin(board, teams(), 3)
    stamp = page.get_by_role("banner").get_by_role("status")
    page.context.set_offline(True)
    expect(stamp).to_contain_text("Reconnecting")
    expect(stamp).to_contain_text("what is shown is of ")
    page.context.set_offline(False)
    expect(stamp).to_contain_text("Paused")


def test_decisions_of_a_gangs_pods_are_one_line_and_no_line_is_there_twice(
    board: Board,
) -> None:
    page = board.page
    gang = job("gang", queue="main", parallelism=6)
    queue = [cluster_queue("main", cpu=8), local_queue("main", cluster_queue="main")]
    begin(board, [flavor(), node("one", cpu=8), *queue, gang], 4)
    page.goto(page.url.replace("/board", "/decisions"))
    rows = page.get_by_role("row")
    expect(rows.filter(has_text="Bind")).to_have_count(1)
    expect(rows.filter(has_text="Bind")).to_contain_text("6 pods")
    expect(rows.filter(has_text="Arrive")).to_have_count(1)
    expect(page.get_by_role("cell", name="Reserve", exact=True)).to_have_count(0)


STRATEGIES = ("BestEffortFIFO", "StrictFIFO")


def test_every_field_of_a_form_is_rests_object_whatever_was_done_before(
    board: Board,
) -> None:
    seed, draw = fresh()
    page = board.page
    api = begin(board, teams(), 3)
    page.goto(f"{page.url}?sel=ClusterQueue//team-a&tab=fields")
    quota = page.get_by_role("form", name="Fields").get_by_label("nominal").last
    expect(quota).to_have_value("8")
    acts = draw.choices(("type", "apply", "discard", "undo", "keep", "other"), k=14)
    for act in ["apply", "discard", "apply", "undo", *acts]:
        _do(page, api, act, quota, draw)
        same = f"QUOTALAB_SEED={seed}, after {act}"
        wait_for(lambda: _wrong(page) == [], same, timeout_s=20, every_s=0.2)


def _do(page: Page, api: str, act: str, quota: Any, draw: Any) -> None:
    strip = page.get_by_test_id("verdict")
    names = {"discard": "Discard", "undo": "Undo the last change", "keep": "Keep"}
    if act in ("type", "apply"):
        before = quota.input_value()
        quota.fill(next(n for n in ("6", "12", "20") if n != before))
        apply = page.get_by_role("button", name="Apply", exact=True)
        expect(apply).to_be_enabled()
        if act == "apply":
            apply.click()
            expect(apply).to_be_disabled()
        else:
            page.get_by_role("button", name="Revert", exact=True).click()
    elif act == "other":
        if strip.count() > 0:
            return  # whose it is to be is asked then, and is another story
        body = {"spec": {"queueingStrategy": draw.choice(STRATEGIES)}}
        page.request.patch(f"{api}/objects/ClusterQueue/-/team-a", data=body)
    elif strip.count() > 0:
        strip.get_by_role("button", name=names[act], exact=True).click()
    expect(page.locator("[aria-busy=true]")).to_have_count(0)


def _wrong(page: Page) -> list[str]:
    shown = page.evaluate(form.READ)
    return [*form.wrong(page, shown)] if shown else ["no field"]


def test_the_panel_blames_what_explain_blames_and_not_the_quota_beside_it(
    board: Board,
) -> None:
    page = board.page
    least = {"min": {"cpu": "3"}, "type": "Container"}
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "least", "namespace": "default"},
        "spec": {"limits": [least]},
    }
    queue = [cluster_queue("main", cpu=1), local_queue("main", cluster_queue="main")]
    small = job("small", queue="main", cpu=2)
    begin(board, [flavor(), node("one", cpu=8), *queue, limits, small], 3)
    page.locator(".card", has_text="small").first.click()
    drawer = page.get_by_role("complementary", name="Inspector")
    expect(drawer).to_contain_text("LimitRange")
    expect(drawer.locator(".bar")).to_have_count(0)


def test_the_what_if_begins_with_what_waits_and_the_setting_nearest_to_it(
    board: Board,
) -> None:
    page = board.page
    begin(board, teams(), 3)
    board.visit("What-if")
    hurts = page.get_by_test_id("hurts")
    expect(hurts).to_contain_text("4 wait")
    expect(hurts).to_contain_text("short by")
    raised = hurts.get_by_role("button", name=re.compile("^gpu: 8 GPU → 12 GPU"))
    raised.first.click()
    expect(board.verdict()).to_contain_text("12 GPU")
    expect(hurts).to_have_count(0)
    for team in ("team-a", "team-b"):  # from one queue's form to the next
        page.get_by_role("group", name="Of a queue").get_by_text(team).click()
        form = page.get_by_role("form", name="Fields").first
        expect(form.get_by_label("Reclaim within the cohort")).to_be_visible()
        expect(page).to_have_url(re.compile(team))


def test_a_what_if_that_opens_leaves_the_page_at_the_tick_looked_at(
    board: Board,
) -> None:
    page = board.page
    api = begin(board, teams(), 9)
    body = {"spec": {"stopPolicy": "Hold"}}
    patch = {"kind": "ClusterQueue", "name": "team-a", "body": body}
    asked = {"at": 4, "changes": [{"patch": patch}], "horizonMs": 60_000}
    number = page.request.post(f"{api}/what-ifs?wait=60", data=asked).json()["id"]
    address = page.url
    for tick in ("9", "7"):
        past = "" if tick == "9" else f"&tick={tick}"
        page.goto(f"{address}?what-if={number}{past}")
        expect(board.verdict()).to_contain_text("tick 4")
        expect(page.get_by_test_id("tick")).to_have_text(tick)


def test_an_answer_that_comes_when_its_object_is_no_longer_looked_at_breaks_nothing(
    board: Board,
) -> None:
    page = board.page
    begin(board, teams(), 3)
    held: list[Route] = []
    page.route(re.compile("/objects/ClusterQueue/"), lambda asked: held.append(asked))
    page.goto(f"{page.url}?sel=ClusterQueue//team-a&tab=yaml")
    wait_for(lambda: (page.wait_for_timeout(20), held)[1], "what the pane asks for")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="This sandbox")).to_be_visible()
    for route in held:
        with page.expect_response(route.request.url):
            route.continue_()
    page.evaluate("() => new Promise(requestAnimationFrame)")


def test_of_a_gang_that_nobody_wakes_the_panel_says_what_explain_says(
    board: Board,
) -> None:
    page = board.page
    sort = {"disabled": [{"name": "*"}], "enabled": [{"name": "Coscheduling"}]}
    plugins = {
        "multiPoint": {"enabled": [{"name": "Coscheduling"}]},
        "queueSort": sort,
    }
    configuration = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "default-scheduler", "plugins": plugins}],
    }
    group = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "PodGroup",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"minMember": 6},
    }
    label = {"scheduling.x-k8s.io/pod-group": "train"}
    pods = [pod(f"w{n}", labels=label) for n in range(7)]
    api = begin(board, [configuration, group, node("one", cpu=5), *pods], 40)
    said = page.request.get(f"{api}/explain/default/w0?kind=Pod").json()["sentences"]
    assert "Its gang needs 6 places at once" in said[0]
    page.goto(f"{page.url.replace('/board', '/nodes')}?sel=Pod/default/w0")
    drawer = page.get_by_role("complementary", name="Inspector")
    lines = drawer.locator("p.small", has_text=re.compile("gang|node|tried"))
    expect(lines).to_have_text(said)


def test_during_a_back_off_the_panel_does_not_blame_the_quota(board: Board) -> None:
    page = board.page
    backoff = {"backoffBaseSeconds": 60, "timestamp": "Eviction"}
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "waitForPodsReady": {"timeout": "5s", "requeuingStrategy": backoff},
    }
    queue = [cluster_queue("main", cpu=4), local_queue("main", cluster_queue="main")]
    jobs = [job("stuck", queue="main", cpu=4), job("other", queue="main", cpu=2)]
    begin(board, [configuration, flavor(), node("one", cpu=3), *queue, *jobs], 12)
    page.locator(".card", has_text="stuck").first.click()
    drawer = page.get_by_role("complementary", name="Inspector")
    expect(drawer.locator("p.strong").first).to_have_text(
        "It is not tried again before 65 s."
    )
    expect(drawer.locator(".bar")).to_have_count(0)
