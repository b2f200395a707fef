"""One sandbox plays the cluster, another follows it, and everything between them breaks."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from django.utils import timezone
from playwright.sync_api import Page, expect

from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from tests.sandbox.conftest import text_of
from tests.services.browser import launched
from tests.services.default_run import PATIENCE_S, ROOT, DefaultRun, wait_for
from tests.services.relay import Relay, relay_to

#: The cluster's clock goes before ours after the first follower.
SKEW_S = 300.0
PATIENCE_MS = 1000 * PATIENCE_S
SHOWN = "Admit,Preempt,Finish"


def world() -> list[dict[str, Any]]:
    """Return jobs that come every second and wait for quota; one preempts."""
    queue = cluster_queue("team", cpu=6, within="LowerPriority")
    jobs = [
        job(
            f"job-{n:02d}",
            queue="team",
            cpu=1 + n % 3,
            priority_class="high" if n == 3 else "",
            arrival=f"{n}s",
            runtime=f"{3 + n % 3}s",
        )
        for n in range(20)
    ]
    queues = [flavor(), workload_priority("high", 100), queue]
    return [*queues, local_queue("team", cluster_queue="team"), *jobs]


class Pair:
    """A sandbox that plays a cluster, and one that follows it through a relay."""

    def __init__(self, run: DefaultRun, folder: Path, relay: Relay) -> None:
        self.run, self.relay = run, relay
        start = timezone.now().strftime("%Y-%m-%dT%H:%M:%SZ")
        policy = {"simulation": {"startTime": start}}
        files = [{"name": "world.yaml", "text": text_of(*world())}]
        body = {"files": files, "policy": policy}
        self.cluster = f"/api/v1/sandboxes/{run.post('/api/v1/sandboxes', body)['id']}"
        (folder / "kubeconfig").write_text(self.kubeconfig())
        one = {"name": "prod", "kubeconfig": str(folder / "kubeconfig")}
        (folder / "clusters.yaml").write_text(yaml.safe_dump({"clusters": [one]}))
        made = run.post("/api/v1/twins", {"cluster": "prod"})
        self.twin = f"/api/v1/sandboxes/{made['id']}"
        wait_for(lambda: self.run.get(self.twin)["tick"] > 0, "the first lists")

    def kubeconfig(self) -> str:
        """Return what a user is given for the sandbox, with the relay as its server."""
        words = ["-m", "api", "kubeconfig", self.cluster.rpartition("/")[2]]
        done = subprocess.run(
            [sys.executable, *words, "--server", self.relay.url],
            cwd=ROOT,
            env=self.run.environment,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def follower(self) -> psutil.Process | None:
        """Return the process of the worker that has watches open."""
        for process in self.run.child("py worker").children():
            with suppress(psutil.Error):
                ends = {one.raddr[1:] for one in process.net_connections()}
                if (self.relay.port,) in ends:
                    return process
        return None

    def decided(self, path: str) -> Counter[tuple[str, str]]:
        """Return how often what was decided about each workload."""
        found = self.run.get(f"{path}/events?limit=1000&type={SHOWN}")["items"]
        return Counter(
            (one["type"], one["subject"])
            for one in found
            if one["subject"].startswith("Workload/")
        )

    def step(self, ticks: int) -> None:
        """Let the cluster go on for so many ticks."""
        end = self.run.get(self.cluster)["tick"] + ticks
        self.run.post(f"{self.cluster}/actions/step", {"ticks": ticks})
        wait_for(lambda: self.run.get(self.cluster)["tick"] >= end, f"tick {end}")

    def follows(self) -> None:
        """Wait until the twin shows each decision, and once."""
        wait_for(self._same, "each decision, once")

    def _same(self) -> bool:
        return self.decided(self.twin) == self.decided(self.cluster)

    def admitted(self) -> list[str]:
        """Return the jobs that the cluster runs now, by name."""
        rows = self.run.get(f"{self.cluster}/tables/workloads")["items"]
        found = [one["owner"] for one in rows if one["phase"] == "admitted"]
        return sorted(owner.rpartition("/")[2] for owner in found)


class TwinPage:
    """The page of the twin, in a browser; every wait is for what can be seen there."""

    def __init__(self, page: Page, pair: Pair) -> None:
        self.page = page
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{pair.run.url}{pair.twin.replace('/api/v1/sandboxes', '/s')}/board")
        self.real = page.get_by_test_id("real")
        self.alert = page.get_by_role("alert")
        expect(self.real).to_contain_text("Real", timeout=PATIENCE_MS)

    def says_that_the_cluster_is_away(self) -> None:
        """Wait until it says so, since when, and no longer that it is up to date."""
        away = re.compile(
            r"the cluster is not reached since \d{4}-\d\d-\d\dT[\d:]{8}Z: ."
        )
        expect(self.alert).to_contain_text(away, timeout=PATIENCE_MS)
        late = re.compile(r"\b([3-9]|\d\d+) s behind")
        expect(self.real).to_contain_text(late, timeout=PATIENCE_MS)

    def says_nothing_is_wrong(self) -> None:
        """Wait until it no longer says that anything is not seen."""
        expect(self.alert).to_be_hidden(timeout=PATIENCE_MS)

    def shows_as_admitted(self, jobs: list[str]) -> None:
        """Wait until these jobs have the cards of what is admitted, one each."""
        cards = self.page.get_by_role("button", name=re.compile(r"^job-\d+, Admitted"))

        def shown() -> bool:
            labels = cards.evaluate_all("all => all.map((one) => one.ariaLabel)")
            return sorted(label.partition(",")[0] for label in labels) == jobs

        wait_for(shown, f"cards of {jobs}")


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    variables = {"QUOTALAB_CLUSTERS": str(tmp_path / "clusters.yaml")}
    with (
        DefaultRun(tmp_path / "run", **variables) as run,
        relay_to(run.url) as relay,
    ):
        yield Pair(run, tmp_path, relay)


@pytest.fixture
def page() -> Iterator[Page]:
    with launched() as browser:
        yield browser.new_page()


def test_whatever_breaks_each_decision_is_shown_once_and_agrees(pair, page):
    shown = TwinPage(page, pair)
    for _ in range(7):
        pair.step(1)
        pair.follows()
    pair.relay.skew_s = SKEW_S
    wait_for(pair.follower, "the follower").kill()
    pair.step(4)
    pair.follows()
    pair.relay.down = True
    pair.relay.cut()
    pair.step(4)
    shown.says_that_the_cluster_is_away()
    pair.relay.down = False
    pair.follows()
    pair.relay.expire()
    pair.step(4)
    pair.follows()
    shown.says_nothing_is_wrong()
    shown.shows_as_admitted(pair.admitted())
    agreement = pair.run.get(f"{pair.twin}/shadow?seconds=60")
    assert agreement["judged"] == agreement["decisions"] == agreement["agree"] >= 8
