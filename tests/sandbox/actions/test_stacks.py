"""Whatever schedules: the rows, the page and the diffs show the same world."""

from __future__ import annotations

import pytest

from sandbox import actions
from sandbox.base import library
from sandbox.world import worlds
from tests import invariants, stored
from tests.builders import node, pod, two_leaves
from tests.sandbox.conftest import check_rows, contended, row, tick

pytestmark = pytest.mark.django_db
both_databases = pytest.mark.both_databases

NODES = [node("n1", cpu=4), node("n2", cpu=3)]
QUEUES = two_leaves()


def pods(**labels: str) -> list[dict]:
    made = []
    for n in range(10):
        extra = {key: value.format(n % 3, "ab"[n % 2]) for key, value in labels.items()}
        made.append(
            pod(
                f"pod-{n}",
                cpu=1 + n % 2,
                labels=extra,
                arrival=f"{n % 5}s",
                runtime=f"{2 + n % 4}s",
            )
        )
    return made


STACKS = {
    "Kueue over kube-scheduler": ([*contended(), *NODES], {"stack": "kueue"}),
    "Kueue with pods that take a while": (
        [*contended(), *NODES],
        {
            "stack": "kueue",
            "simulation": {"bindLatencyMs": 700, "podStartMs": 1300},
        },
    ),
    "kube-scheduler alone": ([*pods(), *NODES], {"stack": "kube"}),
    "YuniKorn": (
        [
            dict(p, spec={**p["spec"], "schedulerName": "yunikorn"})
            for p in pods(applicationId="app-{0}", queue="root.{1}")
        ]
        + NODES,
        {"stack": "yunikorn", "yunikorn": {"queues": QUEUES}},
    ),
}


@both_databases
@pytest.mark.parametrize(("manifests", "policy"), STACKS.values(), ids=STACKS)
def test_rows_page_and_world_agree_after_every_tick(manifests, policy, make, person):
    sandbox = make(*manifests, policy=policy)
    actions.do_play(person, sandbox.pk)
    for _ in range(25):
        tick(sandbox)
        check_rows(sandbox)
    placed = any(stored.places(sandbox.pk).values())
    assert placed or policy["stack"] == "kueue"


@both_databases
@pytest.mark.parametrize(("manifests", "policy"), STACKS.values(), ids=STACKS)
def test_a_stack_goes_on_the_same_from_rows(manifests, policy, make, person):
    one, other = (make(*manifests, policy=policy) for _ in range(2))
    for sandbox in (one, other):
        actions.do_play(person, sandbox.pk)
    for _ in range(25):
        tick(one)
        worlds.drop(other.pk)
        tick(other)
        assert row(one).hash == row(other).hash


@both_databases
def test_the_stack_is_switched_while_it_runs(make, person):
    manifests = [*contended(), *pods(), *NODES]
    sandbox = make(*manifests)
    actions.do_play(person, sandbox.pk)
    for stack in ("kube", "yunikorn", "kueue", "yunikorn", "kube", "kueue"):
        tick(sandbox, 4)
        actions.do_policy(person, sandbox.pk, {"spec": {"stack": stack}}, patch=True)
        check_rows(sandbox)
        tick(sandbox, 3)
        check_rows(sandbox)
    assert row(sandbox).problem == ""


@both_databases
def test_an_application_has_one_submit_time_after_every_switch(make, person):
    """An older pod that comes back late makes its application older for all."""
    mine = {"applicationId": "one", "queue": "root.a"}
    lives = {"b": ("0s", "9s"), "a": ("4s", "60s"), "c": ("14s", "60s")}
    manifests = [
        pod(name, labels=mine, arrival=arrival, runtime=runtime)
        for name, (arrival, runtime) in lives.items()
    ]
    policy = {"stack": "yunikorn", "yunikorn": {"queues": QUEUES}}
    lived, read = (make(*manifests, *NODES, policy=policy) for _ in range(2))
    for sandbox in (lived, read):
        actions.do_play(person, sandbox.pk)
        for stack in ("yunikorn", "kube", "yunikorn"):
            switched = {"spec": {"stack": stack}}
            actions.do_policy(person, sandbox.pk, switched, patch=True)
            for _ in range({"kube": 4}.get(stack, 3)):
                tick(sandbox)
        for _ in range(8):
            if sandbox is read:
                worlds.drop(sandbox.pk)
            tick(sandbox)
    assert row(lived).tick == 18
    assert row(lived).hash == row(read).hash


#: The rows of a scenario are the same kinds of rows: a few of them are enough twice.
SCENARIOS = [
    pytest.param(name, marks=both_databases if at % 12 == 0 else ())
    for at, name in enumerate(library.names())
]


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_of_the_library_runs(name, person):
    sandbox = actions.do_create(person, scenario=name).sandbox
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 40)
    check_rows(sandbox)
    world, _ = worlds.copy_of(sandbox.pk)
    invariants.check(world)
