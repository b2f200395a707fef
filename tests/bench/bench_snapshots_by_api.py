"""Snapshots of running clusters end to end: by REST as JSON and as YAML, and by the command.

Run `./dev bench tests/bench/bench_snapshots_by_api.py`, or with `-k yaml`. What a client
reads before the first tick and after it, a row per snapshot; a sentence for each
difference that has no reason in the dump.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from rest_framework.test import APIClient

from api.command import main
from sandbox.models import Sandbox
from sandbox.world import worlds
from scheduler.model import durations
from scheduler.model.objects import Key
from tests.api.conftest import client  # noqa: F401 - a fixture
from tests.bench.bench_running_clusters import (
    HEAD,
    SNAPSHOTS,
    Item,
    Row,
    judge_pods,
    judge_queue,
    judge_workloads,
    key_of,
)
from tests.bench.size import some
from tests.sandbox.conftest import person, tick  # noqa: F401 - fixtures

pytestmark = [pytest.mark.bench, pytest.mark.django_db]

API = "/api/v1/sandboxes"
QUEUES = "apis/kueue.x-k8s.io/v1beta2/clusterqueues"
WORKLOADS = "apis/kueue.x-k8s.io/v1beta2/workloads"
Way = Callable[[APIClient, Path], str]


def command(*words: str) -> Any:
    """Return what `quotalab` prints as JSON."""
    said = io.StringIO()
    for signal in (request_started, request_finished):  # a test's client connects them
        signal.disconnect(close_old_connections)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        assert main([*words, "--json"]) == 0, said.getvalue()
    return json.loads(said.getvalue())


def files_of(folder: Path) -> list[Path]:
    """Return the dump and, where the cluster had one, Kueue's configuration."""
    return sorted(folder.iterdir(), reverse=True)


def by_command(client: APIClient, folder: Path) -> str:  # noqa: F811 - no fixture
    made = command("import", *map(str, files_of(folder)))
    return str(made["id"])


def by_json(client: APIClient, folder: Path) -> str:  # noqa: F811 - no fixture
    files = [{"name": p.name, "text": p.read_text()} for p in files_of(folder)]
    answer = client.post(API, {"files": files}, format="json")
    assert answer.status_code == 201, answer.content[:2000]
    return str(answer.json()["id"])


def by_yaml(client: APIClient, folder: Path) -> str:  # noqa: F811 - no fixture
    loaded = [yaml.load(p.read_text(), yaml.CSafeLoader) for p in files_of(folder)]
    body = yaml.dump_all(loaded, Dumper=yaml.CSafeDumper)
    answer = client.generic("POST", API, body, "application/yaml")
    assert answer.status_code == 201, answer.content[:2000]
    return str(answer.json()["id"])


def read(client: APIClient, sandbox: str, path: str) -> dict[Key, Item]:  # noqa: F811
    """Return the objects of a list, as kubectl would get them."""
    found = client.get(f"{API}/{sandbox}/{path}").json()
    kind = found["kind"].removesuffix("List")
    return {key_of({"kind": kind, **one}): one for one in found["items"]}


def judge(client: APIClient, way: Way, folder: Path, name: str) -> Row:  # noqa: F811
    items = json.loads((folder / "dump.json").read_text())["items"]
    begin = time.process_time()
    sandbox = way(client, folder)
    row = Row(name, len(items), time.process_time() - begin)
    queues = read(client, sandbox, QUEUES)
    for item in items:
        if item["kind"] == "ClusterQueue":
            judge_queue(row, item, queues[key_of(item)]["status"], items)
    advance(client, way, sandbox)
    judge_workloads(row, items, read(client, sandbox, WORKLOADS))
    pods = read(client, sandbox, "api/v1/pods")
    nodes = {key: pod["spec"].get("nodeName", "") for key, pod in pods.items()}
    judge_pods(row, items, nodes, ended(client, sandbox), now_us(client, sandbox))
    return row


def advance(client: APIClient, way: Way, sandbox: str) -> None:  # noqa: F811
    """Make one tick, and end it."""
    if way is by_command:
        command("run", sandbox, "--ticks", "1")
        return
    client.post(f"{API}/{sandbox}/actions/step", {"ticks": 1}, format="json")
    tick(Sandbox.objects.get(pk=sandbox))


def ended(client: APIClient, sandbox: str) -> set[str]:  # noqa: F811
    """Return the names of what finished, was preempted or evicted."""
    over = {"Finish", "Preempt", "Evict"}
    found = client.get(f"{API}/{sandbox}/events?limit=5000").json()["items"]
    return {e["subject"].rsplit("/", 1)[-1] for e in found if e["type"] in over}


def now_us(client: APIClient, sandbox: str) -> int:  # noqa: F811
    spec = client.get(f"{API}/{sandbox}/policy").json()["spec"]
    found = client.get(f"{API}/{sandbox}").json()
    return durations.stamp_us(spec["simulation"]["startTime"]) + 1000 * int(
        found["tMs"]
    )


@pytest.mark.skipif(not SNAPSHOTS, reason="the recordings are not on this machine")
@pytest.mark.parametrize("way", some([by_json, by_command, by_yaml]))
def test_every_snapshot_end_to_end(client, tmp_path, way) -> None:  # noqa: F811
    rows = []
    for path in SNAPSHOTS:
        folder = tmp_path / f"{path.parent.name}-{path.name[9:-8]}"
        folder.mkdir()
        (folder / "dump.json").write_bytes(gzip.decompress(path.read_bytes()))
        config = path.parent / "config.yaml"
        if config.exists():
            (folder / config.name).write_bytes(config.read_bytes())
        rows.append(judge(client, way, folder, folder.name))
        worlds.forget_all()
    sys.stdout.write("\n".join([way.__name__, HEAD, *map(str, rows), ""]))
    unexplained = [line for row in rows for line in row.unexplained]
    sys.stdout.write("\n".join(unexplained) + "\n")
    assert sum(row.lost + row.elsewhere for row in rows) == 0
