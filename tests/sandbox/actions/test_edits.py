"""Edits: what they change, what they refuse, and what stands in the history."""

from __future__ import annotations

import copy
import itertools
from pathlib import Path

import pytest

from sandbox import actions
from sandbox.actions.objects import MOST_LINES
from sandbox.base.errors import (
    ConflictError,
    DeniedError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    StaleError,
)
from sandbox.live import pages
from sandbox.models import (
    ALL_TABLES,
    Checkpoint,
    Diff,
    Event,
    Member,
    Revision,
    Sample,
    Sandbox,
    Workload,
)
from sandbox.world import worlds
from scheduler.model.objects import Key
from tests import stored
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    small_cluster,
)
from tests.sandbox.conftest import check_rows, contended, row, text_of, tick

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]

SAMPLES = Path(__file__).resolve().parents[3].parent / "shared/samples/kueue"
needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="the sample manifests are not beside this checkout"
)


def files() -> list[tuple[str, str]]:
    return [(path.name, path.read_text()) for path in sorted(SAMPLES.glob("*.yaml"))]


def local_queue_key(name: str) -> Key:
    return Key("LocalQueue", "", name)


def workload(sandbox: Sandbox, phase: str) -> Key:
    found = stored.workloads(sandbox.pk, phase)[0]
    return Key("Workload", found.namespace, found.name)


def queue_of(sandbox: Sandbox, name: str) -> str:
    row = Workload.objects.get(sandbox=sandbox, name=name)
    return row.manifest["spec"]["queueName"]


# ------------------------------------------------------------------ import


def test_a_trace_comes_to_the_queues_and_the_time_of_its_sandbox(make, person):
    sandbox = make(*small_cluster())
    tick(sandbox, 2)
    line = "1 30 -1 60 2 -1 -1 2 -1 -1 1 1 -1 -1 -1 -1 -1 -1\n"
    texts = [("t.swf", line + line.replace(" 60 ", " -1 ", 1))]
    imported = actions.do_import(person, sandbox.pk, texts)
    assert imported.created == ["Job/default/t-1"]
    assert imported.report.files[0].refused == 1
    world, _ = worlds.copy_of(sandbox.pk)
    metadata = world.objects[Key("Job", "default", "t-1")].metadata
    assert metadata["labels"]["kueue.x-k8s.io/queue-name"] == "main"
    arrival = metadata["annotations"]["quotalab.dev/arrival"]
    assert arrival == f"{world.context.now_ms + 30_000}ms"


@needs_samples
def test_every_sample_loads_together(make, person):
    sandbox = make()
    imported = actions.do_import(person, sandbox.pk, files())
    assert len(imported.created) >= 20
    assert {finding.level for finding in imported.findings} <= {
        "warning",
        "unsupported",
    }
    check_rows(sandbox)


@needs_samples
def test_samples_one_by_one_in_any_order_give_the_same_objects(make, person):
    orders = [files(), files()[::-1], files()[3:] + files()[:3]]
    found = []
    for order in orders:
        sandbox = make()
        for file in order:
            actions.do_import(person, sandbox.pk, [file])
        world, _ = worlds.copy_of(sandbox.pk)
        found.append({key: obj.spec for key, obj in world.objects.items()})
        check_rows(sandbox)
    assert found[0] == found[1] == found[2]


BAD = {
    "broken YAML": ("kind: [1,\nb: 2", "not YAML"),
    "an unknown kind": (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQeue\nmetadata: {name: x}",
        "did you mean ClusterQueue",
    ),
    "a bad quantity": (text_of(cluster_queue("q", cpu="four")), "expected a quantity"),
    "a bomb of aliases": (
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "\n".join(
            f"{b}: &{b} [{', '.join([f'*{a}'] * 10)}]"
            for a, b in itertools.pairwise("abcdefg")
        ),
        "aliases repeat too many values",
    ),
}


def test_a_webhook_denies_another_queue_for_a_job_that_runs(make, person):
    sandbox = make(*small_cluster(), job("j", queue="main", runtime="60s"))
    actions.do_step(person, sandbox.pk, ticks=2)
    tick(sandbox, 2)
    moved = text_of(job("j", queue="other", runtime="60s"))
    with pytest.raises(DeniedError, match=r'webhook "vjob.kb.io" denied'):
        actions.do_import(person, sandbox.pk, [("job.yaml", moved)])
    suspended = job("j", queue="other", runtime="60s")
    suspended["spec"]["suspend"] = True
    actions.do_import(person, sandbox.pk, [("job.yaml", text_of(suspended))])


def test_a_webhook_denies_another_size_of_a_stateful_set_but_none(make, person):
    def sized(replicas: int) -> list[tuple[str, str]]:
        made = job("s", queue="main") | {"apiVersion": "apps/v1", "kind": "StatefulSet"}
        template = made["spec"]["template"]
        made["spec"] = {"replicas": replicas, "template": template}
        return [("set.yaml", text_of(made))]

    sandbox = make(*small_cluster())
    actions.do_import(person, sandbox.pk, sized(2))
    with pytest.raises(DeniedError, match=r"scaled to none first"):
        actions.do_import(person, sandbox.pk, sized(3))
    actions.do_import(person, sandbox.pk, sized(0))
    actions.do_import(person, sandbox.pk, sized(3))


@pytest.mark.parametrize(("text", "reported"), BAD.values(), ids=BAD)
def test_bad_input_is_reported_with_its_place_and_changes_nothing(
    text, reported, make, person
):
    sandbox = make(flavor())
    good = text_of(flavor("other"))
    with pytest.raises(InvalidError) as caught:
        actions.do_import(person, sandbox.pk, [("good.yaml", good), ("bad.yaml", text)])
    causes = [c for c in caught.value.causes if c.level == "error"]
    assert any(reported in cause.problem.text for cause in causes)
    assert all(cause.file == "bad.yaml" and cause.line > 0 for cause in causes)
    assert row(sandbox).revision == sandbox.revision
    check_rows(sandbox)


def test_a_dangling_reference_is_a_warning_that_names_its_line(make, person):
    text = text_of(local_queue("main", cluster_queue="nowhere"))
    imported = actions.do_import(person, make().pk, [("queue.yaml", text)])
    (finding,) = imported.findings
    assert (finding.level, finding.file) == ("warning", "queue.yaml")
    assert finding.field == "spec.clusterQueue"


def test_what_can_be_taken_is_taken_when_errors_are_skipped(make, person):
    texts = [("a.yaml", text_of(flavor("kept"))), ("b.yaml", "kind: [1,\nb: 2")]
    imported = actions.do_import(person, make().pk, texts, skip_errors=True)
    assert imported.created == ["ResourceFlavor//kept"]
    assert [f.level for f in imported.findings] == ["error"]


def test_a_dry_run_says_the_same_and_changes_nothing(make, person):
    sandbox = make()
    given_files = [("world.yaml", text_of(*contended(3)))]
    dry = actions.do_import(person, sandbox.pk, given_files, dry_run=True)
    assert row(sandbox).revision == sandbox.revision
    done = actions.do_import(person, sandbox.pk, given_files)
    assert dry.created == done.created


def test_the_same_manifests_again_change_nothing(make, person):
    sandbox = make(*contended(3))
    again = [("world.yaml", text_of(*contended(3)))]
    imported = actions.do_import(person, sandbox.pk, again)
    assert (imported.created, imported.changed) == ([], [])
    assert imported.revision == sandbox.revision


# ------------------------------------------------------- move, delete, policy


def test_a_waiting_workload_moves_to_the_other_queue(busy, person):
    tick(busy, 8)
    key = workload(busy, "pending")
    before = queue_of(busy, key.name)
    target = "b-queue" if before == "a-queue" else "a-queue"
    actions.do_move(person, busy.pk, key, local_queue_key(target))
    assert queue_of(busy, key.name) == target
    check_rows(busy)


def test_an_admitted_workload_is_evicted_when_it_moves(busy, person):
    tick(busy, 4)
    key = workload(busy, "admitted")
    target = "b" if queue_of(busy, key.name) == "a-queue" else "a"
    step = actions.do_move(person, busy.pk, key, Key("ClusterQueue", "", target))
    evicted = [e for e in step.events if e["type"] == "Evict"]
    assert [(e["subject"], e["reason"]) for e in evicted] == [(str(key), "Deactivated")]
    check_rows(busy)
    tick(busy, 3)
    check_rows(busy)


def test_a_move_to_where_it_is_or_to_nowhere_is_refused(busy, person):
    tick(busy, 8)
    key = workload(busy, "pending")
    queue = queue_of(busy, key.name)
    with pytest.raises(ConflictError, match="already"):
        actions.do_move(person, busy.pk, key, local_queue_key(queue))
    with pytest.raises(ConflictError, match="LocalQueue default/nowhere"):
        actions.do_move(person, busy.pk, key, local_queue_key("nowhere"))
    with pytest.raises(NotFoundError, match="ClusterQueue nowhere"):
        actions.do_move(person, busy.pk, key, Key("ClusterQueue", "", "nowhere"))


def test_a_queue_moves_to_another_cohort(busy, person):
    tick(busy, 4)
    actions.do_move(
        person, busy.pk, Key("ClusterQueue", "", "a"), Key("Cohort", "", "new")
    )
    world, _ = worlds.copy_of(busy.pk)
    assert world.objects[Key("ClusterQueue", "", "a")].spec["cohortName"] == "new"
    check_rows(busy)


def test_a_deleted_object_is_gone_from_rows_and_page(busy, person):
    tick(busy, 3)
    actions.do_delete(person, busy.pk, [Key("Job", "default", "job-00")])
    assert not Workload.objects.filter(sandbox=busy, name__contains="job-00").exists()
    check_rows(busy)


def test_a_policy_change_is_an_event_with_before_and_after(busy, person):
    tick(busy, 2)
    patch = {"spec": {"simulation": {"defaultRuntime": "90s"}}}
    actions.do_policy(person, busy.pk, patch, patch=True)
    event = Event.objects.filter(sandbox=busy, reason="Policy").get()
    simulation = [
        event.data[side]["spec"]["simulation"]["defaultRuntime"]
        for side in ("before", "after")
    ]
    assert (event.by, simulation) == ("User//local", ["60s", "90s"])
    check_rows(busy)


def scheduler(name: str) -> dict:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": name}],
    }


@pytest.mark.parametrize("names", [("a", "b"), ("a",)], ids=["two", "then one"])
def test_imported_scheduler_configurations_replace_those_before(make, person, names):
    sandbox = make(policy={"stack": "kube"})
    texts = [text_of(scheduler("x"), scheduler("y"))]
    texts.append(text_of(*map(scheduler, names)))
    for text in texts:
        actions.do_import(person, sandbox.pk, [("schedulers.yaml", text)])
    world, _ = worlds.copy_of(sandbox.pk)
    assert world.kube is not None
    assert [each.name for each in world.kube.schedulers] == list(names)
    check_rows(sandbox)


def test_an_unknown_key_of_the_policy_is_refused_with_its_path(busy, person):
    with pytest.raises(InvalidError, match="defaultRuntim"):
        actions.do_policy(
            person,
            busy.pk,
            {"spec": {"simulation": {"defaultRuntim": "9s"}}},
            patch=True,
        )
    check_rows(busy)


@pytest.mark.parametrize("change", ["cordon", "drain", "fail", "recover"])
def test_nodes_change_and_pods_leave_those_that_fail(change, make, person):
    sandbox = make(*contended(), node("n1", cpu=6), node("n2", cpu=6))
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 5)
    actions.do_node(person, sandbox.pk, "n1", change)
    check_rows(sandbox)
    tick(sandbox, 3)
    check_rows(sandbox)


# ------------------------------------------------------------- who and when


def test_an_edit_of_what_was_edited_since_is_refused_with_what_came(busy, person):
    seen = row(busy).revision
    patch = {"spec": {"simulation": {"podStartMs": 5}}}
    actions.do_policy(person, busy.pk, patch, patch=True)
    with pytest.raises(StaleError) as caught:
        actions.do_policy(person, busy.pk, patch, patch=True, seen=seen)
    assert "local changes the policy" in caught.value.causes[0].problem.text


def test_ticks_do_not_make_an_edit_stale(busy, person):
    seen = row(busy).revision
    tick(busy, 3)
    patch = {"spec": {"simulation": {"podStartMs": 5}}}
    actions.do_policy(person, busy.pk, patch, patch=True, seen=seen)


def put_flavors(person, busy, count: int, label: str, **options):
    made = [flavor(f"f{at}", of=label) for at in range(count)]
    return actions.do_import(
        person, busy.pk, [("flavors.yaml", text_of(*made))], **options
    )


def many_at_once(person, busy):
    put_flavors(person, busy, MOST_LINES + 1, "theirs")


def delete_and_make_again(person, busy):
    actions.do_delete(person, busy.pk, [Key("ResourceFlavor", "", "f0")])
    put_flavors(person, busy, 1, "theirs")


def undo(person, busy):
    actions.do_undo(person, busy.pk)


def rewind(person, busy):
    actions.do_rewind(person, busy.pk, tick=0)


@pytest.mark.parametrize("change", [many_at_once, delete_and_make_again, undo, rewind])
def test_an_edit_is_stale_in_whatever_way_another_changed_the_object(
    busy, person, change
):
    tick(busy, 1)
    put_flavors(person, busy, 1, "mine")
    tick(busy, 1)
    seen = row(busy).revision
    change(person, busy)
    with pytest.raises(StaleError):
        put_flavors(person, busy, 1, "again", seen=seen)


def test_an_edit_is_not_stale_by_edits_of_others(busy, person):
    tick(busy, 1)
    put_flavors(person, busy, 1, "mine")
    seen = row(busy).revision
    actions.do_import(person, busy.pk, [("other.yaml", text_of(flavor("other")))])
    actions.do_undo(person, busy.pk)
    put_flavors(person, busy, 1, "again", seen=seen)


def test_to_a_stranger_a_private_sandbox_is_not_there(busy, stranger):
    with pytest.raises(NotFoundError):
        actions.do_pause(stranger, busy.pk)
    with pytest.raises(NotFoundError):
        actions.do_fork(stranger, busy.pk)
    assert not Sandbox.objects.visible_to(stranger).exists()


def test_a_viewer_may_fork_but_not_touch(busy, stranger):
    Member.objects.create(sandbox=busy, user=stranger, role=Member.VIEWER)
    with pytest.raises(ForbiddenError):
        actions.do_pause(stranger, busy.pk)
    assert actions.do_fork(stranger, busy.pk).owner == stranger


def test_an_editor_may_touch_but_not_delete(busy, stranger):
    Member.objects.create(sandbox=busy, user=stranger, role=Member.EDITOR)
    actions.do_pause(stranger, busy.pk)
    with pytest.raises(ForbiddenError):
        actions.do_delete_sandbox(stranger, busy.pk)


def test_a_deleted_sandbox_leaves_no_row(busy, person):
    tick(busy, 2)
    actions.do_delete_sandbox(person, busy.pk)
    for model in (*ALL_TABLES, Revision, Event, Diff, Sample, Checkpoint):
        assert not model.objects.exists(), model.__name__


# ------------------------------------------------------- what stays as it is


def put(person, sandbox, manifest, **options):
    return actions.do_import(
        person, sandbox.pk, [("edit.yaml", text_of(manifest))], **options
    )


def refused(person, sandbox, manifest, field, said):
    before = row(sandbox).revision
    with pytest.raises(InvalidError) as caught:
        put(person, sandbox, manifest)
    (cause,) = [c for c in caught.value.causes if c.level == "error"]
    assert cause.field == field
    assert said in cause.problem.text
    assert cause.line > 0
    assert row(sandbox).revision == before


def test_a_localqueue_stays_with_its_clusterqueue(busy, person):
    moved = local_queue("a-queue", cluster_queue="b")
    refused(person, busy, moved, "spec.clusterQueue", "expected 'a'")


def test_a_workload_with_quota_keeps_queue_and_podsets(busy, person):
    tick(busy, 2)
    world, _ = worlds.copy_of(busy.pk)
    held = next(
        obj
        for key in world.keys("Workload")
        for obj in [world.get(key)]
        if obj.status.get("admission")
    )
    moved = copy.deepcopy(held.manifest)
    moved["spec"]["queueName"] += "-b"
    refused(person, busy, moved, "spec.queueName", "while quota is reserved")
    raised = copy.deepcopy(held.manifest)
    raised["spec"]["priority"] = 1234
    assert put(person, busy, raised).changed == [str(held.key)]


def test_a_pod_keeps_what_it_asks_for_and_who_schedules_it(make, person):
    sandbox = make(node("n", cpu=4), pod("p", cpu=1), policy={"stack": "kube"})
    larger = pod("p", cpu=2)
    field = "spec.containers[0].resources.requests"
    refused(person, sandbox, larger, field, "fixed once the pod is there")
    other = pod("q", cpu=1)
    other["spec"]["schedulerName"] = "mine"
    put(person, sandbox, other)
    other["spec"]["schedulerName"] = "yours"
    refused(person, sandbox, other, "spec.schedulerName", "expected 'mine'")


def test_what_is_fixed_is_left_out_when_errors_are_skipped(busy, person):
    moved = local_queue("a-queue", cluster_queue="b")
    fresh = local_queue("c-queue", cluster_queue="b")
    answer = actions.do_import(
        person, busy.pk, [("e.yaml", text_of(moved, fresh))], skip_errors=True
    )
    assert (answer.created, answer.changed) == (["LocalQueue/default/c-queue"], [])


# ------------------------------------------------------------------ words


def test_what_somebody_did_has_a_code_when_it_is_sent(make, person):
    sandbox = make(
        *small_cluster(), node("one"), pod("alone"), flavor("old"), flavor("older")
    )
    actions.do_play(person, sandbox.pk, speed=5.0)
    actions.do_pause(person, sandbox.pk)
    actions.do_speed(person, sandbox.pk, 0.0)
    actions.do_rename(person, sandbox.pk, "Tuesday: what if, and what then")
    actions.do_set_retention(person, sandbox.pk, ticks=500, days=30)
    actions.do_node(person, sandbox.pk, "one", "cordon")
    actions.do_add_node(person, sandbox.pk, "two", like="one")
    actions.do_pin(person, sandbox.pk, "default", "alone", "two")
    actions.do_pin(person, sandbox.pk, "default", "alone", "")
    with actions.edit_session(person, sandbox.pk) as session:
        actions.evict(person, session, Key("Pod", "default", "alone"))
    actions.do_delete(person, sandbox.pk, [Key("ResourceFlavor", "", "old")])
    actions.do_undo(person, sandbox.pk)
    actions.do_redo(person, sandbox.pk)
    event = {"type": ["Preempt", "Evict"], "subject": "Workload/team/x"}
    actions.do_step(person, sandbox.pk, until_event=event, until_tick=3)
    tick(sandbox, 3)
    actions.do_rewind(person, sandbox.pk, tick=0)
    own = Event.objects.filter(type="Edit")
    lines = [pages.event_line(event) for event in own]
    assert {line["message"]: line.get("said", {}).get("text") for line in lines} == {
        line["message"]: line["message"] for line in lines
    }
    reasons = {line["reason"] for line in lines}
    assert {"Create", "Pin", "Unpin", "Undo", "Redo", "Rewind", "Keep"} <= reasons
