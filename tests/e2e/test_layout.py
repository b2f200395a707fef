"""Every text can be read at every size, and the keyboard comes to what is out of sight.

No text is cut, crushed or under another.

By default a selection in which English is looked at in each size, Chinese in every
other one, themes in rotation; `QUOTALAB_LAYOUT=all` looks at the
whole product.
"""

from __future__ import annotations

import itertools
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.builders import cluster_queue, flavor, job, local_queue, node
from tests.e2e.board import UNREADABLE, prepared

#: The last is 1440 x 900 at a zoom of 200 %: half as many pixels, each twice as large.
SIZES = [(1920, 1080), (1440, 900), (1280, 720), (820, 1180), (390, 844), (720, 450)]
LANGUAGES = ["en", "zh-Hans", "zh-Hant"]
THEMES = ["light", "dark"]
TICK = 96
VIEWS = [
    "start",
    "board",
    "waiting",
    "running",
    "queue",
    "compact",
    "map",
    "workloads",
    "nodes",
    "fairness",
    "decisions",
    "graph",
    "film",
    "change",
    "branches",
    "search",
    "vary",
    "lesson",
    "tables",
    "what-if",
    "what-if-shares",
    "what-if-table",
    "what-if-decisions",
    "what-if-pair",
]


@dataclass(frozen=True)
class Look:
    """One way to look at a page."""

    size: tuple[int, int]
    language: str
    theme: str

    def __str__(self) -> str:
        """Return the look as a reader would say it."""
        return f"{self.size[0]} x {self.size[1]}, {self.language}, {self.theme}"


def looks() -> list[Look]:
    """Return the looks of a run: all, or every size with each mode in rotation."""
    if os.environ.get("QUOTALAB_LAYOUT") == "all":
        every = itertools.product(LANGUAGES, THEMES, SIZES)
        return [Look(size, *rest) for *rest, size in every]
    chosen = []
    for at, language in enumerate(LANGUAGES):
        for index, size in enumerate(SIZES):
            if language == "en" or index % 2 == at % 2:
                theme = THEMES[(at + index) % 2]
                chosen.append(Look(size, language, theme))
    return chosen


@pytest.fixture(scope="module")
def paths(browser: Browser, live_server_url: str) -> dict[str, str]:
    """Return the path of each view of a busy sandbox."""
    request = browser.new_context().request
    api = f"{live_server_url}/api/v1/sandboxes"
    made = prepared(request, live_server_url, {"scenario": "friday-rush"}, TICK)
    fork = request.post(f"{api}/{made}/actions/fork", data={"tick": 60}).json()["id"]

    def first(phase: str) -> str:
        query = f"phase={phase}&limit=1"
        found = request.get(f"{api}/{made}/tables/workloads?{query}").json()
        return str(found["items"][0]["key"])

    _, namespace, name = first("inadmissible").split("/")
    there = {"kind": "ClusterQueue", "name": "inference"}
    moved = {"kind": "Workload", "namespace": namespace, "name": name, "to": there}
    change = {"move": moved}
    asked = {"changes": [change], "seeds": [1, 2], "horizonMs": 120_000}
    preempted = request.get(f"{api}/{made}/events?type=Preempt&limit=1").json()
    event = preempted["items"][0]
    film = f"{event['revision']}.{event['seq']}"
    number = request.post(f"{api}/{made}/what-ifs?wait=60", data=asked).json()["id"]
    at = f"/s/{made}"
    plain = {view: f"{at}/{view}" for view in VIEWS}
    return plain | {
        "start": "/",
        "waiting": f"{at}/board?sel={first('inadmissible')}",
        "running": f"{at}/board?sel={first('admitted')}",
        "queue": f"{at}/board?sel=ClusterQueue//research",
        "compact": f"{at}/board?density=compact&user=ml-training",
        "map": f"{at}/board?density=heat",
        "film": f"{at}/board?film={film}&step=9",
        "workloads": f"{at}/board?density=table",
        "graph": f"{at}/decisions?mode=graph",
        "change": f"{at}/what-if?sel=ClusterQueue//research",
        "branches": f"{at}/what-if?with={fork}",
        "search": f"{at}/what-if?sure=search",
        "vary": f"{at}/what-if?sure=search&draft=e30",
        "lesson": f"{at}/board?lesson=1",
        "tables": f"{at}/board?density=table&table=pods&group=phase",
        "what-if": f"{at}/board?what-if={number}",
        "what-if-shares": f"{at}/fairness?what-if={number}",
        "what-if-table": f"{at}/board?density=table&what-if={number}",
        "what-if-decisions": f"{at}/decisions?what-if={number}",
        "what-if-pair": f"{at}/what-if?what-if={number}",
    }


@pytest.fixture(scope="module")
def many(browser: Browser, live_server_url: str) -> str:
    """Return a sandbox of thirty queues in five cohorts, half of which lend to the rest."""
    manifests = [flavor(), *(node(f"node-{n:03}", cpu=8) for n in range(40))]
    for n in range(30):
        name = f"team-{n:02}"
        manifests += [
            cluster_queue(name, cohort=f"division-{n % 5}", cpu=4),
            local_queue(name, cluster_queue=name),
            job(f"train-a-large-model-{n:04}", queue=name, cpu=2 + 4 * (n % 2)),
        ]
    text = "---\n".join(json.dumps(one) + "\n" for one in manifests)
    files = [{"name": "many.yaml", "text": text}]
    request = browser.new_context().request
    return prepared(request, live_server_url, {"files": files}, 3)


def held_queues(browser: Browser, url: str, names: str) -> str:
    """Return the path of queues with work, beside a what-if that holds the last of them."""
    manifests = [flavor(), *(node(f"node-{n}", cpu=8) for n in range(6))]
    for name in names.split():
        manifests += [
            cluster_queue(name, cohort="platform", cpu=8),
            local_queue(name, cluster_queue=name),
            *(job(f"{name}-{n}", queue=name, cpu=1 + n % 3) for n in range(9)),
        ]
    text = "---\n".join(json.dumps(one) + "\n" for one in manifests)
    files = [{"name": "queues.yaml", "text": text}]
    request = browser.new_context().request
    made = prepared(request, url, {"files": files}, 20)
    body = {"spec": {"stopPolicy": "HoldAndDrain"}}
    patch = {"kind": "ClusterQueue", "name": names.split()[-1], "body": body}
    asked = {"changes": [{"patch": patch}]}
    api = f"{url}/api/v1/sandboxes/{made}/what-ifs?wait=60"
    return f"/s/{made}/board?what-if={request.post(api, data=asked).json()['id']}"


@pytest.fixture
def still(browser: Browser) -> Iterator[Page]:
    """A page on which nothing moves: what is measured is where things come to rest."""
    context = browser.new_context(reduced_motion="reduce")
    page = context.new_page()
    page.set_default_timeout(120_000)
    yield page
    context.close()


@pytest.mark.parametrize("view", VIEWS)
def test_every_text_of_a_view_can_be_read(
    still: Page, live_server_url: str, paths: dict[str, str], view: str
) -> None:
    still.goto(live_server_url + paths[view])
    expect(still.get_by_role("heading", level=1).first).to_be_attached()
    expect(still.locator(".skeleton, [aria-busy=true]")).to_have_count(0)
    problems = []
    for look in looks():
        adopt(still, look)
        problems += [f"{look}: {one}" for one in still.evaluate(UNREADABLE)]
    assert problems == [], "\n" + "\n".join(problems)


@pytest.mark.parametrize("view", ["board", "board?density=cards", "fairness", "nodes"])
def test_every_text_of_many_queues_can_be_read(
    still: Page, live_server_url: str, many: str, view: str
) -> None:
    still.goto(f"{live_server_url}/s/{many}/{view}")
    expect(still.get_by_role("heading", level=1).first).to_be_attached()
    expect(still.locator(".skeleton, [aria-busy=true]")).to_have_count(0)
    problems = []
    for size in ((1440, 900), (1280, 720)):
        adopt(still, Look(size, "en", "light"))
        problems += [f"{size[0]} px: {one}" for one in still.evaluate(UNREADABLE)]
    assert problems == [], "\n" + "\n".join(problems)


NAMES = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu"


@pytest.mark.parametrize("queues", [3, 5, 6, 7, 9, 12])
def test_queues_show_four_cards_each_and_the_nodes_beside_strip_and_drawer(
    browser: Browser, still: Page, live_server_url: str, queues: int
) -> None:
    names = " ".join(NAMES.split()[:queues])
    path = held_queues(browser, live_server_url, names)
    still.set_viewport_size({"width": 1280, "height": 720})
    still.goto(live_server_url + path)
    expect(still.get_by_test_id("verdict").locator(".cell")).to_have_count(6)
    expect(still.get_by_role("complementary")).to_be_visible()
    columns = still.get_by_role("region", name=re.compile("^Queue "))
    expect(columns).to_have_count(queues)
    bottom = still.get_by_role("contentinfo").bounding_box()["y"]
    for column in columns.all()[:5]:  # beyond five they are scrolled to
        expect(column.locator(".card").nth(3)).to_be_in_viewport(ratio=1)
        boxes = [card.bounding_box() for card in column.locator(".card").all()]
        assert sum(box["y"] + box["height"] <= bottom for box in boxes) >= 4
    strip = still.get_by_role("region", name="Nodes").bounding_box()
    assert strip["y"] + strip["height"] <= bottom
    rows = still.get_by_role("region", name="Cohorts and ClusterQueues").locator(
        "tbody tr"
    )
    expect(rows.nth(3)).to_be_in_viewport(ratio=1)
    assert still.evaluate(UNREADABLE) == []


def test_tab_goes_on_into_a_column_far_out_of_sight(
    still: Page, live_server_url: str, paths: dict[str, str]
) -> None:
    still.set_viewport_size({"width": 390, "height": 844})
    still.goto(live_server_url + paths["board"])
    columns = still.get_by_role("region", name=re.compile("^Queue "))
    columns.first.scroll_into_view_if_needed()
    expect(columns.first.get_by_role("heading", level=3)).not_to_have_count(0)
    near = columns.filter(has=still.get_by_role("heading", level=3)).count()
    far = columns.nth(near)
    expect(far.get_by_role("heading", level=3)).to_have_count(0)

    end = columns.nth(near - 1).get_by_role("button").last
    end.evaluate("(node) => node.focus({ preventScroll: true })")
    still.keyboard.press("Tab")

    expect(far.get_by_role("button", name=re.compile("^Menu of "))).to_be_focused()
    expect(far.get_by_role("heading", level=3)).not_to_have_count(0)


def test_a_long_title_leaves_the_branch_its_place(
    still: Page, live_server_url: str
) -> None:
    scenario = {"scenario": "preemption-budget"}
    made = prepared(still.request, live_server_url, scenario)
    still.goto(f"{live_server_url}/s/{made}/board")
    expect(still.get_by_test_id("tick")).to_have_text("0")
    adopt(still, Look((1440, 900), "en", "light"))
    problems = still.evaluate(UNREADABLE)
    assert [one for one in problems if "header.top" in one] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_play_keeps_its_place_whatever_speed_is_said(
    still: Page, live_server_url: str, language: str
) -> None:
    made = prepared(still.request, live_server_url, {"scenario": "friday-rush"})
    still.goto(f"{live_server_url}/s/{made}/board")
    expect(still.get_by_test_id("tick")).to_have_text("0")
    adopt(still, Look((1440, 900), language, "light"))
    time = still.get_by_role("banner").get_by_role("toolbar")
    word, play = time.locator(".one-of > span"), time.locator(".joined button").nth(1)
    places = set()
    for speed in (10, 1, 0.1, 0):
        before = word.text_content()
        address = f"{live_server_url}/api/v1/sandboxes/{made}/actions/speed"
        still.request.post(address, data={"speed": speed})
        expect(word).not_to_have_text(before or "")
        places.add(str(play.bounding_box()))
    assert len(places) == 1, places


def adopt(page: Page, look: Look) -> None:
    """Change the open page to a look; the page is not loaded again."""
    width, height = look.size
    page.set_viewport_size({"width": width, "height": height})
    page.evaluate(
        """async ({ language, theme }) => {
          const say = (key, newValue) => {
            localStorage.setItem(`quotalab.${key}`, newValue);
            const event = new StorageEvent("storage", { key: `quotalab.${key}`, newValue });
            dispatchEvent(event);
          };
          say("language", language);
          say("theme", theme);
          const until = performance.now() + 10000;
          while (document.documentElement.lang !== language) {
            if (performance.now() > until) throw new Error(`no text in ${language}`);
            await new Promise(requestAnimationFrame);
          }
          for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
        }""",
        {"language": look.language, "theme": look.theme},
    )
