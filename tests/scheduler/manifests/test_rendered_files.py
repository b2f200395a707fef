"""Files that a tool makes manifests of are named with the command that does, and refuse nothing."""

from __future__ import annotations

import json

import pytest

from scheduler.assembly import assemble
from scheduler.input.manifests.load import load
from scheduler.model.objects import Key

FLAVOR = (
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: a}\n"
)
QUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: q}\n"
QUEUES = "partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]"


def codes(*sources: tuple[str, str]) -> dict[str, str]:
    found = load(sources)
    assert found.errors == []
    return {one.place.file: one.said.code for one in found.findings}


@pytest.mark.parametrize(
    "named",
    [
        "patches: [{path: quota.yaml}]",
        "patches: [{path: ./quota.yaml, target: {kind: ClusterQueue}}]",
        "patchesStrategicMerge: [quota.yaml]",
        "patchesJson6902: [{path: quota.yaml, target: {name: q}}]",
    ],
)
def test_a_patch_is_no_object_where_a_kustomization_names_it(named):
    found = load(
        [
            ("base/q.yaml", QUEUE + "spec: {stopPolicy: None}\n"),
            ("prod/kustomization.yaml", named),
            ("prod/quota.yaml", QUEUE + "spec: {stopPolicy: Hold}\n"),
        ]
    )
    assert [obj.spec["stopPolicy"] for obj in found.objects] == ["None"]
    (said,) = [one for one in found.findings if one.said.code == "aside.part"]
    assert "kubectl kustomize prod" in said.problem


def test_a_chart_is_named_with_what_renders_it_and_refuses_nothing():
    found = codes(
        ("flavor.yaml", FLAVOR),
        ("chart/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n"),
        ("chart/values.yaml", "replicas: 3\n"),
        ("chart/templates/q.yaml", QUEUE.replace("q}", '"{{ .Values.name }}"}')),
        ("chart/templates/loop.yaml", "{{- range .Values.queues }}\na: 1\n{{- end }}"),
    )
    assert set(found.values()) == {"aside.chart"}
    assert len(found) == 4


def test_a_template_without_its_chart_is_a_template():
    given = QUEUE.replace("{name: q}", '{name: "{{ .Values.name }}"}')
    assert codes(("flavor.yaml", FLAVOR), ("q.yaml", given)) == {
        "q.yaml": "aside.template"
    }


def test_the_queues_in_the_values_of_a_chart_are_read():
    lines = "\n".join("      " + line for line in QUEUES.splitlines())
    values = f"yunikorn:\n  yunikornDefaults:\n    queues.yaml: |\n{lines}\n"
    chart = ("c/Chart.yaml", "apiVersion: v2\nname: c\nversion: 0.1.0\n")
    found = load([chart, ("c/values.yaml", values)])
    assert found.errors == []
    assert "queues" in found.policy["yunikorn"]


def test_files_of_terraform_are_named_with_what_shows_them():
    files = [("flavor.yaml", FLAVOR), ("main.tf", 'resource "x" "y" {}')]
    found = assemble(files).loaded.findings
    assert [one.said.code for one in found] == ["aside.terraform"]


def test_objects_are_read_from_what_terraform_shows():
    manifest = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ResourceFlavor",
        "metadata": {"name": "a", "labels": None},
    }
    resources = [
        {"type": "kubernetes_manifest", "values": {"manifest": manifest}},
        {"type": "aws_vpc", "values": {"manifest": manifest}},
    ]
    inner = {"type": "kubectl_manifest", "values": {"yaml_body": QUEUE + "spec: {}\n"}}
    module = {"resources": resources, "child_modules": [{"resources": [inner]}]}
    state = {
        "format_version": "1.0",
        "terraform_version": "1.9.0",
        "values": {"root_module": module},
    }
    found = load([("state.json", json.dumps(state))])
    assert [obj.key for obj in found.objects] == [
        Key("ResourceFlavor", "", "a"),
        Key("ClusterQueue", "", "q"),
    ]
