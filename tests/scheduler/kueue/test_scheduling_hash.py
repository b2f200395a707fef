"""The text that makes Workloads equal: one for all of them, of few priorities."""

from __future__ import annotations

from scheduler.model.workload import Catalogue

GIVEN = [{"name": "main", "count": 1, "template": {"spec": {"containers": []}}}]


def test_podsets_of_ever_other_priorities_keep_few_texts():
    pod_sets = Catalogue().pod_sets(GIVEN, "default")
    texts = {pod_sets.hash_at(priority) for priority in range(1_000)}
    assert len(texts) == 1_000
    assert len(pod_sets._hashes) <= 64
    assert pod_sets.hash_at(7) is pod_sets.hash_at(7)
