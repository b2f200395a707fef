"""A policy names the preemption strategy that decides instead of the Configuration's."""

from __future__ import annotations

import pytest

from scheduler.model.errors import PolicyError
from scheduler.model.policy import read_policy
from tests.builders import world_of


def test_the_named_strategy_decides():
    world = world_of(simulation={"preemption": "FairSharing"})
    assert (world.kueue.preemption.fair, world.kueue.settings.fair) == (True, False)
    assert not world_of().kueue.preemption.fair


def test_a_strategy_that_nobody_enrolled_is_refused():
    document = {"spec": {"simulation": {"preemption": "Lottery"}}}
    with pytest.raises(PolicyError, match="known: Classical, FairSharing"):
        read_policy(document)
