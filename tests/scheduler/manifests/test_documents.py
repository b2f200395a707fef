"""YAML becomes documents that know their lines; hostile input ends early."""

from __future__ import annotations

import json

import pytest
import yaml

from scheduler.input.manifests.documents import read_documents
from scheduler.model.errors import ManifestError
from scheduler.model.problems import Wanted, expected
from scheduler.model.texts.values import Limits

TWO = """\
apiVersion: v1
kind: Namespace
metadata:
  name: a
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: b
  labels:
    example.com/some.name: x
spec:
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: one
    - name: two
"""


def test_a_field_is_found_on_its_line():
    _, queue = read_documents(TWO, file="two.yaml")
    place = queue.place("spec.resourceGroups[0].flavors[1].name")
    assert str(place) == "two.yaml:17: spec.resourceGroups[0].flavors[1].name"


def test_a_missing_field_has_the_line_of_what_holds_it():
    _, queue = read_documents(TWO, file="two.yaml")
    assert queue.place("spec.cohortName").line == 12


def test_a_key_with_dots_is_found():
    _, queue = read_documents(TWO, file="two.yaml")
    assert queue.place("metadata.labels.example.com/some.name").line == 11


def test_a_list_is_taken_apart_and_keeps_its_lines():
    text = "kind: PodList\napiVersion: v1\nitems:\n- metadata:\n    name: p\n"
    (pod,) = read_documents(text)
    assert (pod.kind, pod.api_version) == ("Pod", "v1")
    assert pod.place("metadata.name").line == 5


def test_words_are_read_as_kubectl_reads_them():
    (document,) = read_documents("kind: X\na: on\nb: 2026-01-01\nc: '1'\nd: 012\n")
    assert document.data == {
        "kind": "X",
        "a": True,
        "b": "2026-01-01",
        "c": "1",
        "d": 10,
    }


def test_merge_keys_are_followed():
    (document,) = read_documents("base: &b {x: 1, y: 2}\nmore: {<<: *b, y: 3}\n")
    assert document.data["more"] == {"x": 1, "y": 3}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("a: [1,\n b: 2", ":3: not YAML", id="broken"),
        pytest.param("a: 1\na: 2\n", ":2: the key 'a' is given twice", id="twice"),
        pytest.param("[" * 5000, "nested over 64 deep", id="deep"),
        pytest.param("- 1\n", "expected an object", id="a list"),
        pytest.param("a: &x [*x]\n", "contains itself", id="endless"),
        pytest.param("a: \x00\n", "not YAML", id="a control character"),
        pytest.param("? [1]\n: 2\n", "expected a text as key", id="a list as key"),
        pytest.param("!!python/object:os.system {}\n", "", id="a foreign tag is data"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(text, problem):
    if not problem:
        assert read_documents(text)[0].data == {}
        return
    with pytest.raises(ManifestError) as error:
        read_documents(text, file="bad.yaml")
    assert problem in str(error.value)
    assert str(error.value).startswith("bad.yaml:")


def test_ten_megabytes_of_aliases_are_refused():
    rows = ["a: &a [" + ",".join("123456789") + "]"]
    for number in range(1, 12):
        before = "a" if number == 1 else f"a{number - 1}"
        rows.append(f"a{number}: &a{number} [" + ",".join([f"*{before}"] * 9) + "]")
    text = "\n".join(rows) + "\n# " + "x" * 10_000_000
    with pytest.raises(ManifestError, match="aliases repeat too many values"):
        read_documents(text)


def test_a_text_over_the_limit_is_refused():
    with pytest.raises(ManifestError, match="more than 10 bytes"):
        read_documents("a: 1234567890", limits=Limits(bytes=10))


def test_many_tiny_values_are_refused_before_they_are_made():
    with pytest.raises(ManifestError, match="over 50 values"):
        read_documents("a: [" + "{}," * 50 + "]", limits=Limits(values=50))


def test_a_problem_repeats_only_the_begin_of_what_was_given():
    error = ManifestError(expected(Wanted.TEXT, ["x"] * 9999))
    assert len(str(error)) < 1100
    assert len(error.problem.holes["given"]) < 1100


def a_list(*items: dict) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(items)})


def test_a_list_in_json_is_the_same_as_in_yaml():
    items = [{"apiVersion": "v1", "kind": "Pod", "n": 1.5, "t": None, "e": [True, {}]}]
    (ours,) = read_documents(a_list(*items))
    (theirs,) = read_documents(yaml.safe_dump({"kind": "List", "items": items}))
    assert ours.data == theirs.data == items[0]


def test_a_field_of_an_item_of_a_list_in_json_has_its_line():
    items = [{"kind": "A"}, {"kind": "B", "spec": {"x": [1, 2]}}]
    text = json.dumps({"metadata": {}, "items": items, "kind": "List"}, indent=1)
    first, second = read_documents(text)
    lines = text.splitlines()
    assert first.place().line == 1 + lines.index("  {")
    assert lines[second.place("spec.x[1]").line - 1].strip() == "2"
    assert lines[second.place("spec.x").line - 1].strip().startswith('"x"')


def test_a_key_twice_in_json_is_refused_at_its_line():
    text = '{"kind": "List", "items": [\n{"kind": "A",\n"kind": "B"}]}'
    with pytest.raises(ManifestError, match="given twice") as refused:
        read_documents(text, file="a.json")
    assert refused.value.place.line == 3


def test_json_that_is_nested_too_deep_is_refused():
    text = '{"kind": "List", "items": [' + "[" * 80 + "]" * 80 + "]}"
    with pytest.raises(ManifestError, match="nested over"):
        read_documents(text)


ANCHORS = """
kind: List
items:
- &one
  kind: Pod
  metadata: {name: a}
- <<: *one
  metadata:
    name: b
"""


def test_items_of_a_list_know_the_lines_of_their_fields_also_behind_an_alias():
    first, second = read_documents(ANCHORS)
    assert (first.place("metadata.name").line, second.place().line) == (6, 7)
    assert second.data == {"kind": "Pod", "metadata": {"name": "b"}}
    assert first.data["metadata"] == {"name": "a"}


def test_an_alias_of_nothing_and_one_of_itself_are_errors_with_their_lines():
    with pytest.raises(ManifestError, match="undefined alias 'x'"):
        read_documents("a: 1\nb: *x\n")
    with pytest.raises(ManifestError, match="contains itself"):
        read_documents("a: &a\n  b: *a\n")
