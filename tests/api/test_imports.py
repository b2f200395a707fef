"""Files in by REST: packed, as a form, as traces; their reports are kept."""

from __future__ import annotations

import base64
import gzip
import io
import json
import zipfile

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from sandbox.models import Job
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    small_cluster,
)
from tests.sandbox.conftest import contended, text_of

pytestmark = pytest.mark.django_db

PODS = """\
name,cpu_milli,memory_mib,num_gpu,creation_time,deletion_time,qos
p-0,1000,1024,0,0,400,LS
p-1,1000,1024,0,10,900,BE
"""


def packed(name: str) -> dict:
    data = base64.b64encode(gzip.compress(PODS.encode())).decode()
    return {"name": name, "data": data}


def test_a_packed_trace_is_taken_as_it_was_asked_and_its_report_kept(call, make):
    sandbox = make(*contended())
    body = {"files": [packed("t.csv.gz")], "traces": {"queueBy": "qos", "pace": 2}}
    answer = call("post", sandbox, "/actions/import", body)
    assert answer.status_code == 200, answer.content
    assert Job.objects.filter(sandbox=sandbox, name="t-p-1").exists()
    (kept,) = [
        one
        for one in call("get", sandbox, "/imports").json()["items"]
        if one["revision"] == answer.json()["revision"]
    ]
    assert kept["report"] == answer.json()["report"]
    assert kept["report"]["files"][0]["file"] == "t.csv"


def test_what_an_archive_skips_because_of_its_name_is_in_the_report(call, make):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("world.yaml", text_of(node("n9")))
        archive.writestr("notes.md", "Ours.")
    data = base64.b64encode(buffer.getvalue()).decode()
    body = {"files": [{"name": "w.zip", "data": data}]}
    answer = call("post", make(*contended()), "/actions/import", body)
    assert answer.status_code == 200, answer.content
    problems = answer.json()["report"]["findings"]
    [found] = [one for one in problems if "not read" in one["problem"]]
    assert found["places"][0]["file"] == "w.zip/notes.md"


def test_a_form_with_files_becomes_a_sandbox(client, person):
    client.force_login(person)
    form = {"files": SimpleUploadedFile("t.csv", PODS.encode()), "title": "Form"}
    made = client.post("/api/v1/sandboxes", form, format="multipart")
    assert made.status_code == 201, made.content
    assert made.json()["title"] == "Form"
    assert Job.objects.filter(sandbox=made.json()["id"]).count() == 2


def test_what_would_come_of_a_trace_is_shown_before_it_is_taken(client, person, make):
    client.force_login(person)
    sandbox = make(*contended())
    body = {"files": [packed("t.csv.gz")], "into": sandbox.pk}
    shown = client.post("/api/v1/traces/preview", body, format="json").json()
    (trace,) = shown["traces"]
    assert (trace["format"], trace["jobs"]) == ("openb", 2)
    assert shown["queues"]
    assert trace["queues"][0]["value"] in shown["queues"]
    assert not Job.objects.filter(sandbox=sandbox, name="t-p-1").exists()


@pytest.mark.parametrize(
    ("file", "traces", "said"),
    [
        ({"name": "t.csv", "data": "?"}, {}, "expected base64"),
        ({"name": "t.zip", "data": "UEsDBA=="}, {}, "expected a zip"),
        (packed("t.csv.gz"), {"pace": 0}, "traces"),
        (packed("t.csv.gz"), {"begin": "soon"}, "traces.begin"),
    ],
)
def test_what_cannot_be_read_is_a_422_that_says_why(call, make, file, traces, said):
    sandbox = make(*contended())
    body = {"files": [file], "traces": traces}
    answer = call("post", sandbox, "/actions/import", body)
    assert answer.status_code == 422
    assert said in answer.content.decode()


def test_packed_files_may_come_to_one_limit_together_not_each(call, make, settings):
    sandbox = make(*contended())
    settings.LIMITS = {**settings.LIMITS, "bytes_per_import": 1000}
    zeros = base64.b64encode(gzip.compress(b"#" * 600)).decode()
    files = [{"name": f"{n}.yaml.gz", "data": zeros} for n in range(3)]
    answer = call("post", sandbox, "/actions/import", {"files": files})
    assert answer.status_code == 422
    causes = answer.json()["details"]["causes"]
    over = [cause for cause in causes if "over the limit" in cause["message"]]
    assert [cause["file"] for cause in over] == ["1.yaml.gz", "2.yaml.gz"]


VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {reclaimable: false, deserved: {cpu: "2"}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j, namespace: ml}
spec:
  queue: research
  plugins: {svc: []}
  tasks: [{replicas: 2, template: {spec: {containers: [{name: c}]}}}]
"""


def test_files_of_another_system_are_answered_in_our_terms(client):
    files = [
        {"name": "v.yaml", "text": VOLCANO},
        {"name": "n.yaml", "text": "{apiVersion: v1, kind: Namespace, metadata: {}}"},
        {"name": "x.yaml", "data": base64.b64encode(b"\xe9").decode()},
    ]
    answer = client.post("/api/v1/conversions", {"files": files}, format="json").json()
    assert (answer["systems"], answer["changed"]) == (["Volcano"], ["v.yaml"])
    assert (answer["kinds"]["Job"], answer["kinds"]["LocalQueue"]) == (1, 1)
    assert [file["name"] for file in answer["files"]] == ["converted.yaml", "n.yaml"]
    places = {loss["lost"]: (loss["file"], loss["line"]) for loss in answer["losses"]}
    assert places["its plug-ins"] == ("v.yaml", 7)
    said = {loss["said"]["code"]: loss["said"]["text"] for loss in answer["losses"]}
    assert said["lost.plugins"] == "its plug-ins"
    assert set(said.values()) == set(places)
    assert [one["file"] for one in answer["unread"]] == ["x.yaml"]


def test_an_import_that_converts_reports_what_is_lost(client, call, make):
    sandbox = make(*contended())
    files = [{"name": "v.yaml", "text": VOLCANO}]
    body = {"files": files, "convert": True}
    answer = call("post", sandbox, "/actions/import", body).json()
    assert "Job/ml/j" in answer["created"]
    problems = {one["problem"]: one for one in answer["report"]["findings"]}
    lost = problems["not carried over: its plug-ins"]
    assert (lost["places"][0]["line"], "does not exist" in lost["effect"]) == (7, True)
    made = client.post("/api/v1/sandboxes", body, format="json").json()
    assert made["report"]["findings"]


def test_a_file_that_is_no_text_is_left_out_alone(call, make):
    sandbox = make(*contended())
    good = base64.b64encode(b"{apiVersion: v1, kind: Namespace, metadata: {name: n}}")
    bad = base64.b64encode(b"name: caf\xe9")
    files = [{"name": "a.yaml", "data": good.decode()}, {"name": "b.yaml"}]
    files.append({"name": "c.yaml", "data": bad.decode()})
    body = {"files": files, "skipErrors": True}
    answer = call("post", sandbox, "/actions/import", body).json()
    assert answer["created"] == ["Namespace//n"]
    (first,) = [f for f in answer["report"]["findings"] if f["level"] == "error"]
    assert first["places"][0]["file"] == "c.yaml"


def test_files_of_which_errors_leave_nothing_are_refused_though_they_are_skipped(
    client, call, make
):
    sandbox = make(*contended())
    body = {"files": [{"name": "a.yaml", "text": "a: ["}], "skipErrors": True}
    for answer in (
        client.post("/api/v1/sandboxes", body, format="json"),
        call("post", sandbox, "/actions/import", body),
    ):
        assert answer.status_code == 422
        error = answer.json()
        assert "nothing is left" in str(error)
        assert "a.yaml" in str(error)


YUNIKORN_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec: {schedulerName: yunikorn, containers: [{name: c, image: i}]}
"""


def test_files_for_two_stacks_are_a_422_with_the_choice_and_come_in_with_an_answer(
    client, person
):
    client.force_login(person)
    queue = text_of(*contended())
    files = [
        {"name": "pod.yaml", "text": YUNIKORN_POD % "p"},
        {"name": "kueue.yaml", "text": queue},
    ]
    asked = client.post("/api/v1/sandboxes", {"files": files}, format="json")
    assert asked.status_code == 422, asked.content
    [cause] = asked.json()["details"]["causes"]
    assert cause["field"] == "policy.stack"
    assert cause["said"]["holes"]["stacks"] == "kueue or yunikorn"
    body = {"files": files, "policy": {"stack": "yunikorn"}}
    made = client.post("/api/v1/sandboxes", body, format="json")
    assert (made.status_code, made.json()["stack"]) == (201, "yunikorn")


def test_an_empty_sandbox_runs_the_stack_of_the_first_files_and_others_keep_theirs(
    client, call, make
):
    pod = {"files": [{"name": "pod.yaml", "text": YUNIKORN_POD % "p"}]}
    empty, full = make(), make(*contended())
    for sandbox in (empty, full):
        assert call("post", sandbox, "/actions/import", pod).status_code == 200
        sandbox.refresh_from_db()
    assert (empty.stack, full.stack) == ("yunikorn", "kueue")
    found = call("post", full, "/actions/import", {**pod, "dryRun": True}).json()
    [kept] = [f for f in found["findings"] if "this sandbox runs" in f["problem"]]
    assert (kept["file"], kept["line"]) == ("pod.yaml", 4)


def test_a_finding_that_repeats_is_one_with_a_count(call, make):
    text = "---\n".join(
        (YUNIKORN_POD % f"p{number}").replace("{sched", "{hostnam: a, sched")
        for number in range(4)
    )
    body = {"files": [{"name": "pods.yaml", "text": text}]}
    answer = call("post", make(), "/actions/import", body).json()
    found = [f for f in answer["findings"] if "hostnam" in f["problem"] + f["field"]]
    assert [(f["count"], f["line"]) for f in found] == [(4, 4)]


def test_an_import_reads_the_run_times_that_the_policy_names(client):
    policy = {"simulation": {"runTimesFrom": "sleep"}}
    files = [{"name": "w.yaml", "text": text_of(*small_cluster())}]
    made = client.post(
        "/api/v1/sandboxes", {"files": files, "policy": policy}, format="json"
    )
    path = f"/api/v1/sandboxes/{made.json()['id']}"
    late = job("late", queue="main", cpu=1)
    late["spec"]["template"]["spec"]["containers"][0]["command"] = ["sleep", "5"]
    body = {"files": [{"name": "late.yaml", "text": text_of(late)}]}
    report = client.post(f"{path}/actions/import", body, format="json").json()["report"]
    assert "run time from its command" in str(report["findings"])


SLEEPER = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: team, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: c, command: [sleep, "300"], resources: {requests: {cpu: 1, memory: 1gi}}}
"""
LOOK = "/api/v1/imports/dry"


def test_files_that_are_looked_at_are_answered_with_what_repairs_them(client):
    files = [{"name": "j.yaml", "text": SLEEPER}]
    body = client.post(LOOK, {"files": files}, format="json").json()
    (finding,) = body["findings"]
    assert (finding["place"]["file"], finding["place"]["line"]) == ("j.yaml", 9)
    (repair,) = finding["repairs"]
    assert (repair["line"], repair["old"], repair["new"]) == (9, "1gi", "1Gi")
    assert repair["said"]["text"] == "Write 1Gi instead of 1gi"
    assert (body["errors"], body["left"]) == (1, 0)
    assert client.get("/api/v1/sandboxes").json()["items"] == []


def test_placeholders_are_answered_at_their_lines_but_not_those_of_a_shell(client):
    named = SLEEPER.replace("name: ", "name: $", 1).replace("1gi", '"${MEMORY}"')
    named = named.replace('sleep, "300"', 'sh, -c, "sleep ${SPAN}"')
    files = [
        {"name": "j.yaml", "text": named},
        {"name": "t.yaml", "text": SLEEPER.replace("1gi", "{{ memory }}")},
        {"name": "loop.yaml", "text": "kind: {{ if .a }}b{{ end }}\n{{ .c }}: x\n"},
    ]
    body = client.post(LOOK, {"files": files}, format="json").json()
    found = [(one["file"], one["line"], one["name"]) for one in body["unfilled"]]
    first = next(line for line in named.splitlines() if "name: $" in line)
    own = (named.splitlines().index(first) + 1, first.split("name: ")[1].split(",")[0])
    assert found == [
        ("j.yaml", own[0], own[1].strip("}")),
        ("j.yaml", 9, "${MEMORY}"),
        ("t.yaml", 9, "{{ memory }}"),
    ]


def test_files_that_are_looked_at_are_read_with_the_policy_that_is_asked_for(client):
    files = [{"name": "j.yaml", "text": SLEEPER.replace("1gi", "1Gi")}]
    codes = {}
    for way in ("annotations", "sleep"):
        policy = {"simulation": {"runTimesFrom": way}}
        body = {"files": files, "policy": policy}
        answer = client.post(LOOK, body, format="json").json()
        codes[way] = {one["said"]["code"] for one in answer["findings"]}
    assert "runTime.readable" in codes["annotations"]
    assert "runTime.ofCommands" in codes["sleep"]


def test_files_for_an_open_sandbox_are_looked_at_beside_its_objects(call, make, client):
    sandbox = make(*contended())
    before = call("get", sandbox, "").json()["revision"]
    files = [{"name": "j.yaml", "text": SLEEPER.replace("1gi", "1Gi")}]
    into = call("get", sandbox, "").json()["id"]
    answer = client.post(LOOK, {"files": files, "into": into}, format="json").json()
    (missing,) = [one for one in answer["findings"] if "LocalQueue" in one["problem"]]
    queues = {one["said"]["holes"]["queue"] for one in missing["repairs"]}
    assert queues
    assert call("get", sandbox, "").json()["revision"] == before


def test_new_work_alone_can_be_asked_about_before_it_is_added(call, make, client):
    there = job("there", queue="main")
    sandbox = make(flavor("f"), cluster_queue("team", cpu=1, flavor="f"), there)
    into = call("get", sandbox, "").json()["id"]
    queue = local_queue("main", cluster_queue="team")

    def is_work(*manifests, into=into):
        text = "---\n".join(json.dumps(one) + "\n" for one in manifests)
        files = [{"name": "j.yaml", "text": text}]
        return client.post(LOOK, {"files": files, "into": into}, format="json").json()[
            "work"
        ]

    new = job("new", queue="main")
    assert is_work(new)
    assert not is_work(new, queue)
    assert not is_work(there)
    assert not is_work(new, into="")


def test_files_for_several_schedulers_are_looked_at_with_the_stacks_to_choose_from(
    client,
):
    files = [
        {"name": "q.yaml", "text": "partitions: [{name: default, queues: []}]"},
        {"name": "j.yaml", "text": SLEEPER.replace("1gi", "1Gi")},
    ]
    answer = client.post(LOOK, {"files": files}, format="json").json()
    assert set(answer["stacks"]) == {"kueue", "yunikorn"}
    assert answer["refused"]["code"] == "stackSign.open"


def looked(client, **body):
    return client.post(LOOK, body, format="json").json()


def test_repairs_that_were_offered_are_applied_by_the_server(client):
    files = [{"name": "j.yaml", "text": SLEEPER}]
    (finding,) = looked(client, files=files)["findings"]
    body = looked(client, files=files, repairs=finding["repairs"])
    assert body["files"][0]["text"] == SLEEPER.replace("1gi", "1Gi")
    assert body["errors"] == 0


def test_all_that_has_one_repair_is_repaired_with_what_that_showed(client):
    queues = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\n"
        "metadata: {name: q}\nspec:\n  namespaceSelector: {}\n  resourceGroups:\n"
        "  - coveredResources: [cpu, memory]\n    flavors:\n    - name: default\n"
        "      resources: [{name: cpu, nominalQuota: 4}, {name: memory, nominalQuota: 4Gb}]\n"
    )
    files = [{"name": "j.yaml", "text": SLEEPER}, {"name": "q.yaml", "text": queues}]
    body = looked(client, files=files, repairAll=True)
    assert body["errors"] == 0
    assert [one["name"] for one in body["files"]] == ["j.yaml", "q.yaml", "added.yaml"]
    left = {one["said"]["code"] for one in body["findings"]}
    assert left == {"runTime.readable", "missing.noNodes"}


def test_a_repair_of_a_line_that_is_not_there_changes_nothing(client):
    files = [{"name": "j.yaml", "text": SLEEPER}]
    away = {"file": "j.yaml", "line": 999, "old": "1gi", "new": "1Gi"}
    assert looked(client, files=files, repairs=[away])["files"][0]["text"] == SLEEPER


def test_files_that_are_refused_say_what_repairs_them(client):
    body = {"files": [{"name": "j.yaml", "text": SLEEPER}]}
    answer = client.post("/api/v1/sandboxes", body, format="json")
    assert answer.status_code == 422
    (cause,) = answer.json()["details"]["causes"]
    assert cause["repairs"][0]["new"] == "1Gi"


def test_the_report_that_is_kept_says_what_repairs_a_finding(call, make, client):
    sandbox = make(*contended())
    files = [{"name": "j.yaml", "text": SLEEPER.replace("1gi", "1Gi")}]
    assert call("post", sandbox, "/actions/import", {"files": files}).status_code == 200
    (newest, *_) = call("get", sandbox, "/imports").json()["items"]
    missing = [
        one
        for one in newest["report"]["findings"]
        if one["said"]["code"] == "missing.namedIn"
    ]
    assert "kind: LocalQueue" in missing[0]["repairs"][0]["document"]


def test_run_times_are_chosen_for_what_comes_into_an_open_sandbox(call, make):
    sandbox = make(*contended())
    files = [{"name": "j.yaml", "text": SLEEPER.replace("1gi", "1Gi")}]
    body = {"files": files, "runTimes": {"rules": [{"name": "train", "takes": "7m"}]}}
    answer = call("post", sandbox, "/actions/import", body).json()
    said = [one["said"]["code"] for one in answer["report"]["findings"]]
    assert "runTime.chosen" in said
    made = call("get", sandbox, "/objects/Job/team/train").json()
    assert made["metadata"]["annotations"]["quotalab.dev/runtime"] == "7m"


def test_nothing_is_assumed_where_somebody_is_strict(call, make):
    sandbox = make(*contended())
    files = [{"name": "j.yaml", "text": SLEEPER.replace("1gi", "1Gi")}]
    body = {"files": files, "runTimes": {"strict": True}}
    answer = call("post", sandbox, "/actions/import", body)
    assert answer.status_code == 422
    assert "has no run time" in answer.json()["details"]["causes"][0]["message"]


def test_work_without_a_run_time_is_answered_by_name(client):
    files = [{"name": "j.yaml", "text": SLEEPER.replace("1gi", "1Gi")}]
    assert looked(client, files=files)["untimed"] == [
        {
            "kind": "Job",
            "namespace": "team",
            "name": "train",
            "queue": "main",
            "size": "1 x 1 cpu",
        }
    ]


PAST = """\
apiVersion: batch/v1
kind: Job
metadata: {name: train-1, namespace: team, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: i}]}
status:
  startTime: "2026-01-01T00:00:00Z"
  completionTime: "2026-01-01T00:20:00Z"
  conditions: [{type: Complete, status: "True", lastTransitionTime: "2026-01-01T00:20:00Z"}]
"""


def test_work_takes_the_run_time_of_its_like_in_a_dump(call, make):
    sandbox = make(*contended())
    like = [{"name": "past.yaml", "text": PAST}]
    files = [{"name": "j.yaml", "text": SLEEPER.replace("1gi", "1Gi")}]
    body = {"files": files, "runTimes": {"like": like}}
    call("post", sandbox, "/actions/import", body)
    ours = call("get", sandbox, "/objects/Job/team/train").json()["metadata"]
    assert ours["annotations"]["quotalab.dev/runtime"] == "1200s"
    source = ours["annotations"]["quotalab.dev/runtime-source"]
    assert source == "1 of family team/train in past.yaml"


def test_a_history_in_which_nothing_ended_is_refused(call, make):
    sandbox = make(*contended())
    like = [{"name": "past.yaml", "text": SLEEPER.replace("1gi", "1Gi")}]
    body = {"files": like, "runTimes": {"like": like}}
    answer = call("post", sandbox, "/actions/import", body)
    assert answer.status_code == 422
    assert "expected work that ended" in answer.json()["message"]
