"""A sandbox in Python: here and on a server it answers the same."""

from __future__ import annotations

import gzip
import inspect
from pathlib import Path

import pytest
import yaml

import api.notebook as quotalab
from sandbox.whatifs.changes import KINDS
from scheduler.model.errors import SchedulerError
from scheduler.model.releases.release import NEWEST
from scheduler.model.texts.plain_text import write
from tests.builders import cluster_queue, job, local_queue, node, pod, small_cluster
from tests.services.default_run import DefaultRun

ROOT = Path(__file__).resolve().parents[3]
FEW = [job(f"j{n}", queue="main", cpu="3", runtime="20s") for n in range(3)]


def quota(amount: int) -> dict:
    """Return a change that gives the ClusterQueue so many CPUs."""
    flavor = {
        "name": "default",
        "resources": [{"name": "cpu", "nominalQuota": amount}],
    }
    groups = [{"coveredResources": ["cpu"], "flavors": [flavor]}]
    body = {"spec": {"resourceGroups": groups}}
    return {"patch": {"kind": "ClusterQueue", "name": "main", "body": body}}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "queues.yaml").write_text(yaml.safe_dump_all(small_cluster(cpu="4")))
    (tmp_path / "jobs.yaml").write_text(yaml.safe_dump_all(FEW))
    return tmp_path


def test_a_folder_is_opened_stepped_and_shown(folder):
    sb = quotalab.open(folder).step(until="5s")
    assert (sb.tick, sb.seconds, len(sb.findings)) == (5, 5.0, 0)
    states = sb.workloads().frame().groupby("state").size()
    assert dict(states) == {"Admitted": 1, "Pending": 2}
    assert "<td>Pending</td>" in sb._repr_html_()
    assert sb.events()[-1]["seconds"] <= 5


def test_it_decides_as_the_release_that_is_given(folder):
    older = quotalab.open(folder, release={"kueue": "0.17.0"})
    assert older.world.policy.spec.decides_as().of("kueue") == "0.17.0"
    newest = quotalab.open(folder).world.policy.spec.decides_as()
    assert newest.of("kueue") == NEWEST["kueue"]


def test_a_file_that_is_wrong_is_refused_with_its_line(folder):
    (folder / "jobs.yaml").write_text("kind: Job\nmetadata: {name: a}\nspec: 3\n")
    with pytest.raises(SchedulerError, match=r"jobs\.yaml:1"):
        quotalab.open(folder)


@pytest.mark.parametrize("where", ["here", "on a server"])
def test_a_job_that_waits_is_moved_to_another_queue(folder, shared_run, where):
    other = [
        cluster_queue("other", cpu="4"),
        local_queue("other", cluster_queue="other"),
    ]
    (folder / "other.yaml").write_text(yaml.safe_dump_all(other))
    opened = quotalab if where == "here" else quotalab.connect(shared_run.url)
    sb = opened.open(folder).step(3)
    waiting = next(row for row in sb.workloads() if row["state"] == "Pending")
    sb.move(f"job/{waiting['job']}", "other").step(5)
    queues = {row["job"]: row["queue"] for row in sb.workloads()}
    assert queues[waiting["job"]] == "other"
    assert sum(row["state"] == "Admitted" for row in sb.workloads()) == 2


def test_why_is_asked_by_the_name_of_a_job(folder):
    sb = quotalab.open(folder).step(until="5s")
    waits = next(row for row in sb.workloads() if row["state"] == "Pending")
    why = sb.why(f"job/{waits['job']}")
    assert "3 CPU asked, 1 CPU free" in str(why)
    with pytest.raises(SchedulerError, match="nobody"):
        sb.why("job/nobody")


def test_shares_and_use_are_lines_over_time(folder):
    sb = quotalab.open(folder).step(until="30s")
    frame = sb.used("cpu").frame()
    assert frame["main (default)"].iloc[-1] == 3000
    assert sb.shares().frame().columns.to_list() == ["main"]


def test_a_plot_has_a_line_per_queue(folder):
    import matplotlib as mpl

    mpl.use("Agg")
    axes = quotalab.open(folder).step(until="30s").used("cpu").plot()
    assert [line.get_label() for line in axes.get_lines()] == ["main (default)"]


def test_a_what_if_changes_nothing_until_it_is_kept(folder):
    sb = quotalab.open(folder).step(until="5s")
    before = sb.world.hash()
    what_if = sb.what_if(quota(9), seeds=[1, 2])
    verdict = what_if.verdict()
    assert verdict.sums["earlier"] == [2, 2]
    assert set(verdict.frame()["start"]) == {"earlier"}
    assert str(verdict).startswith("start earlier: 2")
    assert sb.world.hash() == before
    what_if.keep()
    sb.step(until="8s")
    assert {row["state"] for row in sb.workloads()} == {"Admitted"}


def test_what_is_kept_goes_on_from_where_the_what_if_began(folder):
    sb = quotalab.open(folder).step(until="5s")
    what_if = sb.what_if(quota(9))
    before = len(sb.events())
    sb.step(until="30s")
    assert what_if.verdict().document["fromMs"] == 5000
    what_if.keep()
    assert (sb.tick, len(sb.events())) == (5, before)
    assert sb.step(until="40s").used("cpu").table()[-1]["seconds"] <= 40


def test_objects_are_added_and_deleted_by_changes(folder):
    sb = quotalab.open(folder).step(until="5s")
    gone = {"delete": {"kind": "Job", "namespace": "default", "name": "j0"}}
    sb.change(gone, {"apply": job("late", queue="main", cpu="1")}).step(until="8s")
    assert "late" in {row["job"] for row in sb.workloads()}
    assert "j0" not in {row["job"] for row in sb.workloads()}


def test_a_what_if_takes_every_change_that_rest_takes_and_its_help_says_which(folder):
    sb = quotalab.open(folder).step(until="5s")
    sb.change(
        {"apply": node("n0", cpu="4")},
        {"apply": local_queue("other", cluster_queue="main")},
    )
    key = {"namespace": "default", "name": "j0"}
    changes = [
        {"release": {"kueue": "0.16.4"}},
        {"node": {"name": "n0", "change": "cordon"}},
        {"node": {"name": "n1", "change": "add", "like": "n0"}},
        {
            "move": {
                "kind": "Job",
                **key,
                "to": {"kind": "LocalQueue", **key, "name": "other"},
            }
        },
        {"yaml": write(pod("p0", cpu="1"))},
        {"pin": {"namespace": "default", "name": "p0", "node": "n1"}},
        {"delete": {"kind": "Job", **key}},
        quota(9),
        {"policy": {"spec": {"simulation": {"defaultRuntime": "1m"}}}},
        {"apply": job("late", queue="main", cpu="1")},
    ]
    assert sb.what_if(*changes).verdict().differs
    said = inspect.getdoc(type(sb).what_if)
    assert all(f'{{"{kind}": ' in said for kind in (*KINDS, "yaml"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"swap": {}}, r"changes\[1\]\.swap: unknown key; known: patch, apply"),
        ({"delete": {"kind": "Job", "name": "none"}}, "Job none is not"),
        (
            {"delete": {"kind": "Job", "nmae": "j0"}},
            r"changes\[1\]\.delete\.nmae: unknown key; did you mean name\?",
        ),
        ({"patch": "all"}, r"changes\[1\]\.patch: "),
        ({"policy": {"spec": {"stack": "none"}}}, "stack"),
        ({"apply": {"kind": "Node"}}, r"changes\[1\]\.apply\.apiVersion: expected"),
        (
            {"node": {"name": "none", "change": "drain"}},
            r"changes\[1\]\.node: node none",
        ),
    ],
)
def test_a_wrong_change_changes_nothing(folder, change, problem):
    sb = quotalab.open(folder)
    before = sb.world.hash()
    with pytest.raises(SchedulerError, match=problem):
        sb.change(quota(9), change)
    assert sb.world.hash() == before


def test_a_fork_goes_on_by_itself(folder):
    sb = quotalab.open(folder).step(until="5s")
    other = sb.fork().step(until="20s")
    assert (sb.tick, other.tick) == (5, 20)


def test_a_sweep_has_a_row_per_setting_and_seed(folder):
    sb = quotalab.open(folder)
    grid = {"simulation.defaultRuntime": ["10s", "1m"]}
    found = quotalab.sweep(sb, grid, seeds=2, horizon="5m").frame()
    assert len(found) == 4
    assert set(found["seed"]) == {1, 2}
    assert found["waitMeanMs"].min() > 0
    assert sb.tick == 0


def test_a_server_answers_as_this_process_does(folder, shared_run: DefaultRun):
    here = quotalab.open(folder, seed=3).step(20)
    server = quotalab.connect(shared_run.url)
    there = server.open(folder, seed=3, title="The same").step(20)
    assert there.tick == here.tick
    assert server.client.hash(there.id) == here.world.hash()
    assert list(there.workloads()) == list(here.workloads())
    ours, theirs = (one.what_if(quota(9), horizon="1m") for one in (here, there))
    assert theirs.verdict().document["sums"] == ours.verdict().document["sums"]
    waits = next(row["job"] for row in here.workloads() if row["state"] == "Pending")
    assert str(there.why(waits)) == str(here.why(waits))
    new = job("new", queue="main", cpu=1)
    assert there.would(new).document == here.would(new).document
    grid = {"arrivals": [1, 2]}
    runs = quotalab.sweep(there, grid, seeds=2, horizon="2m").frame()
    assert len(runs) == 4
    theirs.keep()
    assert server.sandbox(there.id).step(3).tick == 23
    assert len(there.shares().lines) == 1


def test_whether_work_would_start_takes_the_run_times_that_are_chosen(
    tmp_path, shared_run: DefaultRun
):
    (tmp_path / "node.yaml").write_text(yaml.safe_dump(node("n1", cpu=1)))
    server = quotalab.connect(shared_run.url)
    new = job("new", parallelism=2)  # its second pod follows the first
    for world in (quotalab.open(tmp_path), server.open(tmp_path, title="One node")):
        assert "the last 7m" in str(world.would(new, run_times=["name=new:7m"]))
        with pytest.raises(SchedulerError, match="seven"):
            world.would(new, run_times=["seven"])


def test_the_first_lines_of_its_help_work(folder, monkeypatch):
    (folder / "queues").mkdir()
    (folder / "queues.yaml").rename(folder / "queues" / "queues.yaml")
    monkeypatch.chdir(folder)
    lines = [
        line.removeprefix("    ")
        for line in (quotalab.__doc__ or "").splitlines()
        if line.startswith("    ") and line.strip() != "import quotalab"
    ]
    assert len(lines) == 6
    exec("\n".join(lines), {"quotalab": quotalab})


def test_a_load_is_opened_beside_files(tmp_path):
    (tmp_path / "queues.yaml").write_text(yaml.safe_dump_all(small_cluster()))
    one = job("train", queue="main", runtime="exp(5m)")
    load = quotalab.week(one, per_day=30, hours="0-24", days=["mon"], until="1d")
    sb = quotalab.open(tmp_path / "queues.yaml", load=load)
    sb.step(until="6h")
    assert 2 <= len(sb.workloads()) <= 20


def test_the_example_of_the_page_about_loads_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("queues.yaml").write_text(yaml.safe_dump_all(small_cluster()))
    line = "1 9000 0 60 1 -1 -1 1 -1 -1 1 1 1 1 1 1 -1 -1\n"
    Path("log.swf.gz").write_bytes(gzip.compress(line.encode()))
    text = (ROOT / "docs" / "loads.md").read_text()
    example = text.split("```python\n")[1].split("```")[0]
    lines = example.replace("import quotalab\n", "")
    found = {"quotalab": quotalab, "job": job("train", queue="main", runtime="5m")}
    exec(lines, found)
    assert len(found["sb"].world.objects) > 100
