"""Kueue's speed: whole timelines, one cycle, one search, beside the real engine's.

Run `./dev bench tests/bench/bench_kueue.py`. Figures of the peer: Kueue (Go, both
cores), its scheduler alone with API writes stubbed; ours is the whole run,
arrivals to last finish, controllers included, on one core.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.bench.size import TINY, sized, some

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT.parent / "shared" / "peers" / "kueue"

#: input -> seconds of the peer's scheduler alone
TIMELINES = {"baseline": 8.4, "baseline-fair": 9.2, "large-scale": 14.3}
#: input -> milliseconds of one cycle of the peer
CYCLES = {
    "cycle-30cq-1000wl-fit": 3,
    "cycle-30cq-10000wl-fit": 3,
    "cycle-300cq-10000wl-fit": 24,
    "cycle-1000cq-50000wl-fit": 87,
    "cycle-30cq-1000wl-preempt": 46,
    "cycle-30cq-1000wl-fairpreempt": 63,
    "cycle-30cq-10000wl-preempt": 780,
    "cycle-30cq-10000wl-fairpreempt": 920,
    "cycle-300cq-10000wl-preempt": 880,
    "cycle-300cq-10000wl-fairpreempt": 1_500,
    "cycle-1000cq-10000wl-preempt": 7_600,
}
#: input -> milliseconds of one search of the peer
SEARCHES = {
    "search-10000-classic-0.001": 64,
    "search-10000-classic-0.1": 90,
    "search-10000-fair-0.001": 57,
    "search-10000-fair-0.1": 91,
}
#: what is measured -> vectors of which a tiny run takes the first
TINY_INPUTS = {"timeline": "timed", "cycle": "cycle", "search": "cycle"}

_PROGRAM = """
import gc, gzip, hashlib, json, resource, sys, time
import msgspec
from scheduler.engine.kueue.scheduler.second_pass import Entry
from scheduler.engine.kueue.scheduler.nominate import assign_flavors
from scheduler.engine.worlds.objects import share_equal_parts
from tests.conformance import kueue
from tests.conformance.kueue_timed import Timeline
encode = msgspec.json.Encoder(order="sorted").encode
class Told(list):  # events are told and not kept, as a world's journal is
    digest, told_s = hashlib.sha256(), 0.0  # its time is not the engine's
    def extend(self, rows):
        rows, began = list(rows), time.process_time()
        for row in rows:
            self.digest.update(encode(row))
        Told.told_s += time.process_time() - began
def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
what, path = sys.argv[1:3]
vector = msgspec.json.decode(gzip.open(path).readline(), type=dict[str, msgspec.Raw])
objects = msgspec.json.decode(vector.pop("objects"), type=list[msgspec.Raw])
vector = {name: msgspec.json.decode(part) for name, part in vector.items()}
vector["objects"] = []
for raw in objects:  # as a world's rows are read: shared before the next comes
    vector["objects"].append(msgspec.json.decode(raw))
    share_equal_parts(vector["objects"][-1])
del objects
if what == "timeline":
    gc.freeze()  # as a worker does with what it has loaded
    before, wall = time.process_time(), time.perf_counter()
    timeline = Timeline(vector)
    timeline.events = Told()
    outcome = timeline.run()
    spent = time.process_time() - before - Told.told_s, time.perf_counter() - wall, memory()
    if len(sys.argv) > 3:
        expect = msgspec.json.decode(gzip.open(sys.argv[3]).read())["expect"]
        wanted = hashlib.sha256(b"".join(map(encode, expect["events"])))
        assert Told.digest.digest() == wanted.digest(), "another timeline"
        assert outcome["endMs"] == expect["endMs"], "another end"
else:
    stage = kueue.loaded(vector)
    del vector
    gc.collect(); gc.freeze()
    if what == "search":
        head = stage.cluster.workloads[next((k for k in stage.cluster.workloads if k.name == "preemptor"), next(iter(stage.cluster.workloads)))]
        entry = Entry(head, stage.cluster.cluster_queue_of(head))
        act = lambda: assign_flavors(stage.cluster, stage.preemption, entry)
    else:
        act = stage.cycle
    before, wall = time.process_time(), time.perf_counter()
    act()
    spent = time.process_time() - before, time.perf_counter() - wall, memory()
print(json.dumps(spent))
"""

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(
        not (TINY or PEERS.exists()),
        reason="the peers' inputs are not beside this checkout",
    ),
]


class Figure(NamedTuple):
    """What one run took."""

    cpu_s: float
    wall_s: float
    mib: int


def measure(what: str, name: str, *, runs: int = 1) -> Figure:
    """Return the best of several runs, each in a process of its own."""
    expect = PEERS / f"{name}.expect.jsonl.gz"
    path = PEERS / f"{name}.jsonl.gz"
    if TINY:
        path = ROOT / "tests/vectors/kueue" / f"{TINY_INPUTS[what]}.jsonl.gz"
    command = [sys.executable, "-c", _PROGRAM, what, str(path)]
    if expect.exists() and not TINY:
        command.append(str(expect))
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
    figures = []
    for _ in range(runs):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        figures.append(Figure(*json.loads(done.stdout)))
    return min(figures)


@pytest.mark.parametrize("name", some(TIMELINES))
def test_a_whole_run(name):
    figure = measure("timeline", name)
    sys.stdout.write(
        f"\n{name}: {figure.cpu_s:.2f} CPU-s ({figure.wall_s:.2f} s), "
        f"{figure.mib} MiB; peer's scheduler {TIMELINES[name]} s\n"
    )


@pytest.mark.parametrize("name", some(CYCLES))
def test_one_cycle(name):
    figure = measure("cycle", name, runs=sized(3, 1))
    times = CYCLES[name] / 1000 / max(figure.cpu_s, 1e-6)
    sys.stdout.write(
        f"\n{name}: {figure.cpu_s * 1000:.1f} ms, peer {CYCLES[name]} ms: "
        f"{times:.1f} times faster\n"
    )


@pytest.mark.parametrize("name", some(SEARCHES))
def test_one_search_at_ten_thousand_candidates(name):
    figure = measure("search", name, runs=sized(3, 1))
    times = SEARCHES[name] / 1000 / max(figure.cpu_s, 1e-6)
    sys.stdout.write(
        f"\n{name}: {figure.cpu_s * 1000:.2f} ms, peer {SEARCHES[name]} ms: "
        f"{times:.1f} times faster\n"
    )
