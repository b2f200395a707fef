"""Placing a large job on thousands of nodes, beside the real engine's figures.

Run `./dev bench tests/bench/bench_topology.py`. Milliseconds of processor time on
one core; the peer's are medians of wall time on two (Go, garbage collection in).
Skipped where the recorded inputs do not exist.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.size import sized, some

ROOT = Path(__file__).resolve().parents[2]
PEERS = ROOT.parent / "shared" / "peers" / "kueue"

#: input -> milliseconds of the peer: a new kind of pods, the same kind again, and
#: what its snapshot adds to either in every cycle
FIGURES = {"tas-5000-512": (3.2, 1.6, 3.1), "tas-40960-4096": (42, 38, 61)}

TINY_INPUT = ROOT / "tests/vectors/kueue/topology.jsonl.gz"

_PROGRAM = """
import gc, gzip, json, statistics, sys, time
import msgspec
from scheduler.model.kueue.feature_gates import TopologyGates
from scheduler.engine.kueue.topology.placement import PodSetPlacement
from scheduler.engine.kueue.topology.placement import CountsCache
from tests.conformance import kueue_topology as replay
lines = gzip.open(sys.argv[1]).read().splitlines()
def fits(vector):
    podsets = vector["place"]["workload"]["spec"]["podSets"]
    asked = len(podsets) == 1 and podsets[0].get("topologyRequest")
    return asked and not vector.get("gates") and "reason" not in vector["expect"].get("main", {"reason"})
vectors = list(filter(fits, map(msgspec.json.decode, lines)))
vectors = vectors[: int(sys.argv[2]) or None]
tree = replay.tree_of(vectors[0]["place"])
gc.freeze()
def placed(cache, vector):
    podsets = replay.podsets_of(vector["place"])
    podsets[0].needs.per_pod
    before = time.process_time()
    placing = PodSetPlacement(cache, TopologyGates())
    found = placing.place(tree, podsets)
    spent = (time.process_time() - before) * 1000
    placing.end()
    assert replay._written(found) == vector["expect"]
    return spent, found["main"], podsets[0].needs.per_pod
def median(run):
    return statistics.median(run() for _ in range(9))
placed(CountsCache(), vectors[0])
cache = CountsCache()
rows = {}
for vector in vectors:
    name = next(iter(vector["place"]["workload"]["spec"]["podSets"][0]["topologyRequest"]))
    first = median(lambda: placed(CountsCache(), vector)[0])
    again = median(lambda: placed(cache, vector)[0])
    def after_a_change():
        _, assignment, per_pod = placed(cache, vector)
        before = time.process_time()
        for sign in (1, -1):
            for domain in assignment.domains:
                tree.add_usage(domain.values, per_pod, sign * domain.pods)
        return (time.process_time() - before) * 1000 + placed(cache, vector)[0]
    rows[name] = {"first": first, "again": again, "changed": median(after_a_change)}
print(json.dumps(rows))
"""


@pytest.mark.bench
@pytest.mark.parametrize("name", some(sorted(FIGURES)))
def test_a_large_job_is_placed(name):
    path = sized(PEERS / f"{name}.jsonl.gz", TINY_INPUT)
    if not path.exists():
        pytest.skip(f"{path} does not exist")
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, str(path), sized("0", "1")],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    rows = json.loads(done.stdout)
    new, same, snapshot = FIGURES[name]
    for kind, row in rows.items():
        sys.stdout.write(
            f"\n{name}, {kind}: new pods {row['first']:.2f} ms (peer {new + snapshot}), "
            f"the same again {row['again']:.2f} ms ({same}), after a change "
            f"{row['changed']:.2f} ms ({same + snapshot})\n"
        )
