"""What an answer claims: the smallest change, each edit's effect, proof, patches."""

from __future__ import annotations

import json

import pytest
import yaml

from scheduler.__main__ import main as scheduler_main
from scheduler.analysis.advice.advisor import advise
from scheduler.analysis.advice.answer import AdviceAnswer
from scheduler.analysis.advice.reports.markdown import markdown_of
from scheduler.analysis.advice.reports.page import html_of
from scheduler.analysis.experiments.document import Constraint, ExperimentError
from scheduler.cli.advise import main
from tests.scheduler.advice.worlds import (
    SmallWorld,
    Team,
    advisor_of,
    base_of,
    manifests_of,
)

STARVED = SmallWorld(
    "starved",
    (Team("a", 2, 5, 3, 2, 20), Team("b", 10, 2, 9, 2, 20), Team("c", 6, 2, 9, 2, 20)),
    [{"quota": {"flavor": "default", "resource": "cpu", "step": 2}}],
    objectives=[],
    constraints=["queue a p95 wait under 30 s"],
    cohort="",
)


@pytest.fixture(scope="module")
def answer() -> AdviceAnswer:
    advisor, base = advisor_of(STARVED, runs=60)
    return advise(advisor, lambda ask: advisor.run(base, ask))


def test_the_answer_is_the_smallest_change_that_keeps_the_constraint(answer):
    changed = {edit.object: (edit.before, edit.after) for edit in answer.edits}
    assert answer.verdict == "improved"
    assert len(changed) == 2
    assert changed["ClusterQueue/a"][0] == "2"
    assert all(edit.needed for edit in answer.edits)


def test_the_answer_holds_on_seeds_that_the_search_did_not_use(answer):
    assert not set(answer.seeds) & set(answer.held_out)
    assert [c.held_after for c in answer.constraints] == [True]
    assert [c.held_before for c in answer.constraints] == [False]


def test_a_constraint_of_an_answer_has_the_numbers_of_its_sentence(answer):
    assert answer.constraints[0].text == "queue a p95 wait at most 30 s"
    asked = Constraint(measure="queues.a.p95Ms", max=30_000)
    assert answer.constraints[0].constraint == asked


def test_the_patches_are_whole_objects_that_keep_the_total(answer):
    after = list(yaml.safe_load_all(answer.patches))
    before = list(yaml.safe_load_all(answer.undo))
    assert [one["kind"] for one in after] == ["ClusterQueue", "ClusterQueue"]
    assert sum(map(nominal, after)) == sum(map(nominal, before))
    assert "status" not in after[0]


def nominal(queue) -> int:
    return int(
        queue["spec"]["resourceGroups"][0]["flavors"][0]["resources"][0]["nominalQuota"]
    )


def test_a_world_with_the_patches_applied_does_what_the_answer_says(answer):
    advisor, base = advisor_of(STARVED)
    patched = {
        one["metadata"]["name"]: one for one in yaml.safe_load_all(answer.patches)
    }
    manifests = [
        patched.get(one["metadata"]["name"], one)
        if one.get("kind") == "ClusterQueue"
        else one
        for one in manifests_of(STARVED.teams, "")
    ]
    applied = base_of(*manifests)
    seed = answer.held_out[0]
    point = tuple(answer.point)
    assert advisor.run(applied, (advisor.space.base, seed)) == advisor.run(
        base, (point, seed)
    )


def test_no_improvement_is_said_where_there_is_none():
    calm = SmallWorld(
        "calm", (Team("a", 8, 2, 20, 1, 10), Team("b", 8, 2, 20, 1, 10)), STARVED.change
    )
    advisor, base = advisor_of(calm, runs=20)
    answer = advise(advisor, lambda ask: advisor.run(base, ask))
    assert answer.verdict == "no improvement found"
    assert (answer.edits, answer.patches) == ([], "")


def test_a_goal_that_nothing_reaches_says_so():
    wish = STARVED._replace(constraints=["every queue's wait is no sentence"])
    with pytest.raises(ExperimentError, match="not understood"):
        advisor_of(wish)
    wish = STARVED._replace(constraints=["finished >= 100"])
    advisor, base = advisor_of(wish, runs=20)
    answer = advise(advisor, lambda ask: advisor.run(base, ask))
    assert answer.verdict == "unmet"


def test_reports_name_every_edit_and_load_nothing_from_elsewhere(answer):
    for report in (markdown_of(answer, "Advice"), html_of(answer, "Advice")):
        assert all(edit.object in report for edit in answer.edits)
        assert "src=" not in report
        assert "http" not in report
    assert "<svg" in html_of(answer, "<b>")
    assert "<b>" not in html_of(answer, "<b>")


def test_the_command_writes_patches_and_reports(tmp_path, capsys):
    world = tmp_path / "world.yaml"
    world.write_text(yaml.safe_dump_all(manifests_of(STARVED.teams, "")))
    goal = tmp_path / "goal.yaml"
    goal.write_text(
        yaml.safe_dump(
            {
                "apiVersion": "quotalab.dev/v1",
                "kind": "Experiment",
                "metadata": {"name": "more-for-a"},
                "spec": {
                    "base": {"files": ["world.yaml"]},
                    "seeds": {"count": 2},
                    "horizon": "5m",
                    "search": {
                        "change": STARVED.change,
                        "constraints": STARVED.constraints,
                        "runs": 24,
                        "heldOut": {"count": 2},
                    },
                },
            }
        )
    )
    assert main([str(goal), "--estimate"]) == 0
    assert "settings; at most about" in capsys.readouterr().out
    files = [
        f"--{what}={tmp_path / what}"
        for what in ("patches", "undo", "markdown", "html")
    ]
    assert scheduler_main(["advise", str(goal), "--json", *files]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["verdict"] == "improved"
    assert (tmp_path / "patches").read_text() == found["patches"]
    assert (tmp_path / "html").read_text().startswith("<!doctype html>")
    assert "# more-for-a" in (tmp_path / "markdown").read_text()


def test_what_is_wrong_in_a_goal_is_named(tmp_path, capsys):
    goal = tmp_path / "goal.yaml"
    goal.write_text(
        "kind: Experiment\nspec:\n  base: {files: [w.yaml]}\n  search:\n"
        "    change:\n    - quota: {flavor: gold, resource: cpu, step: 1}\n"
    )
    (tmp_path / "w.yaml").write_text(yaml.safe_dump_all(manifests_of(STARVED.teams)))
    assert main([str(goal)]) == 2
    error = capsys.readouterr().err
    assert "spec.search.change[0].quota" in error
    assert "gold" in error


def test_a_goal_over_a_time_in_which_no_work_comes_says_what_to_do():
    quiet = SmallWorld(
        "quiet", (Team("a", 2, 0, 1, 1, 1), Team("b", 2, 0, 1, 1, 1)), STARVED.change
    )
    advisor, base = advisor_of(quiet, runs=60)
    with pytest.raises(ExperimentError, match="No work comes between the beginning"):
        advise(advisor, lambda ask: advisor.run(base, ask))


def test_a_goal_that_needs_no_new_work_is_searched_without_any():
    quiet = SmallWorld(
        "quiet",
        (Team("a", 2, 0, 1, 1, 1), Team("b", 2, 0, 1, 1, 1)),
        STARVED.change,
        objectives=[{"measure": "preemptions"}],
    )
    advisor, base = advisor_of(quiet, runs=60)
    found = advise(advisor, lambda ask: advisor.run(base, ask))
    assert found.verdict == "no improvement found"
