"""Placement's speed: every pod of an input placed, as the real loop was measured.

Run `./dev bench tests/bench/bench_kube.py`. The figures of kube-scheduler 1.36.3
(Go, default plug-ins, every node scored, no API writes) are pods per CPU-second.
Ours count from the first pod put, parsing included, to the last one bound.
"""

from __future__ import annotations

import gzip
import sys
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scheduler.engine.kube.stage import KubeStage
from scheduler.engine.stage import Context
from scheduler.model.decisions import Bind
from scheduler.model.objects import Key, Object
from scheduler.model.policy import Policy, PolicySpec
from tests import builders
from tests.bench.size import TINY, some

PEERS = Path(__file__).resolve().parents[3] / "shared" / "peers" / "kube"

#: input -> pods per CPU-second of kube-scheduler, every node scored
PODS_PER_CPU_SECOND = {
    "plain-500x10000": 758,
    "plain-1000x10000": 421,
    "plain-5000x10000": 82,
    "mixed-500x10000": 823,
    "mixed-1000x10000": 442,
    "mixed-5000x10000": 85,
}

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(
        not (TINY or PEERS.exists()),
        reason="the peers' inputs are not beside this checkout",
    ),
]


def load(name: str) -> dict[str, Any]:
    if TINY:
        return {
            "nodes": [builders.node(f"n{n}", cpu=4) for n in range(5)],
            "pending": [builders.pod(f"p{n}", cpu=1) for n in range(10)],
        }
    text = gzip.decompress((PEERS / f"{name}.json.gz").read_bytes())
    data: dict[str, Any] = msgspec.json.decode(text)
    return data


def place_all(data: dict[str, Any], percentage: int = 100) -> tuple[int, float]:
    """Place the pods of an input; return how many were, and the CPU-seconds."""
    context = Context(seed=1, epoch_us=0)
    configuration = {"percentageOfNodesToScore": percentage}
    spec = PolicySpec(stack="kube", kube_scheduler=configuration)
    stage = KubeStage(context, Policy(spec=spec))
    for node in data["nodes"]:
        key = Key("Node", "", node["metadata"]["name"])
        stage.put(Object(key=key, manifest=node, status=node["status"]))
    context.journal.take_decisions()
    before = time.process_time()
    for pod in data["pending"]:
        metadata = pod["metadata"]
        key = Key("Pod", metadata["namespace"], metadata["name"])
        stage.put(Object(key=key, manifest=pod))
    while (due := stage.due()) is not None and due <= context.now_ms:
        stage.schedule()
    spent = max(time.process_time() - before, 1e-6)
    reported = context.journal.take_decisions()
    return sum(isinstance(decision, Bind) for decision in reported), spent


@pytest.mark.parametrize("name", some(PODS_PER_CPU_SECOND))
def test_placing_ten_thousand_pods(name: str) -> None:
    data = load(name)
    peer = PODS_PER_CPU_SECOND[name]
    for percentage, share in ((100, "every node"), (0, "adaptive share")):
        placed, spent = place_all(data, percentage)
        rate = placed / spent
        times = f"; {rate / peer:.1f} times" if percentage else ""
        sys.stdout.write(f"\n{name}, {share}: {rate:,.0f} pods per CPU-s{times}")
        assert placed == len(data["pending"])
    sys.stdout.write(f"\n{name}: kube-scheduler, every node: {peer}\n")
