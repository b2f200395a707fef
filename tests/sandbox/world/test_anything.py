"""State + diffs = fresh state, after any edits and ticks, whatever schedules."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.contrib.auth.models import User
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox import actions
from sandbox.access.people import local_user
from sandbox.actions.nodes import CHANGES
from sandbox.base.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
)
from sandbox.models import Sandbox
from sandbox.world import history, worlds
from scheduler.model.objects import Key
from tests import invariants
from tests.builders import (
    cluster_queue,
    job,
    local_queue,
    node,
    pod,
    two_leaves,
    workload_priority,
)
from tests.sandbox.conftest import check_rows, contended, row, text_of, tick

pytestmark = pytest.mark.django_db

#: Sequences per stack; with HYPOTHESIS_PROFILE=search as many as that says.
EXAMPLES = 8 if settings().max_examples <= 100 else settings().max_examples


def loose_pod(n: int, **annotations: str) -> dict[str, Any]:
    """Return a pod of its own that each stack's scheduler takes."""
    labels = {"applicationId": f"app-{n % 3}", "queue": f"root.{'ab'[n % 2]}"}
    return pod(f"pod-{n}", cpu=1 + n % 2, labels=labels, **annotations)


def everything() -> list[dict[str, Any]]:
    """Return queues with jobs, and nodes with pods: each stack finds work."""
    pods = [loose_pod(n, arrival=f"{n % 4}s", runtime=f"{2 + n}s") for n in range(6)]
    again = job("again", queue="a-queue", cpu=1, runtime="2s", recreate="true")
    return [*contended(8), again, node("n1", cpu=4), node("n2", cpu=3), *pods]


POLICIES: dict[str, dict[str, Any]] = {
    "kueue": {"stack": "kueue", "simulation": {"bindLatencyMs": 300}},
    "kube": {"stack": "kube"},
    "yunikorn": {"stack": "yunikorn", "yunikorn": {"queues": two_leaves(5)}},
}


@dataclass
class Someone:
    """A person at a sandbox, with a verb for everything that can be done to it."""

    user: User
    sandbox: Sandbox

    @property
    def id(self) -> str:
        return self.sandbox.pk

    def _put(self, *manifests: dict[str, Any]) -> None:
        actions.do_import(self.user, self.id, [("edit.yaml", text_of(*manifests))])

    def _policy(self, **spec: Any) -> None:
        actions.do_policy(self.user, self.id, {"spec": spec}, patch=True)

    def _key(self, n: int, *kinds: str) -> Key:
        """Return the nth object, of some kinds if any are named."""
        objects = worlds.copy_of(self.id)[0].objects
        keys = sorted(key for key in objects if not kinds or key.kind in kinds)
        if not keys:
            raise NotFoundError("there is none")
        return keys[n % len(keys)]

    # -- time

    def ticks(self, n: int) -> None:
        tick(self.sandbox, 1 + n % 4)

    def pause(self, _: int) -> None:
        actions.do_pause(self.user, self.id)

    def play(self, n: int) -> None:
        actions.do_play(self.user, self.id, speed=float(n % 5))

    def step(self, n: int) -> None:
        actions.do_step(self.user, self.id, ticks=1 + n % 3)
        tick(self.sandbox, 3)

    def rewind(self, n: int) -> None:
        _, kept = actions.do_rewind(self.user, self.id, tick=n % (self._tick() + 1))
        check_rows(kept)

    def fork(self, n: int) -> None:
        """Fork somewhere in the past, and go on in the fork."""
        self.sandbox = actions.do_fork(
            self.user, self.id, tick=n % (self._tick() + 1), title="B"
        )
        actions.do_play(self.user, self.id)

    def _tick(self) -> int:
        return row(self.sandbox).tick

    # -- objects

    def job(self, n: int) -> None:
        queue, wide = f"{'ab'[n % 2]}-queue", 1 + n % 2
        self._put(job(f"extra-{n % 7}", queue=queue, cpu=1 + n % 3, parallelism=wide))

    def pod(self, n: int) -> None:
        self._put(loose_pod(10 + n, runtime=f"{1 + n % 5}s"))

    def quota(self, n: int) -> None:
        queue = cluster_queue("a", cohort="team", cpu=n % 7, within="LowerPriority")
        self._put(queue)

    def stop_queue(self, n: int) -> None:
        queue = cluster_queue("b", cohort="team", reclaim="Any")
        queue["spec"]["stopPolicy"] = ("None", "Hold", "HoldAndDrain")[n % 3]
        self._put(queue)

    def priority(self, n: int) -> None:
        self._put(workload_priority("high", n * 50))

    def local_queue(self, n: int) -> None:
        self._put(local_queue("b-queue", cluster_queue="ab"[n % 2]))

    def delete(self, n: int) -> None:
        actions.do_delete(self.user, self.id, [self._key(n)])

    # -- moves

    def move_workload(self, n: int) -> None:
        to = Key("LocalQueue", "default", f"{'ab'[n % 2]}-queue")
        actions.do_move(self.user, self.id, self._key(n // 2, "Workload"), to)

    def move_queue(self, n: int) -> None:
        to = Key("Cohort", "", ("team", "other")[n % 2])
        actions.do_move(self.user, self.id, self._key(n // 2, "ClusterQueue"), to)

    # -- nodes

    def node(self, n: int) -> None:
        name = self._key(n // len(CHANGES), "Node").name
        actions.do_node(self.user, self.id, name, CHANGES[n % len(CHANGES)])

    def add_node(self, n: int) -> None:
        actions.do_add_node(self.user, self.id, f"n{3 + n % 4}", like="n1")

    def pin(self, n: int) -> None:
        key, to = self._key(n // 3, "Pod"), ("", "n1", "n2")[n % 3]
        actions.do_pin(self.user, self.id, key.namespace, key.name, to)

    # -- policy

    def fair(self, n: int) -> None:
        fair = {"preemptionStrategies": ["LessThanInitialShare"]}
        self._policy(kueue={"fairSharing": fair if n % 2 else None})

    def stack(self, n: int) -> None:
        stack = sorted(POLICIES)[n % 3]
        self._policy(stack=stack, yunikorn={"queues": two_leaves(5)})

    def limit(self, n: int) -> None:
        self._policy(yunikorn={"queues": two_leaves(n % 7)})

    def binding(self, n: int) -> None:
        self._policy(simulation={"bindLatencyMs": n * 300, "podStartMs": n % 2 * 400})

    # -- what was done

    def undo(self, _: int) -> None:
        actions.do_undo(self.user, self.id)

    def redo(self, _: int) -> None:
        actions.do_redo(self.user, self.id)

    def rename(self, n: int) -> None:
        actions.do_rename(self.user, self.id, f"Sandbox {n}")

    def forget(self, _: int) -> None:
        """Lose what the process holds, as a worker that was killed."""
        worlds.forget_all()


VERBS: dict[str, Callable[[Someone, int], None]] = {
    name: verb
    for name, verb in vars(Someone).items()
    if callable(verb) and not name.startswith("_")
}
#: Half of all steps are ticks, or edits would meet a world in which nothing runs.
STEPS = st.lists(
    st.tuples(
        st.one_of(st.just("ticks"), st.sampled_from(sorted(VERBS))),
        st.integers(0, 30),
    ),
    min_size=4,
    max_size=12,
)


#: Sequences that once gave another world when they were done again, with the reason.
FOUND = {
    "a deleted pod that was being bound left its node as it was": (
        "kueue",
        "binding 21, job 7, ticks 3, ticks 1",
    ),
    "looking linked the quota tree": (
        "kueue",
        "ticks 1, quota 0, add_node 0, quota 3, ticks 1",
    ),
    "a note of an edit outlived it": (
        "kueue",
        "delete 13, local_queue 24, ticks 1, binding 4, ticks 0, ticks 3, node 0, ticks 3",
    ),
    "ended pods were on their node again": (
        "kube",
        "ticks 3, ticks 3, ticks 3, local_queue 14, node 7",
    ),
    "a change of stack read objects in another order": (
        "yunikorn",
        "quota 24, fair 27, fair 13, ticks 3, priority 20, ticks 3, ticks 3, "
        "stop_queue 11, ticks 2, stack 1",
    ),
}


@pytest.mark.parametrize("stack", POLICIES)
@settings(max_examples=EXAMPLES)
@given(steps=STEPS)
def test_state_and_diffs_are_the_fresh_state_after_anything(stack, steps):
    carry_out(stack, steps)


@pytest.mark.parametrize(("stack", "steps"), FOUND.values(), ids=FOUND)
def test_what_was_found_so_stays_right(stack, steps):
    words = [step.split() for step in steps.split(", ")]
    carry_out(stack, [(verb, int(how)) for verb, how in words])


def carry_out(stack: str, steps: list[tuple[str, int]]) -> None:
    """Do all steps, and compare after each."""
    worlds.forget_all()
    user = local_user()
    files = [("world.yaml", text_of(*everything()))]
    made = actions.do_create(user, files=files, policy=POLICIES[stack])
    someone = Someone(user, made.sandbox)
    actions.do_play(user, someone.id)
    for verb, how in steps:
        # What is refused must leave everything as it was.
        with contextlib.suppress(ConflictError, InvalidError, NotFoundError):
            VERBS[verb](someone, how)
        check_rows(someone.sandbox)
    check_history(someone.sandbox)


def check_history(sandbox: Sandbox) -> None:
    """Hold the world that history makes again against the present one."""
    present = row(sandbox)
    again = history.world_at(present, present.revision)
    assert again.hash() == present.hash
    invariants.check(again)
