"""One sandbox plays the cluster, another follows it, and everything between them breaks."""

from __future__ import annotations

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

from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    workload_priority,
)
from tests.sandbox.conftest import text_of
from tests.services.default_run import ROOT, DefaultRun, wait_for
from tests.services.relay import Relay, relay_to

#: The cluster's clock goes before ours after the first follower.
SKEW_S = 300.0
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

    def problem(self) -> str:
        """Return what the page says is wrong."""
        return str(self.run.get(self.twin)["problem"])


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[Pair]:
    variables = {"QUOTALAB_CLUSTERS": str(tmp_path / "clusters.yaml")}
    with (
        DefaultRun(tmp_path / "run", **variables) as run,
        relay_to(run.url) as relay,
    ):
        yield Pair(run, tmp_path, relay)


def test_whatever_breaks_each_decision_is_shown_once_and_agrees(pair):
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
    wait_for(pair.problem, "the page to say that the cluster is away")
    pair.relay.down = False
    pair.follows()
    pair.relay.expire()
    pair.step(4)
    pair.follows()
    wait_for(lambda: not pair.problem(), "the page to say that it goes on")
    agreement = pair.run.get(f"{pair.twin}/shadow?seconds=60")
    assert agreement["judged"] == agreement["decisions"] == agreement["agree"] >= 8
