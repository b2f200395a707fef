"""What a stopped ClusterQueue takes from those that hold its quota."""

from __future__ import annotations

from tests.scheduler.kueue.rig import Rig

SINCE = "2026-01-01T00:00:00Z"


def reserved(stop: str) -> Rig:
    """Return a queue in which one holds quota and waits for an admission check."""
    rig = Rig()
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    rig.put("AdmissionCheck", "c", {}, namespace="", status=active)
    rig.queue("q", stop=stop)
    queue = next(key for key in rig.objects if key.kind == "ClusterQueue")
    rig.edit(queue, admissionChecksStrategy={"admissionChecks": [{"name": "c"}]})
    assigned = {
        "name": "main",
        "flavors": {"cpu": "f"},
        "resourceUsage": {"cpu": "1"},
        "count": 1,
    }
    condition = {
        "type": "QuotaReserved",
        "status": "True",
        "reason": "QuotaReserved",
        "message": "",
        "lastTransitionTime": SINCE,
    }
    admission = {"clusterQueue": "q", "podSetAssignments": [assigned]}
    rig.workload("w", "q", status={"admission": admission, "conditions": [condition]})
    rig.run(0)
    return rig


def test_who_is_not_admitted_yet_loses_its_quota_when_the_queue_is_held():
    rig = reserved("Hold")
    # The controller looks again afterwards, and says what holds from then on.
    assert rig.condition("w") == (False, "Suspended", "ClusterQueue q is inactive")
    assert rig.used("q") == 0


def test_where_nothing_is_stopped_it_keeps_its_quota():
    rig = reserved("None")
    assert rig.condition("w")[0]
    assert rig.used("q") > 0
