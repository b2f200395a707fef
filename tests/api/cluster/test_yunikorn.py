"""YuniKorn's read paths on a sandbox of YuniKorn, in the real records' fields."""

from __future__ import annotations

import json

import pytest
import yaml

from api.cluster.yunikorn.paths import PATHS
from sandbox import actions
from sandbox.explain import application_states
from sandbox.explain.application_states import ApplicationStates
from sandbox.explain.counting import CountCache
from sandbox.models import Sandbox
from tests.sandbox.conftest import tick
from tests.sandbox.whatifs.test_queues_in_config_maps import MAP, POLICY, QUEUES, WHOLE
from tests.scheduler.test_verdict_cases import raised_at

pytestmark = [pytest.mark.django_db]

DEFAULT = "/ws/v1/partition/default"


@pytest.fixture
def yunikorn(person) -> Sandbox:
    made = actions.do_create(person, scenario="yunikorn-fifo-fair-stateaware").sandbox
    actions.do_play(person, made.pk)
    tick(made, 8)
    return made


@pytest.fixture
def ask(call, yunikorn):
    """Return a function that asks for a path and returns its JSON."""

    def asked(path: str):
        answer = call("get", yunikorn, path)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return asked


def test_every_path_answers(ask):
    (app, *_) = ask(f"{DEFAULT}/applications/active")
    places = {
        "<str:partition>": "default",
        "<str:queue>": app["queueName"],
        "<str:state>": "running",
        "<str:application>": app["applicationID"],
    }
    names = {"node": "node-1", "user": app["user"], "group": None}
    for route in PATHS:
        path = "/" + route
        for place, value in places.items():
            path = path.replace(place, value)
        kind = path.rsplit("/", 2)[-2]
        name = names.get(kind, "")
        if name is not None:
            assert ask(path.replace("<str:name>", name)) is not None


MAPS = "/api/v1/namespaces/yunikorn/configmaps"
APPLY = "application/apply-patch+yaml"


def by_apply(call, client, of):
    url = (
        f"/api/v1/sandboxes/{of.pk}{MAPS}/{MAP['name']}?fieldManager=kubectl&force=true"
    )
    return client.patch(url, json.dumps(WHOLE), content_type=APPLY)


def by_what_if(call, client, of):
    asked = {"changes": [{"patch": {**MAP, "body": QUEUES}}], "horizonMs": 1000}
    number = call("post", of, "/what-ifs?wait=60", asked).json()["id"]
    return call("post", of, f"/what-ifs/{number}/keep", {})


WAYS = {
    "kubectl apply": by_apply,
    "kubectl patch": lambda call, *_, of: call(
        "patch", of, f"{MAPS}/{MAP['name']}", QUEUES
    ),
    "kubectl replace": lambda call, *_, of: call(
        "put", of, f"{MAPS}/{MAP['name']}", WHOLE
    ),
    "import": lambda call, *_, of: call(
        "post", of, "/actions/import", {"objects": [WHOLE]}
    ),
    "a what-if that is kept": by_what_if,
}


@pytest.mark.parametrize("way", WAYS)
def test_its_queues_hold_at_once_by_every_way_of_editing_them(call, client, make, way):
    sandbox = make(POLICY, *raised_at("1h"))
    answer = WAYS[way](call, client, of=sandbox)
    assert answer.status_code < 300, answer.content
    (leaf,) = call("get", sandbox, f"{DEFAULT}/queues").json()["children"]
    assert leaf["maxResource"]["vcore"] == 4000


def test_the_tree_has_the_fields_of_the_real_one(ask):
    root = ask(f"{DEFAULT}/queues")
    assert root["queuename"] == "root"
    assert {"status", "maxResource", "isLeaf", "isManaged", "children"} <= root.keys()
    leaves = {child["queuename"]: child for child in root["children"]}
    assert leaves["root.fair"]["sortingPolicy"] == "fair"
    assert leaves["root.fair"]["maxResource"] == {"vcore": 4000}
    assert "children" not in leaves["root.fair"]
    total = sum(child["allocatedResource"].get("vcore", 0) for child in leaves.values())
    assert total == root["allocatedResource"]["vcore"] > 0
    alone = ask(f"{DEFAULT}/queue/root")
    assert "children" not in alone
    assert alone["childNames"] == [c["queuename"] for c in root["children"]]


def test_applications_report_requests_allocations_and_their_times(ask, yunikorn):
    apps = ask(f"{DEFAULT}/applications/active")
    one = next(app for app in apps if app.get("allocations"))
    placed = one["allocations"][0]
    assert placed["nodeId"].startswith("node-")
    assert placed["resource"]["vcore"] > 0
    assert placed["applicationId"] == one["applicationID"]
    assert placed["preemptionPolicy"] == {
        "allowPreemptSelf": True,
        "allowPreemptOther": True,
    }
    assert one["submissionTime"] >= 1_767_225_600_000_000_000  # nanoseconds of 2026
    waiting = [r for app in apps for r in app.get("requests", [])]
    assert any(request.get("allocationLog") for request in waiting)
    path = f"{DEFAULT}/queue/{one['queueName']}/application/{one['applicationID']}"
    assert ask(path) == one


def test_nodes_add_up_and_fill_their_tenths(ask):
    for node in ask(f"{DEFAULT}/nodes"):
        held = node.get("allocated", {}).get("vcore", 0)
        free = node["available"].get("vcore", 0)
        assert held + free == node["capacity"]["vcore"]
        assert ask(f"{DEFAULT}/node/{node['nodeID']}") == node
    usage = ask("/ws/v1/scheduler/node-utilization")
    assert usage["type"] == "vcore"
    counts = [bucket["numOfNodes"] for bucket in usage["utilization"]]
    assert (len(counts), sum(counts)) == (10, len(ask(f"{DEFAULT}/nodes")))


def test_users_hold_what_their_applications_hold(ask):
    held = ask(f"{DEFAULT}/usage/users")
    total = ask(f"{DEFAULT}/queues")["allocatedResource"]["vcore"]
    assert sum(u["queues"]["resourceUsage"]["vcore"] for u in held) == total
    one = ask(f"{DEFAULT}/usage/user/{held[0]['userName']}")
    assert one["queues"]["queuePath"] == "root"


def test_history_counts_what_runs(ask, yunikorn, person):
    running = sum(
        len(app.get("allocations", ())) for app in ask(f"{DEFAULT}/applications/active")
    )
    assert ask("/ws/v1/history/containers")[-1]["totalContainers"] == str(running)
    assert int(ask("/ws/v1/history/apps")[-1]["totalApplications"]) > 0
    events = ask("/ws/v1/events/batch?count=5")
    assert len(events["EventRecords"]) == 5
    later = ask("/ws/v1/events/batch?start=5&count=1")["EventRecords"]
    assert later[0] not in events["EventRecords"]


def test_the_whole_state_is_one_document(ask):
    dump = ask("/ws/v1/fullstatedump")
    assert dump["partitions"][0]["name"] == "default"
    assert dump["queues"] == [ask(f"{DEFAULT}/queues")]
    assert dump["nodes"][0]["nodesInfo"]
    assert "partitions" in yaml.safe_load(dump["config"]["queues.yaml"])
    assert dump["placementRules"][0]["rules"][0]["name"] == "provided"


def test_health_is_reported_check_by_check(ask):
    health = ask("/ws/v1/scheduler/healthcheck")
    assert health["Healthy"]
    assert {"Name", "Succeeded", "Description", "DiagnosisMessage"} == set(
        health["HealthChecks"][0]
    )


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("partitions: [{name: default, queues: [{name: root}]}]", True),
        (
            "partitions: [{name: default, queues: [{name: root, resources: {max: {vcore: four}}}]}]",
            False,
        ),
        ("partitions: [", False),
    ],
)
def test_a_configuration_is_validated_and_not_taken(
    client, call, yunikorn, text, allowed
):
    before = call("get", yunikorn, "/ws/v1/config").content
    url = f"/api/v1/sandboxes/{yunikorn.pk}/ws/v1/validate-conf"
    answer = client.post(url, text, content_type="application/x-yaml").json()
    assert answer["allowed"] is allowed
    assert bool(answer["reason"]) is not allowed
    assert call("get", yunikorn, "/ws/v1/config").content == before


def test_another_partition_has_the_queues_of_its_configuration(call, person):
    made = actions.do_create(person, scenario="yunikorn-order-of-queues").sandbox
    root = call("get", made, "/ws/v1/partition/gpu/queues").json()
    assert (root["partition"], root["childNames"]) == ("gpu", ["root.training"])
    assert call("get", made, "/ws/v1/partition/gpu/nodes").json() == []


@pytest.mark.parametrize(
    "path",
    [
        "/ws/v1/partition/other/queues",
        f"{DEFAULT}/queue/root.nothing",
        f"{DEFAULT}/application/nothing",
        f"{DEFAULT}/node/nothing",
        f"{DEFAULT}/usage/user/nobody-here",
    ],
)
def test_what_is_not_there_is_not_found(call, yunikorn, path):
    answer = call("get", yunikorn, path)
    assert (answer.status_code, answer.json()["reason"]) == (404, "NotFound")


def test_a_sandbox_of_another_stack_says_so(call, busy):
    answer = call("get", busy, f"{DEFAULT}/queues")
    assert answer.status_code == 404
    assert "not yunikorn" in answer.json()["message"]


def test_state_logs_brought_forward_tick_by_tick_are_those_read_from_scratch(
    person, yunikorn
):
    forward = CountCache(ApplicationStates, application_states._read)
    for n in range(40):
        tick(yunikorn)
        if n == 20:
            actions.do_rewind(person, yunikorn.pk, tick=10)
            actions.do_play(person, yunikorn.pk)
        yunikorn.refresh_from_db()
        found = forward.brought_to(yunikorn, {})
    scratch = CountCache(ApplicationStates, application_states._read)
    assert found == scratch.brought_to(yunikorn, {})
    assert {state for log in found.entered.values() for _, state in log} >= {
        "Starting",
        "Accepted",
        "Running",
    }
