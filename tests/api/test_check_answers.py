"""Admission checks answered by a person through the status of the Workload."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.models import Workload
from tests.builders import cluster_queue, flavor, job, local_queue
from tests.sandbox.conftest import tick

pytestmark = pytest.mark.django_db

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"


@pytest.fixture
def held(make, person):
    """A job whose reservation waits for `budget` by hand; `size` is ready at once."""
    queue = cluster_queue("a", cpu=4)
    names = [{"name": "budget"}, {"name": "size"}]
    queue["spec"]["admissionChecksStrategy"] = {"admissionChecks": names}
    checks = [
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "AdmissionCheck",
            "metadata": {"name": one["name"]},
            "spec": {"controllerName": "example.com/check"},
        }
        for one in names
    ]
    rules = [{"check": "budget", "byHand": True}]
    sandbox = make(
        flavor(),
        *checks,
        queue,
        local_queue("main", cluster_queue="a"),
        job("big", queue="main", runtime="100s"),
        policy={"simulation": {"admissionChecks": rules}},
    )
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 3)
    return sandbox


def states(sandbox) -> dict[str, str]:
    status = Workload.objects.get(sandbox=sandbox).status
    return {one["name"]: one["state"] for one in status["admissionChecks"]}


def answer(call, sandbox, state: str):
    name = Workload.objects.get(sandbox=sandbox).name
    path = f"{KUEUE}/namespaces/default/workloads/{name}/status"
    at = {"message": "", "lastTransitionTime": "2026-01-01T00:00:03Z"}
    checks = [{"name": "budget", "state": state, **at}]
    return call("patch", sandbox, path, {"status": {"admissionChecks": checks}})


def test_one_answer_leaves_the_other_checks_and_is_one_edit(call, held, person):
    assert states(held) == {"budget": "Pending", "size": "Ready"}
    assert answer(call, held, "Ready").status_code == 200
    tick(held, 1)
    assert states(held) == {"budget": "Ready", "size": "Ready"}
    actions.do_undo(person, held.pk)
    assert states(held) == {"budget": "Pending", "size": "Ready"}


def test_the_names_of_checks_are_listed_as_the_cluster_lists_them(call, held):
    items = call("get", held, f"{KUEUE}/admissionchecks").json()["items"]
    assert [item["metadata"]["name"] for item in items] == ["budget", "size"]
