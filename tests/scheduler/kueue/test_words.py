"""What Kueue's controllers write, word by word: lost reservations, variants, wrong settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scheduler.engine.kueue.concurrent.admissions import standing
from scheduler.engine.kueue.workload.info import LocalQueue, WorkloadInfo
from scheduler.model.decisions import Wait
from scheduler.model.errors import PolicyError
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.objects import Key
from scheduler.model.quota import Migration
from tests.scheduler.kueue.rig import Rig

HERE = Key("LocalQueue", "default", "here")
MAIN = Key("ClusterQueue", "", "main")
FLAVORS = ("best", "good", "last")


def reserving() -> Rig:
    """Return a rig in which `w` has quota, and waits for a check."""
    rig = Rig()
    active = {"conditions": [{"type": "Active", "status": "True"}]}
    rig.put("AdmissionCheck", "k", {}, namespace="", status=active)
    rig.queue("main")
    rig.local("here", queue="main")
    checks = {"admissionChecks": [{"name": "k"}]}
    rig.edit(MAIN, admissionChecksStrategy=checks)
    rig.workload("w", "here")
    rig.run(0)
    assert rig.condition("w")[0]
    return rig


@pytest.mark.parametrize(
    ("edit", "reason", "message", "said"),
    [
        (lambda rig: rig.stage.remove(HERE), "Misconfigured", "LocalQueue here doesn't exist", 0),
        (lambda rig: rig.edit(HERE, stopPolicy="Hold"), "Suspended", "LocalQueue here is inactive", 1),
        (lambda rig: rig.stage.remove(MAIN), "Misconfigured", "ClusterQueue main doesn't exist", 0),
        (lambda rig: rig.edit(MAIN, stopPolicy="Hold"), "Suspended", "ClusterQueue main is inactive", 1),
    ],
    ids=["local queue gone", "local queue held", "queue gone", "queue held"],
)  # fmt: skip
def test_a_reservation_is_lost_with_its_queue(
    edit: Callable[[Rig], None], reason: str, message: str, said: int
):
    rig = reserving()
    edit(rig)
    rig.stage.reconcile()
    reported = [d for d in rig.context.journal.decisions if isinstance(d, Wait)]
    assert [d.message for d in reported] == [message] * said  # else it was known before
    assert rig.condition("w") == (False, reason, message)
    assert rig.work("w").admission is None


def variant(flavor: str) -> WorkloadInfo:
    key = Key("Workload", "default", f"w-{flavor}")
    work = WorkloadInfo(key, flavor, LocalQueue(HERE))
    work.allowed_flavors, work.active = (flavor,), True
    return work


OTHER = 'another Variant "default/w-good" is admitted'


@pytest.mark.parametrize(
    ("flavor", "migration", "expected"),
    [
        ("best", Migration(), (True, 'being higher priority than admitted Variant "default/w-good"')),
        ("best", Migration(last_acceptable="best"),
         (True, 'being at least lastAcceptableFlavor: "best" and '
                'higher priority than admitted Variant "default/w-good"')),
        ("last", Migration(), (False, 'being lower priority than admitted Variant "default/w-good"')),
        ("last", Migration(last_acceptable="good"),
         (False, 'being below lastAcceptableFlavor: "good" and '
                 'another Variant admitted "default/w-good"')),
        ("best", Migration("RetainFirstAdmission"), (False, f"RetainFirstAdmission: {OTHER}")),
    ],
)  # fmt: skip
def test_a_variant_is_told_why_it_goes_on_beside_an_admitted_one(
    flavor: str, migration: Migration, expected: tuple[bool, str]
):
    parent, admitted = variant(""), variant("good")
    parent.active = True
    assert standing(parent, variant(flavor), admitted, FLAVORS, migration) == expected


def test_a_variant_without_an_admitted_one_goes_on_while_its_parent_is_active():
    parent = variant("")
    parent.active = True
    found = standing(parent, variant("best"), None, FLAVORS, Migration())
    assert found == (True, "no other Variant being admitted")
    parent.active = False
    assert standing(parent, variant("best"), None, FLAVORS, Migration()) == (
        False,
        'Parent Workload "default/w-" not active',
    )


@pytest.mark.parametrize("order", [("k", "other"), ("other", "k")])
def test_a_check_of_multi_kueue_among_others_leaves_places_to_the_workers(order):
    rig = Rig()
    for name, controller in (("k", "kueue.x-k8s.io/multikueue"), ("other", "own")):
        key = order[0] if name == "k" else order[1]
        rig.put("AdmissionCheck", key, {"controllerName": controller}, namespace="")
    rig.queue("main")
    checks = {"admissionChecks": [{"name": name} for name in order]}
    rig.edit(MAIN, admissionChecksStrategy=checks)
    rig.stage.settle()
    queue = rig.stage.cluster.forest.queues["main"]
    assert rig.stage.cluster.delays_topology(queue) == (frozenset(), True)


def test_an_input_that_is_no_name_is_refused_by_its_path():
    given = {"transformations": [{"input": 3}]}
    with pytest.raises(PolicyError) as refused:
        read_configuration({"resources": given})
    assert str(refused.value) == (
        "kueue.resources.transformations[0].input: expected the name of a resource"
    )


def test_an_admission_that_is_silent_about_pods_is_of_all_of_them():
    rig = Rig()
    rig.queue("main")
    part = {"name": "main", "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "3"}}
    status = {
        "admission": {"clusterQueue": "main", "podSetAssignments": [part]},
        "conditions": [{"type": "QuotaReserved", "status": "True"}],
    }
    rig.workload("w", "main", count=3, status=status)
    admission = rig.work("w").admission
    assert admission is not None
    assert [one.count for one in admission.pod_sets] == [3]
