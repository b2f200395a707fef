"""Other data into a YAML text: what does not differ stays byte for byte."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.model.texts.rewriting import (
    UnwritableError,
    edits,
    rewritten,
    written,
)

TEXT = """\
# head
kind: A   # of it
spec:
  # before a
  a: 4   # keep
  b: "x"
  empty:
  list:
  - name: one # first
    v: 1

  # about two
  - name: two
    v: {x: 1, "y": 2}   # in one line
  text: |
    # inner
    p: 1

    q: 2
  last: 'z'

# tail
---
kind: B
"""


def changed(text, change):
    """Return the text with its first document changed; it reads as that."""
    first, *others = written(text, file="x")
    after = copy.deepcopy(first.data)
    change(after)
    found = rewritten(text, edits(text, first, after))
    assert [one.data for one in written(found, file="x")] == [
        after,
        *(one.data for one in others),
    ]
    return found


def put(path, value):
    *parents, last = path

    def change(data):
        for name in parents:
            data = data[name]
        data[last] = value

    return change


def drop(path):
    *parents, last = path

    def change(data):
        for name in parents:
            data = data[name]
        del data[last]

    return change


@pytest.mark.parametrize(
    ("change", "old", "new"),
    [
        (put(("spec", "a"), "8"), "  a: 4   # keep\n", '  a: "8"   # keep\n'),
        (put(("spec", "b"), "y"), '  b: "x"\n', '  b: "y"\n'),
        (put(("spec", "last"), "it's"), "  last: 'z'\n", "  last: 'it''s'\n"),
        (put(("spec", "empty"), "full"), "  empty:\n", "  empty: full\n"),
        (put(("spec", "empty"), {"n": 1}), "  empty:\n", '  empty: {"n": 1}\n'),
        (put(("spec", "list", 1, "v", "x"), 5), "{x: 1,", "{x: 5,"),
        (put(("spec", "list", 1, "v", "z"), 3), '"y": 2}', '"y": 2, "z": 3}'),
        (drop(("spec", "list", 1, "v", "x")), '{x: 1, "y"', '{"y"'),
        (drop(("spec", "list", 1, "v", "y")), '1, "y": 2}', "1}"),
        (
            put(("spec", "list", 0, "w"), [1]),
            "    v: 1\n",
            "    v: 1\n    w:\n    - 1\n",
        ),
        (drop(("spec", "a")), "  a: 4   # keep\n", ""),
        (drop(("spec", "list", 0)), "  - name: one # first\n    v: 1\n", ""),
        (drop(("spec", "list", 0, "name")), "- name: one # first\n    v", "- v"),
        (put(("spec", "text"), "# inner\np: 1\n\nq: 3\n"), "    q: 2\n", "    q: 3\n"),
        (put(("new",), {"k": "v"}), "'z'\n", "'z'\nnew:\n  k: v\n"),
        (
            lambda data: data["spec"]["list"].append({"name": "three"}),
            "# in one line\n",
            "# in one line\n  - name: three\n",
        ),
    ],
)
def test_a_change_touches_its_own_place(change, old, new):
    assert TEXT.count(old) == 1
    assert changed(TEXT, change) == TEXT.replace(old, new)


def test_lines_end_as_they_did():
    text = TEXT.replace("\n", "\r\n")
    found = changed(text, put(("spec", "list", 0, "w"), 2))
    assert found == text.replace("v: 1\r\n", "v: 1\r\n    w: 2\r\n")


def test_json_stays_json():
    text = '{\n  "kind": "A",\n  "spec": {"a": 1}\n}\n'
    found = changed(text, lambda data: data["spec"].update(a="2", b={"c": "d"}))
    assert json.loads(found)["spec"] == {"a": "2", "b": {"c": "d"}}
    assert found == text.replace('"a": 1', '"a": "2", "b": {"c": "d"}')


def test_what_stands_in_two_places_is_not_written():
    text = "kind: A\none: &it {a: 1}\ntwo: *it\n"
    with pytest.raises(UnwritableError):
        changed(text, put(("one", "a"), 2))


NAMES = st.sampled_from(["a", "b", "cpu", "name", "example.com/gpu", "on it"])
SCALARS = st.one_of(
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.sampled_from(["x", "4", "true", "", "a: b", "# no", "it's", "1e3", "é", "-"]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=3)
    ),
    max_leaves=8,
)
DATA = st.dictionaries(NAMES, VALUES, min_size=1, max_size=4)


def lines_of(draw, value, indent=0):
    """Yield a value as somebody writes it: with comments, quotes and empty lines."""
    pad = " " * indent
    items = value.items() if isinstance(value, dict) else ((None, v) for v in value)
    for name, item in items:
        if draw(st.booleans()):
            yield draw(st.sampled_from([f"{pad}# about it", "", "# far out"]))
        head = pad + ("-" if name is None else f"{quoted(draw, name)}:")
        note = draw(st.sampled_from(["", "  # note"]))
        if isinstance(item, (dict, list)) and item and draw(st.booleans()):
            yield head + note
            yield from lines_of(draw, item, indent + 2)
        elif item is None and name is not None:
            yield head + note
        else:
            yield f"{head} {quoted(draw, item)}{note}"


def quoted(draw, value):
    text = json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and draw(st.booleans()):
        return "'" + value.replace("'", "''") + "'"
    return text


def paths_of(value, path=()):
    """Yield the paths of all fields and items."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for name, item in items:
        yield (*path, name)
        if isinstance(item, (dict, list)):
            yield from paths_of(item, (*path, name))


def is_within(lines, others):
    """Return whether all lines come in the others, in this order."""
    left = iter(others)
    return all(line in left for line in lines)


@given(data=DATA, value=VALUES, draw=st.data())
def test_a_random_change_reads_as_meant_and_leaves_the_other_lines(data, value, draw):
    text = "\n".join([*lines_of(draw.draw, data), "# tail", "---", "kind: B", ""])
    path = draw.draw(st.sampled_from(sorted(paths_of(data), key=str)))
    node, old = written(text, file="x")[0].root, data
    for name in path:
        known = (
            {key.value: one for key, one in node.value}
            if isinstance(name, str)
            else node.value
        )
        node, old = known[name], old[name]
    begin = node.start_mark.line
    found = changed(text, put(path, value))
    lines, after = text.split("\n"), found.split("\n")
    assert is_within(lines[:begin], after)
    assert after[-4:] == lines[-4:]
    if not (isinstance(value, (dict, list)) or isinstance(old, (dict, list))):
        assert [*lines[:begin], *lines[begin + 1 :]] == [
            *after[:begin],
            *after[begin + 1 :],
        ]


@given(data=DATA, name=st.sampled_from(["zz", "y"]), value=VALUES, draw=st.data())
def test_an_added_field_leaves_every_line(data, name, value, draw):
    text = "\n".join([*lines_of(draw.draw, data), "# tail", "---", "kind: B", ""])
    found = changed(text, put((name,), value))
    assert is_within(text.split("\n"), found.split("\n"))


@given(data=DATA, draw=st.data())
def test_a_field_that_goes_takes_its_own_lines(data, draw):
    text = "\n".join([*lines_of(draw.draw, data), "# tail", "---", "kind: B", ""])
    name = draw.draw(st.sampled_from(sorted(data)))
    if len(data) == 1:
        return
    found = changed(text, drop((name,)))
    assert is_within(found.split("\n"), text.split("\n"))
