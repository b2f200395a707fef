"""Failures that repeat: what is written of them, and what it costs."""

from __future__ import annotations

from scheduler.model.decisions import Fail
from tests.scheduler.kube.rig import GANG_PLUGINS, Rig, node, pod, pod_group, profile


def hopeless_gang() -> Rig:
    """Two members, and room for one: they are tried without end."""
    return Rig(
        node("n", cpu=1),
        pod_group("g", 2),
        pod("a", group="g"),
        pod("b", group="g"),
        configuration={"profiles": [profile(plugins=GANG_PLUGINS)]},
    )


def test_a_gang_that_can_never_be_placed_writes_few_events() -> None:
    rig = hopeless_gang()
    rig.run(30_000)
    assert len(rig.decisions) <= 30 * 2 * 8
    assert sum(d.times for d in rig.decisions if isinstance(d, Fail)) > 1_000


def test_an_equal_failure_counts_on_from_its_first_time() -> None:
    rig = Rig(node("n", cpu=1), pod("a", cpu=2))
    rig.run(1_000_000)  # tried again whenever it has waited for five minutes
    failures = [d for d in rig.decisions if isinstance(d, Fail)]
    assert [d.count for d in failures] == list(range(1, len(failures) + 1))
    assert len(failures) > 2
    assert {d.first_ms for d in failures} == {0}


def test_the_count_outlives_a_restart() -> None:
    rig = hopeless_gang()
    rig.run(2_000)
    before = max(d.count for d in rig.decisions if isinstance(d, Fail))
    again = rig.restarted()
    again.decisions.clear()
    again.run(4_000)
    assert max(d.count for d in again.decisions if isinstance(d, Fail)) > before
