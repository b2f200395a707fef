"""Take the pictures of this folder: every view of a running service, both themes.

python docs/screenshots/take.py http://127.0.0.1:8000 [VIEW...]

Opens the scenario friday-rush, runs it to tick 230, forks it with classical
preemption, and photographs each view in Chromium, and the board as a projector
shows it.
"""

from __future__ import annotations

import base64
import json
import shutil
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, expect, sync_playwright

HERE = Path(__file__).parent
TICK = 230
FORK = 150
EXPERIMENT = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Experiment",
    "spec": {
        "title": "Fair sharing or classical preemption, at two paces",
        "base": {"scenario": "friday-rush"},
        "seeds": {"count": 5},
        "horizon": "5m",
        "limit": "60s",
        "variants": [
            {"name": "as it is"},
            {"name": "classical", "policy": {"kueue": {"fairSharing": None}}},
            {"name": "arrivals 1.5 times as fast", "arrivals": 1.5},
            {
                "name": "classical, 1.5 times as fast",
                "arrivals": 1.5,
                "policy": {"kueue": {"fairSharing": None}},
            },
        ],
        "assertions": [
            {"measure": "withinLimit", "min": 0.9},
            {"measure": "preemptions", "max": 60, "over": "every"},
        ],
    },
}
#: A draft as the address holds it: two axes of a grid.
DRAFT = (
    base64.urlsafe_b64encode(
        json.dumps(
            {
                "title": "Fair sharing and the pace of arrivals",
                "from": "start",
                "mode": "grid",
                "axes": [
                    {"what": "policy:kueue.fairSharing", "values": "off, both"},
                    {"what": "arrivals", "values": "0.75, 1, 1.5"},
                ],
            }
        ).encode()
    )
    .decode()
    .rstrip("=")
)
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def call(url: str, body: object | None = None, method: str = "POST") -> Any:
    """Send JSON, or read when there is nothing to send."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        url,
        data,
        {"Content-Type": "application/json"},
        method="GET" if body is None else method,
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def run_to(api: str, sandbox: str, tick: int) -> None:
    """Run a sandbox at full speed to a tick and wait until it is there."""
    call(f"{api}/sandboxes/{sandbox}/actions/speed", {"speed": 0})
    call(f"{api}/sandboxes/{sandbox}/actions/step", {"untilTick": tick})
    while call(f"{api}/sandboxes/{sandbox}")["tick"] < tick:
        time.sleep(0.2)


def prepare(api: str) -> tuple[str, str, str]:
    """Return a sandbox, its fork, and the key of a workload that waits."""
    made = call(f"{api}/sandboxes", {"scenario": "friday-rush"})["id"]
    run_to(api, made, TICK)
    fork = call(f"{api}/sandboxes/{made}/actions/fork", {"tick": FORK})["id"]
    patch = {"spec": {"kueue": {"fairSharing": None}}}
    call(f"{api}/sandboxes/{fork}/policy", patch, "PATCH")
    run_to(api, fork, TICK)
    rows = call(f"{api}/sandboxes/{made}/tables/workloads?phase=pending&limit=1")
    return made, fork, rows["items"][0]["key"]


def stepped(api: str, scenario: str, tick: int) -> str:
    """Return a sandbox of a scenario at a tick."""
    made = str(call(f"{api}/sandboxes", {"scenario": scenario})["id"])
    run_to(api, made, tick)
    return made


def film(url: str, sandbox: str, step: int) -> str:
    """Return the address of a step of the film of a sandbox's first preemption."""
    query = "type=Preempt&limit=1"
    event = call(f"{url}/api/v1/sandboxes/{sandbox}/events?{query}")["items"][0]
    return (
        f"{url}/s/{sandbox}/board?film={event['revision']}.{event['seq']}&step={step}"
    )


def release_of(api: str, sandbox: str) -> int:
    """Return the number of a what-if: an older release of Kueue decides."""
    body = {"changes": [{"release": {"kueue": "0.16.4"}}]}
    return int(call(f"{api}/sandboxes/{sandbox}/what-ifs?wait=60", body)["id"])


def what_if_of(api: str, sandbox: str) -> int:
    """Return the number of a what-if: a queue that reclaims, another of more weight."""
    training = {"kind": "ClusterQueue", "name": "training"}
    research = {"kind": "ClusterQueue", "name": "research"}
    reclaim = {"spec": {"preemption": {"reclaimWithinCohort": "Any"}}}
    weight = {"spec": {"fairSharing": {"weight": "2"}}}
    changes = [
        {"patch": {**training, "body": reclaim}},
        {"patch": {**research, "body": weight}},
    ]
    found = call(f"{api}/sandboxes/{sandbox}/what-ifs?wait=60", {"changes": changes})
    return int(found["id"])


def experiment_of(api: str) -> str:
    """Return an experiment whose runs have ended."""
    body = {"document": EXPERIMENT}
    made = str(call(f"{api}/experiments", body)["id"])
    while call(f"{api}/experiments/{made}")["state"] == "running":
        time.sleep(0.5)
    return made


def shoot(
    browser: Browser,
    url: str,
    name: str,
    theme: Literal["light", "dark"],
) -> None:
    """Photograph one address; the stage as a projector shows it, at 1280 x 720."""
    size = (1280, 720) if name == "stage" else (1440, 900)
    page = browser.new_page(
        viewport={"width": size[0], "height": size[1]},
        color_scheme=theme,
        locale="en-US",
    )
    page.set_default_timeout(60_000)
    page.goto(url)
    page.get_by_role("heading", level=1).first.wait_for(state="attached")
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)  # its grey boxes come with the view's own script
    # A view that is still being fetched shows grey boxes in its place.
    expect(page.locator(".skeleton, [aria-busy=true]")).to_have_count(0)
    page.screenshot(path=HERE / f"{name}-{theme}.png")
    page.close()


def main(url: str, *wanted: str) -> None:
    """Photograph every view, or those that are named, in both themes."""
    made, fork, waiting = prepare(f"{url}/api/v1")
    experiment = experiment_of(f"{url}/api/v1")
    what_if = what_if_of(f"{url}/api/v1", made)
    release = release_of(f"{url}/api/v1", made)
    at = f"{url}/s/{made}"
    kube = stepped(f"{url}/api/v1", "preemption-budget", 40)
    yunikorn = stepped(f"{url}/api/v1", "yunikorn-no-storm", 120)
    views = {
        "start": url,
        "board": f"{at}/board?sel={waiting}",
        "nodes": f"{at}/nodes",
        "fairness": f"{at}/fairness",
        "decisions": f"{at}/decisions",
        "decisions-graph": f"{at}/decisions?mode=graph",
        "film-kueue": film(url, made, 9),
        "film-kube": film(url, kube, 10),
        "film-yunikorn": film(url, yunikorn, 9),
        "what-if": f"{at}/what-if?sel=ClusterQueue//training",
        "what-if-pair": f"{at}/what-if?what-if={what_if}",
        "what-if-board": f"{at}/board?what-if={what_if}",
        "what-if-table": f"{at}/board?density=table&what-if={what_if}",
        "what-if-fairness": f"{at}/fairness?what-if={what_if}",
        "what-if-decisions": f"{at}/decisions?what-if={what_if}",
        "what-if-release": f"{at}/what-if?what-if={release}",
        "branches": f"{at}/what-if?with={fork}",
        "search": f"{at}/what-if?what-if={what_if}&sure=search",
        "experiment": f"{at}/what-if?run={experiment}",
        "experiment-draft": f"{at}/what-if?sure=search&draft={DRAFT}",
        "fields": f"{at}/board?sel=ClusterQueue//training&tab=fields",
        "lesson": f"{at}/board?lesson=1",
        "table": f"{at}/board?density=table&phase=waiting&group=queue",
        "tables": f"{at}/board?density=table&table=pods&group=phase",
        "past": f"{at}/board?tick=120",
        "stage": f"{at}/board?stage=1",
    }
    expect.set_options(timeout=60_000)
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox"]
        )
        for theme in THEMES:
            for name in wanted or views:
                address = views[name]
                shoot(browser, address, name, theme)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
