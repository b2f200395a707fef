"""Every fault of an input at once, and what is right beside it is read."""

from __future__ import annotations

import json

import pytest
import yaml

from scheduler.input.manifests.load import load
from scheduler.input.manifests.loading.loaded import Loaded

JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: %s}
spec: {template: {spec: {containers: [{name: c, image: i}]}}}
"""
BAD_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: bad, labels: {a: 1, b: 2}}
spec:
  parallelism: -1
  template:
    spec:
      containers: [{name: c, resources: {requests: {cpu: q, memory: z}}}]
"""
BAD_QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: cq}
spec:
  queueingStrategy: Foo
  cohort: 3
  preemption: {withinClusterQueue: Bar, reclaimWithinCohort: Baz}
  bogus: 1
"""


def read(text: str, name: str = "t.yaml") -> Loaded:
    return load([(name, text)])


def fields(loaded: Loaded) -> list[str]:
    return [error.place.field for error in loaded.errors]


def names(loaded: Loaded) -> list[str]:
    return [obj.key.name for obj in loaded.objects]


def test_every_fault_of_a_job_is_reported_with_its_line():
    loaded = read(BAD_JOB)
    requests = "spec.template.spec.containers[0].resources.requests"
    assert fields(loaded) == [
        "metadata.labels.a",
        "metadata.labels.b",
        "spec.parallelism",
        f"{requests}.cpu",
        f"{requests}.memory",
    ]
    assert [error.place.line for error in loaded.errors] == [3, 3, 5, 8, 8]


def test_a_wrong_choice_does_not_hide_the_next():
    assert set(fields(read(BAD_QUEUE))) == {
        "spec.queueingStrategy",
        "spec.cohort",
        "spec.preemption.withinClusterQueue",
        "spec.preemption.reclaimWithinCohort",
        "spec.bogus",
    }


def test_broken_documents_of_a_file_are_reported_and_the_others_read():
    broken = "kind: a: b\n"
    twice = "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, name: b}\n"
    loaded = read("---\n".join([JOB % "one", broken, twice, JOB % "two"]))
    assert names(loaded) == ["one", "two"]
    assert [error.place.line for error in loaded.errors] == [6, 10]


@pytest.mark.parametrize(
    "text",
    [
        "---\n# Source: a\n---\n---\n" + JOB % "a" + "---\n\n---\n# end\n",
        (JOB % "a").replace("\n", "\r\n"),
        "\ufeff" + JOB % "a",
        JOB % "a" + "...\n",
    ],
    ids=["empty documents", "CRLF", "byte order mark", "end mark"],
)
def test_manifests_are_read_however_they_were_written(text):
    loaded = read(text)
    assert names(loaded) == ["a"]
    assert not loaded.findings


def in_json(*names: str, indent: int | None = None) -> list[str]:
    return [json.dumps(yaml.safe_load(JOB % name), indent=indent) for name in names]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("\n".join(in_json("a", "b")), [1, 2]),
        ("\n".join(in_json("a", "b", indent=1)) + "\n", [1, 20]),
        (f"[{','.join(in_json('a', 'b'))}]", [1, 1]),
    ],
    ids=["lines", "one after the other", "array"],
)
def test_objects_of_json_are_read_beside_each_other_and_know_their_lines(text, lines):
    loaded = read(text, "t.json")
    assert names(loaded) == ["a", "b"]
    assert [loaded.places[obj.key].place().line for obj in loaded.objects] == lines


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("kind: Job\nmetadata:\n\tname: x\n", "tab"),
        ("metadata:\n  name: {{ .Release.Name }}\n", "helm template"),
    ],
)
def test_what_is_probably_wrong_is_said(text, hint):
    assert hint in read(text).errors[0].problem


def test_a_chart_beside_manifests_refuses_nothing():
    loaded = load([("Chart.yaml", "apiVersion: v2\nname: c\n"), ("j.yaml", JOB % "a")])
    assert names(loaded) == ["a"]
    assert not loaded.errors


def test_a_fault_is_never_one_of_what_was_put_in_place_of_another():
    loaded = read("apiVersion: v1\nkind: Pod\nmetadata: {labels: {a: 1}}\nspec: {}\n")
    assert [error.problem for error in loaded.errors] == [
        "expected a name, got None",
        "expected a text (in quotes), got 1",
        "expected at least one container",
    ]
