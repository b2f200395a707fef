"""Sandboxes with small worlds, and a clock that the test holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import yaml
from django.contrib.auth.models import User

from sandbox import actions
from sandbox.access.people import local_user
from sandbox.models import Sandbox
from sandbox.page import diffs, rows
from sandbox.world import history, kept, leases, worlds
from tests.builders import cluster_queue, flavor, job, local_queue, workload_priority

Manifest = dict[str, Any]


@pytest.fixture(autouse=True)
def _nothing_in_memory():
    """Each test begins with nothing kept by the process."""
    kept.forget_all()


@pytest.fixture
def person(db) -> User:
    return local_user()


@pytest.fixture
def stranger(db) -> User:
    return User.objects.create(username="stranger")


def text_of(*manifests: Manifest) -> str:
    return yaml.safe_dump_all(manifests)


def contended(count: int = 12) -> list[Manifest]:
    """Return two queues that borrow from one another, and jobs that want more."""
    queues = [
        cluster_queue(name, cohort="team", cpu=4, within="LowerPriority", reclaim="Any")
        for name in ("a", "b")
    ]
    local_queues = [
        local_queue(f"{name}-queue", cluster_queue=name) for name in ("a", "b")
    ]
    jobs = [
        job(
            f"job-{n:02d}",
            queue=f"{'ab'[n % 2]}-queue",
            cpu=1 + n % 3,
            priority_class="high" if n % 5 == 0 else "",
            arrival=f"{n % 7}s",
            runtime=f"{3 + n % 6}s",
        )
        for n in range(count)
    ]
    return [flavor(), workload_priority("high", 100), *queues, *local_queues, *jobs]


@pytest.fixture
def make(person: User) -> Callable[..., Sandbox]:
    """Return a function that makes a sandbox of manifests.

    Steps take no time in it but where the policy says so.
    """

    def make_it(*manifests: Manifest, **options: Any) -> Sandbox:
        policy = dict(options.get("policy") or {})
        simulation = {"latencies": None, **policy.get("simulation", {})}
        options["policy"] = {**policy, "simulation": simulation}
        files = [("world.yaml", text_of(*manifests))] if manifests else []
        return actions.do_create(person, files=files, **options).sandbox

    return make_it


@pytest.fixture
def busy(make: Callable[..., Sandbox], person: User) -> Sandbox:
    """A contended sandbox that plays."""
    sandbox = make(*contended())
    actions.do_play(person, sandbox.pk)
    return sandbox


def tick(sandbox: Sandbox, count: int = 1) -> list[diffs.RevisionDiff]:
    """Make ticks as a worker would at full speed: under one claim, in few commits.

    Stops early when the sandbox stops playing.
    """
    claim = leases.take(sandbox.pk)
    assert claim is not None, "somebody holds the sandbox"
    steps: list[diffs.RevisionDiff] = []
    while len(steps) < count:
        made = actions.do_ticks(claim, within_s=600.0, most=count - len(steps))
        if not made:
            break
        steps += made
    leases.release(claim)
    return steps


def row(sandbox: Sandbox) -> Sandbox:
    """Return the sandbox as committed last."""
    return Sandbox.objects.get(pk=sandbox.pk)


def check_rows(sandbox: Sandbox) -> None:
    """Hold the rows against the diffs: the same world, the same page."""
    present = row(sandbox)
    world = worlds.fresh(present)
    assert world.hash() == present.hash
    fresh = rows.page_of(world, present)
    kept = history.page_at(present, present.revision)
    assert diffs.between(kept, fresh).empty()
