"""How late a sandbox shows what has changed in the cluster that it follows."""

from __future__ import annotations

import datetime
import json
import sqlite3
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
import yaml

from tests.bench.big_cluster import TURN_SHARE
from tests.bench.size import sized
from tests.services.default_run import ROOT, DefaultRun, wait_for

pytestmark = pytest.mark.bench
CHANGES, RATE = sized(400, 4), 20.0
SECONDS = sized(60, 2)
_AT = "SELECT r.at FROM sandbox_revision r"
_EDITS = f"{_AT} WHERE r.sandbox_id = ? AND r.kind = 'edit' ORDER BY r.number"
_SHOWN = (
    f"{_AT} JOIN sandbox_event e ON e.sandbox_id = r.sandbox_id AND "
    "e.revision = r.number WHERE e.sandbox_id = ? AND e.type = 'NodeChange' "
    "ORDER BY e.id"
)


def test_lag_of_a_sandbox_that_follows_another(tmp_path: Path) -> None:
    clusters = tmp_path / "clusters.yaml"
    with DefaultRun(tmp_path / "run", QUOTALAB_CLUSTERS=str(clusters)) as run:
        source = run.post("/api/v1/sandboxes", {"scenario": "friday-rush"})["id"]
        _allow(clusters, f"{run.url}/api/v1/sandboxes/{source}")
        twin = run.post("/api/v1/twins", {"cluster": "prod"})["id"]
        path = f"/api/v1/sandboxes/{twin}"
        wait_for(lambda: run.get(path)["tick"] > 0, "the first list")
        rate = _cordon(run, source)
        database = f"file:{tmp_path}/run/data/quotalab.sqlite3?mode=ro"
        with sqlite3.connect(database, uri=True) as rows:
            wait_for(lambda: len(_times(rows, _SHOWN, twin)) == CHANGES, "each change")
            made = _times(rows, _EDITS, source)
            lags = sorted(
                shown - at
                for at, shown in zip(made, _times(rows, _SHOWN, twin), strict=True)
            )
    p50, p95 = lags[len(lags) // 2], lags[int(0.95 * len(lags))]
    line = f"{rate:.1f} changes/s: lag p50 {p50:.2f} s, p95 {p95:.2f} s"
    sys.stdout.write(f"\n{line}\n")


@pytest.mark.parametrize(
    ("objects", "rate"), sized([(1000, 20), (50_000, 200)], [(100, 20)])
)
def test_lag_of_a_sandbox_that_follows_a_cluster(
    tmp_path: Path, objects: int, rate: int
) -> None:
    words = [sys.executable, "-m", "tests.bench.big_cluster", str(objects)]
    clusters = tmp_path / "clusters.yaml"
    with (
        subprocess.Popen(
            [*words, str(rate), str(SECONDS)], stdout=subprocess.PIPE, cwd=ROOT
        ) as server,
        DefaultRun(tmp_path / "run", QUOTALAB_CLUSTERS=str(clusters)) as run,
    ):
        assert server.stdout is not None
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        try:
            _allow(clusters, url)
            _measure(run, url, objects, rate)
        finally:
            server.kill()


def _measure(run: DefaultRun, url: str, objects: int, rate: int) -> None:
    """Follow it for a minute; print the lag, and what the follower takes."""
    begun = time.monotonic()
    twin = run.post("/api/v1/twins", {"cluster": "prod"})["id"]
    path = f"/api/v1/sandboxes/{twin}"
    wait_for(lambda: run.get(path)["tick"] > 1, "the first list")
    listed_s = time.monotonic() - begun
    workers = run.child("py worker").children()
    spent = [sum(one.cpu_times()[:2]) for one in workers]
    begun = time.monotonic()
    urllib.request.urlopen(f"{url}/begin").close()
    time.sleep(SECONDS)
    shares = [
        (sum(one.cpu_times()[:2]) - before) / (time.monotonic() - begun)
        for one, before in zip(workers, spent, strict=True)
    ]
    database = f"file:{run.folder}/data/quotalab.sqlite3?mode=ro"
    turns = -(-rate * SECONDS // TURN_SHARE)
    with sqlite3.connect(database, uri=True) as rows:
        wait_for(lambda: len(_times(rows, _SHOWN, twin)) == turns, "each change")
        shown = _times(rows, _SHOWN, twin)
    with urllib.request.urlopen(f"{url}/turned") as answer:
        sent = json.load(answer)["times"]
    lags = sorted(at - was for at, was in zip(shown, sent, strict=True))
    p50, p95 = lags[len(lags) // 2], lags[int(0.95 * len(lags))]
    most = max(_peak_kib(one.pid) for one in workers)
    sys.stdout.write(
        f"\n{objects} objects, {rate} changes/s: listed in {listed_s:.0f} s, lag p50 "
        f"{p50:.2f} s, p95 {p95:.2f} s, follower {max(shares):.2f} of a core, "
        f"{most / 1024:.0f} MiB at most\n"
    )


def _peak_kib(pid: int) -> int:
    """Return the most memory that a process ever held, its first list included."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(one.split()[1]) for one in status.splitlines() if "VmHWM" in one)


def _allow(file: Path, server: str) -> None:
    """Name a sandbox as a cluster that may be followed."""
    config = file.with_name("kubeconfig")
    context = {"cluster": "c", "user": "u"}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {}}],
        "contexts": [{"name": "c", "context": context}],
    }
    config.write_text(yaml.safe_dump(document))
    one = {"name": "prod", "kubeconfig": str(config)}
    file.write_text(yaml.safe_dump({"clusters": [one]}))


def _cordon(run: DefaultRun, sandbox: str) -> float:
    """Cordon and uncordon the nodes in turn; return the changes a second."""
    tables = run.get(f"/api/v1/sandboxes/{sandbox}/tables/nodes")
    nodes = [row["name"] for row in tables["items"]]
    begun = time.monotonic()
    for number in range(CHANGES):
        place = f"/api/v1/sandboxes/{sandbox}/api/v1/nodes/{nodes[number % len(nodes)]}"
        cordoned = number // len(nodes) % 2 == 0
        request = urllib.request.Request(
            run.url + place,
            data=json.dumps({"spec": {"unschedulable": cordoned}}).encode(),
            headers={"Content-Type": "application/merge-patch+json"},
            method="PATCH",
        )
        urllib.request.urlopen(request, timeout=60).close()
        time.sleep(max(0.0, begun + (number + 1) / RATE - time.monotonic()))
    return CHANGES / (time.monotonic() - begun)


def _times(rows: sqlite3.Connection, query: str, sandbox: str) -> list[float]:
    found = rows.execute(query, (sandbox,)).fetchall()
    return [datetime.datetime.fromisoformat(at).timestamp() for (at,) in found]
