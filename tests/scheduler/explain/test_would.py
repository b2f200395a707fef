"""Would work start if it were submitted: when, at whose cost, and what starts it now."""

from __future__ import annotations

import io
import tracemalloc
from typing import Any

import pytest
import yaml

from scheduler.analysis.explain.would import Would, helps, when, would
from scheduler.analysis.forecast.submission import read_submission
from scheduler.cli.would import main
from scheduler.engine.tick import advance
from scheduler.engine.world import World
from scheduler.input.manifests.chosen_run_times import RunTimeChoice, read_rule
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from tests.builders import (
    cluster_queue,
    job,
    local_queue,
    node,
    pod,
    queue_tree,
    small_cluster,
    workload_priority,
    world_of,
)


def at(world: World, seconds: int = 30) -> World:
    advance(world, seconds * 1000)
    world.take()
    return world


def asked(world: World, *manifests: dict[str, Any], **given: Any) -> Would:
    text = yaml.safe_dump_all(manifests)
    return would(world, read_submission(world, [("new.yaml", text)]), **given)


def full(*more: dict[str, Any], **queue: Any) -> World:
    """A queue of 4 CPU that a job holds for 10 minutes."""
    held = job("held", queue="main", cpu=4, runtime="10m")
    return at(world_of(*small_cluster(cpu=4, **queue), held, *more))


def texts(found: Would) -> list[str]:
    return [change.text for change in found.changes]


def test_work_that_fits_starts_now_and_nothing_is_submitted():
    world = at(world_of(*small_cluster(cpu=4)))
    before = world.hash()
    found = asked(world, job("new", queue="main", cpu=4))
    assert (found.starts, found.victims, found.changes) == ("now", [], [])
    assert world.hash() == before


def test_work_that_names_no_queue_is_tried_in_each():
    found = asked(at(world_of(*small_cluster())), job("new"))
    assert (found.starts, [one.code for one in found.said][:2]) == (
        "never",
        ["would.not", "asked.noLabel"],
    )
    assert "LocalQueue default/main" in texts(found)[0]


def test_work_that_waits_says_when_it_starts_after_whom_and_why_not_now():
    found = asked(full(), job("new", queue="main", cpu=4))
    assert found.starts == "later"
    assert 560_000 < found.starts_ms < 580_000
    assert [name.rpartition("-")[0] for name in found.after] == [
        "Workload/default/job-held"
    ]
    assert any("4 CPU asked, 0 CPU free" in text for text in found.sentences)


def test_work_whose_pods_run_for_themselves_starts_in_part():
    world = at(world_of(node("n1", cpu=4), stack="kube"))
    new = read_submission(world, [("j", yaml.safe_dump(job("new", parallelism=6)))])
    [first, *_] = would(world, new).sentences
    assert first.startswith("4 of its 6 pods would run at once, the last 1m")


def test_pods_that_get_the_places_of_others_later_do_not_run_at_once():
    old = job("old", parallelism=3, runtime="15s")
    world = at(world_of(node("n1", cpu=4), old, stack="kube"), 5)
    new = job("new", parallelism=6, runtime="5s")
    found = would(world, read_submission(world, [("j", yaml.safe_dump(new))]))
    assert found.starts == "later"
    assert found.sentences[0].startswith("1 of its 6 pods would run at once, the last ")


@pytest.mark.parametrize(
    ("pods", "first"),
    [
        (0, "It would wait, and not start within 24h."),
        (4, "4 of its 6 pods would run at once, the last 1m"),
    ],
)
def test_pods_that_a_quota_refuses_do_not_start_now(pods, first):
    quota = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "few", "namespace": "default"},
        "spec": {"hard": {"pods": str(pods)}},
    }
    world = at(world_of(node("n1", cpu=8), quota, stack="kube"))
    new = read_submission(world, [("j", yaml.safe_dump(job("new", parallelism=6)))])
    said = would(world, new).sentences
    assert said[0].startswith(first)
    assert f"exceeded quota: few, requested: pods=1, used: pods={pods}" in said[1]


def test_work_that_is_suspended_says_why_it_does_not_start():
    world = at(world_of(node("n1", cpu=8), stack="kube"))
    idle = job("new")
    idle["spec"]["suspend"] = True
    found = would(world, read_submission(world, [("j", yaml.safe_dump(idle))]))
    assert found.starts == "never"
    assert "It is suspended (spec.suspend), so it has no pods." in found.sentences


def test_work_that_never_fits_says_so_with_how_far_was_looked():
    found = asked(full(), job("new", queue="main", cpu=5), horizon_ms=3_600_000)
    assert (found.starts, found.starts_ms) == ("never", None)
    assert "It would wait, and not start within 1h." in found.sentences


def test_an_arrival_that_the_file_states_is_not_waited_for():
    world = at(world_of(*small_cluster(cpu=4)))
    assert asked(world, job("new", queue="main", arrival="1h")).starts == "now"


def test_victims_are_named_with_their_priority_and_what_they_lose():
    classes = [workload_priority("low", 1), workload_priority("high", 9)]
    held = job("held", queue="main", cpu=4, runtime="1h", priority_class="low")
    cluster = small_cluster(cpu=4, within="LowerPriority")
    world = at(world_of(*cluster, *classes, held))
    found = asked(world, job("new", queue="main", cpu=4, priority_class="high"))
    assert found.starts == "now"
    [victim] = found.victims
    assert victim.priority == 1
    assert victim.work_lost_ms > 20_000
    assert any(
        text.startswith("It would preempt 1: job-held-") for text in found.sentences
    )


# ---- what it assumes


def test_the_answer_says_that_nobody_else_is_assumed_to_come():
    found = asked(full(), job("new", queue="main", cpu=4))
    assert "Assumed: nobody else submits anything." in found.sentences


def test_jobs_that_the_files_let_arrive_are_counted():
    later = job("later", queue="main", arrival="1h")
    found = asked(full(later), job("new", queue="main", cpu=4))
    assert any("the 1 object that arrives" in text for text in found.sentences)


@pytest.mark.parametrize(
    ("runtime", "said"),
    [
        ("10m", "Run times of what runs are those that the files state."),
        (None, "1 Job has no run time, so 60s is assumed"),
    ],
)
def test_a_run_time_that_nobody_gave_is_called_assumed(runtime, said):
    given = {"runtime": runtime} if runtime else {}
    held = job("held", queue="main", cpu=4, **given)
    world = at(world_of(*small_cluster(cpu=4), held), 10)
    found = asked(world, job("new", queue="main", cpu=4))
    assert any(text.startswith(said) for text in found.sentences), found.sentences


# ---- the change of the job that starts it now


def half_free() -> World:
    """A queue of 4 CPU, of which a job holds 2 for an hour, and an idle queue of 1 CPU."""
    held = job("held", queue="main", cpu=2, runtime="1h")
    idle = [cluster_queue("idle", cpu=1), local_queue("idle", cluster_queue="idle")]
    return at(world_of(*small_cluster(cpu=4), *idle, held))


def test_fewer_pods_are_as_many_as_still_start_now():
    found = asked(half_free(), job("new", queue="main", cpu=1, parallelism=4))
    assert "spec.parallelism: 2 in place of 4" in texts(found)


def test_smaller_pods_are_as_large_as_still_start_now():
    found = asked(half_free(), job("new", queue="main", cpu=4))
    assert "1/2 of what each pod asks: 2 CPU" in texts(found)


def test_another_queue_is_offered_where_it_starts_now():
    idle = [cluster_queue("idle", cpu=4), local_queue("idle", cluster_queue="idle")]
    found = asked(full(*idle), job("new", queue="main", cpu=4))
    assert "LocalQueue default/idle" in texts(found)


def test_a_higher_priority_is_offered_with_whom_it_preempts():
    high = workload_priority("high", 9)
    world = full(high, within="LowerPriority")
    [change] = asked(world, job("new", queue="main", cpu=4)).changes
    assert change.text == "WorkloadPriorityClass high (9)"
    assert [one.workload.rpartition("-")[0] for one in change.victims] == [
        "Workload/default/job-held"
    ]


def test_a_selector_of_nodes_that_keeps_it_waiting_is_left_out():
    world = at(world_of(node("n", cpu=4), stack="kube"))
    picky = pod("new", cpu=1)
    picky["spec"]["nodeSelector"] = {"pool": "a"}
    found = asked(world, picky)
    assert (found.starts, texts(found)) == ("never", ["no nodeSelector pool=a"])


def test_a_change_at_nobodys_cost_comes_before_one_that_preempts():
    idle = [cluster_queue("idle", cpu=4), local_queue("idle", cluster_queue="idle")]
    world = full(*idle, workload_priority("high", 9), within="LowerPriority")
    found = asked(world, job("new", queue="main", cpu=4))
    assert [len(change.victims) for change in found.changes] == [0, 1]


def test_no_more_changes_are_run_than_are_allowed():
    idle = [cluster_queue("idle", cpu=4), local_queue("idle", cluster_queue="idle")]
    found = asked(full(*idle), job("new", queue="main", cpu=4), limit=1)
    assert found.changes == []


def test_of_many_pods_only_what_is_run_is_made():
    many = job("new", queue="main", cpu=1, parallelism=200_000)
    world = half_free()
    tracemalloc.start()
    found = asked(world, many)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "spec.parallelism: 2 in place of 200000" in texts(found)
    assert most < 20 * 2**20


# ---- other stacks


def test_a_pod_waits_for_a_node_like_a_job_for_quota():
    held = pod("held", cpu=4, runtime="10m")
    world = at(world_of(node("n", cpu=4), held, stack="kube"))
    found = asked(world, pod("new", cpu=4))
    assert (found.starts, found.after) == ("later", ["Pod/default/held"])
    assert any("Insufficient cpu" in text for text in found.sentences)


def yunikorn() -> World:
    tree = {"queues": queue_tree({"name": "a"}, submit="*")}
    return at(world_of(node("n", cpu=4), stack="yunikorn", yunikorn=tree))


def labelled(queue: str) -> dict[str, Any]:
    new = pod("new", cpu=1)
    new["metadata"]["labels"] = {"queue": queue, "applicationId": "app"}
    return new


def test_an_application_starts_in_its_queue():
    assert asked(yunikorn(), labelled("root.a")).starts == "now"


def test_an_application_that_yunikorn_refuses_is_told_why():
    found = asked(yunikorn(), labelled("root.b"))
    assert found.starts == "never"
    assert any("YuniKorn rejected its application" in text for text in found.sentences)


# ---- what cannot be submitted


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (job("held", queue="main"), "is there already"),
        (local_queue("third", cluster_queue="main"), "expected work to submit"),
    ],
)
def test_what_is_there_already_or_is_no_work_is_refused(manifest, words):
    with pytest.raises(SchedulerError, match=words):
        asked(full(), manifest)


def test_the_command_says_when_and_fails_where_it_never_starts(tmp_path):
    world, new = tmp_path / "world.yaml", tmp_path / "new.yaml"
    world.write_text(yaml.safe_dump_all(small_cluster(cpu=4)))
    new.write_text(yaml.safe_dump(job("new", queue="main", cpu=5)))
    out = io.StringIO()
    assert main([str(new), "--on", str(world), "--at", "1s"], out) == 1
    assert out.getvalue().splitlines()[:2] == [
        "Job/default/new",
        "  It would wait, and not start within 24h.",
    ]


def test_the_work_takes_the_run_time_that_is_chosen():
    world = at(world_of(*small_cluster(cpu=4)))
    text = yaml.safe_dump(job("new", queue="main"))
    choice = RunTimeChoice(rules=[read_rule("7m")])
    work, *_ = read_submission(world, [("new.yaml", text)], run_times=choice)
    assert work.annotations["quotalab.dev/runtime"] == "7m"


# ---- what is there already


def named(world: World, part: str) -> Key:
    return next(key for key in world.keys("Workload") if part in key.name)


def test_what_waits_starts_by_itself_when_the_holder_ends():
    waits = job("waits", queue="main", cpu=4, runtime="1m")
    world = full(waits)
    said = [one.text for one in when(world, named(world, "waits"))]
    assert said[0].startswith("By itself it starts in 9m3")
    assert said[0].endswith(" has left.")
    assert said[1] == "Assumed: nobody else submits anything."


def test_what_never_starts_by_itself_says_so():
    world = full(job("waits", queue="main", cpu=5))
    said = [one.text for one in when(world, named(world, "waits"))]
    assert said[0] == "By itself it does not start within 24h."


def test_of_what_runs_nothing_is_said():
    world = full()
    assert when(world, named(world, "held")) == []


def test_an_eviction_is_proposed_where_what_goes_finds_another_node():
    # Two nodes of 4 CPU, 2 of each in use: nobody of 4 fits until one of the two moves.
    small = [pod(f"s{n}", cpu=2, recreate="true", runtime="1h") for n in (1, 2)]
    pods = [*small, pod("wide", cpu=4, arrival="30s")]
    world = at(world_of(node("a", cpu=4), node("b", cpu=4), *pods, stack="kube"), 31)
    [said] = [one.text for one in helps(world, _pod("wide")) if "evicted" in one.text]
    assert said.endswith(", cordoned until it has another node (31s of its work lost).")


def test_no_eviction_is_proposed_of_what_a_budget_holds():
    pods = [
        pod(f"s{n}", cpu=2, labels={"app": "s"}, recreate="true", runtime="1h")
        for n in (1, 2)
    ]
    budget = {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "s", "namespace": "default"},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": "s"}}},
    }
    wide = pod("wide", cpu=4, arrival="30s")
    nodes = [node("a", cpu=4), node("b", cpu=4)]
    world = at(world_of(*nodes, *pods, wide, budget, stack="kube"), 31)
    assert not [one for one in helps(world, _pod("wide")) if "evicted" in one.text]


def _pod(name: str) -> Key:
    return Key("Pod", "default", name)
