"""Ticks, some of one commit, by processes that are killed in the middle of them.

Each process is a fork with an alarm that ends it, as suddenly as `kill -9` does,
after a time that the seed decides. The next one goes on with what was committed.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
from typing import Any

import django
from django.core.management import call_command
from django.db import connection, connections, transaction

LONGEST_LIFE_S = 0.03


def main(kills: int, ticks: int, stride: int) -> None:
    """Print what came of a run of so many ticks, with so many kills in mid-tick.

    Then of a delete that is killed before each statement of those that are `stride` apart.
    """
    from sandbox.models import Sample, Sandbox

    call_command("migrate", verbosity=0)
    sandbox = begin(ticks)
    rng, killed, tries = random.Random(20), 0, 0
    while tick_of(sandbox) < ticks:
        tries += 1
        target = ticks if killed >= kills else tick_of(sandbox) + 3
        died = tick_in_a_fork(sandbox, min(target, ticks), rng, mortal=killed < kills)
        held = Sandbox.objects.filter(pk=sandbox, lease_until__gt=0)
        killed += died and held.exists()
        held.update(lease_until=0)  # as its end does, some seconds later
    samples = Sample.objects.filter(sandbox=sandbox).values_list("tick", flat=True)
    row = Sandbox.objects.get(pk=sandbox)
    found: dict[str, Any] = {
        "hash": row.hash,
        "tick": row.tick,
        "killed": killed,
        "tries": tries,
    }
    found["samples"] = sorted(samples)
    found["deletes"] = delete_with_kills(sandbox, stride)
    sys.stdout.write(json.dumps(found))


def begin(ticks: int) -> str:
    """Make a sandbox that steps as fast as it goes; return its id."""
    from sandbox import actions
    from sandbox.access.people import local_user
    from tests.sandbox.conftest import contended, text_of

    files = [("world.yaml", text_of(*contended(40)))]
    made = actions.do_create(local_user(), files=files, seed=1)
    actions.do_step(local_user(), made.sandbox.pk, ticks=ticks)
    return str(made.sandbox.pk)


def tick_of(sandbox: str) -> int:
    from sandbox.models import Sandbox

    return int(Sandbox.objects.values_list("tick", flat=True).get(pk=sandbox))


def tick_in_a_fork(sandbox: str, to: int, rng: random.Random, *, mortal: bool) -> bool:
    """Tick in a process of its own; return whether the alarm ended it."""
    life_s = rng.uniform(0.0001, LONGEST_LIFE_S) if mortal else 0
    connections.close_all()
    child = os.fork()
    if child == 0:
        make_ticks(sandbox, to, life_s)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


def make_ticks(sandbox: str, to: int, life_s: float) -> None:
    """Make ticks up to one; with a life of 0 nothing ends it before."""
    from sandbox import actions
    from sandbox.world import leases

    claim = leases.take(sandbox)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, life_s)
    while claim is not None and (left := to - tick_of(sandbox)) > 0:
        actions.do_ticks(claim, most=left)
    if claim is not None:
        leases.release(claim)


def delete_with_kills(sandbox: str, stride: int) -> list[bool]:
    """Delete a sandbox that has a fork, killed before statements so far apart, and the last.

    Returns for each kill whether all rows were as before; then it is gone, its fork stays.
    """
    from sandbox import actions
    from sandbox.access.people import local_user
    from sandbox.models import Sandbox

    fork = actions.do_fork(local_user(), sandbox)
    with transaction.atomic():
        count = 10**6 - delete(sandbox, statements=10**6)
        transaction.set_rollback(True)
    before, whole = rows_of(sandbox), []
    for statements in sorted({*range(0, count, stride), *range(count - 4, count)}):
        connections.close_all()
        child = os.fork()
        if child == 0:
            delete(sandbox, statements=statements)
            os._exit(0)
        os.waitpid(child, 0)
        Sandbox.objects.update(lease_until=0)
        if not Sandbox.objects.filter(pk=sandbox).exists():
            break  # what it was killed before comes after the commit
        whole.append(rows_of(sandbox) == before)
    else:
        delete(sandbox, statements=10**6)
    assert set(rows_of(sandbox).values()) == {0}
    assert Sandbox.objects.get(pk=fork.pk).kept_revision
    return whole


def rows_of(sandbox: str) -> dict[str, int]:
    """Return how many rows of each table are the sandbox's."""
    from django.apps import apps

    return {
        model.__name__: model._default_manager.filter(sandbox_id=sandbox).count()
        for model in apps.get_app_config("sandbox").get_models()
        if any(field.attname == "sandbox_id" for field in model._meta.fields)
    }


def delete(sandbox: str, *, statements: int) -> int:
    """Delete it, but end as `kill -9` does before the statement after so many.

    Returns how many were left.
    """
    from sandbox import actions
    from sandbox.access.people import local_user

    left = statements

    def count(execute: Any, *words: Any) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return execute(*words)

    with connection.execute_wrapper(count):
        actions.do_delete_sandbox(local_user(), sandbox)
    return left


if __name__ == "__main__":
    django.setup()
    from sandbox.world import commits

    # There is no bus to publish it on, or to ask.
    commits._publish = lambda *_: None
    commits.is_watched = lambda _: False
    main(*map(int, sys.argv[1:]))
