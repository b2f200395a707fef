"""kubectl itself against a running sandbox: get, describe, apply, patch, delete, watch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.builders import cluster_queue, flavor, job, local_queue, node, pod
from tests.sandbox.conftest import text_of
from tests.services.default_run import DefaultRun, wait_for

kubectl_path = os.environ.get("KUBECTL") or shutil.which("kubectl")
pytestmark = pytest.mark.skipif(
    kubectl_path is None,
    reason="no kubectl on PATH; on Debian: apt install kubernetes-client",
)

Kubectl = Callable[..., str]
ADVICE = Path(__file__).resolve().parents[3] / "docs/examples/advice"


@pytest.fixture(scope="module")
def sandbox_url(shared_run: DefaultRun) -> str:
    files = [
        {
            "name": "world.yaml",
            "text": text_of(
                flavor(),
                cluster_queue("a", cohort="team", cpu=4),
                local_queue("a-queue", cluster_queue="a"),
                node("n1", cpu=4),
                *(job(f"job-{n}", queue="a-queue", cpu=1) for n in range(6)),
            ),
        }
    ]
    made = shared_run.post("/api/v1/sandboxes", {"files": files})
    url = f"/api/v1/sandboxes/{made['id']}"
    shared_run.post(f"{url}/actions/step", {"ticks": 2})
    wait_for(lambda: shared_run.get(url)["tick"] >= 2, "the second tick")
    return shared_run.url + url


@pytest.fixture(scope="module")
def kubectl(sandbox_url: str, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    """Return a function that runs kubectl and returns what it printed."""
    home = tmp_path_factory.mktemp("kube")
    command = [str(kubectl_path), f"--server={sandbox_url}", f"--cache-dir={home}"]
    variables = {"PATH": os.environ["PATH"], "HOME": str(home), "KUBECONFIG": ""}

    def run(*words: str, given: str = "", fails: bool = False) -> str:
        done = subprocess.run(
            [*command, *words],
            input=given,
            capture_output=True,
            text=True,
            env=variables,
            timeout=60,
            check=False,
        )
        assert (done.returncode != 0) == fails, done.stderr
        return done.stderr if fails else done.stdout

    return run


def test_get_prints_the_columns_of_kueue(kubectl):
    lines = kubectl("get", "workloads", "-n", "default").splitlines()
    assert lines[0].split()[:2] == ["NAME", "QUEUE"]
    assert sum("True" in line for line in lines) == 4
    assert "a-queue" in kubectl("get", "lq,cq", "-A")
    assert kubectl("get", "nodes").splitlines()[1].split()[:2] == ["n1", "Ready"]


def test_get_returns_whole_objects(kubectl):
    found = json.loads(kubectl("get", "cq", "a", "-o", "json"))
    assert found["status"]["admittedWorkloads"] == 4
    assert "cohortName: team" in kubectl("get", "cq", "a", "-o", "yaml")


def test_describe_shows_conditions_and_events(kubectl):
    name = kubectl("get", "workloads", "-o", "name").splitlines()[0]
    text = kubectl("describe", name)
    assert "Quota Reserved" in text or "QuotaReserved" in text
    assert "Name:" in kubectl("describe", "node", "n1")
    assert "Name:" in kubectl("describe", "pods")


def test_apply_creates_changes_and_leaves_alone(kubectl):
    given = text_of(cluster_queue("b", cohort="team", cpu=2))
    words = ("apply", "--validate=false", "-f", "-")
    assert "created" in kubectl(*words, given=given)
    assert "unchanged" in kubectl(*words, given=given)
    changed = text_of(cluster_queue("b", cohort="team", cpu=3))
    assert "configured" in kubectl(*words, given=changed)
    found = json.loads(kubectl("get", "cq", "b", "-o", "json"))
    quota = found["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    assert quota["nominalQuota"] == 3


@pytest.mark.parametrize(
    ("world", "patch", "configured", "training"),
    [("split", "split-set", 3, 64), ("cohort", "inference-set", 4, 56)],
)
def test_apply_takes_the_patch_of_an_advice(
    kubectl, world, patch, configured, training
):
    words = ("apply", "--validate=false", "-f", "-")
    kubectl(*words, given=(ADVICE / f"four-teams/{world}.yaml").read_text())
    said = kubectl(*words, given=(ADVICE / f"four-teams/{patch}.yaml").read_text())
    assert said.count("configured") == configured
    found = json.loads(kubectl("get", "cq", "training", "-o", "json"))
    quota = found["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]
    assert int(quota["nominalQuota"]) == training


def test_apply_takes_the_node_groups_of_an_advice_and_names_what_a_cluster_lacks(
    kubectl,
):
    words = ("apply", "--validate=false", "-f", "-")
    kubectl(*words, given=(ADVICE / "half-the-bill/world.yaml").read_text())
    patch = (ADVICE / "half-the-bill/set.yaml").read_text()
    said = kubectl(*words, given=patch, fails=True)
    assert 'no matches for kind "Policy"' in said
    found = json.loads(kubectl("get", "nodegroup", "spot", "-o", "json"))
    assert found["spec"]["maxNodes"] == 8


def test_apply_changes_a_builtin_kind_by_strategic_merge(kubectl):
    words = ("apply", "--validate=false", "-f", "-")
    kubectl(*words, given=text_of(node("n2", cpu=4)))
    kubectl("taint", "node", "n2", "gpu=yes:NoSchedule")
    kubectl("label", "node", "n2", "zone=west")
    kubectl("cordon", "n2")
    found = json.loads(kubectl("get", "node", "n2", "-o", "json"))
    assert found["spec"]["unschedulable"] is True
    assert {t["key"] for t in found["spec"]["taints"]} >= {"gpu"}
    assert found["metadata"]["labels"]["zone"] == "west"
    assert found["status"]["allocatable"]["cpu"]


@pytest.fixture
def with_openapi_3(kubectl):
    """Older ones read OpenAPI in protobuf alone."""
    known = json.loads(kubectl("version", "--client", "-o", "json"))
    if int(known["clientVersion"]["minor"].rstrip("+")) < 27:
        pytest.skip("kubectl reads OpenAPI v3 from 1.27 on")


def test_apply_validates_and_a_diff_is_of_what_changed(kubectl, with_openapi_3):
    given = text_of(cluster_queue("checked", cpu=2))
    assert "created" in kubectl("apply", "-f", "-", given=given)
    assert kubectl("diff", "-f", "-", given=given) == ""
    wrong = given.replace("resourceGroups", "resourceGroup")
    reported = kubectl("apply", "-f", "-", given=wrong, fails=True)
    assert 'unknown field "spec.resourceGroup"' in reported


def test_explain_and_can_i_are_answered(kubectl, with_openapi_3):
    assert "resourceGroups" in kubectl("explain", "cq.spec")
    assert kubectl("auth", "can-i", "create", "jobs").strip() == "yes"


def test_patch_merges(kubectl):
    kubectl("patch", "cq", "a", "--type=merge", "-p", '{"spec":{"stopPolicy":"Hold"}}')
    assert "Hold" in kubectl("get", "cq", "a", "-o", "jsonpath={.spec.stopPolicy}")
    test = '[{"op":"replace","path":"/spec/stopPolicy","value":"None"}]'
    kubectl("patch", "cq", "a", "--type=json", "-p", test)


def test_a_drained_node_is_empty_and_comes_back(kubectl):
    given = [node("n3", cpu=4), node("n4", cpu=4), pod("guest", cpu=1)]
    given[2]["spec"]["nodeName"] = "n3"
    kubectl("apply", "--validate=false", "-f", "-", given=text_of(*given))
    kubectl("drain", "n3", "--force", "--timeout=20s")
    assert "SchedulingDisabled" in kubectl("get", "node", "n3")
    assert "NotFound" in kubectl("get", "pod", "guest", fails=True)
    kubectl("uncordon", "n3")
    assert "SchedulingDisabled" not in kubectl("get", "node", "n3")


def test_discovery_is_listed(kubectl):
    listed = kubectl("api-resources", "--no-headers", "-o", "name").splitlines()
    assert {"workloads.kueue.x-k8s.io", "pods", "jobs.batch"} <= set(listed)
    assert "Server Version: v1." in kubectl("version")


def test_events_and_everything_are_listed(kubectl):
    lines = kubectl("get", "events", "-A").splitlines()
    words = ["NAMESPACE", "LAST", "SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"]
    assert lines[0].split() == words
    assert any("workload/" in line for line in lines)
    assert "pod/" in kubectl("get", "all", "-A")


def test_delete_waits_until_it_is_gone(kubectl):
    kubectl(
        "apply", "--validate=false", "-f", "-", given=text_of(cluster_queue("gone"))
    )
    assert "deleted" in kubectl("delete", "cq", "gone")
    assert "NotFound" in kubectl("get", "cq", "gone", fails=True)


def test_what_is_wrong_is_reported(kubectl):
    given = text_of(cluster_queue("bad", cpu="four"))
    reported = kubectl("apply", "--validate=false", "-f", "-", given=given, fails=True)
    assert "quantities must match" in reported


def test_a_watch_follows_a_sandbox_that_plays(sandbox_url, kubectl, tmp_path: Path):
    log = tmp_path / "watch.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [str(kubectl_path), f"--server={sandbox_url}", "get", "cq", "-w"],
            stdout=out,
            stderr=out,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        )
    try:
        wait_for(lambda: "NAME" in log.read_text(), "the first lines")
        kubectl(
            "apply", "--validate=false", "-f", "-", given=text_of(cluster_queue("seen"))
        )
        wait_for(lambda: "seen" in log.read_text(), "the new queue")
    finally:
        process.terminate()
        process.wait(10)
