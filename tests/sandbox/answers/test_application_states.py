"""The state log of an application of YuniKorn, filled in between two ticks."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.explain.application_states import FOLLOWING, since
from scheduler.engine.yunikorn.objects.model import State


@pytest.mark.parametrize(
    ("seen", "log"),
    [
        (["Running"], ["Accepted", "Running"]),
        (["Accepted", "Completing"], ["Accepted", "Completing"]),
        (
            ["Accepted", "Resuming", "Running"],
            ["Accepted", "Resuming", "Accepted", "Running"],
        ),
        (["Running", "Completed"], ["Accepted", "Running", "Completing", "Completed"]),
        (["Failed"], ["Accepted", "Failing", "Failed"]),
    ],
)
def test_states_that_no_tick_shows_are_filled_in(seen, log):
    entered = []
    for at, state in enumerate(seen):
        entered += since(entered, at, state)
    assert [state for _, state in entered] == log


@given(st.lists(st.sampled_from(list(State)), min_size=1))
def test_a_log_ends_in_the_state_seen_last_and_names_none_twice_in_a_row(seen):
    entered: list[tuple[int, str]] = []
    for at, state in enumerate(seen):
        entered += since(entered, at, state)
    states = [State.NEW, *(State(state) for _, state in entered)]
    assert states[-1] is seen[-1]
    for before, after in pairwise(states):
        assert before is not after
        allowed = FOLLOWING.get(before, ())
        assert after in allowed or not _leads(before, after)


def _leads(start: State, end: State) -> bool:
    found, left = {start}, [start]
    while left:
        for one in FOLLOWING.get(left.pop(), ()):
            if one not in found:
                found.add(one)
                left.append(one)
    return end in found
