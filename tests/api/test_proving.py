"""`quotalab prove`: one script, two servers, and names of its own on a cluster."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from kubernetes.client.exceptions import ApiException

from api.command import main
from api.command.local import InProcess, make_ticks
from api.proving import scripts
from api.proving.clusters import ClusterServer, Naming, namespaces_of
from api.proving.playing import OF_CLUSTER, Place, SandboxServer, differences, play
from sandbox.following.cluster import WritableCluster
from sandbox.models import Sandbox
from tests.api.test_command import _one_connection  # noqa: F401 - a fixture
from tests.builders import cluster_queue, flavor, job, local_queue
from tests.truth.conftest import played, sandbox_server  # noqa: F401 - fixtures

pytestmark = [pytest.mark.django_db]

MARK = "prove-0a1b-"


def script(*steps: dict[str, Any], **more: Any) -> dict[str, Any]:
    queues = [
        flavor(),
        cluster_queue("cq", cpu=2),
        local_queue("lq", cluster_queue="cq"),
    ]
    return {
        "name": "small",
        "steps": [{"apply": queues}, *steps, {"see": "end"}],
        **more,
    }


def small() -> dict[str, Any]:
    work = {"apply": [job("a", queue="lq", cpu=1, runtime="1m")]}
    return script(work, {"advance": 3})


@pytest.fixture
def written(tmp_path):
    def write(document: Any, name: str = "small.yaml") -> str:
        file = tmp_path / name
        file.write_text(yaml.safe_dump(document))
        return str(file)

    return write


class SandboxAsCluster:
    """What the official client does, done on a sandbox."""

    def __init__(self, server: Any) -> None:
        self.server = server

    def call_api(
        self, path: str, method: str, *, header_params: Any, body: Any, **_: Any
    ) -> Any:
        media = header_params.get("Content-Type", "application/json")
        at = f"/api/v1/sandboxes/{self.server.sandbox}{path}"
        code, answer = self.server.sent(method, at, body, media)
        if code >= 300:
            error = ApiException(status=code)
            error.body = json.dumps(answer)
            raise error
        return Sent(code, json.dumps(answer).encode())


class Sent:
    def __init__(self, status: int, text: bytes) -> None:
        self.status, self.text = status, text

    def read(self, *, decode_content: bool) -> bytes:
        return self.text

    def release_conn(self) -> None:
        pass


def test_a_script_on_a_cluster_shows_the_same_as_on_a_sandbox(played, sandbox_server):  # noqa: F811
    with sandbox_server(small()) as there:
        cluster = WritableCluster(SandboxAsCluster(there))
        with ClusterServer(cluster, wait=there.advance) as server:
            real = play(server, small())
    assert differences(real, played(small()), small()) == []


def test_of_a_clusters_metrics_those_of_the_script_are_read_with_its_names():
    lines = [f'kueue_pending_workloads{{cluster_queue="{n}"}} 1' for n in ("m-cq", "q")]
    server = ClusterServer(None, mark="m-", metrics=lambda: "\n".join(lines))
    assert server.metrics() == 'kueue_pending_workloads{cluster_queue="cq"} 1'


def test_all_that_a_script_made_on_a_cluster_is_removed(sandbox_server):  # noqa: F811
    with sandbox_server(small()) as there:
        before = standing(there)
        cluster = WritableCluster(SandboxAsCluster(there))
        with ClusterServer(cluster, wait=there.advance) as server:
            play(server, small())
            assert set(standing(there)) > set(before)
        assert standing(there) == before


def standing(server: Any) -> list[str]:
    kinds = sorted({*OF_CLUSTER, "Job", "Pod", "Workload", "LocalQueue"})
    return [
        f"{kind} {one['metadata']['name']}"
        for kind in kinds
        for one in server.objects(kind)
    ]


def seen_here() -> dict[str, Any]:
    """Play without Django's client, which would close the connection of `main`."""

    def ticks(key: str, count: int) -> None:
        for _ in make_ticks(key, count):
            pass

    with SandboxServer(InProcess(), ticks, small()) as server:
        return play(server, small())


def test_a_record_that_the_sandbox_shows_is_equal(written, capsys):
    record = {"script": small(), "seen": seen_here()}
    assert main(["prove", written(record)]) == 0
    assert "1 of 1 scripts equal" in capsys.readouterr().out


def test_a_sandbox_of_a_script_is_deleted_after_it(played):  # noqa: F811
    played(small())
    assert not Sandbox.objects.exists()


def test_a_difference_names_the_step_and_the_object_to_look_at(written, capsys):
    record = {"script": small(), "seen": seen_here()}
    record["seen"]["3 see end"]["Job default/a"][0]["suspend"] = True
    assert main(["prove", written(record)]) == 1
    said = capsys.readouterr().out
    assert "3 see end > Job default/a\n    0.suspend: true | false" in said


def test_what_one_of_several_plays_of_a_script_showed_is_no_difference(written, capsys):
    ours = seen_here()
    real = copy.deepcopy(ours)
    real["3 see end"]["Job default/a"][0] |= {"suspend": True, "active": 0}
    record = {"script": small(), "seen": real, "others": [copy.deepcopy(ours)]}
    record["others"][0]["3 see end"]["Job default/a"][0]["active"] = 0
    assert main(["prove", written(record)]) == 1
    said = capsys.readouterr().out
    assert "0.active: 0 | 1" in said
    assert "suspend" not in said


@pytest.mark.parametrize(
    ("steps", "place"),
    [
        ([], "steps: expected a list of steps"),
        ([{"aply": []}], "steps[0]: expected one of apply, patch"),
        ([{"advance": 0}], "steps[0].advance: expected seconds above 0, got 0"),
        ([{"delete": {"kind": "Job"}}], "steps[0].delete.name: expected a name"),
        ([{"apply": [{"kind": "Jb"}]}], "steps[0].apply[0].kind: expected one of"),
        ([{"patch": {"kind": "Job", "name": "a"}}], "steps[0].patch.body: expected"),
    ],
)
def test_a_wrong_script_is_refused_with_its_place(steps, place, written, capsys):
    assert main(["prove", written({"name": "x", "steps": steps})]) == 2
    assert place in capsys.readouterr().err


def test_a_script_that_no_cluster_played_is_refused(written, capsys):
    assert main(["prove", written(small())]) == 2
    assert (
        "expected a record {script, seen}, or --kubeconfig" in capsys.readouterr().err
    )


def test_a_script_that_another_release_decides_otherwise_is_said_to_differ(
    written, capsys
):
    quota = [{"name": "cpu", "nominalQuota": "2"}]
    flavors = [{"name": name, "resources": quota} for name in ("plain", "gpu")]
    queue = cluster_queue("cq")
    groups = [{"coveredResources": ["cpu"], "flavors": flavors}]
    queue["spec"]["resourceGroups"] = groups
    asking = job("a", queue="lq", cpu=1, runtime="1m")
    asking["spec"]["template"]["spec"]["nodeSelector"] = {"gpu": "a"}
    labelled = flavor("gpu")
    labelled["spec"] = {"nodeLabels": {"gpu": "a"}}
    made = [flavor("plain"), labelled, queue, local_queue("lq", cluster_queue="cq")]
    steps = [{"apply": [*made, asking]}, {"advance": 3}, {"see": "end"}]
    file = written({"name": "selector", "steps": steps})
    assert main(["prove", file, "--against", "kueue=0.17.5"]) == 1
    said = capsys.readouterr().out
    assert 'admission.podSets.0.2.cpu: "plain" | "gpu"' in said
    assert "1 of 1 scripts differ, 0 more could" in said


def test_a_change_that_no_play_shows_is_named_for_a_script_that_it_concerns(
    written, capsys
):
    huge = job("a", queue="lq", cpu="9E", runtime="1m")
    file = written(script({"apply": [huge]}, {"advance": 3}))
    assert main(["prove", file, "--against", "kueue=0.19.0"]) == 0
    said = capsys.readouterr().out
    assert "could    small\n  huge-quantities: " in said
    assert main(["prove", file, "--against", "kueue=0.19.2"]) == 0
    assert "0 of 1 scripts differ, 0 more could" in capsys.readouterr().out


def test_a_release_that_is_not_known_plays_nothing(written, capsys):
    assert main(["prove", written(small()), "--against", "kueue=9.9"]) == 2
    assert "9.9" in capsys.readouterr().err
    assert not Sandbox.objects.exists()


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([], "expected --context NAME"),
        (["--context", "kind-test"], "expected --yes-write"),
    ],
)
def test_a_cluster_that_is_not_named_is_not_written_to(words, wanted, written, capsys):
    file = written(small())
    assert main(["prove", file, "--kubeconfig", "nowhere", *words]) == 2
    assert wanted in capsys.readouterr().err


def test_a_folder_has_each_record_once(tmp_path, written):
    written({"script": small(), "seen": {}}, "a.json")
    written(small(), "a.yaml")
    written(small(), "b.yaml")
    assert [one.file.name for one in scripts.read([tmp_path])] == ["a.json", "b.yaml"]


def test_the_namespaces_of_a_script_are_those_that_its_steps_name():
    steps = [
        {"apply": [{"kind": "Namespace", "metadata": {"name": "team"}}]},
        {"delete": {"kind": "Job", "name": "a", "namespace": "kube-system"}},
    ]
    assert namespaces_of({"steps": steps}) == {"default", "team", "kube-system"}


NAMED = [
    {
        "kind": "ClusterQueue",
        "metadata": {"name": "cq"},
        "spec": {
            "cohortName": "all",
            "admissionChecks": ["ask"],
            "admissionChecksStrategy": {
                "admissionChecks": [{"name": "ask", "onFlavors": ["spot"]}]
            },
            "resourceGroups": [{"flavors": [{"name": "spot", "resources": []}]}],
        },
    },
    {"kind": "LocalQueue", "metadata": {"name": "lq"}, "spec": {"clusterQueue": "cq"}},
    {"kind": "Cohort", "metadata": {"name": "all"}, "spec": {"parentName": "top"}},
    {
        "kind": "Workload",
        "metadata": {"name": "w"},
        "spec": {"priorityClassRef": {"kind": "WorkloadPriorityClass", "name": "high"}},
        "status": {
            "admission": {
                "clusterQueue": "cq",
                "podSetAssignments": [{"name": "main", "flavors": {"cpu": "spot"}}],
            },
            "admissionChecks": [{"name": "ask", "state": "Ready"}],
        },
    },
]


def test_every_name_of_the_clusters_objects_gets_the_mark_and_no_other():
    made = json.dumps([Naming(MARK).document(one) for one in NAMED])
    for name in ("cq", "all", "top", "ask", "spot", "high"):
        assert f'"{name}"' not in made
        assert f'"{MARK}{name}"' in made
    for name in ("lq", "w", "main", "cpu", "Ready"):
        assert f'"{name}"' in made


names = st.from_regex(r"[a-z][a-z0-9-]{0,9}", fullmatch=True)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | names,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            names | st.sampled_from(["namespace", "flavors", "clusterQueue", "name"]),
            inner,
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(values)
def test_what_gets_the_mark_is_shown_without_it(value):
    naming = Naming(MARK)
    assert naming.shown(naming.value(value)) == value


@given(st.sampled_from(sorted(OF_CLUSTER)), names)
def test_a_place_on_a_cluster_has_the_mark_that_its_manifest_has(kind, name):
    naming = Naming(MARK)
    document = {"kind": kind, "metadata": {"name": name}}
    made = naming.document(document)["metadata"]["name"]
    assert naming.place(Place(kind=kind, name=name)).name == made


def test_operations_of_a_json_patch_are_read_by_the_field_that_they_name():
    operations = [{"op": "add", "path": "/spec/admissionChecks/-", "value": "ask"}]
    made = Naming(MARK).patch(operations)
    assert made == [{**operations[0], "value": f"{MARK}ask"}]


def test_a_node_and_its_hostname_get_the_same_mark():
    hostname = {"kubernetes.io/hostname": "n1"}
    node = {"kind": "Node", "metadata": {"name": "n1", "labels": hostname}}
    made = Naming(MARK).document(node)["metadata"]
    assert made["labels"]["kubernetes.io/hostname"] == made["name"] == f"{MARK}n1"
