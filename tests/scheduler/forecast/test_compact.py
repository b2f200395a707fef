"""The compact cluster admits what the engine admits, at the same instants."""

from __future__ import annotations

from random import Random

import pytest

from scheduler.assembly import assemble
from scheduler.engine.tick import simulate
from scheduler.input.traces.formats.swf import read_trace
from scheduler.model.decisions import Admit
from tests.backtest.log import policy_log, run_through

NO_LATENCY = {"simulation": {"latencies": None}}


def trace_of(jobs) -> str:
    rows = [
        f"{number} {submit} -1 {run} {size} -1 -1 -1 -1 -1 1 1 -1 -1 -1 -1 -1 -1"
        for number, (submit, run, size) in enumerate(jobs)
    ]
    return "\n".join(["; MaxProcs: 8", *rows])


def queue_of(strategy: str) -> str:
    quota = "{name: cpu, nominalQuota: 8}"
    return f"""
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: default}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: all}}
spec:
  queueingStrategy: {strategy}
  namespaceSelector: {{}}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{{name: default, resources: [{quota}]}}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: all, namespace: default}}
spec: {{clusterQueue: all}}
"""


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("strategy", ["BestEffortFIFO", "StrictFIFO"])
def test_a_log_starts_in_the_compact_cluster_when_it_starts_in_the_engine(
    strategy, seed
):
    random = Random(seed)
    submits = sorted(random.sample(range(300), 60))
    text = trace_of(
        [(at, random.randint(1, 50), random.randint(1, 8)) for at in submits]
    )
    made = assemble(
        [("t.swf", text), ("q.yaml", queue_of(strategy))], policy=NO_LATENCY
    )
    outcome = simulate(made.world, until_ms=10**8)
    engine = [
        (d.at_ms, int(d.subject.name.split("-")[2]))
        for d in outcome.decisions
        if isinstance(d, Admit)
    ]
    trace = read_trace(text, "t.swf")
    log = policy_log(trace, load=None, strict=strategy == "StrictFIFO")
    ours = [(at, ident) for ident, at in run_through(log).items()]
    assert sorted(ours) == sorted(engine)
