"""What schedulers would read of a ConfigMap is read; what they could not is refused."""

from __future__ import annotations

import textwrap

import pytest

from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded

KUEUE = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
FAIR = f"{KUEUE}fairSharing: {{}}\n"
MANAGER = "controller_manager_config.yaml"


def config_map(number: int, key: str, text: str) -> str:
    head = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}}}\ndata:\n"
    return f"{head}  {key}: |\n{textwrap.indent(text, '    ')}"


def read(*given: tuple[str, str]) -> Loaded:
    return load([(f"{n}.yaml", config_map(n, *one)) for n, one in enumerate(given)])


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        (MANAGER, f"{KUEUE}fairSharing: [", "not YAML"),
        (MANAGER, KUEUE.replace("tion\n", "ton\n"), "did you mean Configuration?"),
        ("queues.yaml", "partitions: [", "not YAML"),
        ("queues.yaml", "partition: []\n", "unknown key; known: checksum, partitions"),
    ],
)
def test_a_configuration_that_its_scheduler_could_not_read_is_an_error(key, text, said):
    (found,) = read((key, text)).errors
    assert said in found.problem
    assert found.place.file.startswith("0.yaml:5 ")


def test_a_configuration_is_read_whatever_its_key_is_called():
    assert read(("config", FAIR)).policy["kueue"]["fairSharing"] == {}


def test_configurations_of_other_controllers_are_left_alone():
    other = FAIR.replace("kueue", "jobset")
    loaded = read((MANAGER, other), (MANAGER, FAIR), ("notes.yaml", "a: ["))
    assert loaded.findings == []
    assert loaded.policy["kueue"]["fairSharing"] == {}
    bare = load([("jobset.yaml", other), ("kueue.yaml", FAIR)])
    (aside,) = bare.findings
    assert "is no object of a cluster: not taken" in aside.problem


def test_a_setting_that_two_policies_give_is_named():
    policy = "apiVersion: quotalab.dev/v1\nkind: Policy\nmetadata: {name: p}\n"
    files = [
        (f"{ms}.yaml", f"{policy}spec: {{simulation: {{tickMs: {ms}}}}}\n")
        for ms in (5, 7)
    ]
    (found,) = load(files).findings
    assert found.place.file == "7.yaml"
    assert found.problem == "simulation.tickMs takes the place of the one before it"
