"""A recorder and a cluster: nothing is lost and nothing comes twice."""

from __future__ import annotations

import io
import random
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from sandbox.following.cluster import Cluster, ClusterError
from sandbox.following.recorder import Progress, Recorder, RecordingFile, parts_of
from sandbox.following.resources import cluster_role
from sandbox.following.resources import served as of_cluster
from sandbox.management.commands import record
from scheduler.cli.recording_file import read_file
from scheduler.recorded.qrec.reading import Entry, Followed, read_entries
from tests.services.cluster import ApiServer, api_server
from tests.services.default_run import wait_for

Served = tuple[ApiServer, Cluster]
#: A field of each kind's spec that is written.
VARIED = {"Pod": "priority", "Node": "unschedulable"}


@pytest.fixture
def served() -> Iterator[Served]:
    from kubernetes import client

    with api_server() as (server, url):
        cluster = Cluster.of_configuration(client.Configuration(host=url))
        yield server, cluster
        cluster.api.close()


class Running:
    """A recorder in a thread; `with` ends it and reads what it wrote."""

    def __init__(
        self,
        cluster: Cluster,
        path: Path,
        rotate_bytes: int = 1 << 30,
        *,
        anonymised: bool = False,
    ):
        file = RecordingFile(path, rotate_bytes)
        self.recorder = Recorder(cluster, file, anonymised=anonymised)
        self.thread = threading.Thread(target=self.recorder.run)

    def __enter__(self) -> Recorder:
        self.thread.start()
        return self.recorder

    def __exit__(self, *_: object) -> None:
        self.recorder.stop.set()
        self.thread.join()


def entries_of(path: Path) -> list[Entry]:
    with path.open("rb") as stream:
        return list(read_entries(stream, path.name))


def count(recorder: Recorder, *types: str) -> int:
    return sum(recorder.progress.entries[one] for one in types)


def last_state(found: Followed) -> dict[tuple[str, str], object]:
    objects = {(m["kind"], m["metadata"]["name"]): m["spec"] for m in found.standing}
    for seen in found.events:
        place = seen.object["kind"], seen.object["metadata"]["name"]
        if seen.type == "DELETED":
            del objects[place]
        else:
            assert (seen.type == "ADDED") == (place not in objects)
            objects[place] = seen.object["spec"]
    return objects


def test_what_is_there_is_listed_and_what_comes_is_written(
    served: Served, tmp_path: Path
) -> None:
    server, cluster = served
    server.put("Node", "n1")
    with Running(cluster, tmp_path / "a.qrec") as recorder:
        wait_for(lambda: count(recorder, "SYNCED") == 2, "both lists")
        server.put("Pod", "p1", nodeName="n1")
        server.delete("Node", "n1")
        wait_for(lambda: count(recorder, "DELETED"), "the deletion")
    found = read_file(tmp_path / "a.qrec")
    assert found.releases() == {"kubernetes": "1.36.0"}
    assert [m["metadata"]["name"] for m in found.standing] == ["n1"]
    assert {(s.type, s.object["kind"]) for s in found.events} == {
        ("ADDED", "Pod"),
        ("DELETED", "Node"),
    }


def test_nothing_is_lost_or_doubled_whatever_breaks(
    served: Served, tmp_path: Path
) -> None:
    server, cluster = served
    draw = random.Random(7)
    with Running(cluster, tmp_path / "a.qrec", rotate_bytes=3000) as recorder:
        wait_for(lambda: count(recorder, "SYNCED") >= 2, "both lists")
        for number in range(120):
            _change(server, draw, number)
            if number % 15 == 14:
                draw.choice([server.cut, server.expire])()
            if number % 40 == 39:
                _away(server, recorder)
        server.put("Pod", "last")
        server.put("Node", "last")
        wait_for(lambda: _has_last(tmp_path / "a.qrec"), "the last objects")
    assert len(parts_of(tmp_path / "a.qrec")) > 1
    assert last_state(read_file(tmp_path / "a.qrec")) == server.state()


def _change(server: ApiServer, draw: random.Random, number: int) -> None:
    kind, name = draw.choice(["Pod", "Node"]), f"o{draw.randrange(8)}"
    if (kind, name) in server.objects and draw.random() < 0.3:
        server.delete(kind, name)
    else:
        server.put(kind, name, **{VARIED[kind]: number})


def _away(server: ApiServer, recorder: Recorder) -> None:
    """Take the server away; objects go and come while nobody can look."""
    server.down = True
    server.cut()
    wait_for(lambda: recorder.progress.lost, "a watch that is lost")
    server.put("Pod", "o1", priority=-1)
    server.down = False
    wait_for(lambda: not recorder.progress.lost, "the watches to go on")


def _has_last(path: Path) -> bool:
    state = last_state(read_file(path))
    return ("Pod", "last") in state and ("Node", "last") in state


def test_a_crash_leaves_a_torn_end_that_the_next_run_cuts_off(
    served: Served, tmp_path: Path
) -> None:
    server, cluster = served
    path = tmp_path / "a.qrec"
    server.put("Pod", "p1")
    with Running(cluster, path) as recorder:
        wait_for(lambda: count(recorder, "SYNCED") == 2, "both lists")
    path.write_bytes(path.read_bytes() + b"\x80\x00\x00\x00torn")
    server.delete("Pod", "p1")
    server.put("Pod", "p2")
    with Running(cluster, path) as recorder:
        wait_for(lambda: count(recorder, "SYNCED") == 2, "both lists again")
    found = read_file(path)
    assert last_state(found) == {("Pod", "p2"): {}}
    assert [kind for *_, kind, _ in found.gaps] == ["*"]


def test_a_kind_that_may_not_be_listed_is_absent_and_the_others_are_recorded(
    served: Served, tmp_path: Path
) -> None:
    server, cluster = served
    server.forbidden.add("Pod")
    server.put("Node", "n1")
    with Running(cluster, tmp_path / "a.qrec") as recorder:
        wait_for(lambda: count(recorder, "SYNCED"), "the list of nodes")
    found = read_file(tmp_path / "a.qrec")
    assert recorder.progress.unlisted == set()
    assert [m["kind"] for m in found.standing] == ["Node"]
    assert "Pod is forbidden" in found.header.absent["Pod"]
    assert count(recorder, "LOST") == 0


def test_settings_that_may_not_be_read_are_named_and_those_that_are_none_not(
    served: Served, tmp_path: Path
) -> None:
    server, cluster = served
    server.forbidden.add("kueue-manager-config")
    with Running(cluster, tmp_path / "a.qrec") as recorder:
        wait_for(lambda: count(recorder, "SYNCED") == 2, "both lists")
    named = [name for name in recorder.progress.absent if "ConfigMap" in name]
    assert named == ["ConfigMap kueue-system/kueue-manager-config"]


def test_an_anonymous_recording_has_no_sentence_of_the_server(
    served: Served, tmp_path: Path
) -> None:
    server, cluster = served
    server.forbidden.add("Pod")
    with Running(cluster, tmp_path / "a.qrec", anonymised=True) as recorder:
        wait_for(lambda: count(recorder, "SYNCED"), "the list of nodes")
        server.down = True
        server.cut()
        wait_for(lambda: recorder.progress.lost, "a watch that is lost")
    found = read_file(tmp_path / "a.qrec")
    assert found.header.absent["Pod"] == ""
    lost = [
        one.message for one in entries_of(tmp_path / "a.qrec") if one.type == "LOST"
    ]
    assert lost == [""]


def kubeconfig(folder: Path, url: str) -> Path:
    place = folder / "config.yaml"
    place.write_text(
        f"""
        apiVersion: v1
        kind: Config
        clusters: [{{name: c, cluster: {{server: "{url}"}}}}]
        users: [{{name: u, user: {{}}}}]
        contexts: [{{name: x, context: {{cluster: c, user: u}}}}]
        current-context: x
        """
    )
    return place


def test_a_recording_that_cannot_begin_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "a.qrec"
    with api_server() as (server, url):
        server.forbidden |= {"Pod", "Node"}
        with pytest.raises(CommandError, match="no kind to follow"):
            call_command(
                "record", str(path), f"--kubeconfig={kubeconfig(tmp_path, url)}"
            )
    assert not path.exists()


def test_a_permission_that_was_missing_is_no_success(tmp_path: Path) -> None:
    said = io.StringIO()
    with api_server() as (server, url):
        server.forbidden.add("Pod")
        words = ["record", str(tmp_path / "a.qrec"), "--for=3s"]
        with pytest.raises(CommandError, match="Pod could not be read") as refused:
            call_command(
                *words,
                f"--kubeconfig={kubeconfig(tmp_path, url)}",
                stdout=said,
                stderr=said,
            )
    assert refused.value.returncode == 2
    assert "objects, 0 changes, " in said.getvalue()


def test_an_outage_is_said_once_when_it_begins_and_once_when_it_ends() -> None:
    said = io.StringIO()
    command = record.Command(stderr=said)
    command.begin()
    progress = Progress(lost={"Pod": "refused", "Node": "refused"})
    for lost in (
        {"Pod": "away"},
        {"Pod": "away", "Node": "away"},
        {"Node": "away"},
        {},
    ):
        progress.lost = lost
        command.report(progress)
    first, last = said.getvalue().splitlines()
    assert first == "the cluster is not followed (first Pod): away; trying again"
    assert last.endswith("2 kinds, nothing missed")


def test_a_recording_that_is_too_short_for_its_lists_says_so(tmp_path: Path) -> None:
    said = io.StringIO()
    with api_server() as (_, url):
        place = kubeconfig(tmp_path, url)
        words = ["record", str(tmp_path / "a.qrec"), f"--kubeconfig={place}"]
        call_command(*words, "--for=1ms", stdout=said, stderr=said)
    assert "before the first lists of Node, Pod were complete" in said.getvalue()


def test_a_cluster_that_lets_nothing_be_listed_is_refused_with_its_reason(
    served: Served,
) -> None:
    server, cluster = served
    server.forbidden |= {"Pod", "Node"}
    with pytest.raises(ClusterError, match=r"no kind to follow: .*is forbidden"):
        of_cluster(cluster)


def test_a_cluster_that_is_away_is_said_at_once_and_fills_no_log(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    server, cluster = served
    server.down = True
    with pytest.raises(ClusterError, match="/version"):
        of_cluster(cluster)
    assert caplog.records == []


def test_a_connection_that_a_network_forgot_is_found_by_the_kernel(
    served: Served,
) -> None:
    _, cluster = served
    cluster.get("/version")
    pools = cluster.api.rest_client.pool_manager
    with pools.connection_from_url(cluster.address)._get_conn().sock as found:
        assert found.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE) == 1
        if hasattr(socket, "TCP_KEEPIDLE"):
            idle_s = found.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
            assert idle_s < 60


def test_a_kubeconfig_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"kubeconfig .*/none\.yaml: "):
        Cluster.of_kubeconfig(str(tmp_path / "none.yaml"), None)


@pytest.mark.parametrize("given", ["abc", "0s", "-5m"])
def test_a_time_to_record_for_that_is_none_is_refused(given: str) -> None:
    with pytest.raises(CommandError, match=f"--for: expected a .*{given}"):
        call_command("record", "a.qrec", f"--for={given}")


def test_the_role_asks_for_no_secret_and_changes_nothing() -> None:
    role = cluster_role()
    assert "secrets" not in role
    verbs = {line.strip(" -") for line in role.splitlines() if "  - " in line}
    assert not verbs & {"create", "update", "patch", "delete", "*"}
