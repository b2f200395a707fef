"""Nodes that fail under a workload with topology: who is moved, who is evicted."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.engine.kueue.scheduler.second_pass import wait_us
from scheduler.model.kueue.check_state import CheckState
from scheduler.model.objects import Key
from scheduler.model.releases.release import NO_RELEASE, Release
from tests.scheduler.kueue.rig import Rig

HOST = "kubernetes.io/hostname"
GATE = "TASFailedNodeReplacementFailFast"
NOT_READY = [{"type": "Ready", "status": "False"}]
EVICTS = {"key": "down", "value": "yes", "effect": "NoExecute"}
TOLERATES = {"key": "down", "operator": "Exists"}


class Racks(Rig):
    """Racks `r1` and `r2` of hosts with 4 cpu each: h1 and h2, h3 and h4."""

    def __init__(
        self,
        config: dict[str, Any] | None = None,
        *,
        tolerations: Any = (),
        release: Release = NO_RELEASE,
    ) -> None:
        super().__init__(config, release=release)
        levels = [{"nodeLabel": "rack"}, {"nodeLabel": HOST}]
        self.put("Topology", "racks", {"levels": levels}, namespace="")
        spec = {"topologyName": "racks", "nodeLabels": {"pool": "main"}}
        spec["tolerations"] = list(tolerations)
        self.put("ResourceFlavor", "tas", spec, namespace="")
        self.queue("q", 100, flavor="tas")
        for number in range(1, 5):
            self.node(number)

    def node(
        self,
        number: int,
        *,
        name: str = "",
        rack: str = "",
        taint: Any = None,
        ready: bool = True,
    ) -> None:
        """Put the node of a host, which has another name than the host."""
        rack = rack or f"r{(number + 1) // 2}"
        labels = {"pool": "main", "rack": rack, HOST: f"h{number}"}
        status: dict[str, Any] = {"allocatable": {"cpu": "4", "pods": "10"}}
        if not ready:
            status["conditions"] = NOT_READY
        taints = {} if taint is None else {"taints": [taint]}
        name = name or f"node-{number}"
        self.put("Node", name, taints, namespace="", labels=labels, status=status)

    def gang(self, name: str, *sizes: int, tolerations: Any = (), **asks: str) -> None:
        """Put a workload with a podset per size; its pods take 2 cpu each."""
        containers = [{"resources": {"requests": {"cpu": "2"}}}]
        pod_sets = []
        for index, size in enumerate(sizes):
            own = list(tolerations[index : index + 1])
            spec = {"containers": containers, "tolerations": own}
            pod_set = {"name": f"part-{index}", "count": size}
            pod_set["template"] = {"spec": spec}
            pod_set["topologyRequest"] = asks or {"required": "rack"}
            pod_sets.append(pod_set)
        self.workload(name, "q", podSets=pod_sets)

    def hosts(self, name: str) -> dict[str, int]:
        """Return where the pods of a workload stand."""
        held = self.work(name).admission
        found: dict[str, int] = {}
        for part in held.pod_sets if held is not None else ():
            for domain in part.topology.domains if part.topology is not None else ():
                host = domain.values[-1]
                found[host] = found.get(host, 0) + domain.pods
        return found

    def unhealthy(self, name: str) -> tuple[str, ...]:
        self.stage.reconcile()
        return self.work(name).unhealthy_nodes


def test_who_was_moved_is_moved_again_when_the_next_node_fails():
    rig = Racks()
    rig.gang("w", 2)
    rig.run(0)
    (first,) = rig.hosts("w")
    rig.node(int(first[1]), ready=False)
    rig.run(2)
    (second,) = rig.hosts("w")
    assert second != first
    rig.node(int(first[1]))
    rig.node(int(second[1]), ready=False)
    assert rig.unhealthy("w") == (second,)
    rig.run(4)
    assert rig.hosts("w") == {first: 2}


def test_pods_of_a_failed_node_get_other_places_a_second_later_and_others_stay():
    rig = Racks()
    rig.gang("w", 3, preferred="rack")
    rig.gang("beside", 1)
    rig.run(0)
    assert (rig.hosts("w"), rig.hosts("beside")) == ({"h1": 2, "h2": 1}, {"h2": 1})
    rig.node(1, ready=False)
    assert (rig.unhealthy("w"), rig.unhealthy("beside")) == (("h1",), ())
    assert rig.run(0.999) == []
    assert rig.run(1) == [("Replace", "w", "NodeReplaced")]
    assert rig.hosts("w") == {"h2": 1, "h3": 2}
    assert rig.unhealthy("w") == ()
    status = rig.status("Workload", "w", "default")
    assert status["admission"]["clusterQueue"] == "q"
    assert "unhealthyNodes" not in status


def test_the_other_places_are_taken_and_those_of_the_failed_node_are_free():
    rig = Racks()
    rig.gang("w", 3, preferred="rack")
    rig.run(0)
    rig.node(1, ready=False)
    rig.run(1)
    rig.node(1)
    rig.gang("fills", 3)
    rig.run(2)
    rig.gang("beside", 2)
    rig.gang("late", 1)
    rig.run(3)
    assert [rig.hosts(name) for name in ("w", "fills", "beside", "late")] == [
        {"h2": 1, "h3": 2},
        {"h1": 2, "h2": 1},
        {"h4": 2},
        {},
    ]


@pytest.mark.parametrize(
    ("taint", "pods", "flavor", "failed"),
    [
        (EVICTS, (), (), True),
        (EVICTS, (TOLERATES,), (), False),
        (EVICTS, (), (TOLERATES,), False),
        ({**EVICTS, "effect": "NoSchedule"}, (), (), False),
    ],
)
def test_a_taint_drives_off_those_whom_neither_pods_nor_flavor_tolerate(
    taint, pods, flavor, failed
):
    rig = Racks(tolerations=flavor)
    rig.gang("w", 2, tolerations=pods)
    rig.run(0)
    assert rig.hosts("w") == {"h1": 2}
    rig.node(1, taint=taint)
    assert rig.unhealthy("w") == (("h1",) if failed else ())


def test_only_the_tolerations_of_podsets_on_the_node_count():
    rig = Racks()
    rig.gang("w", 2, 2, tolerations=(TOLERATES,), required=HOST)
    rig.run(0)
    tolerant, other = (
        part.topology.domains[0].values[-1] for part in rig.work("w").admission.pod_sets
    )
    for host in (tolerant, other):
        rig.node(int(host[1:]), taint=EVICTS)
    assert rig.unhealthy("w") == (other,)


def test_a_second_failed_node_evicts_at_once_and_names_both():
    rig = Racks()
    rig.gang("w", 4)
    rig.run(0)
    rig.node(2, ready=False)
    rig.stage.settle()
    rig.node(1, ready=False)
    assert rig.run()[0] == ("Evict", "w", "NodeFailures")
    assert rig.condition("w", "Evicted")[2].endswith("failures, including: h2, h1")


def test_a_node_that_is_ready_again_in_time_ends_the_search():
    rig = Racks()
    rig.gang("w", 4)
    rig.run(0)
    rig.node(1, ready=False)
    rig.stage.settle()
    rig.node(2)
    assert rig.unhealthy("w") == ("h1",)
    rig.node(1)
    assert rig.unhealthy("w") == ()
    assert rig.run(9) == []
    assert rig.hosts("w") == {"h1": 2, "h2": 2}


def test_a_node_that_is_deleted_has_failed():
    rig = Racks()
    rig.stage.remove(Key("Node", "", "node-1"))
    rig.node(1, name="h1")
    rig.gang("w", 2)
    rig.run(0)
    assert rig.hosts("w") == {"h1": 2}
    rig.stage.remove(Key("Node", "", "h1"))
    assert rig.unhealthy("w") == ("h1",)


def test_without_another_place_it_is_evicted():
    rig = Racks()
    rig.gang("w", 4)
    rig.run(0)
    rig.node(1, ready=False)
    assert rig.run(1)[0] == ("Evict", "w", "NodeFailures")
    message = rig.condition("w", "Evicted")[2]
    assert message.endswith("no replacement for unhealthy node(s): h1")


def test_without_another_place_and_the_gate_it_tries_again_two_seconds_later():
    rig = Racks({"featureGates": {GATE: False}})
    rig.gang("w", 4)
    rig.run(0)
    rig.node(1, ready=False)
    assert rig.run(1) == []
    rig.node(5, rack="r1")
    assert rig.run(2.999) == []
    assert rig.run(3) == [("Replace", "w", "NodeReplaced")]
    assert rig.hosts("w") == {"h2": 2, "h5": 2}


@pytest.mark.parametrize(
    ("tries", "seconds"), [(0, 1), (1, 2), (4, 16), (5, 30), (6, 30), (60, 30)]
)
def test_each_search_for_other_places_waits_twice_as_long_half_a_minute_at_most(
    tries, seconds
):
    assert wait_us(tries) == seconds * 1_000_000


def test_a_node_that_fails_later_is_looked_after_as_soon_as_the_first():
    rig = Racks()
    rig.gang("w", 3, preferred="rack")
    rig.run(0)
    rig.node(1, ready=False)
    rig.stage.reconcile()
    rig.node(1)
    rig.run(5)
    rig.node(1, ready=False)
    rig.run(5)
    assert "h1" in rig.hosts("w")
    rig.run(6)
    assert "h1" not in rig.hosts("w")


def test_a_host_that_fails_before_the_checks_are_ready_is_left_once_they_are():
    rig = Racks()
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    rig.put("AdmissionCheck", "ok", {}, namespace="", status=active)
    checks = {"admissionChecks": [{"name": "ok"}]}
    rig.edit(Key("ClusterQueue", "", "q"), admissionChecksStrategy=checks)
    rig.gang("w", 1)
    rig.run(0)
    rig.node(1, ready=False)
    rig.run(1)
    ready = CheckState(state="Ready", message="", since_us=0)
    rig.stage.answer_check(Key("Workload", "default", "w"), "ok", ready)
    rig.run(2)
    assert rig.hosts("w") == {"h1": 1}
    rig.run(4)
    assert rig.hosts("w") == {"h2": 1}


def test_who_lost_the_quota_is_not_looked_after_any_more():
    rig = Racks()
    rig.gang("w", 1)
    rig.run(0)
    rig.node(1, ready=False)
    rig.run(0)
    assert rig.stage.due() == 1_000
    rig.edit(Key("Workload", "default", "w"), active=False)
    rig.run(0)
    assert rig.stage.due() is None


@pytest.mark.parametrize("renamed", [0, 1])
def test_pods_on_a_failed_node_have_no_other_place_without_their_podset(renamed: int):
    rig = Racks()
    rig.gang("w", 2, 2)
    rig.run(0)
    assert rig.hosts("w") == {"h1": 2, "h2": 2}
    key = Key("Workload", "default", "w")
    parts = list(rig.objects[key].spec["podSets"])
    parts[renamed] = {**parts[renamed], "name": "renamed"}
    rig.edit(key, podSets=parts)
    rig.node(1, ready=False)
    reasons = [reason for _, name, reason in rig.run(1) if name == "w"]
    assert ("NodeFailures" in reasons) is (renamed == 0)
    assert ("NodeReplaced" in reasons) is (renamed == 1)


def test_a_workload_that_ends_while_it_waits_for_other_places_is_not_due():
    rig = Racks()
    rig.gang("w", 2)
    rig.run(0)
    rig.node(1, ready=False)
    rig.controllers()
    assert rig.stage.due() == 1000
    rig.stage.finish(Key("Workload", "default", "w"))
    assert rig.stage.due() is None
