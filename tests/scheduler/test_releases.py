"""A release that is given decides as that release does; none changes nothing."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.analysis.conversion.unsimulated import as_release
from scheduler.assembly import assemble
from scheduler.engine.kube.framework.status import SKIP, CycleState
from scheduler.engine.kube.plugins.node_resources_balanced_allocation import (
    BalancedArgs,
    NodeResourcesBalancedAllocation,
)
from scheduler.engine.stage import Context
from scheduler.engine.tick import simulate
from scheduler.input.manifests.releases import release_of_image
from scheduler.model import amounts, registry
from scheduler.model.annotations import ADMISSION_GATED_BY
from scheduler.model.decisions import Admit, Bind
from scheduler.model.errors import ManifestError, PolicyError
from scheduler.model.jobs import Surroundings
from scheduler.model.kube.configuration import read_configurations
from scheduler.model.kueue.configuration import Settings, read_configuration
from scheduler.model.pod import read_pod
from scheduler.model.policy import read_policy
from scheduler.model.releases.kueue_gates import KUEUE_GATES
from scheduler.model.releases.release import (
    KUEUE,
    NEWEST,
    UNRELEASED,
    Release,
    kueue_gates,
    reaches,
)
from scheduler.model.releases.rules import RULES, missing, not_told_apart
from tests.builders import job, node, pod, small_cluster, world_of
from tests.scheduler.kueue.rig import Rig
from tests.scheduler.kueue.topology.test_node_failures import Racks

if TYPE_CHECKING:
    from scheduler.engine.kube.cache.node_info import View
    from scheduler.engine.kube.framework.plugin import Handle

OLD = "config.kueue.x-k8s.io/v1beta1"
ALL = [f"{minor}.{last}" for minor, last in KUEUE.items()] + [UNRELEASED]


def settings(release: str, **document: Any) -> Settings:
    return read_configuration(document, Release(kueue=release))


def rig(release: str, **document: Any) -> Rig:
    return Rig(document, release=Release(kueue=release))


# ---- what is given


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("0.19.2", "0.19.2"),
        ("v0.17.0", "0.17.0"),
        ("0.16", "0.16.9"),
        ("main", UNRELEASED),
    ],
)
def test_a_release_is_stored_in_one_spelling(given, stored):
    policy = read_policy({"spec": {"release": {"kueue": given}}})
    assert policy.spec.decides_as().kueue == stored


@pytest.mark.parametrize("release", ["0.19.3", "0.10.0", "1.0", "newest", ""])
def test_a_release_that_is_not_known_is_refused_with_the_list(release):
    with pytest.raises(
        PolicyError, match=r"unknown release of Kueue.*0\.19\.0 to 0\.19\.2"
    ):
        read_policy({"spec": {"release": {"kueue": release}}})


def test_a_world_without_a_release_is_stored_as_it_was():
    assert "release" not in read_policy({"spec": {"release": {}}}).document()["spec"]
    assert world_of(*small_cluster()).hash() != (
        world_of(*small_cluster(), release={"kueue": "0.19.2"}).hash()
    )


def test_a_scenario_names_its_release_and_a_patch_counts_more():
    text = (
        "apiVersion: quotalab.dev/v1\nkind: Scenario\nspec: {title: {en: t}, "
        "summary: {en: s}, release: {kueue: 0.17.0, yunikorn: 1.8.0}}\n"
    )
    made = assemble([("scenario.yaml", text)], policy={"release": {"kueue": "0.18"}})
    assert made.world.policy.spec.decides_as() == Release(
        kueue="0.18.6", kubernetes=NEWEST["kubernetes"], yunikorn="1.8.0"
    )


@pytest.mark.parametrize(
    "text",
    [
        "apiVersion: quotalab.dev/v1\nkind: Scenario\n"
        "spec: {title: {en: t}, summary: {en: s}}\n",
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: f}\n",
    ],
    ids=["a scenario", "manifests"],
)
def test_whoever_names_no_release_has_the_newest_one_of_each(text):
    made = assemble([("files.yaml", text)])
    assert made.world.policy.spec.decides_as() == Release(**NEWEST)
    assert [str(one) for one in made.loaded.findings] == []


@pytest.mark.parametrize(
    ("gates", "release"),
    [
        ("LendingLimit: true", "0.18.6"),
        ("{LendingLimit: true, DisableWaitForPodsReady: true}", None),
    ],
)
def test_gates_with_which_the_newest_does_not_start_take_one_that_does(gates, release):
    text = (
        "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n"
        f"featureGates: {{{gates.strip('{}')}}}\n"
    )
    made = assemble([("kueue.yaml", text)])
    assert made.world.policy.spec.decides_as().of("kueue") == release
    said = [one for one in made.loaded.findings if one.place.field == "featureGates"]
    assert (said[0].place.file, said[0].place.line) == ("kueue.yaml", 3)
    assert said[0].problem.startswith(
        f"Kueue {NEWEST['kueue']} does not start with these featureGates; decisions are "
        f"taken as Kueue {release or UNRELEASED} takes them"
    )


def test_a_release_older_than_what_is_followed_is_taken_with_a_sentence():
    world = world_of(*small_cluster(), release={"kueue": "0.14.8"})
    assert as_release(world)[0] == "as Kueue 0.14.8"
    assert "older than 0.16.0" in as_release(world)[1]
    assert as_release(world_of(*small_cluster())) == []


def test_what_a_run_does_not_tell_apart_is_named_only_where_it_can_matter():
    def named(*more: dict[str, Any]) -> str:
        release = {"kueue": "0.15.0", "yunikorn": "1.6.0"}
        world = world_of(*small_cluster(), *more, release=release)
        return " ".join(as_release(world)[2:])

    zero = job("zero", queue="main", cpu="0")
    assert "1 later changes" in named(zero)
    assert named(zero).endswith("zero-of-unknown")
    assert named() == ""


def test_what_a_run_does_not_tell_apart_came_later_and_is_not_followed():
    assert not_told_apart(Release(**NEWEST)) == []
    older = not_told_apart(Release(kueue="0.17.0"))
    assert all(not rule.followed and rule.in_runs for rule in older)
    assert "topology-ties" not in {rule.id for rule in older}
    assert "topology-groups-without-places" in {rule.id for rule in older}


# ---- the tables


def test_the_first_patch_of_each_branch_has_a_rule():
    assert [reaches(v, "0.18.5 0.19.1") for v in ("0.17.8", "0.18.4", "0.18.5")] == [
        False,
        False,
        True,
    ]
    assert [reaches(v, "0.18.5 0.19.1") for v in ("0.19.0", "0.19.1", "0.20.0")] == [
        False,
        True,
        True,
    ]


def test_every_rule_has_a_name_of_its_own_and_a_gate_that_there_is():
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert all(rule.gate in KUEUE_GATES for rule in RULES if rule.gate)
    assert all(bool(rule.gate) != bool(rule.since) for rule in RULES)


def test_the_runs_of_each_gate_are_in_the_order_of_releases():
    for runs in KUEUE_GATES.values():
        firsts = [run.split()[0] for run in runs.split("; ")]
        keys = [tuple(map(int, one.split("-")[0].split("."))) for one in firsts]
        assert keys == sorted(set(keys))


def test_the_newest_release_of_each_has_the_rules_that_are_released():
    lacking = [rule.id for rule in missing(Release(**NEWEST)) if rule.followed]
    assert lacking == [
        "pending-reasons",
        "overlapping-targets",
        "default-priority-class",
    ]


# ---- topology


def _topology_world(
    *, pods: int, groups: bool, counts: tuple[int, int]
) -> list[dict[str, Any]]:
    request = {"required": "rack"} | ({"podSetGroupName": "g"} if groups else {})
    cpus = ("1", "2") if groups else ("100m", "100m")
    pod_sets = [
        {
            "name": name,
            "count": count,
            "topologyRequest": request,
            "template": {
                "spec": {
                    "containers": [
                        {"name": "c", "resources": {"requests": {"cpu": cpu}}}
                    ]
                }
            },
        }
        for name, count, cpu in zip(("leader", "workers"), counts, cpus, strict=True)
    ]
    kueue = "kueue.x-k8s.io/v1beta2"
    labels = {"pool": "tas", "rack": "r1"}

    def host(name: str, cpu: int, pods: int) -> dict[str, Any]:
        made = node(name, cpu=cpu, **labels, **{"kubernetes.io/hostname": name})
        made["status"]["allocatable"]["pods"] = str(pods)
        return made

    hosts = {"h1": 2, "h2": 4, "h3": 3} if groups else {"h1": 8}
    quota = {"name": "cpu", "nominalQuota": 100}
    flavor = {"name": "tas", "resources": [quota]}
    return [
        {"apiVersion": kueue, "kind": "Topology", "metadata": {"name": "t"},
         "spec": {"levels": [{"nodeLabel": "rack"}, {"nodeLabel": "kubernetes.io/hostname"}]}},
        {"apiVersion": kueue, "kind": "ResourceFlavor", "metadata": {"name": "tas"},
         "spec": {"nodeLabels": {"pool": "tas"}, "topologyName": "t"}},
        {"apiVersion": kueue, "kind": "ClusterQueue", "metadata": {"name": "q"},
         "spec": {"namespaceSelector": {}, "resourceGroups": [
             {"coveredResources": ["cpu"], "flavors": [flavor]}]}},
        {"apiVersion": kueue, "kind": "LocalQueue",
         "metadata": {"name": "q", "namespace": "default"}, "spec": {"clusterQueue": "q"}},
        *(host(name, cpu, pods) for name, cpu in hosts.items()),
        {"apiVersion": kueue, "kind": "Workload",
         "metadata": {"name": "w", "namespace": "default"},
         "spec": {"queueName": "q", "podSets": pod_sets}},
    ]  # fmt: skip


def _admitted(release: str, *manifests: dict[str, Any]) -> bool:
    world = world_of(*manifests, release={"kueue": release})
    return any(
        isinstance(one, Admit) for one in simulate(world, until_ms=10_000).decisions
    )


@pytest.mark.parametrize(
    ("release", "admits"),
    [
        ("0.17.0", False),
        ("0.18.4", False),
        ("0.18.5", True),
        ("0.19.0", False),
        ("0.19.1", True),
    ],
)
def test_a_leader_leaves_its_workers_their_room_since_0_18_5(release, admits):
    manifests = _topology_world(pods=9, groups=True, counts=(1, 4))
    assert _admitted(release, *manifests) is admits


@pytest.mark.parametrize(
    ("release", "admits"), [("0.17.3", True), ("0.17.4", False), ("0.18.0", False)]
)
def test_pods_of_all_podsets_count_on_a_node_since_0_17_4(release, admits):
    manifests = _topology_world(pods=3, groups=False, counts=(2, 2))
    assert _admitted(release, *manifests) is admits


@pytest.mark.parametrize(
    ("release", "admits"),
    [
        ("0.17.0", False),
        ("0.18.4", False),
        ("0.18.5", True),
        ("0.19.0", False),
        ("0.19.1", True),
    ],
)
def test_the_end_of_a_plain_pod_brings_back_who_waits_for_its_room_since_0_18_5(
    release, admits
):
    manifests = _topology_world(pods=9, groups=False, counts=(2, 2))
    plain = pod("plain", cpu=8, runtime="3s")
    plain["spec"]["nodeName"] = "h1"
    assert _admitted(release, plain, *manifests) is admits


# ---- gates


@pytest.mark.parametrize(
    ("release", "gate", "on", "said"),
    [
        (
            "0.16.2",
            "FairSharingPreemptWithinNominal",
            True,
            "unrecognized feature gate",
        ),
        ("0.19.2", "LendingLimit", True, "unrecognized feature gate"),
        ("0.18.6", "LendingLimit", False, "feature is locked to true"),
    ],
)
def test_a_gate_with_which_a_release_does_not_start_is_refused(release, gate, on, said):
    with pytest.raises(PolicyError, match=said):
        settings(release, featureGates={gate: on})


def test_a_locked_gate_may_be_given_as_it_is():
    assert not settings("0.18.6", featureGates={"LendingLimit": True}).kept


def test_a_gate_that_is_given_counts_more_than_the_release():
    on = {"RecomputeAssignmentUponPreemptionTargetsOverlap": True}
    assert settings("0.19.2", featureGates=on).gates.overlap_searches_again
    assert not settings("0.19.2").gates.overlap_searches_again
    assert not settings("0.19.0").gates.overlap_searches_again
    assert settings(UNRELEASED).gates.overlap_searches_again


def test_a_gate_given_at_its_default_is_not_reported():
    gates = {"TASFailedNodeReplacement": True, "SchedulingEquivalenceHashing": True}
    assert read_configuration({"featureGates": gates}).kept == ()
    turned = dict.fromkeys(gates, False)
    assert len(read_configuration({"featureGates": turned}).kept) == 2
    assert settings("0.19.2", featureGates=turned).kept == (
        "featureGates.TASFailedNodeReplacement",
    )


@pytest.mark.parametrize("release", ALL)
def test_every_release_starts_with_its_gates_as_they_are(release):
    given = {name: gate.on for name, gate in kueue_gates(release).items()}
    assert settings(release, featureGates=given).gates == settings(release).gates


# ---- what a Configuration leaves out


@pytest.mark.parametrize(
    ("release", "document", "timeout_s", "recovery_s", "blocks"),
    [
        ("0.19.2", {}, 1800, 1800, False),
        ("0.19.2", {"waitForPodsReady": {"timeout": "1m"}}, 60, 60, False),
        ("0.18.6", {"waitForPodsReady": {"timeout": "1m"}}, 60, 60, False),
        ("0.15.8", {"waitForPodsReady": {"timeout": "1m"}}, 60, None, False),
        (
            "0.19.2",
            {"apiVersion": OLD, "waitForPodsReady": {"enable": True}},
            300,
            300,
            True,
        ),
        ("0.14.8", {"waitForPodsReady": {"enable": True}}, 300, None, True),
    ],
)
def test_waiting_for_pods_has_the_defaults_of_its_release(
    release, document, timeout_s, recovery_s, blocks
):
    waiting = settings(release, **document).with_defaults().waiting
    assert waiting is not None
    recovery = None if recovery_s is None else recovery_s * 1000
    found = (waiting.timeout_ms, waiting.recovery_ms, waiting.block)
    assert found == (timeout_s * 1000, recovery, blocks)


@pytest.mark.parametrize(
    ("release", "document"),
    [
        ("0.18.6", {}),
        ("0.19.2", {"apiVersion": OLD}),
        ("0.19.2", {"featureGates": {"DisableWaitForPodsReady": True}}),
    ],
)
def test_nothing_waits_for_pods_where_a_release_does_not(release, document):
    assert settings(release, **document).waiting is None


def test_a_field_that_a_release_requires_is_asked_for():
    with pytest.raises(
        PolicyError, match=r"waitForPodsReady\.timeout: expected one length"
    ):
        settings("0.18.6", waitForPodsReady={})


def test_an_apiversion_that_a_release_does_not_read_is_refused():
    with pytest.raises(PolicyError, match=r"0\.14\.8 does not read.*v1beta2"):
        settings("0.14.8", apiVersion="config.kueue.x-k8s.io/v1beta2")


# ---- worlds that show a rule


def full(release: str, **document: Any) -> Rig:
    """Return a queue that is full, and a workload that waits for it."""
    made = rig(release, **document)
    made.queue("a", 1)
    made.workload("runs", "a")
    made.workload("waits", "a")
    made.run(0)
    return made


def test_reasons_are_coarse_before_they_say_why():
    assert full("0.19.2").condition("waits")[1] == "Pending"
    assert full(UNRELEASED).condition("waits")[1] == "WaitingForQuota"
    on = {"UnadmittedWorkloadsObservability": True}
    assert full("0.19.2", featureGates=on).condition("waits")[1] == "WaitingForQuota"


def test_admitted_comes_with_the_first_admission_where_reasons_are_coarse():
    assert "Admitted" not in full("0.19.2").work("waits").conditions
    assert "Admitted" in full(UNRELEASED).work("waits").conditions


def test_what_a_queue_keeps_from_being_tried_is_inadmissible():
    made = rig("0.19.2")
    made.workload("lost", "nowhere")
    made.run(0)
    assert made.condition("lost") == (
        False,
        "Inadmissible",
        "LocalQueue nowhere doesn't exist",
    )


def overlapping(release: str) -> Rig:
    """Return two heads that both want the quota of one borrower back."""
    made = rig(release)
    for name in ("a", "b"):
        made.queue(name, 2, cohort="all", reclaim="Any")
    made.queue("c", 0, cohort="all")
    made.workload("borrows", "c", 4)
    made.run(0)
    made.workload("first", "a", 2)
    made.workload("second", "b", 2)
    made.stage.reconcile()
    made.stage.cycle()
    return made


def test_who_wants_the_victim_of_another_looks_again_in_main_alone():
    assert overlapping("0.19.2").condition("second")[2] == (
        "Workload has overlapping preemption targets with another workload"
    )
    assert (
        overlapping(UNRELEASED)
        .condition("second")[2]
        .endswith("but will fit after these preemptions complete")
    )


def alike(release: str) -> tuple[bool, bool]:
    """Return whether two of three like workloads were tried, and set aside, at once."""
    made = rig(release)
    made.queue("a", 1)
    made.workload("runs", "a")
    made.run(0)
    for name in ("one", "two"):
        made.workload(name, "a")
    made.stage.reconcile()
    made.stage.cycle()
    pending = made.stage.cluster.forest.queues["a"].pending
    aside = pending.is_inadmissible(made.work("two"))
    return "QuotaReserved" in made.work("two").conditions, aside


def test_a_head_that_fails_takes_its_like_along_since_0_18():
    assert alike("0.18.0") == (False, True)
    assert alike("0.17.0") == (False, False)


def tournament(release: str) -> list[str]:
    """Return who is admitted: one borrows little, one owns what it asks for and has a
    large share by memory that it borrows.
    """
    made = rig(release, fairSharing={})
    made.queue("borrower", 1, cohort="all")
    for name, cpu, memory in (("owner", 4, 0), ("lends", 0, 4)):
        quotas = [
            {"name": "cpu", "nominalQuota": cpu},
            {"name": "memory", "nominalQuota": memory},
        ]
        group = {
            "coveredResources": ["cpu", "memory"],
            "flavors": [{"name": "f", "resources": quotas}],
        }
        spec = {"cohortName": "all", "namespaceSelector": {}, "resourceGroups": [group]}
        made.put("ClusterQueue", name, spec, namespace="")
    made.local("owner")
    asked = [{"resources": {"requests": {"memory": 4}}}]
    held = {"name": "main", "count": 1, "template": {"spec": {"containers": asked}}}
    made.workload("holds", "owner", podSets=[held])
    made.run(0)
    made.workload("borrows", "borrower", 2)
    made.workload("owns", "owner", 4)
    return [who for what, who, _ in made.run(1) if what == "Admit"]


def test_who_need_not_borrow_comes_first_under_fair_sharing():
    assert tournament("0.16.2")[0] == "owns"
    assert tournament("0.16.1")[0] == "borrows"


def reclaims(release: str) -> list[tuple[str, str, str]]:
    """Return what becomes of a borrower when an owner wants nominal quota back."""
    made = rig(release, fairSharing={"preemptionStrategies": ["LessThanInitialShare"]})
    made.queue("owner", 3, cohort="all", reclaim="Any", weight=1)
    made.queue("borrower", 1, cohort="all", weight=1000)
    made.queue("rest", 4, cohort="all")
    made.workload("borrows", "borrower", 8)
    made.run(0)
    made.workload("owns", "owner", 3)
    return [d for d in made.run(1) if d[0] == "Preempt"]


def test_nominal_quota_is_taken_back_as_reclamation_since_0_16_3():
    assert reclaims("0.16.3") == [("Preempt", "borrows", "InCohortReclamation")]
    assert reclaims("0.16.2") == [("Preempt", "borrows", "InCohortFairSharing")]


def chosen(release: str, preference: str) -> str:
    """Return the flavor of a workload: in f nobody may go, in g it borrows from afar."""
    made = rig(release)
    made.put("ResourceFlavor", "g", {}, namespace="")
    quota = {
        "f": [{"name": "cpu", "nominalQuota": 2, "borrowingLimit": 0}],
        "g": [{"name": "cpu", "nominalQuota": 0}],
    }
    groups = [
        {
            "coveredResources": ["cpu"],
            "flavors": [{"name": n, "resources": r} for n, r in quota.items()],
        }
    ]
    fungibility: dict[str, Any] = {
        "whenCanBorrow": "TryNextFlavor",
        "whenCanPreempt": "TryNextFlavor",
    }
    if preference:
        fungibility["preference"] = preference
    made.put(
        "ClusterQueue",
        "a",
        {
            "cohortName": "near",
            "namespaceSelector": {},
            "resourceGroups": groups,
            "flavorFungibility": fungibility,
            "preemption": {"withinClusterQueue": "LowerPriority"},
        },
        namespace="",
    )
    made.local("a")
    made.put("Cohort", "near", {"parentName": "all"}, namespace="")
    made.queue("idle", 4, cohort="near")
    made.queue("lends", 4, cohort="all", flavor="g")
    made.workload("runs", "a", 2, priority=9)
    made.run(0)
    made.workload("next", "a", 2)
    made.run(1)
    work = made.work("next")
    return "waits" if work.admission is None else str(dict(work.usage) and "g")


def test_a_flavor_in_which_nobody_may_go_comes_last_since_0_19_1():
    assert chosen("0.19.0", "PreemptionOverBorrowing") == "waits"
    assert chosen("0.19.1", "PreemptionOverBorrowing") == "g"


def test_a_preference_worked_the_wrong_way_round_up_to_0_16_1():
    assert chosen("0.16.1", "BorrowingOverPreemption") == "waits"
    assert chosen("0.16.2", "BorrowingOverPreemption") == "g"


def two_flavors(made: Rig, *, labels: dict[str, dict[str, str]], **queue: Any) -> None:
    """Put a queue of two flavors with these labels; the first has room for 2."""
    flavors = []
    for number, (name, own) in enumerate(labels.items()):
        made.put("ResourceFlavor", name, {"nodeLabels": own}, namespace="")
        quota = [{"name": "cpu", "nominalQuota": 2 + 2 * number, **queue}]
        flavors.append({"name": name, "resources": quota})
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    spec = {"namespaceSelector": {}, "resourceGroups": groups}
    made.put("ClusterQueue", "a", spec, namespace="")
    made.local("a")


@pytest.mark.parametrize(
    ("release", "flavor"),
    [("0.17.5", "gpu"), ("0.17.6", "plain"), ("0.18.1", "gpu"), ("0.18.2", "plain")],
)
def test_a_selector_of_another_flavors_label_bars_no_flavor_since_0_17_6(
    release, flavor
):
    made = rig(release)
    two_flavors(made, labels={"plain": {}, "gpu": {"gpu": "a"}})
    template = {
        "spec": {
            "nodeSelector": {"gpu": "a"},
            "containers": [{"resources": {"requests": {"cpu": 1}}}],
        }
    }
    made.workload(
        "w", "a", podSets=[{"name": "main", "count": 1, "template": template}]
    )
    made.run(0)
    admission = made.work("w").admission
    assert admission is not None
    assert admission.pod_sets[0].flavors == {"cpu": flavor}


@pytest.mark.parametrize(
    ("release", "comes_back"), [("0.19.0", False), ("0.19.1", True)]
)
def test_an_edit_of_a_flavor_brings_back_who_waits_since_0_19_1(release, comes_back):
    made = rig(release)
    taint = {"key": "k", "value": "v", "effect": "NoSchedule"}
    made.put("ResourceFlavor", "f", {"nodeTaints": [taint]}, namespace="")
    made.queue("a", 1)
    made.workload("w", "a")
    made.run(0)
    made.put("ResourceFlavor", "f", {}, namespace="")
    made.run(1)
    assert (made.work("w").admission is not None) is comes_back


@pytest.mark.parametrize(("release", "at_s"), [("0.16.1", 11), ("0.16.2", 16)])
def test_freed_quota_waits_for_a_batch_since_0_16_2(release, at_s):
    jobs = [
        job("runs", queue="main", runtime="10s"),
        job("waits", queue="main", runtime="10s", arrival="1s"),
    ]
    world = world_of(
        *small_cluster(cpu="1"),
        *jobs,
        simulation={"latencies": {"reactivation": "5s"}},
        release={"kueue": release},
    )
    decided = simulate(world, until_ms=60_000).decisions
    begun = [d.at_ms for d in decided if type(d).__name__ == "Admit"]
    assert begun[1] - begun[0] == (at_s - 1) * 1000


@pytest.mark.parametrize(("release", "asked"), [("0.17.6", 0), ("0.17.7", 2000)])
def test_limits_of_a_pod_as_a_whole_are_its_requests_since_0_17_7(release, asked):
    made = rig(release)
    made.queue("a", 4)
    spec = {"resources": {"limits": {"cpu": 2}}, "containers": [{"name": "c"}]}
    made.workload(
        "w", "a", podSets=[{"name": "main", "count": 1, "template": {"spec": spec}}]
    )
    assert made.work("w").pod_sets.totals[0].get("cpu", 0) == asked


def resumes(release: str) -> list[tuple[str, str, str]]:
    """Return what becomes of a head whose first flavor is taken before its turn.

    It would fit in the second, and may take back what is borrowed of the first.
    """
    made = rig(release)
    made.put("ResourceFlavor", "g", {}, namespace="")
    for name, quotas in {"early": (2, 0), "late": (2, 2), "borrows": (0, 0)}.items():
        flavors = [
            {"name": flavor, "resources": [{"name": "cpu", "nominalQuota": cpu}]}
            for flavor, cpu in zip("fg", quotas, strict=True)
        ]
        stop = "MayStopSearch"
        spec = {
            "cohortName": "all",
            "namespaceSelector": {},
            "resourceGroups": [{"coveredResources": ["cpu"], "flavors": flavors}],
            "flavorFungibility": {"whenCanBorrow": stop, "whenCanPreempt": stop},
            "preemption": {"reclaimWithinCohort": "Any"},
        }
        made.put("ClusterQueue", name, spec, namespace="")
        made.local(name)
    made.workload("runs", "borrows", 2)
    made.run(0)
    made.workload("first", "early", 2)
    made.workload("second", "late", 2)
    return made.run(1)


def test_a_search_goes_on_where_it_stopped_since_0_18_5():
    for release, victims in (("0.18.4", ["runs"]), ("0.18.5", [])):
        decided = resumes(release)
        assert [who for what, who, _ in decided if what == "Preempt"] == victims
    assert [who for what, who, _ in decided if what == "Admit"] == ["first", "second"]


@pytest.mark.parametrize(("release", "fails"), [("0.16.9", False), ("0.17.0", True)])
def test_taints_that_drive_pods_off_fail_their_node_since_0_17(release, fails):
    made = Racks(release=Release(kueue=release))
    made.gang("w", 2)
    made.run(0)
    [host] = made.hosts("w")
    taint = {"key": "k", "value": "v", "effect": "NoExecute"}
    made.node(int(host.removeprefix("h")), taint=taint)
    made.stage.settle()
    assert bool(made.unhealthy("w")) is fails


@pytest.mark.parametrize(("release", "waits"), [("0.18.6", False), ("0.19.0", True)])
def test_an_annotation_keeps_a_job_from_being_tried_since_0_19(release, waits):
    made = rig(release)
    made.queue("a", 1)
    made.workload("w", "a", annotations={ADMISSION_GATED_BY: "example.com/gate"})
    made.run(0)
    assert (made.work("w").admission is None) is waits


@pytest.mark.parametrize(("release", "credits"), [("0.18.2", 2000), ("0.18.3", 600)])
def test_transformations_multiply_exact_amounts_since_0_18_3(release, credits):
    credit = {"input": "cpu", "strategy": "Replace", "outputs": {"credits": 1000}}
    made = rig(release, resources={"transformations": [credit]})
    made.workload("w", "a", "300m", count=2)
    assert made.work("w").pod_sets.totals[0] == {"credits": credits}


@pytest.mark.parametrize(("release", "passes"), [("0.18.6", False), ("0.19.0", True)])
def test_resources_without_quota_may_pass_since_0_19(release, passes):
    document = {"resources": {"quotaCheckStrategy": "IgnoreUndeclared"}}
    assert settings(release, **document).ignores_undeclared is passes


@pytest.mark.parametrize(("release", "most"), [("0.17", 8), ("0.18", 10), ("0.19", 18)])
def test_a_job_of_too_many_podsets_has_no_workload(release, most):
    kind = registry.lookup("job-kind", "JobSet")
    around = Surroundings(decides_as=Release(kueue=f"{release}.0"))
    replicated = [{"name": f"r{n}", "template": {"spec": {}}} for n in range(most)]
    jobs = {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "metadata": {"name": "j"},
        "spec": {"replicatedJobs": replicated},
    }
    assert len(kind.workloads(jobs, around)[0]["spec"]["podSets"]) == most
    replicated.append({**replicated[0], "name": "more"})
    with pytest.raises(ManifestError, match=f"JobSet j: expected 1 to {most} podsets"):
        kind.workloads(jobs, around)


RAY = {
    "apiVersion": "ray.io/v1",
    "kind": "RayJob",
    "metadata": {"name": "r", "namespace": "default"},
    "spec": {
        "submissionMode": "SidecarMode",
        "rayClusterSpec": {
            "enableInTreeAutoscaling": True,
            "gcsFaultToleranceOptions": {},
            "headGroupSpec": {
                "template": {
                    "spec": {
                        "containers": [
                            {"name": "h", "resources": {"requests": {"cpu": "100m"}}}
                        ]
                    }
                }
            },
        },
    },
}


@pytest.mark.parametrize(
    ("release", "cpu"),
    [
        ("0.17.5", "100m"),
        ("0.17.6", "200m"),  # fault tolerance
        ("0.17.7", "700m"),  # and the submitter
        ("0.18.0", "100m"),
        ("0.18.3", "700m"),
        ("0.19.0", "1200m"),  # and the autoscaler
    ],
)
def test_the_head_of_a_ray_cluster_is_charged_for_more_with_each_release(release, cpu):
    kind = registry.lookup("job-kind", "RayJob")
    around = Surroundings(decides_as=Release(kueue=release))
    [head, *_] = kind.pod_sets(RAY, around)
    asked = sum(
        (
            amounts.parse(one["resources"]["requests"]["cpu"])
            for one in head["template"]["spec"]["containers"]
        ),
        amounts.parse("0"),
    )
    assert asked == amounts.parse(cpu)


# ---- what no rule touches


@given(
    release=st.sampled_from(ALL),
    asks=st.lists(st.integers(1, 3), min_size=1, max_size=4),
)
def test_a_world_that_trips_no_rule_agrees_in_all_releases(release, asks):
    def played(**policy: Any) -> list[tuple[int, str, str]]:
        jobs = [
            job(f"j{n}", queue="main", cpu=str(cpu), runtime="30s")
            for n, cpu in enumerate(asks)
        ]
        world = world_of(*small_cluster(cpu="12"), *jobs, **policy)
        decided = simulate(world, until_ms=120_000).decisions
        return [(d.at_ms, type(d).__name__, str(d.subject)) for d in decided]

    assert played(release={"kueue": release}) == played()


def test_the_rules_of_a_world_go_with_its_policy():
    world = world_of(*small_cluster(), release={"kueue": "0.19.2"})
    assert world.copy().policy.spec.decides_as().kueue == "0.19.2"
    world.set_policy(read_policy({}))
    assert world.kueue is not None
    assert world.kueue.settings.gates.fine_reasons


# ---- kube-scheduler

BALANCED = "NodeResourcesBalancedAllocation"


def using(name: str, node_name: str = "", **asked: str) -> dict[str, Any]:
    """Return a pod that asks for this, on a node if one is named."""
    made = pod(name)
    made["spec"]["containers"][0]["resources"] = {"requests": asked}
    if node_name:
        made["spec"]["nodeName"] = node_name
    return made


def placed(release: str) -> str:
    """Return the node of a pod: one is evened out by it, one stays the more even."""
    scores = {"enabled": [{"name": BALANCED}], "disabled": [{"name": "*"}]}
    world = world_of(
        node("even", cpu=8),
        node("uneven", cpu=8),
        using("on-even", "even", cpu="2", memory="16Gi"),
        using("on-uneven", "uneven", cpu="1", memory="32Gi"),
        using("p", cpu="1"),
        stack="kube",
        kubeScheduler={"profiles": [{"plugins": {"score": scores}}]},
        release={"kubernetes": release},
    )
    decided = simulate(world, until_ms=5_000).decisions
    return next(d.node for d in decided if type(d) is Bind and d.subject.name == "p")


def test_the_change_of_balance_counts_since_kubernetes_1_36():
    assert placed("1.36.3") == "uneven"
    assert placed("1.35.4") == "even"


@pytest.mark.parametrize(("release", "skipped"), [("1.33.0", True), ("1.32.13", False)])
def test_pods_that_ask_for_nothing_are_not_balanced_since_kubernetes_1_33(
    release, skipped
):
    context = Context(seed=1, epoch_us=0, decides_as=Release(kubernetes=release))
    handle = SimpleNamespace(context=context)
    plugin = NodeResourcesBalancedAllocation(BalancedArgs(), cast("Handle", handle))
    idle = read_pod(using("p"), {})
    said = plugin.pre_score(CycleState(), idle, cast("View", None))
    assert (said is SKIP) is skipped


def test_an_empty_queue_takes_pods_from_backoff_since_kubernetes_1_33():
    for release, pops in (("1.33.0", True), ("1.32.0", False)):
        [found] = read_configurations({}, Release(kubernetes=release))
        assert found.timing.pop_from_backoff is pops


@pytest.mark.parametrize(
    ("image", "found"),
    [
        ("registry.k8s.io/kueue/kueue:v0.19.2", ("kueue", "0.19.2")),
        ("registry:5000/kueue:v0.17.0@sha256:abc", ("kueue", "0.17.0")),
        ("registry.k8s.io/kube-scheduler:v1.36.3", ("kubernetes", "1.36.3")),
        ("apache/yunikorn:scheduler-1.9.0", ("yunikorn", "1.9.0")),
        ("registry.k8s.io/kueue/kueue:latest", None),
        ("nginx:1.27.0", None),
    ],
)
def test_an_image_says_whose_it_is_and_which_release(image, found):
    assert release_of_image(image) == found
