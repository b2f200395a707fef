"""YuniKorn's speed: whole processes that place every pod, as the peer was measured.

Run `./dev bench tests/bench/bench_yunikorn.py`. The figures of yunikorn-core
itself (Go, in process, no events) are pods per CPU-second of its whole process.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.size import TINY, sized, some

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT.parent / "shared" / "peers" / "yunikorn"

#: input -> pods per CPU-second of yunikorn-core, July 2026
PODS_PER_CPU_SECOND = {
    "fill-1000-10000-fair": 11_500,
    "fill-1000-10000-binpacking": 7_300,
    "fill-5000-10000-fair": 10_600,
    "fill-5000-10000-binpacking": 6_900,
    "fill-1000-50000-fair": 8_800,
    "fill-1000-50000-binpacking": 4_300,
    "fill-5000-50000-fair": 7_400,
    "fill-5000-50000-binpacking": 2_000,
}
#: CPU-seconds of one preemption attempt, 1,000 nodes of ten pods
ATTEMPT_CPU_SECONDS = 0.20

TINY_INPUT = ROOT / "tests/vectors/yunikorn/cycle.jsonl.gz"

_PROGRAM = """
import gzip, json, sys, time
import msgspec
from tests.conformance import yunikorn
from scheduler.engine.yunikorn.scheduling import cycle
vector = msgspec.json.decode(gzip.open(sys.argv[1]).readline())
partition = yunikorn.build(vector)
before = time.process_time()
placed = 0
while cycle.run(partition):
    placed += 1
spent = time.process_time() - before
victims = sum(ask.preempted for ask in partition.asks.values())
print(json.dumps([placed, partition.pending, victims, spent]))
"""

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(
        not (TINY or PEERS.exists()),
        reason="the peers' inputs are not beside this checkout",
    ),
]


def _run(name: str) -> tuple[int, int, int, float, float]:
    """Return placed, left, victims, CPU-s of the cycles and of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            _PROGRAM,
            str(sized(PEERS / f"{name}.json.gz", TINY_INPUT)),
        ],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=True,
        text=True,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    whole = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    placed, left, victims, cycles = json.loads(done.stdout)
    return placed, left, victims, cycles, whole


@pytest.mark.parametrize("name", some(PODS_PER_CPU_SECOND))
def test_filling_a_cluster(name: str) -> None:
    placed, left, _, cycles, whole = _run(name)
    peer = PODS_PER_CPU_SECOND[name]
    rate = placed / whole
    sys.stdout.write(
        f"\n{name}: {rate:,.0f} pods per CPU-s (cycles alone {placed / max(cycles, 1e-6):,.0f}); "
        f"yunikorn-core {peer:,}; {rate / peer:.1f} times\n"
    )
    assert TINY or left == 0


@pytest.mark.parametrize("name", some(["preempt-1000-fair", "preempt-1000-binpacking"]))
def test_one_preemption_attempt(name: str) -> None:
    _, _, victims, cycles, _ = _run(name)
    sys.stdout.write(
        f"\n{name}: {cycles:.3f} CPU-s; yunikorn-core {ATTEMPT_CPU_SECONDS}\n"
    )
    assert TINY or victims == 3
