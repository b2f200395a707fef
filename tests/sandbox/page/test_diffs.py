"""Pages and diffs as values."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.page import diffs
from sandbox.page.diffs import RevisionDiff

KEYS = st.sampled_from(["Workload/x/a", "Workload/x/b", "Node//n"])
PAGES = st.dictionaries(
    KEYS, st.fixed_dictionaries({"phase": st.integers(0, 2), "cpu": st.integers(0, 1)})
).map(lambda page: {key: {"key": key, **row} for key, row in page.items()})


def step(begin: int, before: diffs.Page, after: diffs.Page) -> RevisionDiff:
    delta = diffs.between(before, after)
    return RevisionDiff(
        from_revision=begin,
        revision=begin + 1,
        tick=begin,
        added=delta.added,
        updated=delta.updated,
        removed=delta.removed,
        events=[{"seq": begin}],
    )


@given(PAGES, PAGES)
def test_a_diff_leads_from_one_page_to_the_other(before, after):
    page = dict(before)
    diffs.apply(page, diffs.between(before, after))
    assert page == after


@given(st.lists(PAGES, min_size=2, max_size=6))
def test_merged_diffs_do_what_they_do_one_by_one(pages):
    steps = [
        step(n, before, after)
        for n, (before, after) in enumerate(itertools.pairwise(pages))
    ]
    merged = diffs.merge(steps)
    page = dict(pages[0])
    diffs.apply(page, merged)
    assert page == pages[-1]
    assert (merged.from_revision, merged.revision) == (0, len(steps))
    assert merged.events == [{"seq": n} for n in range(len(steps))]


def test_diffs_with_a_gap_are_not_merged():
    one, other = step(0, {}, {}), step(5, {}, {})
    with pytest.raises(ValueError, match="expected a diff from 1, got 5"):
        diffs.merge([one, other])


def test_an_update_names_the_changed_fields_only():
    before = {"Node//n": {"key": "Node//n", "used": 1, "pods": 2}}
    after = {"Node//n": {"key": "Node//n", "used": 3, "pods": 2}}
    assert diffs.between(before, after).updated == {"Node//n": {"used": 3}}


def test_many_events_do_not_push_out_that_history_was_rewritten():
    rewind = step(0, {}, {})
    rewind.events = [{"type": "Edit", "reason": "Rewind"}]
    busy = step(1, {}, {})
    busy.events = [{"type": "Admit", "seq": n} for n in range(diffs.MOST_EVENTS)]
    merged = diffs.merge([rewind, busy])
    assert merged.rewrites_history()
    assert merged.events[1:] == busy.events


def test_the_page_takes_the_same_edits_for_a_rewritten_history():
    source = (
        Path(__file__).parents[3] / "frontend" / "src" / "store" / "rows" / "page.ts"
    )
    listed = re.search(r"HISTORY_EDITS[^=]*= new Set\(\[(.*?)\]\)", source.read_text())
    assert listed is not None
    assert set(re.findall(r'"(\w+)"', listed[1])) == diffs.HISTORY_EDITS
