"""Questions of why, asked over HTTP."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.explain import counting, explaining, forecasting
from sandbox.models import Event
from sandbox.process import watchdog
from tests import stored
from tests.builders import node, pod, queue_tree
from tests.sandbox.conftest import row, tick

pytestmark = [pytest.mark.django_db]


@pytest.fixture
def waiting(busy):
    tick(busy, 8)
    return stored.workloads(busy.pk, "pending")[0]


def test_a_waiting_workload_is_explained_in_numbers_and_sentences(call, busy, waiting):
    body = call("get", busy, f"/explain/default/{waiting.name}").json()
    assert body["state"] in ("pending", "requeued")
    assert body["flavors"]
    assert body["sentences"]
    assert row(busy).tick == 8


@pytest.mark.parametrize("path", ["", "/counterfactuals?limit=1"])
def test_a_job_is_asked_about_by_its_own_name(call, busy, waiting, path):
    job_name = waiting.name.removeprefix("job-").rpartition("-")[0]
    body = call("get", busy, f"/explain/default/{job_name}{path}").json()
    assert body["workload"] == f"Workload/default/{waiting.name}"


def test_a_past_tick_is_explained_as_it_was(call, busy, waiting):
    tick(busy, 12)
    body = call("get", busy, f"/explain/default/{waiting.name}?tick=8").json()
    assert body["tick"] == 8


def test_what_is_asked_of_a_tick_is_of_that_tick_though_the_sandbox_goes_on(busy):
    read = row(busy)  # as a request does, before the next tick is committed
    tick(busy, read.tick + 3)
    assert explaining.explain_fairness(read, read.tick)["tick"] == read.tick
    assert explaining.explain_fairness(read, None)["tick"] == read.tick + 3
    world, revision = forecasting.world_and_revision(read, read.tick)
    assert (world.tick, revision) == (read.tick, read.revision)


def test_counterfactuals_were_run_and_changed_nothing(call, busy, waiting):
    before = row(busy).hash
    path = f"/explain/default/{waiting.name}/counterfactuals?limit=4"
    body = call("get", busy, path).json()
    assert 0 < body["runs"] <= 8
    assert {verdict["verdict"] for verdict in body["verdicts"]} <= {"yes", "but", "no"}
    assert row(busy).hash == before


def test_a_preemption_is_reported_step_by_step(call, busy):
    tick(busy, 15)
    event = Event.objects.filter(sandbox=busy, type="Preempt").first()
    assert event is not None, "the contended world preempts"
    path = f"/preemptions/{event.revision}.{event.seq}"
    body = call("get", busy, path).json()
    assert body["preemptor"] == event.by
    assert event.subject in {target["workload"] for target in body["targets"]}


def test_what_is_not_there_is_not_explained(call, busy):
    assert call("get", busy, "/explain/default/nothing").status_code == 404
    assert call("get", busy, "/preemptions/1.0").status_code == 404
    assert call("get", busy, "/preemptions/x").status_code == 404


def test_an_application_and_its_pod_are_explained_under_both_laws(call, make, person):
    tree = queue_tree({"name": "a", "resources": {"max": {"vcore": "2"}}})
    labels = {"applicationId": "app", "queue": "root.a"}
    pods = [pod(f"p{n}", cpu=1, labels=labels, runtime="300s") for n in range(3)]
    for one in pods:
        one["spec"]["schedulerName"] = "yunikorn"
    policy = {"stack": "yunikorn", "yunikorn": {"queues": tree}}
    sandbox = make(node("n", cpu=4), *pods, policy=policy)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 3)
    body = call("get", sandbox, "/explain/-/app?kind=Application").json()
    assert (len(body["placed"]), len(body["waiting"])) == (2, 1)
    assert {plan["laws"] for plan in body["next"]["plans"]} == {
        "released",
        "documented",
    }
    _, name = body["waiting"][0].split("/")
    ask = call("get", sandbox, f"/explain/default/{name}?kind=Pod").json()
    assert ask["lawsDiffer"] == body["lawsDiffer"]
    none = call("get", sandbox, "/explain/-/other?kind=Application")
    assert none.status_code == 404


def test_an_answer_that_takes_long_is_a_202_with_a_place_to_ask_again(
    call, busy, waiting, client, settings
):
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 0
    path = f"/explain/default/{waiting.name}/counterfactuals?limit=1"
    answer = call("get", busy, path)
    place = answer.headers["Location"]
    assert (answer.status_code, answer.json()["id"]) == (202, int(place.split("/")[-1]))
    assert client.get(place).status_code == 202
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = True, 20
    assert client.get(place).json()["runs"] > 0
    assert call("get", busy, path).status_code == 200


def test_a_pod_that_came_with_its_node_had_no_cycle(call, make, person):
    static = pod("static", cpu="1")
    static["spec"]["nodeName"] = "n"
    world = node("n", cpu=4), static, pod("placed", cpu="1")
    sandbox = make(*world, policy={"stack": "kube"})
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 2)
    said = {}
    for name in ("static", "placed"):
        body = call("get", sandbox, f"/explain/default/{name}?kind=Pod").json()
        [bind] = [point for point in body["points"] if point["point"] == "Bind"]
        said[name] = bind["plugins"][0]["verdict"]
    assert said == {"static": "notRun", "placed": "ok"}


def test_who_was_preempted_and_is_gone_is_told_by_whom_now_and_at_a_tick(
    call, make, person
):
    def ranked(name: str, priority: int, arrival: str) -> dict:
        made = pod(name, cpu=4, arrival=arrival, runtime="1h")
        made["spec"]["priority"] = priority
        return made

    sandbox = make(node("n", cpu=4), ranked("low", 1, "0s"), ranked("urgent", 9, "5s"))
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 8)
    (now,) = call("get", sandbox, "/waiting?about=low").json()["answers"]
    assert (now["about"], now["state"]) == ("Pod/default/low", "gone")
    assert now["sentences"] == ["urgent preempted it at 5s (PreemptionByScheduler)."]
    (before,) = call("get", sandbox, "/waiting?about=low&tick=4").json()["answers"]
    assert before["state"] == "on n"
    assert call("get", sandbox, "/waiting?about=nobody").status_code == 404


def test_what_starts_a_workload_is_tried_by_a_worker_where_it_is_asked_for(
    call, busy, waiting
):
    path = f"/waiting?about={waiting.name}"
    plain = call("get", busy, path).json()["answers"][0]["sentences"]
    tried = call("get", busy, f"{path}&tried=true").json()["answers"][0]["sentences"]
    assert tried[: len(plain)] == plain
    assert any(line.startswith("By itself it ") for line in tried[len(plain) :])
    assert call("get", busy, "/waiting?about=nobody&tried=true").status_code == 404


def test_how_queues_press_each_other_in_a_long_run_is_read_by_a_worker(
    busy, monkeypatch
):
    tick(busy, 5)
    monkeypatch.setattr(counting, "MOST_UNREAD", 4)
    with pytest.raises(watchdog.ForWorkerError), watchdog.serving():
        explaining.explain_fairness(row(busy), None)
