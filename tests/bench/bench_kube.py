"""How many pods a CPU-second places, on the inputs that kube-scheduler was timed on.

Run by `./dev bench`, or alone: `python tests/bench/bench_kube.py [FOLDER] [NAME...]`.
The figure counts user and system time from the first pod put to the last bound.
"""

from __future__ import annotations

import gzip
import json
import sys
import time
from pathlib import Path
from typing import Any

from scheduler.decisions import Bind
from scheduler.kube.stage import KubeStage
from scheduler.records.objects import Key, Object
from scheduler.records.policy import Policy, PolicySpec
from scheduler.stage import Context

INPUTS = Path(__file__).resolve().parents[3] / "shared" / "peers" / "kube"
#: pods per CPU-second of the real one with every node scored, as recorded
PEER = {
    "plain-500x10000": 758,
    "plain-1000x10000": 421,
    "plain-5000x10000": 82,
    "mixed-500x10000": 823,
    "mixed-1000x10000": 442,
    "mixed-5000x10000": 85,
}


def configuration(percentage: int) -> dict[str, Any]:
    """Return the default profile, with so many percent of the nodes scored."""
    return {"percentageOfNodesToScore": percentage}


def measure(data: dict[str, Any], percentage: int = 100) -> dict[str, float]:
    """Place all pods of an input; return the seconds and pods per CPU-second.

    Raises RuntimeError when a pod found no place: all fit.
    """
    context = Context(seed=1, epoch_us=0)
    spec = PolicySpec(stack="kube", kube_scheduler=configuration(percentage))
    stage = KubeStage(context, Policy(spec=spec))
    for node in data["nodes"]:
        key = Key("Node", "", node["metadata"]["name"])
        stage.put(Object(key=key, manifest=node, status=node["status"]))
    context.journal.decisions.clear()
    wall, cpu = time.perf_counter(), time.process_time()
    for pod in data["pending"]:
        metadata = pod["metadata"]
        key = Key("Pod", metadata["namespace"], metadata["name"])
        stage.put(Object(key=key, manifest=pod))
    while (due := stage.due()) is not None and due <= context.now_ms:
        stage.schedule()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    pods = len(data["pending"])
    bound = sum(isinstance(d, Bind) for d in context.journal.decisions)
    if bound != pods:
        raise RuntimeError(f"expected {pods} pods to be placed, {bound} were")
    return {"wall_s": wall, "cpu_s": cpu, "pods_per_cpu_s": pods / cpu}


def main(arguments: list[str]) -> int:
    """Print a line per input."""
    folder = Path(arguments[0]) if arguments else INPUTS
    names = arguments[1:] or list(PEER)
    if not folder.is_dir():
        print(f"bench_kube: no inputs in {folder}: nothing measured")
        return 0
    for name in names:
        data = json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes()))
        for percentage in (100, 0):
            found = measure(data, percentage)
            rate = found["pods_per_cpu_s"]
            share = "all nodes" if percentage else "adaptive"
            line = f"{name:18} {share:9} {rate:8.0f} pods/CPU-s"
            if percentage:
                line += f"  {rate / PEER[name]:6.1f} x peer"
            print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
