"""Texts as people paste them: fences, tables, parts of objects, placeholders."""

from __future__ import annotations

import pytest

from scheduler.assembly import InputError, assemble

POD = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
    "spec: {containers: [{name: c, image: i, resources: {requests: {cpu: 1}}}]}\n"
)
NODE = (
    "apiVersion: v1\nkind: Node\nmetadata: {name: n}\n"
    "status: {allocatable: {cpu: 4, pods: 110}}\n"
)
TABLE = (
    "NAME      READY   STATUS    RESTARTS   AGE\nnginx-1   0/1     Pending   0   3m\n"
)


def fenced(*texts: str, language: str = "yaml") -> str:
    return "Text\n\n" + "\n".join(f"```{language}\n{text}```\n" for text in texts)


def alone(text: str, name: str = "x.yaml") -> str:
    """Return what is said of a text that holds nothing that can be taken."""
    with pytest.raises(InputError) as refused:
        assemble([(name, text)])
    return str(refused.value)


# ---- fences


@pytest.mark.parametrize("name", ["notes.md", "notes.txt", "x.yaml"])
def test_yaml_between_fences_is_read_whatever_the_file_is_called(name):
    found = assemble([(name, fenced(POD, NODE))]).loaded
    assert [str(obj.key) for obj in found.objects] == ["Node//n", "Pod/default/p"]


def test_a_fault_between_fences_has_the_line_of_the_whole_text():
    assert "notes.md:7" in alone(fenced(POD.replace("cpu: 1", "cpu: x")), "notes.md")


def test_fences_of_a_list_are_read_without_their_indentation():
    text = "- so:\n\n" + "".join(f"  {line}\n" for line in fenced(POD).splitlines()[2:])
    assert len(assemble([("notes.md", text)]).loaded.objects) == 1


def test_fences_of_another_language_are_left_out():
    text = fenced("kubectl get pods\n", language="bash") + fenced(POD)
    assert len(assemble([("notes.md", text)]).loaded.objects) == 1


def test_a_manifest_that_holds_fences_in_a_text_is_read_as_it_is():
    readme = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  r: |\n"
    text = readme + "".join(f"    {line}\n" for line in fenced(POD).splitlines())
    found = assemble([("c.yaml", text)]).loaded.objects
    assert [obj.key.kind for obj in found] == ["ConfigMap"]


# ---- placeholders


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("train-${JOB_ID}", "${JOB_ID}; `envsubst"),
        ("$NAME", "$NAME; `envsubst"),
        ("<your-name>", "<your-name>; put what you mean"),
        ("{{ .Values.name }}", "`helm template`"),
    ],
)
def test_a_placeholder_is_called_one_with_what_fills_it(name, words):
    assert words in alone(POD.replace("name: p", f'name: "{name}"'))


def test_all_placeholders_of_an_object_are_named_at_once_but_not_a_shells():
    text = POD.replace("name: p", 'name: "${A}"').replace("cpu: 1", 'cpu: "${B}"')
    text = text.replace("image: i", 'image: i, command: [sh, -c, "echo ${HOME}"]')
    said = alone(text)
    assert "${A} and ${B}" in said
    assert "${HOME}" not in said


def test_a_file_with_placeholders_does_not_refuse_the_set():
    filled = POD.replace("name: p", 'name: "${A}"')
    found = assemble([("a.yaml", filled), ("b.yaml", NODE)]).loaded
    assert [obj.key.kind for obj in found.objects] == ["Node"]
    assert [f.sort.code for f in found.findings if f.level == "unsupported"] == [
        "aside.byEnvsubst"
    ]


# ---- parts of objects, and tables


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("queues:\n- {name: root}\n", "`partitions:` with one entry"),
        ("spec:\n  containers: []\n", "the spec of a Pod"),
        ("spec:\n  template: {spec: {containers: []}}\n", "the spec of a Job"),
        ("resourceGroups: []\n", "`kind: ClusterQueue`"),
        ("spec: {clusterQueue: q}\n", "`kind: LocalQueue`"),
        ("spec: {rayClusterSpec: {}}\n", "`kind: RayJob`"),
    ],
)
def test_a_part_says_where_it_belongs(text, words):
    assert words in alone(text)


@pytest.mark.parametrize("name", ["pods.txt", "pods.yaml"])
@pytest.mark.parametrize(
    "text", [TABLE, "NAMESPACE   NAME   AGE\n" + "default     p      3m\n"]
)
def test_a_table_of_kubectl_says_how_to_ask_for_objects(name, text):
    assert "`-o yaml`" in alone(text, name)
