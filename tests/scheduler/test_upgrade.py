"""Another release on the same work: who starts otherwise, and which rule does it."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.analysis.traits import traits_of
from scheduler.analysis.upgrade import (
    Each,
    RuleEffect,
    Run,
    Trial,
    UpgradeReport,
    compare_releases,
)
from scheduler.cli.plan import main
from scheduler.model.kueue.slices import ELASTIC_JOB
from scheduler.model.objects import Key, Object
from scheduler.model.patches import merge
from scheduler.model.releases import rules
from scheduler.model.releases.release import UNRELEASED
from scheduler.model.releases.rules import RULES, Rule
from tests.builders import job, node, small_cluster, world_of


def compared(
    before: str,
    after: str,
    *manifests: dict[str, Any],
    until_s: int = 60,
    each: Each = map,
    **policy: Any,
) -> UpgradeReport:
    return compare_releases(
        lambda patch: world_of(
            *small_cluster(cpu=1), *manifests, **merge(policy, patch)
        ),
        {"kueue": before},
        {"kueue": after},
        until_ms=until_s * 1000,
        each=each,
    )


def effect(report: UpgradeReport, rule: str) -> RuleEffect:
    return next(one for one in report.rules if one.rule == rule)


def waiting(count: int) -> list[dict[str, Any]]:
    return [job(f"j{n}", queue="main", runtime="1h") for n in range(count)]


def test_one_release_against_itself_changes_nothing():
    report = compared("0.19.2", "0.19.2", *waiting(3))
    assert (report.differs, report.rules, report.unexplained) == (False, [], [])


def test_other_reasons_are_counted_with_the_rule_and_the_gate_that_turns_it_back():
    report = compared("0.19.2", UNRELEASED, *waiting(2))
    found = effect(report, "pending-reasons")
    assert report.reasons == {"Pending": [1, 0], "WaitingForQuota": [0, 1]}
    assert (found.gate, found.given) == ("UnadmittedWorkloadsObservability", False)
    assert (found.workloads, found.reasons) == ([], 1)


def test_whom_an_upgrade_stops_is_named_with_the_rule_that_does_it():
    slow = job("slow", queue="main", runtime="4h", ready_after="50m")
    report = compared("0.18.6", "0.19.2", node("n1"), slow, until_s=3600)
    [name] = report.unexplained or effect(report, "wait-for-pods-ready").workloads or []
    assert name.startswith("Workload/default/job-slow")
    assert effect(report, "wait-for-pods-ready").gate == "DisableWaitForPodsReady"
    assert report.unexplained == []
    assert report.verdict.changed.evictions == 1


def test_a_rule_without_a_gate_is_turned_back_alone_too():
    report = compared("0.16.1", "0.19.2", *waiting(3))
    assert report.said_otherwise
    found = effect(report, "requeue-batches")
    assert (found.gate, found.workloads, found.reasons) == ("", [], 0)


def test_no_run_is_made_for_a_rule_whose_sign_the_later_run_lacks():
    made: list[Trial] = []

    def each(run: Callable[[Trial], Run], trials: Sequence[Trial]) -> list[Run]:
        made.extend(trials)
        return list(map(run, trials))

    report = compared("0.17.0", "0.19.2", node("n1"), *waiting(3), each=each)
    found = effect(report, "wait-for-pods-ready")
    assert (report.differs, found.workloads, found.reasons) == (True, [], 0)
    assert found.gate not in str(made)


def test_rules_that_this_work_cannot_notice_are_left_out():
    jobs = waiting(3)
    others = {"fair-within-nominal", "topology-place-again", "selectors-per-flavor"}
    named = {one.rule for one in compared("0.16.2", "0.19.2", *jobs).rules}
    assert named.isdisjoint({*others, "podsets", "elastic-jobs"})
    jobs[0]["metadata"].setdefault("annotations", {})[ELASTIC_JOB] = "true"
    named = {one.rule for one in compared("0.16.2", "0.19.2", *jobs).rules}
    assert "elastic-jobs" in named


def test_a_default_of_a_section_is_not_noticed_where_the_section_is_given():
    waiting_for = {"waitForPodsReady": {"timeout": "10m"}}
    for kueue, there in (({}, True), (waiting_for, False)):
        report = compared("0.16.2", "0.19.2", *waiting(3), kueue=kueue)
        named = {one.rule for one in report.rules}
        assert ("wait-for-pods-ready" in named) is there


ZERO = job("zero", queue="main", cpu="0")


def test_a_change_that_runs_do_not_tell_apart_could_differ_for_the_jobs_it_concerns():
    report = compared("0.15.8", "0.16.9", ZERO, *waiting(1))
    [change] = [one for one in report.could if one.rule == "zero-of-unknown"]
    assert change.objects == ["Job default/zero"]
    assert report.may_differ
    without = compared("0.15.8", "0.16.9", *waiting(1))
    assert "zero-of-unknown" not in {one.rule for one in without.could}
    assert without.others.unconcerned == report.others.unconcerned + 1


def test_a_change_that_was_not_examined_is_listed_apart(monkeypatch):
    told = Rule(id="told", since="0.14.5", concerns=("Job",), followed=False,
                known="told", now="a", before="b")  # fmt: skip
    monkeypatch.setattr(rules, "RULES", (*RULES, told))
    report = compared("0.14.4", "0.14.5", *waiting(1))
    assert [one.rule for one in report.unknown] == ["told"]
    assert compared("0.14.5", "0.14.6", *waiting(1)).unknown == []


def test_the_command_says_both_releases_and_what_differs(tmp_path):
    text = "\n---\n".join(
        yaml.safe_dump(one) for one in (*small_cluster(cpu=1), *waiting(2))
    )
    file, out = tmp_path / "w.yaml", io.StringIO()
    file.write_text(text)
    words = ["--release", "0.19.2", "--against", "main", "--on", str(file)]
    assert main([*words, "--horizon", "1m"], out) == 0
    assert out.getvalue().startswith(f"Kueue 0.19.2 against Kueue {UNRELEASED}\n")
    assert "  Pending: 1, then 0\n" in out.getvalue()
    assert "UnadmittedWorkloadsObservability=false turns it back" in out.getvalue()


def test_a_release_that_is_not_known_is_refused(tmp_path, capsys):
    file = tmp_path / "w.yaml"
    file.write_text(yaml.safe_dump(node("n")))
    words = ["--release", "0.19.2", "--against", "0.99", "--on", str(file)]
    assert main(words, io.StringIO()) == 2
    assert "unknown release of Kueue 0.99" in capsys.readouterr().err


def many(folder: Path) -> Path:
    """Write jobs that wait for a quota of one CPU, beside nodes that nobody needs."""
    nodes = [node(f"n{n}") for n in range(4)]
    path = folder / "many.yaml"
    path.write_text(yaml.safe_dump_all([*small_cluster(cpu=1), *nodes, *waiting(6)]))
    return path


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--horizon=-5s"], "--horizon: expected a duration above 0"),
        (["--workers", "99"], "--workers: expected 1 to 64, got 99"),
        (["--at", "10m"], "--at 10m: expected a recording to begin within"),
    ],
)
def test_a_word_that_would_mean_nothing_is_refused(tmp_path, capsys, words, why):
    releases = ["--release", "0.18.6", "--against", "0.19.2"]
    assert main([*releases, "--on", str(many(tmp_path)), *words], io.StringIO()) == 2
    assert why in capsys.readouterr().err


def test_work_that_is_too_large_to_search_is_said_to_be(tmp_path, capsys):
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": f"s{n}"}}
        for n in range(2000)
    ]
    work = tmp_path / "w.yaml"
    work.write_text(
        json.dumps(
            {
                "apiVersion": "v1",
                "kind": "List",
                "items": [*small_cluster(cpu=1), *waiting(2), *spaces],
            }
        )
    )
    words = ["--release", "0.19.2", "--against", UNRELEASED, "--horizon", "1m"]
    into = tmp_path / "smallest"
    assert (
        main([*words, "--on", str(work), "--smallest", str(into)], io.StringIO()) == 0
    )
    assert "work of more than 2000 objects is not searched" in capsys.readouterr().err
    assert not into.exists()


def test_a_rule_comes_with_the_smallest_work_that_shows_it(tmp_path):
    out, into = io.StringIO(), tmp_path / "smallest"
    words = ["--release", "0.19.2", "--against", UNRELEASED, "--horizon", "1m"]
    given = [*words, "--on", str(many(tmp_path)), "--smallest", str(into)]
    assert main(given, out) == 0
    assert "5 of 13 objects show it" in out.getvalue()
    [path] = into.iterdir()
    kinds = [one["kind"] for one in yaml.safe_load_all(path.read_text())]
    assert kinds.count("Job") == 2
    again = io.StringIO()
    assert main([*words, "--on", str(path)], again) == 0
    assert f"rule {path.stem}" in again.getvalue()
    assert "gives 1 other reasons" in again.getvalue()


def test_a_workload_whose_template_has_no_metadata_has_no_traits():
    pod_set = {"name": "main", "template": {"metadata": None, "spec": {}}}
    key = Key("Workload", "default", "w")
    workload = Object(
        key=key, manifest={"metadata": {}, "spec": {"podSets": [pod_set]}}
    )
    assert set(traits_of([workload])) == {"Workload"}
