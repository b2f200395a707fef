"""`quotalab plan` names who starts at another time, and the smallest world that fails."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.builders import cluster_queue, flavor, job
from tests.scheduler.plan.test_plan import (
    POLICY,
    asserted,
    checked,
    example,
    policy,
    run,
    write,
)

__all__ = ["policy"]
LESS = [flavor(), cluster_queue("main", cpu=2), POLICY[2]]
AT_ONCE = "main longest wait under 30s"


def planned(folder: Path, *words) -> dict:
    status, said = run(
        folder / "changed",
        *("--against", folder / "base", "--on", folder / "work.yaml", "--json"),
        *words,
    )
    assert status == 0, said
    return json.loads(said)


def test_whoever_starts_later_is_named_with_both_times(policy):
    write(policy / "changed/queues.yaml", *LESS)
    found = planned(policy)
    later = [one for one in found["verdict"]["workloads"] if one["start"] == "later"]
    assert len(later) == 5  # of six jobs of two CPUs only one starts at the same time
    first = later[0]
    assert first["changed"]["startedMs"] > first["without"]["startedMs"]
    [counts] = found["starts"]
    assert (counts["earlier"], counts["later"], counts["waiting"]) == (0, 5, [0, 0])


def test_who_never_starts_with_the_change_is_counted(policy):
    write(policy / "changed/queues.yaml", flavor(), cluster_queue("main", cpu=1))
    write(policy / "changed/local.yaml", POLICY[2])
    [counts] = planned(policy, "--horizon", "1h")["starts"]
    assert (counts["never"], counts["waiting"]) == (6, [0, 6])


def test_without_assertions_the_comment_says_who_starts_when(policy):
    write(policy / "changed/queues.yaml", *LESS)
    words = ("--against", policy / "base", "--on", policy / "work.yaml")
    status, said = run(policy / "changed", *words)
    assert (status, "Policy plan: 5 start later" in said) == (0, True)


def test_a_failed_assertion_comes_with_the_smallest_world_that_fails_it(policy):
    write(policy / "changed/queues.yaml", *LESS)
    into = policy / "smallest"
    _, found = checked(policy, AT_ONCE, words=("--counterexamples", into))
    [one] = found["counterexamples"]
    assert (one["before"], one["objects"], one["minimal"]) == (9, 5, True)
    [folder] = into.iterdir()
    jobs = list(yaml.safe_load_all((folder / "work.yaml").read_text()))
    assert [job["kind"] for job in jobs] == ["Scenario", "Job", "Job"]


def test_files_of_a_counterexample_fail_the_same_assertion(tmp_path):
    into = tmp_path / "smallest"
    assert example("--counterexamples", into)[0] == 1
    for folder in into.iterdir():
        status, said = run(
            folder / "changed.yaml",
            *("--against", folder / "base.yaml", "--on", folder / "work.yaml"),
            *("--assert", folder / "assertion.yaml", "--no-counterexamples"),
        )
        assert (status, "1 of 1 assertions do not hold" in said) == (1, True)


def test_run_times_that_nobody_gave_are_said(policy):
    jobs = [job(f"j{n}", queue="main", cpu=2) for n in range(3)]
    write(policy / "work.yaml", *jobs)
    words = ("--against", policy / "base", "--on", policy / "work.yaml")
    _, said = run(policy / "changed", *words)
    assert "3 objects of kind Job have no run time, so 60s is assumed" in said


def test_a_kept_result_shows_the_same_bytes(policy):
    write(policy / "changed/queues.yaml", *LESS)
    words = ("--assert", asserted(policy, AT_ONCE), "--result", policy / "kept.json")
    both = ("--against", policy / "base", "--on", policy / "work.yaml")
    status, said = run(policy / "changed", *both, *words)
    assert run("--show", policy / "kept.json") == (status, said)


def test_a_file_that_is_no_result_is_refused(policy, capsys):
    assert run("--show", policy / "work.yaml")[0] == 2
    assert "expected a file that --result wrote" in capsys.readouterr().err


def test_words_of_a_run_are_refused_where_a_kept_result_is_shown(policy, capsys):
    words = ("--show", policy / "kept.json", "--assert", policy / "must.yaml")
    assert run(policy / "changed", *words)[0] == 2
    assert "runs nothing: leave out CHANGED, --assert" in capsys.readouterr().err


def test_runs_of_the_cache_give_the_same_bytes_and_none_is_run_twice(policy):
    write(policy / "changed/queues.yaml", *LESS)
    into = policy / "cache"
    first = planned(policy, "--cache", into)
    kept = {path.name: path.stat().st_mtime_ns for path in into.iterdir()}
    again = planned(policy, "--cache", into)
    assert again == first
    assert {path.name: path.stat().st_mtime_ns for path in into.iterdir()} == kept
    assert len(kept) == 2


def test_a_damaged_file_of_the_cache_is_run_again(policy):
    write(policy / "changed/queues.yaml", *LESS)
    into = policy / "cache"
    first = planned(policy, "--cache", into)
    for path in into.iterdir():
        path.write_bytes(path.read_bytes()[:100])
    assert planned(policy, "--cache", into) == first


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.com")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Queues on main, fewer of them on a branch; main went on since."""
    write(tmp_path / "queues/queues.yaml", *POLICY)
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "queues")
    git(tmp_path, "checkout", "-qb", "less")
    write(tmp_path / "queues/queues.yaml", *LESS)
    git(tmp_path, "commit", "-qam", "less")
    git(tmp_path, "checkout", "-q", "main")
    write(tmp_path / "queues/queues.yaml", flavor(), cluster_queue("main", cpu=9))
    write(tmp_path / "queues/local.yaml", POLICY[2])
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "more")
    return tmp_path


@pytest.mark.parametrize(
    ("range_", "before", "after"),
    [("main..less", "9", "2"), ("main...less", "4", "2"), ("less..", "2", "9")],
)
def test_a_range_of_git_gives_both_sides(repository, range_, before, after):
    work = repository / "work.yaml"
    write(work, *POLICY)
    status, said = run(repository / "queues", "--git", range_, "--on", work, "--json")
    assert status == 0
    changed = [one for one in json.loads(said)["changes"] if one["what"] == "changed"]
    assert [(one["before"], one["after"]) for one in changed] == [(before, after)]
    assert changed[0]["file"] == str(repository / "queues/queues.yaml")


@pytest.mark.parametrize(
    ("range_", "said"),
    [
        ("main", "expected A..B"),
        ("main..gone", "no commit 'gone'"),
        ("--help..main", "no commit '--help'"),
    ],
)
def test_a_range_that_git_does_not_know_is_refused(repository, capsys, range_, said):
    words = (f"--git={range_}", "--on", repository / "queues")
    assert run(repository / "queues", *words)[0] == 2
    assert said in capsys.readouterr().err


def test_standard_input_is_not_in_a_commit(repository, capsys):
    assert run("-", "--git", "main..", "--on", repository / "queues")[0] == 2
    assert "--git reads CHANGED from commits" in capsys.readouterr().err


def test_a_folder_that_a_commit_lacks_is_refused(repository, capsys):
    write(repository / "new/queues.yaml", *POLICY)
    words = ("--git", "main..", "--on", repository / "queues")
    assert run(repository / "new", *words)[0] == 2
    assert "new is not in commit" in capsys.readouterr().err
