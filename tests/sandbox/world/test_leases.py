"""A claim is to one sandbox: who waits for it insists, who loses it is counted."""

from __future__ import annotations

import threading
import time

import pytest
from django.db import connection, transaction

from sandbox import actions
from sandbox.base import counters
from sandbox.base.errors import BusyError, NotFoundError, OvertakenError
from sandbox.models import Member, Sandbox
from sandbox.world import leases
from tests.sandbox.conftest import contended, row

pytestmark = pytest.mark.django_db(transaction=True)


def test_giving_one_sandbox_back_leaves_others_of_the_same_fence_held(busy, make):
    other = make(*contended())
    Sandbox.objects.update(fence=7)
    claims = [leases.take(one.pk) for one in (busy, other)]
    assert [claim.fence for claim in claims] == [8, 8]
    leases.release(claims[0])
    assert leases.take(other.pk) is None
    assert leases.take(busy.pk) is not None


@pytest.mark.parametrize("returns", [True, False])
def test_who_takes_one_to_tick_counts_a_try(busy, monkeypatch, returns):
    monkeypatch.setattr(
        type(connection.features), "can_return_columns_from_insert", returns
    )
    Sandbox.objects.update(fence=7, queued_until=2.5)
    assert leases.take_to_tick(busy.pk, 1.5, "0.7@here") is None
    taken = leases.take_to_tick(busy.pk, 2.5, "0.7@here")
    assert (taken.claim.fence, taken.tries, row(busy).warm) == (8, 1, "0.7@here")
    assert leases.take(busy.pk) is None


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


def test_a_claim_that_was_given_back_is_not_renewed(busy):
    claim = leases.take(busy.pk)
    leases.release(claim)
    assert not leases.renew(claim)
    assert leases.take(busy.pk) is not None


def test_nobody_renews_a_claim_once_its_block_has_ended(busy):
    claim = leases.take(busy.pk)
    with leases.renewed(claim):
        [thread] = [t for t in threading.enumerate() if t.name == f"renew-{busy.pk}"]
    assert not thread.is_alive()


def test_a_claim_within_a_transaction_is_renewed_by_no_thread_that_would_wait_for_it(
    busy,
):
    claim = leases.take(busy.pk)
    with transaction.atomic(), leases.renewed(claim):
        assert f"renew-{busy.pk}" not in {one.name for one in threading.enumerate()}


def test_a_fork_waits_for_who_holds_its_parent_or_one_before_it(busy, person):
    fork = actions.do_fork(person, busy.pk)
    claim = leases.take(busy.pk)
    released: list[bool] = []

    def release() -> None:
        released.append(Sandbox.objects.filter(parent=fork).exists())
        leases.release(claim)
        connection.close()

    timer = threading.Timer(0.3, release)
    timer.start()
    actions.do_fork(person, fork.pk)
    timer.join()
    assert released == [False]


def test_a_deletion_holds_the_forks_and_an_archive_those_before_it(busy, person):
    fork = actions.do_fork(person, busy.pk)
    with leases.lineage_claimed(fork.pk):
        assert leases.take(busy.pk) is None
    with leases.lineage_claimed(busy.pk, lambda: [fork.pk]):
        assert leases.take(fork.pk) is None
    assert leases.take(busy.pk)
    assert leases.take(fork.pk)


def test_whoever_lost_the_right_while_they_waited_changes_nothing(
    busy, stranger, monkeypatch
):
    member = Member.objects.create(sandbox=busy, user=stranger, role=Member.EDITOR)
    claim = leases.take(busy.pk)

    def take_the_right_away(_: float) -> None:
        member.delete()
        leases.release(claim)

    monkeypatch.setattr(time, "sleep", take_the_right_away)
    with pytest.raises(NotFoundError):
        actions.do_pause(stranger, busy.pk)
    assert row(busy).playing
