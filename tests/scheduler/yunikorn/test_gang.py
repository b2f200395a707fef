"""Gangs: placeholders hold the room, real pods take it over."""

from __future__ import annotations

import random
from typing import Any

from scheduler.engine.yunikorn.gang import placeholders
from scheduler.engine.yunikorn.objects.gang_state import GangState, TaskGroup
from scheduler.engine.yunikorn.objects.model import Application, State
from scheduler.model.reasons import RESERVATION_TIMEOUT
from tests.scheduler.yunikorn.reference.gangs import (
    PHASE_MS,
    TICK_MS,
    Gangs,
    Shown,
    drawn,
)
from tests.scheduler.yunikorn.worlds import World, cores, queue

PHASES = 5
BOTH = (True, False)


def _world(nodes: dict[str, float] | None = None, **properties: str) -> World:
    return World(
        queue("q", **properties),
        queue("other"),
        nodes=nodes or {"n": 4},
        laws="released",
    )


def _form(world: World, members: int, size: float = 1, **given: Any) -> Application:
    app = world.app("app", "root.q")
    group = TaskGroup(name="g", members=members, resource=cores(size))
    gang = GangState(groups={"g": group}, **given)
    assert not placeholders.declare(world.partition, app, gang)
    placeholders.add_placeholders(world.partition, app, 0)
    return app


def test_a_gang_runs_once_every_placeholder_has_its_place() -> None:
    world = _world()
    app = _form(world, 3)
    world.settle(steps=5)
    assert app.state is State.RUNNING
    assert len(world.places()) == 3


def test_a_gang_that_does_not_fit_holds_what_it_has_and_waits() -> None:
    world = _world({"n": 2})
    app = _form(world, 3)
    world.settle(steps=5)
    assert app.state is State.ACCEPTED
    assert world.used("root.q") == 2


def test_real_pods_take_the_places_over() -> None:
    world = _world()
    _form(world, 2)
    world.settle(steps=5)
    for number in range(2):
        world.waiting(f"p{number}", "root.q", 1, app="app", group="g")
    world.settle(steps=5)
    assert sorted(world.places()) == ["p0", "p1"]
    assert world.used("root.q") == 2


def test_a_smaller_pod_gives_the_rest_back() -> None:
    world = _world()
    _form(world, 1, size=2)
    world.settle(steps=3)
    world.waiting("p", "root.q", 1, app="app", group="g")
    world.settle(steps=3)
    assert world.used("root.q") == 1


def test_a_placeholder_that_is_too_small_is_given_up() -> None:
    world = _world()
    _form(world, 1)
    world.settle(steps=3)
    world.waiting("p", "root.q", 2, app="app", group="g")
    world.settle(steps=3)
    assert ("release", "tg-app-g-0", "Cancelled") in world.recorded.events
    assert list(world.places()) == ["p"]


def test_unused_placeholders_go_when_their_time_is_over() -> None:
    world = _world()
    app = _form(world, 2, timeout_ms=5_000)
    world.settle(steps=20)
    world.waiting("p", "root.q", 1, app="app", group="g")
    world.settle(steps=60)
    assert list(world.places()) == ["p"]
    assert app.state is State.RUNNING


def test_a_soft_gang_goes_on_without_its_placeholders() -> None:
    world = _world({"n": 1})
    world.partition.root.max = cores(100)
    app = _form(world, 2, timeout_ms=5_000)
    world.waiting("p", "root.q", 1, app="app", group="g")
    world.settle(steps=80)
    assert list(world.places()) == ["p"]
    assert app.state is State.RUNNING


def test_a_hard_gang_fails() -> None:
    world = _world({"n": 1})
    world.partition.root.max = cores(100)
    app = _form(world, 2, timeout_ms=5_000, style="Hard")
    world.waiting("p", "root.q", 1, app="app", group="g")
    world.settle(steps=60)
    assert app.state is State.FAILED
    assert world.places() == {}
    assert RESERVATION_TIMEOUT in world.recorded.why["p"]


def test_a_gang_larger_than_its_queue_is_rejected() -> None:
    world = World(queue("q", max=2), nodes={"n": 9}, laws="released")
    app = world.app("app", "root.q")
    group = TaskGroup(name="g", members=3, resource=cores(1))
    gang = GangState(groups={"g": group})
    assert placeholders.declare(world.partition, app, gang)


def test_a_gang_needs_a_queue_that_is_first_in_first_out() -> None:
    world = _world(application_sort_policy="fair")
    app = world.app("app", "root.q")
    group = TaskGroup(name="g", members=1, resource=cores(1))
    gang = GangState(groups={"g": group})
    assert placeholders.declare(world.partition, app, gang)


def _played(given: Gangs) -> list[list[Shown]]:
    """Return what the engine shows of these gangs at the end of each phase."""
    world = World(queue("q", max=given.cores), nodes={"n": 99}, laws="released")
    apps, seen, made = [], [], 0
    for number, gang in enumerate(given.gangs):
        app = world.app(gang.name, "root.q", submit_ms=number)
        groups = {
            f"g{i}": TaskGroup(
                name=f"g{i}", members=group.members, resource=cores(group.cores)
            )
            for i, group in enumerate(gang.groups)
        }
        state = GangState(groups=groups, style=gang.style, timeout_ms=gang.timeout_ms)
        assert not placeholders.declare(world.partition, app, state)
        placeholders.add_placeholders(world.partition, app, 0)
        apps.append(app)
    for phase in range(PHASES):
        for app, gang in zip(apps, given.gangs, strict=True):
            groups = {} if app.state is State.FAILED else dict(enumerate(gang.groups))
            for i, group in groups.items():
                for size in group.pods[phase]:
                    made += 1
                    pod = f"p{made:03}"
                    world.waiting(pod, "root.q", size, app=gang.name, group=f"g{i}")
        world.settle(steps=PHASE_MS // TICK_MS)
        seen.append([_shown(app) for app in apps])
    return seen


def _shown(app: Application) -> Shown:
    held = [
        (ask.placeholder, ask.resource["vcore"] // 1000)
        for ask in app.allocations.values()
    ]
    ours = [sum(size for placeholder, size in held if placeholder is it) for it in BOTH]
    return app.id, ours[0], ours[1], app.state is State.FAILED


def test_drawn_gangs_hold_and_give_up_their_places_as_the_text_says() -> None:
    seed = random.getrandbits(32)
    draw = random.Random(seed)
    for _ in range(40):
        gangs = drawn(draw, PHASES)
        assert _played(gangs) == list(gangs.run(PHASES)), seed
