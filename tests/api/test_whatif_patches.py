"""A what-if as a patch of the files that its sandbox came from."""

from __future__ import annotations

import subprocess

import pytest
from django.core.signals import request_finished, request_started
from django.db import close_old_connections

from api.command import main
from sandbox import actions
from sandbox.models import Sandbox, Workload
from sandbox.world import worlds
from tests.api.test_command import _one_connection  # noqa: F401 - a fixture
from tests.sandbox.conftest import tick

pytestmark = [pytest.mark.django_db]

QUEUES = """\
# Who may use what; the platform team reviews.
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata:
  name: main          # the only one
spec:
  namespaceSelector: {}
  cohort: all
  resourceGroups:
  - coveredResources: ["cpu"]
    flavors:
    - name: default
      resources:
      # agreed in spring
      - name: cpu
        nominalQuota: 4   # CPUs
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: default}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: default}
spec: {clusterQueue: main}
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train-{n}
  labels: {{kueue.x-k8s.io/queue-name: main}}
  annotations: {{quotalab.dev/runtime: 9s}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {{name: main, image: busybox, resources: {{requests: {{cpu: 3}}}}}}
"""
POLICY = """\
apiVersion: quotalab.dev/v1
kind: Policy
spec:
  # Steps take no time here.
  simulation: {latencies: null, defaultRuntime: 60s}
"""
FILES = {
    "queues.yaml": QUEUES,
    "jobs.yaml": "---\n".join(JOB.format(n=n) for n in range(3)),
    "policy.yaml": POLICY,
}
QUOTA = {
    "resourceGroups": [
        {
            "coveredResources": ["cpu"],
            "flavors": [
                {"name": "default", "resources": [{"name": "cpu", "nominalQuota": "8"}]}
            ],
        }
    ]
}
MORE = {"patch": {"kind": "ClusterQueue", "name": "main", "body": {"spec": QUOTA}}}
CHANGES = [
    MORE,
    {
        "patch": {
            "kind": "ClusterQueue",
            "name": "main",
            "body": {"spec": {"cohortName": "b"}},
        }
    },
    {"policy": {"spec": {"simulation": {"defaultRuntime": "7s"}}}},
    {"delete": {"kind": "Job", "namespace": "default", "name": "train-1"}},
    {"yaml": JOB.format(n=9)},
]
BACK = [
    {"yaml": QUEUES},
    {"policy": {"spec": {"simulation": {"defaultRuntime": "60s"}}}},
    {"yaml": JOB.format(n=1)},
    {"delete": {"kind": "Job", "namespace": "default", "name": "train-9"}},
]


def given(files=FILES):
    return [{"name": name, "text": text} for name, text in files.items()]


@pytest.fixture
def of_files(client):
    """Return what makes a sandbox of files and asks a what-if at its begin."""

    def make_it(files, *changes):
        body = {"title": "x", "files": given(files)}
        made = client.post("/api/v1/sandboxes", body, content_type="application/json")
        assert made.status_code == 201, made.content
        place = f"/api/v1/sandboxes/{made.json()['id']}"
        worlds.forget_all()
        asked = {"at": 0, "changes": changes or [{"policy": {}}], "horizonMs": 60_000}
        found = client.post(
            f"{place}/what-ifs?wait=60", asked, content_type="application/json"
        )
        assert found.status_code == 200, found.content
        return f"{place}/what-ifs/{found.json()['id']}", found.json()["verdict"]

    return make_it


def patched(client, place, files=FILES):
    answer = client.post(
        f"{place}/patch", {"files": given(files)}, content_type="application/json"
    )
    assert answer.status_code == 200, answer.content
    return answer.json()


def applied(diff, files, folder):
    """Return the files as `git apply` makes them of a diff."""
    for name, text in files.items():
        (folder / name).write_bytes(text.encode())
    command = ["git", "apply", "--unsafe-paths", "-"]
    subprocess.run(command, cwd=folder, input=diff.encode(), check=True)
    return {one.name: one.read_bytes().decode() for one in folder.iterdir()}


def test_the_diff_has_the_lines_of_what_changes_alone(client, of_files):
    place, _ = of_files(FILES, MORE)
    found = patched(client, place)
    lines = [one for one in found["diff"].splitlines() if one[0] in "+-"]
    assert lines == [
        "--- a/queues.yaml",
        "+++ b/queues.yaml",
        "-        nominalQuota: 4   # CPUs",
        '+        nominalQuota: "8"   # CPUs',
    ]
    assert found["left"] == []


def test_git_takes_the_diff_and_the_files_give_the_verdict_again(
    client, of_files, tmp_path
):
    place, verdict = of_files(FILES, *CHANGES)
    found = patched(client, place)
    assert found["left"] == []
    after = applied(found["diff"], FILES, tmp_path)
    said = {one["name"]: one["text"] for one in found["files"]}
    assert after == FILES | said
    assert "cohort: b" in after["queues.yaml"]  # as v1beta1 has it
    assert "# Steps take no time here.\n" in after["policy.yaml"]
    assert "train-9" in after["what-if.yaml"]
    assert "train-1" not in after["jobs.yaml"]
    _, again = of_files(after)
    (one,), (other,) = verdict["seeds"], again["seeds"]
    assert other["without"] == one["changed"]
    assert other["verdict"]["without"] == one["verdict"]["changed"]
    back, mirrored = of_files(after, *BACK)
    forth = {w["subject"].rsplit("-", 1)[0]: w for w in one["verdict"]["workloads"]}
    for workload in mirrored["seeds"][0]["verdict"]["workloads"]:
        twin = forth.pop(workload["subject"].rsplit("-", 1)[0])
        assert workload["without"] == twin["changed"]
        assert workload["changed"] == twin["without"]
    assert not forth
    assert patched(client, back, after)["left"] == []


def test_a_change_of_what_is_in_no_file_is_named(client, of_files):
    place, _ = of_files(FILES, MORE, CHANGES[3])
    files = {"policy.yaml": POLICY}
    assert patched(client, place, files) == {
        "diff": "",
        "files": [],
        "left": [
            {"kind": "ClusterQueue", "namespace": "", "name": "main", "why": "noFile"},
            {"kind": "Job", "namespace": "default", "name": "train-1", "why": "noFile"},
        ],
    }


def test_a_text_that_is_no_yaml_is_refused_with_its_line(client, of_files):
    place, _ = of_files(FILES, MORE)
    body = {"files": given({"queues.yaml": "a: 1\nkind: [1"})}
    answer = client.post(f"{place}/patch", body, content_type="application/json")
    assert answer.status_code == 422
    assert answer.json()["details"]["causes"][0]["file"] == "queues.yaml"


def test_the_command_prints_a_diff_for_git_and_names_what_it_leaves_out(
    of_files, tmp_path, monkeypatch, capsys
):
    place, _ = of_files(FILES, MORE, CHANGES[3])
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "queues.yaml").write_text(QUEUES)
    monkeypatch.chdir(tmp_path)
    for signal in (request_started, request_finished):  # Django's client connects them
        signal.disconnect(close_old_connections)
    sandbox, _, number = place.split("/")[-3:]
    assert main(["patch", sandbox, number, "cluster"]) == 0
    shown = capsys.readouterr()
    assert "left out: Job default/train-1: it is in none of the files" in shown.err
    subprocess.run(["git", "apply", "-"], input=shown.out.encode(), check=True)
    after = (tmp_path / "cluster" / "queues.yaml").read_text()
    assert after == QUEUES.replace("nominalQuota: 4 ", 'nominalQuota: "8" ')


def test_a_policy_that_is_in_no_file_comes_to_a_new_one(client, of_files):
    files = {name: text for name, text in FILES.items() if name != "policy.yaml"}
    place, verdict = of_files(files, CHANGES[2])
    (added,) = patched(client, place, files)["files"]
    _, again = of_files({**files, added["name"]: added["text"]})
    assert again["seeds"][0]["without"] == verdict["seeds"][0]["changed"]


def test_a_node_that_is_added_comes_with_its_size(client, of_files):
    node = (
        "apiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
        "status: {allocatable: {cpu: 8, pods: 10}}  # by hand\n"
    )
    files = {**FILES, "nodes.yaml": node}
    add = {"node": {"name": "n2", "change": "add", "like": "n1"}}
    patch = {"status": {"allocatable": {"cpu": "4"}}}
    place, _ = of_files(
        files, add, {"patch": {"kind": "Node", "name": "n1", "body": patch}}
    )
    found = {one["name"]: one["text"] for one in patched(client, place, files)["files"]}
    assert found["nodes.yaml"] == node.replace("cpu: 8", 'cpu: "4"')
    assert found["what-if.yaml"].endswith("  allocatable:\n    pods: 10\n    cpu: 8\n")


def test_a_workload_that_moves_is_a_label_of_its_job(client, of_files, person):
    other = "\n---\n" + QUEUES.rpartition("---\n")[2].replace("name: main", "name: b")
    files = {**FILES, "queues.yaml": QUEUES.rstrip("\n") + other}
    place, _ = of_files(files)
    sandbox = Sandbox.objects.get(pk=place.split("/")[-3])
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 2)
    name = Workload.objects.filter(sandbox=sandbox).values_list("name", flat=True)[0]
    to = {"kind": "LocalQueue", "namespace": "default", "name": "b"}
    move = {"kind": "Workload", "namespace": "default", "name": name, "to": to}
    asked = {"changes": [{"move": move}], "horizonMs": 1000}
    made = client.post(
        f"{place.rpartition('/')[0]}?wait=60", asked, content_type="application/json"
    )
    found = patched(client, f"{place.rpartition('/')[0]}/{made.json()['id']}", files)
    lines = [one for one in found["diff"].splitlines() if one[0] in "+-"]
    assert lines[2:] == [
        "-  labels: {kueue.x-k8s.io/queue-name: main}",
        "+  labels: {kueue.x-k8s.io/queue-name: b}",
    ]
    assert found["left"] == []
