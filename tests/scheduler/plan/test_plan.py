"""`python -m scheduler check`: a change of policy on the same work as its base."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

from scheduler.cli import plan
from tests.builders import cluster_queue, flavor, job, local_queue

ROOT = Path(__file__).parents[3]
EXAMPLE = ROOT / "docs/examples/plan"
RECORDINGS = ROOT.parent / "shared" / "recordings"
POLICY = [
    flavor(),
    cluster_queue("main", cpu=4),
    local_queue("main", cluster_queue="main"),
]
SWF = "; UnixStartTime: 0\n" + "".join(
    f"{n} {60 * n} -1 100 2 -1 -1 2 200 -1 1 1 1 1 1 1 -1 -1\n" for n in range(1, 11)
)


def write(path: Path, *manifests) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump_all(manifests))
    return path


def work(path: Path, count: int = 6) -> Path:
    jobs = [job(f"job-{n}", queue="main", cpu=2, runtime="60s") for n in range(count)]
    return write(path, *jobs)


def asserted(path: Path, *assertions) -> Path:
    return write(path / "assert.yaml", {"assertions": list(assertions)})


def run(*words, seeds: int = 1) -> tuple[int, str]:
    out = io.StringIO()
    given = [str(word) for word in words]
    common = ["--seeds", str(seeds), "--workers", "1"]
    return plan.main([*given, *common], out), out.getvalue()


def example(*words) -> tuple[int, str]:
    return run(
        EXAMPLE / "changed",
        *("--against", EXAMPLE / "base", "--on", EXAMPLE / "work.yaml"),
        *("--assert", EXAMPLE / "assertions.yaml", *words),
    )


@pytest.fixture
def policy(tmp_path) -> Path:
    """The folder of a test: base and changed are the same, and six jobs come."""
    write(tmp_path / "base/queues.yaml", *POLICY)
    write(tmp_path / "changed/queues.yaml", *POLICY)
    work(tmp_path / "work.yaml")
    return tmp_path


def checked(folder: Path, *assertions, on="work.yaml", words=()) -> tuple[int, dict]:
    status, said = run(
        folder / "changed",
        *("--against", folder / "base", "--on", folder / on),
        *("--assert", asserted(folder, *assertions), "--json", *words),
    )
    return status, json.loads(said)


def test_the_example_fails_at_the_line_that_changed(tmp_path):
    status, said = example("--sarif", tmp_path / "s", "--junit", tmp_path / "j")
    assert status == 1
    assert "2 of 4 assertions do not hold" in said
    results = json.loads((tmp_path / "s").read_text())["runs"][0]["results"]
    places = [r["locations"][0]["physicalLocation"] for r in results]
    assert [place["region"]["startLine"] for place in places] == [14, 14]
    uri = places[0]["artifactLocation"]["uri"]
    assert uri.endswith("docs/examples/plan/changed/queues.yaml")
    suite = ET.parse(tmp_path / "j").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("4", "2")


def test_the_same_check_is_the_same_bytes_with_one_process_and_with_two():
    words = [str(EXAMPLE / "changed"), "--against", str(EXAMPLE / "base")]
    words += ["--on", str(EXAMPLE / "work.yaml"), "--seeds", "2", "--json"]
    words += ["--assert", str(EXAMPLE / "assertions.yaml")]
    command = [sys.executable, "-m", "scheduler", "plan", *words]
    two = subprocess.run(
        [*command, "--workers", "2"], capture_output=True, text=True, cwd=ROOT
    )
    out = io.StringIO()
    status = plan.main([*words, "--workers", "1"], out)
    assert (two.returncode, two.stdout) == (status, out.getvalue())


def test_a_policy_that_did_not_change_does_as_its_base(policy):
    status, found = checked(policy, "no queue waits more than 0% longer than on base")
    assert (status, found["same"], found["changes"]) == (0, True, [])


def test_names_and_order_of_files_decide_nothing(policy):
    (policy / "changed/queues.yaml").unlink()
    for n, manifest in enumerate(reversed(POLICY)):
        write(policy / f"changed/{n}.yaml", manifest)
    assert checked(policy, "everything starts")[1]["same"]


def test_a_queue_that_is_gone_takes_its_work_along(policy):
    write(policy / "changed/queues.yaml", flavor())
    status, found = checked(policy, "main p95 wait under 10m")
    assert status == 1
    assert [c["what"] for c in found["changes"]] == ["removed", "removed"]
    assert found["changes"][0]["file"].endswith("base/queues.yaml")
    assert "nothing arrived in queue main" in found["verdicts"][0]["why"]


def test_work_that_never_starts_counts_as_waiting_to_the_horizon(policy):
    write(policy / "changed/queues.yaml", flavor(), cluster_queue("main", cpu=1))
    write(policy / "changed/local.yaml", POLICY[2])
    status, found = checked(
        policy,
        "everything starts",
        "main median wait under 30m",
        words=["--horizon", "1h"],
    )
    assert status == 1
    waiting, median = (verdict["changed"] for verdict in found["verdicts"])
    assert waiting == 6
    assert 3_590_000 < median <= 3_600_000  # to the horizon, from a Workload's creation


def test_without_a_base_the_policy_is_that_of_the_work(policy):
    write(policy / "world/policy.yaml", *POLICY)
    work(policy / "world/jobs.yaml")
    write(policy / "new.yaml", cluster_queue("main", cpu=8))
    status, said = run(
        policy / "new.yaml",
        *("--on", policy / "world", "--json"),
        *("--assert", asserted(policy, "main mean wait under 30s")),
    )
    found = json.loads(said)
    assert status == 0
    assert [(c["before"], c["after"]) for c in found["changes"]] == [("4", "8")]


def test_work_among_the_policy_is_left_out_and_said(policy):
    work(policy / "changed/jobs.yaml", 50)
    status, found = checked(policy, "everything starts")
    assert (status, found["arrived"], found["leftOut"]) == (0, 6, {"Job": 50})


def test_a_trace_comes_to_the_queues_of_the_base(policy):
    (policy / "day.swf").write_text(SWF)
    write(policy / "changed/queues.yaml", *POLICY[:1], cluster_queue("main", cpu=2))
    write(policy / "changed/local.yaml", POLICY[2])
    status, found = checked(
        policy, "no queue waits more than 10% longer than on base", on="day.swf"
    )
    assert (status, found["arrived"]) == (1, 10)
    assert found["verdicts"][0]["failedQueues"] == ["main"]


def test_a_queues_yaml_of_yunikorn_is_compared_by_line(policy):
    def queues(most: str) -> dict:
        leaf = {"name": "main", "resources": {"max": {"vcore": most}}}
        return {"partitions": [{"name": "default", "queues": [leaf]}]}

    for side, most in (("base", "4"), ("changed", "2")):
        write(policy / side / "queues.yaml", queues(most))
    at_most = {"measure": "preemptions", "max": 0}
    _, found = checked(policy, at_most, words=("--stack", "kueue"))
    [change] = found["changes"]
    assert (change["object"], change["before"]) == ("queues.yaml", "4")
    assert change["line"] == 7


@pytest.mark.skipif(not RECORDINGS.is_dir(), reason="needs the recordings")
def test_a_recording_is_the_work_with_its_real_arrivals_and_run_times(policy):
    folder = RECORDINGS / "pods-ready-blocking"
    queues = yaml.safe_load_all((folder / "manifests/10-queues.yaml").read_text())
    found = [q for q in queues if q["kind"] == "ClusterQueue"]
    write(policy / "base/queues.yaml", *found)
    for queue in found:
        queue["spec"]["stopPolicy"] = "Hold"
    write(policy / "changed/queues.yaml", *found)
    status, said = run(
        policy / "changed",
        *("--against", policy / "base", "--on", folder, "--horizon", "2m"),
        *("--assert", asserted(policy, "everything starts"), "--json"),
    )
    [verdict] = json.loads(said)["verdicts"]
    assert status == 1
    assert verdict["changed"] > verdict["base"]


def test_every_fault_of_every_file_is_reported_at_once(policy, capsys):
    broken = cluster_queue("main", cpu="many")
    write(policy / "changed/queues.yaml", flavor(), broken)
    write(policy / "base/queues.yaml", {**POLICY[2], "apiVersion": "kueue.x-k8s.io/v7"})
    status, found = checked(
        policy, {"measure": "waitP95", "max": "30s", "queu": "main"}, "be quick"
    )
    faults = {(Path(f["file"]).parent.name, f["line"]) for f in found["faults"]}
    assert status == 2
    assert len(found["faults"]) >= 4
    assert {name for name, _ in faults} >= {"base", "changed"}
    said = capsys.readouterr().err
    assert "did you mean queue?" in said
    assert "such as" in said


def test_faults_are_written_in_every_form(policy):
    write(policy / "changed/queues.yaml", cluster_queue("main", cpu="many"))
    forms = (
        "--sarif",
        policy / "s",
        "--junit",
        policy / "j",
        "--markdown",
        policy / "m",
    )
    assert checked(policy, "everything starts", words=forms)[0] == 2
    [*results] = json.loads((policy / "s").read_text())["runs"][0]["results"]
    assert results[0]["ruleId"] == "input"
    assert ET.parse(policy / "j").getroot().get("errors") == str(len(results))
    assert "1 fault in the input" in (policy / "m").read_text()


def test_an_unknown_queue_is_refused_with_the_nearest(policy, capsys):
    assert checked(policy, "mian p95 wait under 30s")[0] == 2
    assert "did you mean main?" in capsys.readouterr().err


def test_a_scenario_that_is_not_there_is_refused(policy, capsys):
    assert checked(policy, "everything starts", on="nowhere")[0] == 2
    assert "expected a recording, a folder" in capsys.readouterr().err


def test_a_name_cannot_break_out_of_the_comment(policy):
    name = "x`|<img src=a>\n\n# @everyone"
    _, said = run(
        policy / "changed",
        *("--against", policy / "base", "--on", policy / "work.yaml"),
        *("--assert", asserted(policy, {"name": name, "measure": "waiting", "max": 0})),
    )
    [row] = [line for line in said.splitlines() if "img" in line]
    assert row.startswith("| ok |")
    assert "<img" not in row.replace("\\<", "")
    assert "@everyone" not in row


def test_the_comment_says_which_team_pays_and_leads_its_losers_to_the_change(policy):
    less = [
        cluster_queue("main", cpu=1) if o["kind"] == "ClusterQueue" else o
        for o in POLICY
    ]
    write(policy / "changed/queues.yaml", *less)
    _, said = run(
        policy / "changed",
        *("--against", policy / "base", "--on", policy / "work.yaml"),
    )
    lines = said.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("**Who pays**"))
    assert lines[at + 4].startswith("| `main` | ")
    losers = [line for line in lines[at:] if line.startswith("- `Workload/")]
    assert 1 <= len(losers) <= 3
    assert lines[lines.index(losers[-1]) + 1].startswith("  - at ")
    assert "the change: main" in said
