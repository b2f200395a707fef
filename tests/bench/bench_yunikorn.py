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

_PROGRAM = """
import gzip, json, sys, time
import msgspec
from tests.conformance import yunikorn
from scheduler.engine.yunikorn.scheduling import cycle
vector = msgspec.json.decode(gzip.open(sys.argv[1]).read())
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
        not PEERS.exists(), reason="the peers' inputs are not beside this checkout"
    ),
]


def _run(name: str) -> tuple[int, int, int, float, float]:
    """Return placed, left, victims, CPU-s of the cycles and of the process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(PEERS / f"{name}.json.gz")],
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


@pytest.mark.parametrize("name", PODS_PER_CPU_SECOND)
def test_filling_a_cluster(name: str) -> None:
    placed, left, _, cycles, whole = _run(name)
    peer = PODS_PER_CPU_SECOND[name]
    rate = placed / whole
    sys.stdout.write(
        f"\n{name}: {rate:,.0f} pods per CPU-s (cycles alone {placed / cycles:,.0f}); "
        f"yunikorn-core {peer:,}; {rate / peer:.1f} times\n"
    )
    assert left == 0
    assert rate > peer / 2


@pytest.mark.parametrize("name", ["preempt-1000-fair", "preempt-1000-binpacking"])
def test_one_preemption_attempt(name: str) -> None:
    _, _, victims, cycles, _ = _run(name)
    sys.stdout.write(
        f"\n{name}: {cycles:.3f} CPU-s; yunikorn-core {ATTEMPT_CPU_SECONDS}\n"
    )
    assert victims == 3
    assert cycles < 2 * ATTEMPT_CPU_SECONDS
