"""A dump's lists are not of one instant: the report says which status is older."""

from __future__ import annotations

import pytest

from scheduler.input.manifests.load import load

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec: {}
status:
  flavorsReservation: [{name: f, resources: [{name: cpu, total: "%s", borrowed: "0"}]}]
---
"""
WORKLOAD = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {name: w%(n)s}
spec: {podSets: [{name: main, count: 2, template: {spec: {containers: [{name: c}]}}}]}
status:
  reclaimablePods: [{name: main, count: %(gone)s}]
  conditions: [{type: QuotaReserved, status: "True", reason: R, message: m,
    lastTransitionTime: "2026-01-01T00:00:0%(n)sZ"}]
  admission:
    clusterQueue: q
    podSetAssignments:
      [{name: main, count: 2, flavors: {cpu: f}, resourceUsage: {cpu: "4"}}]
---
"""


def said(total: str, *gone: int) -> list[str]:
    works = [WORKLOAD % {"n": n, "gone": one} for n, one in enumerate(gone)]
    found = load([("dump.yaml", QUEUE % total + "".join(works))]).findings
    return [one.problem for one in found if "instant" in one.problem]


def test_a_status_that_equals_what_the_workloads_hold_is_not_mentioned():
    assert said("6", 0, 1) == []


@pytest.mark.parametrize(
    ("total", "gone", "words"),
    [
        (
            "4",
            (0, 1),
            "it counts 4 cpu of f, they hold 6; it was so before 2026-01-01T0",
        ),
        ("5", (0, 1), "they hold 6; of no instant that they show"),
        ("5", (), "they hold 0; no Workload of these files holds any of it"),
    ],
)
def test_a_status_of_another_instant_is_named_with_the_difference(total, gone, words):
    (found,) = said(total, *gone)
    assert found.startswith("ClusterQueue q: ")
    assert words in found
