"""Unquoted scalars mean what kubectl takes them for, and survive being written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.input.manifests import queues_yaml as yunikorn
from scheduler.model.texts.plain_text import write
from scheduler.model.texts.values import Bounds, plain, read_events

BOUNDS = Bounds(depth=100, aliases=100, repeats=1000, values=10**6, documents=10)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")))
    | st.text("0123456789eExXoObB_+-.yYnN:~", max_size=8)
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab1enyx.0"), inner),
    max_leaves=12,
)


def read(text: str) -> Any:
    (document,) = read_events(text, "file.yaml", BOUNDS)
    return document.data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("yes", True), ("On", True), ("y", "y"), ("NO", False), ("off", False)),
        *(("0644", 420), ("0x1F", 31), ("0o17", 15), ("-0b11", -3), ("1_000", 1000)),
        *(("08", 8), ("1e3", 1000), ("+.5", 0.5), ("1.50", 1.5), ("1.0", 1)),
        *(("18446744073709551615", 2**64 - 1), ("36893488147419103232", 2**65)),
        *(("~", None), ("", None), ("yEs", "yEs"), ("1e999", "1e999")),
        *(("2026-01-01", "2026-01-01"), ("1:30", "1:30"), ("500m", "500m")),
        *(("._5", "._5"), ("0x", "0x"), ("1__e", "1__e"), ("١٢", "١٢")),
    ],
)
def test_an_unquoted_scalar_is_what_kubectl_takes_it_for(text, value):
    found = plain(text)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("text", "name"), [("on", "true"), ("0x10", "16"), ("1.50", "1.50"), ("a", "a")]
)
def test_a_key_is_the_text_of_its_value(text, name):
    assert read(f"{text}: 1") == {name: 1}


def test_a_quoted_or_tagged_scalar_stays_a_text():
    found = read("""['yes', "08", !!str 1e3, !!str on]""")
    assert found == ["yes", "08", "1e3", "on"]


@given(DOCUMENTS)
def test_what_is_written_reads_back_as_it_was(document):
    assert read(write({"it": document})) == {"it": document}


def test_a_queue_of_yunikorn_keeps_its_name():
    names = ["n", "08", "0x1", "123", "on"]
    queues = "".join(f"    - name: {name}\n" for name in names)
    text = f"# one\npartitions:\n- name: default\n  queues:\n  - name: root\n    queues:\n{queues}"
    partition = yunikorn.read_text(text)
    assert [queue.name for queue in partition.root.queues] == names
