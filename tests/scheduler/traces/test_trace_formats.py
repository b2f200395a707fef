"""Traces of every format: what they hold comes, what does not is said."""

from __future__ import annotations

import io
import tarfile
import time
import zipfile

import msgspec
import pytest

from scheduler.assembly import Assembled, InputError, assemble
from scheduler.engine.tick import simulate
from scheduler.input.files.unpacking import Text, Unpacking, UnreadText
from scheduler.input.manifests.dumps.formats import GPU_MILLI
from scheduler.input.traces.formats.philly import Philly
from scheduler.input.traces.options import TraceOptions, read_options
from scheduler.input.traces.preview import preview
from scheduler.model import registry
from scheduler.model.decisions import Finish
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key

PODS = """\
name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p-0,12000,16384,1,1000,,LS,Running,0,400,0
p-1,6000,12288,1,460,T4|P100,BE,Running,10,900,12
p-2,6000,12288,0,0,,BE,Pending,10,900,
"""
NODES = "sn,cpu_milli,memory_mib,gpu,model\nn-0,64000,262144,2,P100\nn-1,?,2,3,4\n"
PHILLY = """\
jobid,vc,user,status,submitted_time,start_time,end_time,num_gpus
a,vc1,u1,Pass,2017-10-03 12:01:22,2017-10-03 12:05:00,2017-10-03 13:05:00,8
b,vc2,u2,Killed,2017-10-03 12:02:22,,,4
c,vc2,u2,Killed,2017-10-03 12:02:22,2017-10-03 12:05:00,2017-10-03 12:15:00,4
"""
GOOGLE = """\
600000000,,34,0,41,0,u==,3,9,0.125,0.07446,0.0004,0
601000000,,34,0,41,1,u==,3,9,0.125,0.07446,0.0004,0
661000000,,34,0,41,4,u==,3,9,,,,
600000000,,35,0,41,0,u==,3,9,0.125,0.07446,0.0004,0
"""
LOCAL_QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: %s, namespace: default}
spec: {clusterQueue: cluster}
---
"""


def taken(*files: tuple[str, str], **traces: object) -> Assembled:
    return assemble(files, traces=read_options(traces))


def texts_of(name: str, data: bytes, **limit: int) -> list[Text]:
    """Return what a file holds; raises the error of what cannot be read of it."""
    found = list(Unpacking(**limit).texts(name, data))
    for _, text in found:
        if isinstance(text, UnreadText):
            raise text.error
    return found


def said(made: Assembled) -> str:
    return "\n".join(map(str, made.loaded.findings))


def job(made: Assembled, name: str) -> dict:
    return made.world.objects[Key("Job", "default", name)].manifest


def requests(made: Assembled, name: str) -> dict:
    template = job(made, name)["spec"]["template"]
    return template["spec"]["containers"][0]["resources"]["requests"]


def queue(made: Assembled, name: str) -> str:
    return job(made, name)["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]


def finished(made: Assembled) -> int:
    outcome = simulate(made.world, until_ms=10_000_000)
    return sum(isinstance(d, Finish) for d in outcome.decisions)


def test_pods_and_nodes_of_openb_run_with_their_shares_of_gpus():
    made = taken(("pods.csv", PODS), ("nodes.csv", NODES))
    assert requests(made, "pods-p-1") == {
        "cpu": "6000m",
        "memory": "12288Mi",
        "alibabacloud.com/gpu-milli": "460",
    }
    assert "pods.csv:4: pod 'p-2' of the trace is left out: it was never" in said(made)
    assert "nodes.csv:3: node 'n-1' of the trace is left out" in said(made)
    assert finished(made) == 2


def test_a_table_is_read_by_the_names_of_its_columns():
    made = taken(("philly.csv", PHILLY))
    assert queue(made, "philly-a") == "vc1"
    assert requests(made, "philly-a") == {"nvidia.com/gpu": "8"}
    metadata = job(made, "philly-c")["metadata"]
    assert metadata["annotations"]["quotalab.dev/runtime"] == "600000ms"
    assert metadata["annotations"]["quotalab.dev/arrival"] == "60000ms"
    assert "row 'b' of the trace is left out" in said(made)


def test_a_table_without_the_columns_that_are_needed_says_which_and_what_is_there():
    with pytest.raises(InputError, match=r"no column gives .*submit.*found: a, b, c"):
        taken(("x.csv", "a;b;c\n1000;60000;3\n"))


def test_a_map_of_columns_with_units_reads_any_table():
    columns = {"submit": "a:ms", "run": "b:ms", "cpu": "c"}
    made = taken(("x.csv", "a;b;c\n1000;60000;3\n5000;5000;x\n"), columns=columns)
    annotations = job(made, "x-2")["metadata"]["annotations"]
    assert annotations["quotalab.dev/runtime"] == "60000ms"
    assert "x.csv:3: row 3 of the trace is left out: an amount" in said(made)


def test_events_of_a_task_are_one_job():
    made = taken(("part.csv", GOOGLE))
    metadata = job(made, "part-34-0")["metadata"]
    assert metadata["annotations"]["quotalab.dev/runtime"] == "60000ms"
    assert metadata["labels"]["kueue.x-k8s.io/priority-class"] == "trace-9"
    assert requests(made, "part-34-0")["cpu"] == "8000m"
    assert "task 35-0 of the trace is left out: a task without a sch" in said(made)


def test_values_of_a_table_that_cannot_be_read_are_counted():
    rows = "submit,run,cpu,limit,priority\n0,10,1,UNLIMITED,high\n1,10,1,50,3\n"
    said_of = said(taken(("t.csv", rows)))
    assert "1 values of column limit are no limit, such as 'UNLIMITED'" in said_of
    assert "1 values of column priority are no priority, such as 'high'" in said_of


def test_queues_are_chosen_by_a_column_and_a_value_may_go_elsewhere():
    beside = LOCAL_QUEUE % "be" + LOCAL_QUEUE % "main"
    made = taken(
        ("pods.csv", PODS), ("q.yaml", beside), queueBy="qos", queues={"LS": "main"}
    )
    assert (queue(made, "pods-p-0"), queue(made, "pods-p-1")) == ("main", "be")


def test_a_queue_or_column_that_is_not_there_is_an_error_that_names_the_known():
    with pytest.raises(InputError, match=r"no LocalQueue 'x'; known: default/be"):
        taken(("pods.csv", PODS), ("q.yaml", LOCAL_QUEUE % "be"), queue="x")
    with pytest.raises(InputError, match=r"no column 'tier'; known: qos"):
        taken(("pods.csv", PODS), queueBy="tier")


def test_a_part_at_another_pace_says_what_it_leaves_out():
    made = taken(("pods.csv", PODS), begin="5s", pace=2)
    assert "1 of 2 jobs of the trace are left out" in said(made)
    annotations = job(made, "pods-p-1")["metadata"]["annotations"]
    assert annotations["quotalab.dev/arrival"] == "2500ms"


def test_a_preview_says_what_would_come_and_changes_nothing():
    found = preview([("pods.csv", PODS)], read_options({"queueBy": "qos"}), present={})
    (trace,) = found.traces
    assert (trace.format, trace.jobs, trace.left_out) == ("openb", 2, 1)
    assert {q.value: q.jobs for q in trace.queues} == {"default/be": 1, "default/ls": 1}
    assert trace.columns[0].name == "qos"


def test_every_format_enrols_with_a_label():
    names = {entry.name for entry in registry.entries("trace")}
    assert names >= {"swf", "openb", "table"}


def packed(kind: str) -> bytes:
    buffer = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w") as archive:
            archive.writestr("in/pods.csv", PODS)
            archive.writestr("in/read.me", "no")
    else:
        with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
            info = tarfile.TarInfo("in/pods.csv")
            info.size = len(PODS)
            tar.addfile(info, io.BytesIO(PODS.encode()))
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["t.zip", "t.tar.gz", "t.tgz"])
def test_archives_are_unpacked(name):
    files = texts_of(name, packed(name.rsplit(".", 1)[-1]))
    assert [(path.split("/", 1)[1], text) for path, text in files if text] == [
        ("in/pods.csv", PODS)
    ]


def test_a_file_of_an_archive_that_is_not_read_because_of_its_name_is_reported():
    files = texts_of("t.zip", packed("zip"))
    assert files[1:] == [("t.zip/in/read.me", "")]
    assert "t.zip/in/read.me:1: not read: expected a name in" in said(taken(*files))


def test_an_archive_that_would_grow_over_the_limit_is_refused():
    with pytest.raises(ManifestError, match="over the limit"):
        texts_of("t.zip", packed("zip"), most=100)


@pytest.mark.parametrize("data", [b"\x1f\x8b rest", b"PK\x03\x04 rest", b"\xff\xff"])
def test_a_broken_file_is_an_error_that_names_it(data):
    with pytest.raises(ManifestError, match="expected") as refused:
        texts_of("t.yaml", data)
    assert refused.value.place.file.startswith("t.yaml")


JOB_LOG = """[
{"status": "Pass", "vc": "be", "jobid": "app_1", "user": "u1", "submitted_time":
 "2017-10-09 07:00:00", "attempts": [
  {"start_time": "2017-10-09 07:00:10", "end_time": "2017-10-09 07:00:40", "detail": []},
  {"start_time": "2017-10-09 07:01:00", "end_time": "2017-10-09 07:01:30", "detail":
   [{"ip": "m1", "gpus": ["gpu0", "gpu1"]}, {"ip": "m2", "gpus": ["gpu0", "gpu1"]}]}]},
{"status": "Killed", "vc": "be", "jobid": "app_2", "user": "u1", "submitted_time":
 "2017-10-09 07:00:05", "attempts": []}
]"""


def test_phillys_own_job_log_is_a_trace_with_its_attempts_and_machines():
    made = taken(("cluster_job_log.json", JOB_LOG), ("q.yaml", LOCAL_QUEUE % "be"))
    found = job(made, "cluster-job-log-app-1")
    assert found["metadata"]["annotations"]["quotalab.dev/runtime"] == "60000ms"
    assert queue(made, "cluster-job-log-app-1") == "be"
    assert found["spec"]["parallelism"] == 2
    assert requests(made, "cluster-job-log-app-1")["nvidia.com/gpu"] == "2"
    assert "it has no attempt" in said(made)


@pytest.mark.parametrize("inner", ["trace-data/cluster_job_log", "log.json", "j.csv"])
def test_logs_inside_an_archive_are_traces_whatever_their_name(inner):
    text = PHILLY if inner.endswith(".csv") else JOB_LOG
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(inner, text)
        archive.writestr("LICENSE", "Permission is granted")
        archive.writestr("tool", b"\x7fELF\0\xff")
    made = taken(*texts_of("t.zip", buffer.getvalue()))
    assert any(key.kind == "Job" for key in made.world.objects)
    for left in ("LICENSE", "tool"):
        assert f"t.zip/{left}:1: not read" in said(made)


def log_of(jobid: str, attempts: str) -> str:
    """A line of Philly's job log."""
    return (
        f'{{"jobid": {jobid}, "submitted_time": "2017-10-03 00:00:00",\n'
        f' "attempts": {attempts}}}'
    )


def test_a_job_of_philly_without_machines_or_attempts_is_reported_by_line():
    ran = '"start_time": "2017-10-03 00:00:00", "end_time": "2017-10-03 00:01:00"'
    jobs = [log_of('"a"', f'[{{{ran}, "detail": [{{"gpus": 5}}]}}]'), log_of("2", "5")]
    made = taken(("log.json", "[" + ",\n".join(jobs) + "]"))
    assert "jobs that name no GPU ask for nothing: 1" in said(made)
    assert "log.json:3: job '2' of the trace is left out: it has no attempt" in said(
        made
    )


def test_a_job_log_of_philly_is_read_in_time_that_grows_as_the_log_does():
    jobs = ",".join(log_of(str(n), "[]") for n in range(20_000))
    began = time.process_time()
    trace = Philly.read(f"[{jobs}]", "log.json", TraceOptions())
    assert time.process_time() - began < 3
    assert len(trace.left_out) == 20_000


OPENB = """
apiVersion: v1
kind: Node
metadata: {name: n, labels: {alibabacloud.com/gpu-card-model: T4}}
status:
  allocatable:
    {cpu: "8", pods: "9", alibabacloud.com/gpu-count: "2", alibabacloud.com/gpu-milli: "1000"}
---
apiVersion: v1
kind: Pod
metadata:
  name: p
  annotations:
    alibabacloud.com/gpu-milli: "500"
    alibabacloud.com/gpu-count: "3"
    alibabacloud.com/gpu-card-model: T4|P100
    alibabacloud.com/creation-time: "9437497"
    alibabacloud.com/deletion-time: "9437557.5"
spec: {containers: [{name: main, resources: {requests: {cpu: "1"}}}]}
"""


def test_pods_of_openb_in_yaml_ask_for_the_gpus_of_their_annotations():
    made = taken(("openb.yaml", OPENB))
    pod = made.world.get(Key("Pod", "default", "p"))
    (container,) = pod.spec["containers"]
    assert container["resources"]["requests"][GPU_MILLI] == "1500"
    (term,) = pod.spec["affinity"]["nodeAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]["nodeSelectorTerms"]
    assert term["matchExpressions"][0]["values"] == ["T4", "P100"]
    annotations = pod.annotations
    assert annotations["quotalab.dev/arrival"] == "9437497000ms"
    assert annotations["quotalab.dev/runtime"] == "60500ms"
    node = made.world.get(Key("Node", "", "n"))
    assert node.status["allocatable"][GPU_MILLI] == "2000"
    assert "GPUs of its annotations are asked for" in said(made)


def test_an_export_of_the_kube_scheduler_simulator_is_the_objects_in_it():
    pod = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c"}]}}
    node = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "4"}}}
    profile = {"schedulerName": "default-scheduler"}
    export = {
        "pods": [pod],
        "nodes": [node],
        "pvs": [],
        "schedulerConfig": {"profiles": [profile]},
        "namespaces": None,
    }
    made = taken(("export.json", msgspec.json.encode(export).decode()))
    assert set(made.world.objects) == {Key("Pod", "default", "p"), Key("Node", "", "n")}
    assert made.world.policy.spec.kube_scheduler["profiles"] == [profile]
