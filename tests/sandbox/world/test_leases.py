"""A claim is to one sandbox: who waits for it insists, who loses it is counted."""

from __future__ import annotations

import time

import pytest

from sandbox import actions
from sandbox.base import counters
from sandbox.base.errors import BusyError, OvertakenError
from sandbox.models import Sandbox
from sandbox.world import leases
from tests.sandbox.conftest import contended, row

pytestmark = pytest.mark.django_db


def test_giving_one_sandbox_back_leaves_others_of_the_same_fence_held(busy, make):
    other = make(*contended())
    Sandbox.objects.update(fence=7)
    claims = [leases.take(one.pk) for one in (busy, other)]
    assert [claim.fence for claim in claims] == [8, 8]
    leases.release(claims[0])
    assert leases.take(other.pk) is None
    assert leases.take(busy.pk) is not None


def test_renewing_one_sandbox_renews_no_other_of_the_same_fence(busy, make):
    other = make(*contended())
    Sandbox.objects.update(fence=7)
    claims = [leases.take(one.pk, lease_s=-1) for one in (busy, other)]
    assert leases.renew(claims[0])
    assert leases.take(other.pk) is not None


def test_an_edit_tries_again_until_its_patience_is_over(busy, monkeypatch):
    waits: list[float] = []
    monkeypatch.setattr(time, "sleep", waits.append)
    leases.take(busy.pk)
    with pytest.raises(BusyError), leases.claimed(busy.pk, patience_s=0.2):
        raise AssertionError("somebody else holds it")
    assert waits[:3] == [0.004, 0.008, 0.016]
    assert max(waits) == 0.05


def test_a_commit_of_who_lost_the_claim_is_counted(busy):
    counters.take()
    slow = leases.take(busy.pk, lease_s=-1)
    leases.take(busy.pk)
    with pytest.raises(OvertakenError):
        actions.do_tick(slow)
    counts, _ = counters.take()
    assert counts["leases_lost"] == 1
    assert row(busy).tick == 0
