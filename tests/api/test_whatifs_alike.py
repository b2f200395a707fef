"""One verdict, whoever is asked: REST, the package, the command line, two runs."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import api.notebook as quotalab
from api.command import main
from sandbox import actions
from sandbox.whatifs import asking as whatifs
from tests.builders import cluster_queue, job, node, pod, small_cluster
from tests.sandbox.whatifs.test_two_runs import (
    DRAWS,
    HORIZON_MS,
    STACKS,
    changes,
    files,
    policy_of,
    there_to,
    verdict_of,
)

FEW = [job(f"j{n}", queue="main", cpu="3", runtime="20s") for n in range(3)]
MORE = cluster_queue("main", cpu=9)


def write(folder: Path, name: str, *documents: Any) -> str:
    """Write a file of YAML documents; return its path."""
    path = folder / name
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def said(*words: str) -> str:
    """Return what the command prints; it must end well."""
    out = io.StringIO()
    with redirect_stdout(out):
        assert main(list(words)) == 0
    return out.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize("stack", STACKS)
@settings(
    max_examples=DRAWS,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_rest_the_package_and_the_command_line_have_one_verdict(
    stack: str, data: st.DataObject, person, tmp_path
) -> None:
    policy = {
        "apiVersion": "quotalab.dev/v1",
        "kind": "Policy",
        "spec": policy_of(stack),
    }
    world = [policy, *data.draw(files(stack))]
    path = write(tmp_path, "world.yaml", *world)
    begin = quotalab.open(path, seed=1)
    asked = there_to(begin.world, data.draw(changes(stack)))
    if not asked:
        return
    wanted = plain(verdict_of(begin.world, asked, 1).verdict)
    horizon = f"{HORIZON_MS}ms"
    found = begin.what_if(*asked, horizon=horizon).verdict().document
    assert plain(found["seeds"][0]["verdict"]) == wanted
    change = write(tmp_path, "changes.yaml", *asked)
    words = ["what-if", path, "--change", change, "--seed", "1", "--horizon", horizon]
    assert json.loads(said(*words, "--json"))["seeds"][0]["verdict"] == wanted
    text = Path(path).read_text()
    made = actions.do_create(person, files=[("world.yaml", text)], seed=1).sandbox
    row = whatifs.begin(made, person, None, changes=asked, horizon_ms=HORIZON_MS)
    answer = whatifs.answered(row, wait_s=60.0)
    assert answer.verdict is not None
    assert plain(answer.verdict.seeds[0].verdict) == wanted


def plain(verdict: Any) -> Any:
    """Return a verdict as it travels."""
    return json.loads(msgspec.json.encode(verdict))


def test_the_command_says_who_pays_and_leads_each_loser_back_to_the_change(tmp_path):
    path = write(tmp_path, "world.yaml", *small_cluster(cpu="9"), *FEW)
    words = ("--patch", LESS)
    found = said("what-if", path, *words).splitlines()
    assert found[0] == "within 10m0s, seed 1:"
    assert found[1].startswith("job time: ")
    assert "later" in found[1]
    assert found[2].startswith("queue main: ")
    assert "2 later" in found[2]
    assert found[-1].strip().startswith("at 0s: the change: main")


LESS = (
    "ClusterQueue/main={spec: {resourceGroups: [{coveredResources: [cpu], flavors: "
    "[{name: default, resources: [{name: cpu, nominalQuota: 4}]}]}]}}"
)


def test_whole_objects_and_changes_stand_side_by_side_in_files(tmp_path):
    path = write(tmp_path, "world.yaml", node("n0", cpu="1"), pod("p", cpu="2"))
    change = write(
        tmp_path,
        "change.yaml",
        node("n1", cpu="4"),
        {"node": {"name": "n1", "change": "cordon"}},
    )
    words = ("what-if", path, "--stack", "kube", "--change", change)
    assert "nothing comes out otherwise" in said(*words)


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ((), "expected a change: --change FILE or --patch KIND/NAME=YAML"),
        (("--patch", "main"), "--patch main: expected KIND/NAME=YAML"),
        (("--patch", "Job/none={spec: {}}"), "changes[0].patch"),
        (("--patch", LESS, "--seeds", "a"), "--seeds a: expected numbers"),
    ],
)
def test_wrong_words_are_refused_with_what_was_expected(
    tmp_path, capsys, words, problem
):
    path = write(tmp_path, "world.yaml", *small_cluster(cpu="4"), *FEW)
    assert main(["what-if", path, *words]) == 2
    assert problem in capsys.readouterr().err
