"""What-ifs over HTTP: begun at a tick, answered with a verdict, kept or discarded."""

from __future__ import annotations

import msgspec
import pytest
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.answers import asking
from sandbox.answers.work import WORK, execute, take
from sandbox.models import KeptWhatIf, Sandbox
from sandbox.process import watchdog
from sandbox.retention.retention import NEWEST
from sandbox.whatifs import asking as whatifs
from sandbox.world import history
from scheduler.analysis.pairs import compare_pair
from scheduler.assembly import merge
from scheduler.model.objects import Key, Object
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
from tests.sandbox.conftest import check_rows, row, text_of, tick

pytestmark = [pytest.mark.django_db]
HORIZON_MS = 60_000


def quota(amount):
    """Return a change that gives the ClusterQueue so many CPUs."""
    flavors = [
        {"name": "default", "resources": [{"name": "cpu", "nominalQuota": str(amount)}]}
    ]
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    body = {"spec": {"resourceGroups": groups}}
    return {"patch": {"kind": "ClusterQueue", "name": "main", "body": body}}


@pytest.fixture
def queue(make, person):
    """A sandbox at tick 6 in which one job of 4 CPUs runs and others wait for it."""
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="9s") for n in range(3)]
    sandbox = make(*small_cluster(cpu="4"), *jobs)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 6)
    return row(sandbox)


def asked(call, sandbox, *changes, wait=60, **options):
    body = {"changes": list(changes), "horizonMs": HORIZON_MS, **options}
    return call("post", sandbox, f"/what-ifs?wait={wait}", body)


def test_the_verdict_names_all_that_two_runs_of_the_engine_differ_in(call, queue):
    answer = asked(call, queue, quota(8), at=3)
    assert answer.status_code == 200, answer.content
    found = answer.json()
    world = history.world_at(queue, history.revision_at(queue, 3))
    key, patch = Key("ClusterQueue", "", "main"), quota(8)["patch"]["body"]
    after = merge(world.objects[key].manifest, patch)
    expected = compare_pair(
        world,
        lambda side: side.put(Object(key=key, manifest=after)),
        horizon_ms=HORIZON_MS,
    )
    assert (found["at"], found["state"], expected.differs) == (3, "open", True)
    assert found["verdict"] == msgspec.json.decode(msgspec.json.encode(expected))
    assert row(queue).revision == queue.revision


def test_a_change_that_changes_nothing_differs_in_nothing(call, queue):
    found = asked(call, queue, quota(4), seeds=[1, 2]).json()["verdict"]
    assert (found["differs"], found["same"]) == (False, True)
    assert {v for one in found["sums"].values() for v in one["values"]} <= {0, None}


def test_every_kind_of_change_counts_in_its_order(call, queue):
    changes = [
        {"apply": local_queue("other", cluster_queue="main")},
        {"apply": job("late", queue="other", cpu="1", runtime="2s")},
        {"policy": {"spec": {"simulation": {"defaultRuntime": "7s"}}}},
        quota(8),
        {"delete": {"kind": "Job", "namespace": "default", "name": "train-2"}},
    ]
    answer = asked(call, queue, *changes)
    assert answer.status_code == 200, answer.content
    (one,) = answer.json()["verdict"]["seeds"]
    assert [name.rsplit("/", 1)[1][:8] for name in one["onlyWith"]] == ["job-late"]
    assert [name.rsplit("/", 1)[1][:11] for name in one["onlyWithout"]] == [
        "job-train-2"
    ]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"patch": {"kind": "ClusterQueue", "name": "none", "body": {}}}, "[1].patch"),
        ({"delete": {"kind": "Job", "name": "none"}}, "[1].delete"),
        ({"policy": {"spec": {"stack": "none"}}}, "[1].policy"),
        ({"apply": {"kind": "LocalQueue"}}, "[1].apply"),
        ({"node": {"name": "none", "change": "drain"}}, "[1].node"),
        ({"node": {"name": "n9", "change": "add", "like": "none"}}, "[1].node"),
        ({"cluster": {"name": "none", "change": "lose"}}, "[1].cluster"),
        ({"yaml": "kind: [1"}, "[1].yaml"),
        ({"yaml": "kind: LocalQueue"}, "[1].apply"),
        ({"pin": {"namespace": "default", "name": "x", "node": ""}}, "[1].pin"),
        (
            {
                "move": {
                    "kind": "ClusterQueue",
                    "name": "main",
                    "to": {"kind": "Node", "name": "n1"},
                }
            },
            "[1].move",
        ),
        (quota("many"), "[1].patch.spec.resourceGroups"),
    ],
)
def test_a_change_that_cannot_be_made_is_a_422_with_its_place_and_leaves_nothing(
    call, queue, change, field
):
    answer = asked(call, queue, quota(8), change)
    assert answer.status_code == 422, answer.content
    causes = answer.json()["details"]["causes"]
    assert f"changes{field}" in causes[0]["field"]
    assert not KeptWhatIf.objects.exists()
    assert row(queue).revision == queue.revision


@pytest.fixture
def two_queues(make, person):
    """Two queues and two nodes; jobs of one queue run and wait, the other is empty."""
    jobs = [job(f"train-{n}", queue="main", cpu="4", runtime="9s") for n in range(2)]
    other = [
        cluster_queue("other"),
        local_queue("to-other", cluster_queue="other"),
        node("n1"),
        node("n2"),
    ]
    alone = pod("alone", cpu="1", runtime="9s")
    sandbox = make(*small_cluster(cpu="4"), *other, *jobs, alone)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 4)
    return row(sandbox)


@pytest.mark.parametrize("phase", ["admitted", "pending"])
def test_a_move_that_is_kept_is_the_move(call, two_queues, person, phase):
    key, to = workload(two_queues, phase), Key("ClusterQueue", "", "other")
    named = {"kind": key.kind, "namespace": key.namespace, "name": key.name}
    change = {"move": {**named, "to": {"kind": to.kind, "name": to.name}}}
    kept = kept_hash(call, two_queues, person, change)
    actions.do_move(person, two_queues.pk, key, to)
    assert row(two_queues).hash == kept


def test_a_drain_that_is_kept_is_the_drain(call, two_queues, person):
    change = {"node": {"name": "n1", "change": "drain"}}
    kept = kept_hash(call, two_queues, person, change)
    actions.do_node(person, two_queues.pk, "n1", "drain")
    assert row(two_queues).hash == kept


def test_a_pin_that_is_kept_is_the_pin(call, two_queues, person):
    change = {"pin": {"namespace": "default", "name": "alone", "node": "n2"}}
    kept = kept_hash(call, two_queues, person, change)
    actions.do_pin(person, two_queues.pk, "default", "alone", "n2")
    assert row(two_queues).hash == kept


def test_a_pin_that_the_world_refuses_is_named_by_its_number(call, make, person):
    runtime = {
        "apiVersion": "node.k8s.io/v1",
        "kind": "RuntimeClass",
        "metadata": {"name": "sealed"},
        "handler": "sealed",
    }
    placed = pod("p", cpu=1, runtime="100s")
    placed["spec"]["runtimeClassName"] = "sealed"
    nodes = [node(name, cpu=4) for name in ("n1", "n2")]
    sandbox = make(*small_cluster(cpu="4"), *nodes, runtime, placed)
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 4)
    at = call("get", sandbox, "/objects/Pod/default/p").json()["spec"]["nodeName"]
    call("delete", sandbox, "/objects/RuntimeClass/-/sealed")
    other = "n2" if at == "n1" else "n1"
    pin = {"pin": {"namespace": "default", "name": "p", "node": other}}
    answer = asked(call, sandbox, pin)
    assert answer.status_code == 422
    causes = answer.json()["details"]["causes"]
    assert [cause["field"] for cause in causes] == ["changes[0].pin"]


def test_a_node_that_is_added_and_kept_is_the_added_node(call, two_queues, person):
    change = {"node": {"name": "n3", "change": "add", "like": "n2"}}
    kept = kept_hash(call, two_queues, person, change)
    actions.do_add_node(person, two_queues.pk, "n3", like="n2")
    assert row(two_queues).hash == kept


def test_a_text_that_is_kept_is_the_import_of_its_objects(call, two_queues, person):
    text = text_of(local_queue("third", cluster_queue="other"), cluster_queue("main"))
    kept = kept_hash(call, two_queues, person, {"yaml": text})
    actions.do_import(person, two_queues.pk, [("a.yaml", text)])
    assert row(two_queues).hash == kept


def test_a_policy_in_a_text_takes_the_place_of_the_one_there_is(call, queue, person):
    actions.do_policy(
        person, queue.pk, {"spec": {"kueue": {"fairSharing": {}}}}, patch=True
    )
    policy = call("get", queue, "/policy").json()
    del policy["spec"]["kueue"]
    kept = kept_hash(call, row(queue), person, {"yaml": text_of(policy)})
    actions.do_policy(person, queue.pk, policy)
    assert row(queue).hash == kept


def workload(sandbox, phase):
    (found,) = stored.workloads(sandbox.pk, phase)
    return Key("Workload", found.namespace, found.name)


def kept_hash(call, sandbox, person, change):
    """Return the hash of the run with a change that is kept, and undo it."""
    answer = asked(call, sandbox, change)
    assert answer.status_code == 200, answer.content
    assert call("post", sandbox, f"/what-ifs/{answer.json()['id']}/keep").json()
    kept = row(sandbox).hash
    actions.do_undo(person, sandbox.pk)
    assert row(sandbox).hash == sandbox.hash != kept
    return kept


def test_another_release_may_decide_from_an_instant_on(call, queue):
    answer = asked(call, queue, {"release": {"kueue": "0.19.2"}}, at=3)
    assert answer.status_code == 200, answer.content
    assert answer.json()["verdict"]["differs"] is False  # other words, the same starts
    refused = asked(call, queue, {"release": {"kueue": "0.99"}}, at=3)
    assert refused.status_code == 422
    assert "unknown release of Kueue 0.99" in refused.content.decode()


def test_two_kinds_in_one_change_are_a_422(call, queue):
    answer = asked(call, queue, {**quota(8), "policy": {}})
    assert answer.status_code == 422
    assert not KeptWhatIf.objects.exists()


def test_what_takes_long_is_a_202_with_a_place_that_has_the_answer_later(
    call, client, queue, settings
):
    settings.ANSWER_INLINE = False
    body = {"changes": [quota(8)], "horizonMs": HORIZON_MS}
    answer = call("post", queue, "/what-ifs?wait=0", body)
    assert (answer.status_code, answer.json()["place"]) == (202, answer["Location"])
    again = client.get(answer["Location"] + "?wait=0")
    assert again.status_code == 202
    WORK.work(60)
    found = client.get(answer["Location"])
    assert (found.status_code, found.json()["state"]) == (200, "open")


def test_one_that_still_runs_has_the_verdict_so_far(call, client, queue, settings):
    settings.ANSWER_INLINE = False
    known = asked(call, queue, quota(8), wait=0)
    whatif = KeptWhatIf.objects.get(pk=known.json()["id"])
    world = history.world_at(queue, whatif.revision)
    far = compare_pair(world, lambda _: None, horizon_ms=1000)
    whatif.verdict = msgspec.to_builtins(far)
    whatif.save()
    found = client.get(known["Location"] + "?wait=0")
    assert (found.status_code, found.json()["state"]) == (202, "running")
    assert found.json()["verdict"]["toMs"] == far.to_ms


def test_between_two_seeds_another_question_is_answered(
    call, queue, settings, monkeypatch
):
    made: list[int] = []
    monkeypatch.setattr(
        "sandbox.whatifs.work.world_of",
        lambda row: made.append(row.pk) or plain_world(row),
    )
    seeds = {"seeds": [1, 2, 3]}
    whole = asked(call, queue, quota(8), **seeds).json()["verdict"]
    settings.ANSWER_INLINE = False
    long = asked(call, queue, quota(8), wait=0, **seeds).json()["id"]
    short = asked(call, queue, quota(6), wait=0).json()["id"]

    def turn() -> tuple[int, str]:
        """Work one turn out; return how many seeds of the long one are known, and the short one's state."""
        with watchdog.ended_after(0):
            assert execute(take())
        rows = KeptWhatIf.objects
        verdict = rows.get(pk=long).verdict or {"seeds": []}
        return len(verdict["seeds"]), rows.get(pk=short).state

    assert [turn(), turn(), turn()] == [(1, "running"), (1, "open"), (3, "open")]
    assert call("get", queue, f"/what-ifs/{long}").json()["verdict"] == whole
    assert len(made) == 1, "each turn had the world of the first"


def test_a_question_that_may_not_be_taken_up_interrupts_no_other(
    call, queue, settings, stranger
):
    settings.ANSWER_INLINE = False
    settings.LIMITS = {**settings.LIMITS, "answers_at_once_per_user": 1}
    long = asked(call, queue, quota(8), wait=0, seeds=[1, 2, 3]).json()["id"]
    mine = take()
    for number in (1, 2):  # a worker is at the first of them
        found = asking.ask("explain", [], stranger, number=number)
        assert number == 2 or take(found.pk)
    with watchdog.ended_after(0):
        assert execute(mine)
    assert KeptWhatIf.objects.get(pk=long).state == "open"


def test_seeds_of_a_real_cluster_are_of_one_turn(call, queue, settings, monkeypatch):
    settings.ANSWER_INLINE = False
    monkeypatch.setattr(Sandbox, "is_real", True)
    monkeypatch.setattr("sandbox.whatifs.work.world_of", lambda row: plain_world(row))
    long = asked(call, queue, quota(8), wait=0, seeds=[1, 2, 3]).json()["id"]
    asked(call, queue, quota(6), wait=0)
    with watchdog.ended_after(0):
        assert execute(take())
    assert KeptWhatIf.objects.get(pk=long).state == "open"


def plain_world(row):
    return history.world_at(row.sandbox, row.revision)


def test_one_that_was_discarded_is_not_worked_out(call, queue, settings):
    settings.ANSWER_INLINE = False
    number = asked(call, queue, quota(8), wait=0).json()["id"]
    assert call("post", queue, f"/what-ifs/{number}/discard").status_code == 200
    WORK.work(60)
    found = call("get", queue, f"/what-ifs/{number}").json()
    assert (found["state"], found["verdict"]) == ("discarded", None)


def test_what_failed_after_a_202_says_so_when_it_is_asked_for(
    call, client, queue, settings
):
    settings.ANSWER_INLINE = False
    wrong = {"delete": {"kind": "Job", "name": "none"}}
    answer = call("post", queue, "/what-ifs?wait=0", {"changes": [wrong]})
    WORK.work(60)
    found = client.get(answer["Location"])
    assert (found.status_code, client.get(answer["Location"]).status_code) == (422, 422)
    (listed,) = call("get", queue, "/what-ifs").json()["items"]
    assert (listed["state"], listed["verdict"]) == ("failed", None)
    assert "none" in listed["said"]["text"]


def test_one_that_is_kept_is_the_run_from_its_tick_on(call, queue):
    found = asked(call, queue, quota(8), at=3).json()
    kept = call("post", queue, f"/what-ifs/{found['id']}/keep").json()
    now = row(queue)
    assert (now.tick, kept["tick"], kept["revision"]) == (3, 3, now.revision)
    branch = Sandbox.objects.get(pk=kept["fork"])
    assert (branch.tick, branch.hash) == (queue.tick, queue.hash)
    check_rows(queue)
    actions.do_play(queue.owner, queue.pk)
    tick(queue, 40)
    ends = history.events(row(queue)).filter(type="Finish").order_by("revision", "seq")
    finished = dict(ends.values_list("subject", "t_ms"))
    (one,) = found["verdict"]["seeds"]
    assert len(one["verdict"]["workloads"]) == 2
    for each in one["verdict"]["workloads"]:
        assert each["changed"]["finishedMs"] == finished[each["subject"]]


def test_one_that_begins_now_is_kept_as_an_edit_and_an_undo_takes_it_back(
    call, queue, person
):
    found = asked(call, queue, quota(8)).json()
    kept = call("post", queue, f"/what-ifs/{found['id']}/keep").json()
    assert kept["fork"] is None
    actions.do_undo(person, queue.pk)
    assert row(queue).hash == queue.hash


def test_one_that_is_kept_after_a_mere_change_of_speed_leaves_no_fork(
    call, queue, person
):
    found = asked(call, queue, quota(8)).json()
    actions.do_speed(person, queue.pk, 5)
    actions.do_pause(person, queue.pk)
    kept = call("post", queue, f"/what-ifs/{found['id']}/keep").json()
    assert (kept["fork"], Sandbox.objects.count()) == (None, 1)
    check_rows(queue)


def test_edits_that_came_after_one_that_begins_now_stay_when_it_is_kept(
    call, queue, person
):
    found = asked(call, queue, quota(8)).json()
    actions.do_import(person, queue.pk, [("f.yaml", text_of(flavor("theirs")))])
    kept = call("post", queue, f"/what-ifs/{found['id']}/keep").json()
    assert kept["fork"] is None
    assert call("get", queue, "/objects/ResourceFlavor/-/theirs").status_code == 200
    check_rows(queue)


@pytest.mark.parametrize("at", [None, 3])
def test_one_is_not_kept_over_what_another_changed_since_it_was_seen(
    call, queue, person, at
):
    found = asked(call, queue, quota(8), at=at).json()
    seen = row(queue).revision
    other = text_of(cluster_queue("main", cpu="2"))
    actions.do_import(person, queue.pk, [("q.yaml", other)])
    path, now = f"/what-ifs/{found['id']}/keep", row(queue).revision
    stale = call("post", queue, path, {"revision": seen})
    (cause,) = stale.json()["details"]["causes"]
    assert (stale.status_code, cause["field"]) == (409, "ClusterQueue//main")
    assert row(queue).revision == now
    again = asked(call, queue, quota(8), revision=seen)
    assert again.status_code == 409
    assert call("post", queue, path, {"revision": now}).status_code == 200


def test_one_that_is_discarded_leaves_the_run_and_cannot_be_kept(call, queue):
    found = asked(call, queue, quota(8)).json()
    gone = call("post", queue, f"/what-ifs/{found['id']}/discard").json()
    assert (gone["state"], row(queue).revision) == ("discarded", queue.revision)
    assert call("post", queue, f"/what-ifs/{found['id']}/keep").status_code == 409


def test_one_whose_past_was_left_cannot_be_kept(call, queue, person):
    found = asked(call, queue, quota(8)).json()
    actions.do_rewind(person, queue.pk, tick=2)
    before = row(queue)
    assert call("post", queue, f"/what-ifs/{found['id']}/keep").status_code == 409
    assert row(queue).revision == before.revision


def test_a_what_if_is_found_in_its_own_sandbox_alone(call, queue, make):
    found = asked(call, queue, quota(8)).json()
    other = make(*small_cluster(), title="other")
    assert call("get", other, f"/what-ifs/{found['id']}").status_code == 404


def test_those_that_are_listed_have_the_sums_of_their_verdicts(call, queue):
    found = asked(call, queue, quota(8), at=3).json()
    (listed,) = call("get", queue, "/what-ifs").json()["items"]
    sums = {**found["verdict"], "seeds": [], "lines": []}
    assert listed == {**found, "verdict": sums}


def test_the_lines_say_how_each_queue_goes_on_on_both_sides(call, queue):
    found = asked(call, queue, quota(8), at=3).json()["verdict"]
    total, used = [one for one in found["lines"] if one["of"] == "used"]
    assert (total["queue"], used["queue"], used["flavor"]) == ("", "main", "default")
    assert total["changed"] == used["changed"]
    assert used["without"]["values"][0] == used["changed"]["values"][0]
    assert max(used["without"]["values"]) == 4000
    assert max(used["changed"]["values"]) == 8000


def test_what_a_viewer_asks_with_a_read_token_pushes_out_none_of_the_owners(
    queue, stranger, settings, monkeypatch
):
    settings.SERVER, settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = True, False, 0
    settings.LIMITS = {**settings.LIMITS, "answers_per_user": 0}
    monkeypatch.setitem(NEWEST, KeptWhatIf, NEWEST[KeptWhatIf]._replace(most=3))
    mine = whatifs.begin(queue, queue.owner, None, [quota(8)])
    actions.do_member(queue.owner, queue.pk, stranger.username, "viewer")
    _, secret = actions.do_token(stranger, name="t", scope="read", expires_at=None)
    client = APIClient(HTTP_AUTHORIZATION=f"Bearer {secret}")
    for _ in range(5):
        body = {"changes": [quota(8)]}
        path = f"/api/v1/sandboxes/{queue.pk}/what-ifs?wait=0"
        assert client.post(path, body, format="json").status_code == 202
    theirs = KeptWhatIf.objects.filter(asked_by=stranger)
    assert KeptWhatIf.objects.filter(pk=mine.pk).exists()
    assert theirs.count() == 3


def test_a_sandbox_is_made_for_the_stack_that_is_named(client, person):
    body = {"files": [], "stack": "kube"}
    made = client.post("/api/v1/sandboxes", body, format="json")
    assert (made.status_code, made.json()["stack"]) == (201, "kube")
    refused = client.post("/api/v1/sandboxes", {"stack": "slurm"}, format="json")
    assert (refused.status_code, "slurm" in refused.content.decode()) == (422, True)


def test_a_sandbox_is_made_to_decide_as_a_release(client, person):
    body = {"files": [], "release": {"kueue": "v0.17.0"}}
    made = client.post("/api/v1/sandboxes", body, format="json")
    assert made.status_code == 201, made.content
    sandbox = Sandbox.objects.get(pk=made.json()["id"])
    found = history.world_at(sandbox, sandbox.revision).policy.spec.decides_as()
    assert found.kueue == "0.17.0"
    wrong = {"files": [], "release": {"yunikorn": "2.0"}}
    refused = client.post("/api/v1/sandboxes", wrong, format="json")
    assert refused.status_code == 422
    assert "unknown release of YuniKorn 2.0" in refused.content.decode()


def test_one_that_was_replaced_names_the_last_that_took_its_place(call, queue):
    first, second, third = (
        asked(call, queue, quota(n)).json()["id"] for n in (5, 6, 7)
    )
    for old, new in ((first, second), (second, third)):
        place = f"/what-ifs/{old}/discard"
        assert call("post", queue, place, {"replacedBy": new}).status_code == 200
    found = call("get", queue, f"/what-ifs/{first}").json()
    assert (found["state"], found["replacedBy"]) == ("discarded", third)


@pytest.mark.parametrize("by", [0, 999_999])
def test_nothing_is_put_away_for_one_that_is_not_there(call, queue, by):
    first = asked(call, queue, quota(5)).json()["id"]
    body = {"replacedBy": by or first}
    assert call("post", queue, f"/what-ifs/{first}/discard", body).status_code == 404
    assert call("get", queue, f"/what-ifs/{first}").json()["state"] == "open"
