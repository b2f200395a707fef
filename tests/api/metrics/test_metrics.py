"""Metrics that a Grafana board made for Kueue reads unchanged."""

from __future__ import annotations

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families

from sandbox import actions
from sandbox.access.people import local_user
from sandbox.explain import counting
from sandbox.models import Event
from scheduler.model.objects import Key
from tests import stored
from tests.builders import cluster_queue, flavor, job, local_queue, node, pod
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db]


def values(text: str, name: str, **labels: str) -> list[float]:
    found = []
    for line in text.splitlines():
        head, _, value = line.rpartition(" ")
        if head.partition("{")[0] == name and all(
            f'{label}="{wanted}"' in head for label, wanted in labels.items()
        ):
            found.append(float(value))
    return found


@pytest.fixture
def text(call, busy) -> str:
    tick(busy, 12)
    return call("get", busy, "/metrics").content.decode()


def families(text: str) -> dict[str, Metric]:
    """What Prometheus' own parser makes of the text, by name."""
    return {family.name: family for family in text_string_to_metric_families(text)}


def test_prometheus_reads_it_and_no_sample_comes_twice(text):
    found = families(text)
    assert len(found) > 40
    for family in found.values():
        assert family.type in ("gauge", "counter", "histogram")
        names = [(s.name, tuple(sorted(s.labels.items()))) for s in family.samples]
        assert len(names) == len(set(names)), family.name


#: Without a counterpart here: what the machine of the real controller measures, and
#: what is not simulated (checks, slices, several clusters, gates, admission scopes).
ABSENT = [
    "kueue_admission_attempt_duration_seconds",
    "kueue_pod_scheduling_gate_removal_seconds",
    "kueue_workload_creation_latency_seconds",
    "kueue_admission_checks_wait_time_seconds",
    "kueue_admission_cycle_preemption_skips",
    "kueue_pending_scheduling_hashes",
    "kueue_pods_ready_to_evicted_time_seconds",
    "kueue_preemption_target_recomputations",
    "kueue_replaced_workload_slices",
    "kueue_workload_eviction_latency_seconds",
    "kueue_local_queue_admission_checks_wait_time_seconds",
    "kueue_local_queue_admission_fair_sharing_usage",
]
NAMES = [
    "admission_attempts",
    "admission_wait_time_seconds",
    "admitted_active_workloads",
    "admitted_workloads",
    "build_info",
    "cluster_queue_info",
    "cluster_queue_resource_pending",
    "cluster_queue_status",
    "evicted_workloads_once",
    "evicted_workloads",
    "execution_time_seconds",
    "finished_workloads",
    "pending_workloads",
    "preempted_workloads",
    "quota_reserved_wait_time_seconds",
    "quota_reserved_workloads",
    "reserving_active_workloads",
    "unadmitted_workloads",
    "local_queue_admission_wait_time_seconds",
    "local_queue_admitted_active_workloads",
    "local_queue_admitted_workloads",
    "local_queue_evicted_workloads",
    "local_queue_execution_time_seconds",
    "local_queue_finished_workloads",
    "local_queue_pending_workloads",
    "local_queue_quota_reserved_wait_time_seconds",
    "local_queue_quota_reserved_workloads",
    "local_queue_reserving_active_workloads",
    "local_queue_resource_reservation",
    "local_queue_resource_usage",
    "local_queue_status",
    "local_queue_unadmitted_workloads",
    "cohort_subtree_admitted_active_workloads",
    "cohort_subtree_admitted_workloads",
    "cohort_subtree_quota",
    "cohort_subtree_resource_reservations",
    "cohort_weighted_share",
    "cluster_queue_borrowing_limit",
    "cluster_queue_lending_limit",
    "cluster_queue_nominal_quota",
    "cluster_queue_resource_reservation",
    "cluster_queue_resource_usage",
    "cluster_queue_weighted_share",
    "admitted_until_ready_wait_time_seconds",
    "local_queue_admitted_until_ready_wait_time_seconds",
    "local_queue_ready_wait_time_seconds",
    "ready_wait_time_seconds",
]


def test_kueues_names_are_there_but_for_those_without_a_counterpart(text):
    found = families(text)
    wanted = {f"kueue_{name}" for name in NAMES}
    assert wanted - found.keys() == set()
    assert not set(ABSENT) & found.keys()
    assert "kueue_cohort_info" not in found  # its cohort is no object
    for name in wanted - {"kueue_build_info"}:
        for sample in found[name].samples:
            assert sample.labels["replica_role"] == "standalone"


def test_times_of_local_queues_add_up_to_those_of_their_cluster_queues(text):
    for name in ("admission_wait_time_seconds", "execution_time_seconds"):
        for part in ("count", "sum"):
            whole = sum(values(text, f"kueue_{name}_{part}"))
            parts = sum(values(text, f"kueue_local_queue_{name}_{part}"))
            assert whole == pytest.approx(parts)


def test_a_sandbox_of_yunikorn_has_the_names_of_yunikorn(call, person):
    made = actions.do_create(person, scenario="yunikorn-fifo-fair-stateaware").sandbox
    actions.do_play(person, made.pk)
    tick(made, 8)
    text = call("get", made, "/metrics").content.decode()
    found = families(text)
    assert {
        "yunikorn_queue_app",
        "yunikorn_queue_resource",
        "yunikorn_root_fair_queue_container",
        "yunikorn_scheduler_container_allocation_attempt",
        "yunikorn_scheduler_application_submission",
        "yunikorn_scheduler_application_total",
        "yunikorn_scheduler_node",
        "yunikorn_scheduler_vcore_node_usage_total",
        "yunikorn_event_total_stored",
    } <= found.keys()
    binds = Event.objects.filter(sandbox=made, type="Bind").count()
    name = "yunikorn_scheduler_container_allocation_attempt_total"
    assert values(text, name, state="allocated") == [binds]
    nodes = values(text, "yunikorn_scheduler_vcore_node_usage_total")
    assert sum(nodes) == sum(values(text, "yunikorn_scheduler_node"))


def test_a_sandbox_of_kube_scheduler_has_its_names(call, make, person):
    pods = [pod(f"p{n}", cpu=1) for n in range(6)]
    made = make(node("n1", cpu=4), *pods, policy={"stack": "kube"})
    actions.do_play(person, made.pk)
    tick(made, 3)
    text = call("get", made, "/metrics").content.decode()
    assert sum(values(text, "scheduler_pending_pods")) == 2
    name = "scheduler_schedule_attempts_total"
    assert values(text, name, result="scheduled") == [4]
    assert values(text, name, result="unschedulable")[0] >= 2
    assert values(text, "scheduler_pod_scheduling_attempts_count") == [4]
    assert values(text, "scheduler_scheduler_cache_size", type="nodes") == [1]


def test_every_family_says_that_time_is_simulated(text):
    helps = [line for line in text.splitlines() if line.startswith("# HELP")]
    assert all(line.endswith("(simulated time)") for line in helps)


def test_gauges_say_what_the_rows_say(text, busy):
    admitted = len(stored.workloads(busy.pk, "admitted"))
    assert sum(values(text, "kueue_admitted_active_workloads")) == admitted
    name = "kueue_cluster_queue_nominal_quota"
    assert values(text, name, cluster_queue="a", resource="cpu") == [4.0]
    assert values(text, "kueue_cluster_queue_borrowing_limit")[0] == float("inf")
    assert values(text, "quotalab_simulated_seconds") == [12.0]


def test_counters_say_what_the_events_say(text, busy):
    admissions = Event.objects.filter(sandbox=busy, type="Admit").count()
    preemptions = Event.objects.filter(sandbox=busy, type="Preempt").count()
    assert sum(values(text, "kueue_admitted_workloads_total")) == admissions
    assert sum(values(text, "kueue_preempted_workloads_total")) == preemptions > 0
    waits = values(text, "kueue_admission_wait_time_seconds_count")
    assert sum(waits) == admissions


def test_who_causes_preemptions_is_counted_by_queue_and_cohort(call, make):
    sandbox = make(
        flavor("default"),
        cluster_queue("a", cpu=1, cohort="team"),
        cluster_queue("b", cpu=1, cohort="team", reclaim="Any"),
        local_queue("a", cluster_queue="a"),
        local_queue("b", cluster_queue="b"),
        job("borrows", queue="a", cpu=2, runtime="1h"),
        job("reclaims", queue="b", cpu=1, runtime="1h", arrival="5s"),
    )
    actions.do_step(local_user(), sandbox.pk, ticks=8)
    tick(sandbox, 8)
    text = call("get", sandbox, "/metrics").content.decode()
    caused = values(
        text,
        "quotalab_preemptions_total",
        preempting_cluster_queue="b",
        cluster_queue="a",
        preempting_cohort="team",
        cohort="team",
    )
    assert caused == [1]


def pressures(call, sandbox, name: str) -> dict[str, float]:
    """What Fairness has of a metric, by its first two labels."""
    found = call("get", sandbox, "/fairness").json()["pressure"]
    return {
        " ".join([*one["labels"].values()][:2]): one["value"]
        for one in found
        if one["name"] == name
    }


def test_fairness_has_the_preemptions_of_the_metrics(text, call, busy):
    name = "quotalab_preemptions_total"
    total = sum(values(text, name))
    assert sum(pressures(call, busy, name).values()) == total > 0


def test_fairness_has_the_mean_wait_of_each_queue_and_class(text, call, busy):
    name = "kueue_admission_wait_time_seconds"
    shown = pressures(call, busy, name)
    [whole] = values(text, f"{name}_sum", cluster_queue="a", priority_class="high")
    [count] = values(text, f"{name}_count", cluster_queue="a", priority_class="high")
    assert shown["a high"] == pytest.approx(whole / count)


def test_a_flavor_is_contended_while_work_waits_that_may_use_it(call, make):
    sandbox = make(
        flavor("default"),
        cluster_queue("cq", cpu=1, cohort="team"),
        cluster_queue("spare", cpu=1, cohort="team"),
        local_queue("lq", cluster_queue="cq"),
        job("one", queue="lq", cpu=2, runtime="10s"),
        job("two", queue="lq", cpu=2, runtime="1h", arrival="5s"),
    )
    actions.do_step(local_user(), sandbox.pk, ticks=20)
    tick(sandbox, 20)
    waited = pressures(call, sandbox, "quotalab_contended_seconds_total")
    assert waited["default"] == pytest.approx(5, abs=1)
    borrowed = pressures(call, sandbox, "quotalab_borrowed_seconds_total")
    assert borrowed["default cpu"] == pytest.approx(20, abs=1)


def test_a_second_scrape_goes_on_counting(text, call, busy):
    tick(busy, 8)
    again = call("get", busy, "/metrics").content.decode()
    admissions = Event.objects.filter(sandbox=busy, type="Admit").count()
    assert sum(values(again, "kueue_admitted_workloads_total")) == admissions


def test_one_scrape_has_every_sandbox(client, make, busy):
    other = make()
    text = client.get("/metrics").content.decode()
    for sandbox in (busy, other):
        assert values(text, "quotalab_tick", sandbox=sandbox.pk)


def test_work_that_a_checkpoint_keeps_is_not_lost(call, person):
    sandbox = actions.do_create(person, scenario="preemption-checkpoints").sandbox
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 100)
    text = call("get", sandbox, "/metrics").content.decode()
    # Two Workloads run 50 s each; 40 s of one are kept.
    assert sum(values(text, "quotalab_work_lost_seconds")) == pytest.approx(60, abs=1)


@pytest.fixture
def ran(call, make):
    """Return a sandbox in which a Job of one pod runs, and how its metrics are read."""
    sandbox = make(
        node("n1", cpu=4),
        flavor("default"),
        cluster_queue("cq", cpu=4),
        local_queue("lq", cluster_queue="cq"),
        job("a", queue="lq", runtime="1h"),
        policy={"kueue": {"waitForPodsReady": {"timeout": "5m"}}},
    )
    actions.do_step(local_user(), sandbox.pk, ticks=5)
    tick(sandbox, 5)
    return sandbox, lambda: call("get", sandbox, "/metrics").content.decode()


def test_pods_that_get_ready_are_counted_once_per_admission(ran):
    _, text = ran
    name = "kueue_local_queue_ready_wait_time_seconds_count"
    assert values(text(), name, namespace="default") == [1]


def test_the_workload_of_a_job_that_is_deleted_counts_as_finished(call, ran):
    sandbox, text = ran
    call("delete", sandbox, "/apis/batch/v1/namespaces/default/jobs/a")
    actions.do_step(local_user(), sandbox.pk, ticks=2)
    tick(sandbox, 2)
    name = "kueue_finished_workloads_total"
    assert values(text(), name, cluster_queue="cq") == [1]


def test_counts_brought_forward_tick_by_tick_are_those_made_from_scratch(person, busy):
    forward = counting.CountCache(counting.WorkloadTotals, counting._read)
    for n in range(24):
        tick(busy)
        if n == 5:
            actions.do_delete(person, busy.pk, [Key("Job", "default", "job-01")])
        if n == 15:
            actions.do_delete(
                person, busy.pk, [Key("LocalQueue", "default", "a-queue")]
            )
        found = forward.brought_to(row(busy), {})
    scratch = counting.CountCache(counting.WorkloadTotals, counting._read)
    assert found == scratch.brought_to(row(busy), {})
    assert found.counters
    assert found.gone
    assert found.times


def test_a_local_queue_that_is_stopped_begins_to_count_anew(call, ran):
    sandbox, text = ran
    path = "/apis/kueue.x-k8s.io/v1beta2/namespaces/default/localqueues/lq"
    body = {"spec": {"stopPolicy": "Hold"}}
    call("patch", sandbox, path, body)
    assert values(text(), "kueue_local_queue_admitted_workloads_total") == []


def test_the_weighted_share_is_that_of_the_queue(call, person):
    sandbox = actions.do_create(person, scenario="fair-weights").sandbox
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 12)
    text = call("get", sandbox, "/metrics").content.decode()
    name = "kueue_cluster_queue_weighted_share"
    shares = [values(text, name, cluster_queue=queue) for queue in ("full", "half")]
    assert shares == [[667.0], [667.0]]
