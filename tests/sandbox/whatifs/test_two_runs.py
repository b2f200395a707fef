"""A what-if's verdict is that of two runs, without its changes and with them, on any world."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from sandbox.whatifs.changes import operation_of
from sandbox.world import operations
from scheduler.analysis.measures.lives import Lives
from scheduler.analysis.measures.verdict import GAINS, LOSSES, ChangeVerdict, verdict
from scheduler.analysis.pairs import SeedVerdict, Side, compare_pair
from scheduler.assembly import merge
from scheduler.cli.plan import main as run_plan
from scheduler.cli.run import main as run_by_command_line
from scheduler.engine.tick import simulate
from scheduler.engine.world import World, fork
from scheduler.model.decisions import Decision
from scheduler.model.objects import Key
from tests.builders import (
    cluster_queue,
    flavor,
    job,
    local_queue,
    node,
    pod,
    queue_tree,
    workload_priority,
    world_of,
)
from tests.measured_lives import (
    Begin,
    Gang,
    aged,
    differing,
    later_of,
    measured,
    rows_of,
    run_of,
)
from tests.scheduler.kube.test_gangs import ON, group

HORIZON_MS = 40_000
DRAWS = int(os.environ.get("QUOTALAB_DRAWS", "10"))
Change = dict[str, Any]
Manifest = dict[str, Any]
STACKS = ("kueue", "kube", "yunikorn")
TIMES = st.sampled_from(("3s", "uniform(2s, 15s)", "10m"))


def tree_of(most: int) -> Manifest:
    """Return YuniKorn's queues: `a` with a guarantee, `b` with a limit."""
    place = [{"name": "provided", "create": False}]
    leaves: tuple[Manifest, ...] = (
        {"name": "a", "resources": {"guaranteed": {"vcore": "4"}}},
        {"name": "b", "resources": {"max": {"vcore": str(most)}}},
    )
    return queue_tree(*leaves, placementrules=place)


@st.composite
def work(draw: st.DrawFn, stack: str, name: str) -> Manifest:
    """Return a job or a pod that arrives, runs and ends in its time."""
    cpu = str(draw(st.integers(1, 4)))
    when = {"arrival": f"{draw(st.integers(0, 9))}s", "runtime": draw(TIMES)}
    queue = draw(st.sampled_from("ab"))
    if stack == "kueue":
        level = draw(st.sampled_from(("", "high")))
        return job(name, queue=queue, cpu=cpu, priority_class=level, **when)
    gang = draw(st.booleans())
    if stack == "kube":
        found = pod(name, cpu=cpu, **when)
        if gang:
            found["spec"]["schedulingGroup"] = {"podGroupName": "shared"}
        return found
    app, queue = ("shared", "a") if gang else (name, queue)
    labels = {"applicationId": app, "queue": f"root.{queue}"}
    return pod(name, cpu=cpu, labels=labels, **when)


@st.composite
def files(draw: st.DrawFn, stack: str, least: int = 1) -> list[Manifest]:
    """Return a small world: queues that lend, nodes, and work for more than they have."""
    names = [f"w{n}" for n in range(draw(st.integers(least, 6)))]
    found = [draw(work(stack, name)) for name in names]
    found += [node(f"n{n}", cpu="4") for n in range(draw(st.integers(1, 3)))]
    if stack == "kube":
        shared = group({"gang": {"minCount": draw(st.integers(1, 4))}}, "shared")
        api = {"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup"}
        return [*found, shared | api]
    if stack == "yunikorn":
        return found
    reclaim = draw(st.sampled_from(("Never", "Any")))
    within = draw(st.sampled_from(("Never", "LowerPriority")))
    for name in "ab":
        shape: dict[str, Any] = {
            "cohort": "all",
            "cpu": 4,
            "within": within,
            "reclaim": reclaim,
        }
        found += [cluster_queue(name, **shape), local_queue(name, cluster_queue=name)]
    return [*found, flavor(), workload_priority("high", 100)]


def policy_of(stack: str) -> dict[str, Any]:
    more = {"yunikorn": {"yunikorn": {"queues": tree_of(6)}}}
    more["kube"] = {"kubeScheduler": ON}
    return {"stack": stack, **more.get(stack, {})}


def patches(stack: str) -> st.SearchStrategy[Change]:
    """Return changes of objects that are there."""
    amounts = st.integers(1, 8)
    node_states = st.sampled_from(("cordon", "drain", "fail"))
    kept = st.builds(
        lambda change: {"node": {"name": "n0", "change": change}}, node_states
    )
    if stack == "kueue":
        rules = st.sampled_from(("Never", "LowerPriority"))
        return (
            kept
            | st.builds(
                lambda rule: patched({"preemption": {"withinClusterQueue": rule}}),
                rules,
            )
            | st.builds(
                lambda amount: {"apply": cluster_queue("a", cohort="all", cpu=amount)},
                amounts,
            )
        )
    if stack == "yunikorn":
        return kept | st.builds(
            lambda amount: {
                "policy": {"spec": {"yunikorn": {"queues": tree_of(amount)}}}
            },
            amounts,
        )
    return kept | st.builds(lambda n: {"apply": node(f"m{n}", cpu="4")}, amounts)


def patched(spec: dict[str, Any]) -> Change:
    """Return the change of fields of queue `a`."""
    return {
        "patch": {
            "kind": "ClusterQueue",
            "namespace": "",
            "name": "a",
            "body": {"spec": spec},
        }
    }


@st.composite
def changes(draw: st.DrawFn, stack: str) -> list[Change]:
    """Return changes of every kind: patched, applied, deleted, of the policy."""
    kind = "Job" if stack == "kueue" else "Pod"
    gone = {"delete": {"kind": kind, "namespace": "default", "name": "w0"}}
    spans = st.sampled_from(("2s", "9s"))
    others = [
        patches(stack),
        work(stack, "new").map(lambda manifest: {"apply": manifest}),
        spans.map(
            lambda t: {"policy": {"spec": {"simulation": {"defaultRuntime": t}}}}
        ),
    ]
    chosen = draw(st.lists(st.sampled_from(others), min_size=1, unique_by=id))
    found = [draw(one) for one in chosen]
    return [gone, *found] if draw(st.booleans()) else found  # a drain takes it, too


def there_to(world: World, asked: list[Change]) -> list[Change]:
    """Leave out what would delete what has not come, or is gone."""
    keys = {(one.kind, one.name) for one in world.objects}
    gone = [one.get("delete") for one in asked]
    return [
        one
        for one, key in zip(asked, gone, strict=True)
        if key is None or (key["kind"], key["name"]) in keys
    ]


@st.composite
def cases(draw: st.DrawFn, stack: str) -> tuple[Begin, list[Change]]:
    """Return a world some ticks old, and changes of it."""
    given_changes = draw(changes(stack))
    world = world_of(*draw(files(stack)), **policy_of(stack))
    begin = aged(world, draw(st.integers(0, 6)))
    return begin, there_to(world, given_changes)


def gangs(*worlds: World) -> dict[str, Gang]:
    """Return the gang or application of each pod that names one."""
    found = {}
    for key, obj in ((k, one) for world in worlds for k, one in world.objects.items()):
        if "applicationId" in obj.labels:
            found[str(key)] = Gang(f"Application//{obj.labels['applicationId']}", None)
        elif key.kind == "Pod" and "schedulingGroup" in obj.spec:
            name = obj.spec["schedulingGroup"]["podGroupName"]
            of = Key("PodGroup.scheduling.k8s.io", key.namespace, name)
            policy = worlds[-1].objects[of].spec["schedulingPolicy"]
            found[str(key)] = Gang(str(of), policy["gang"]["minCount"])
    return found


def verdict_of(world: World, asked: list[Change], seed: int) -> SeedVerdict:
    """Return what a what-if with these changes answers."""
    operation = operation_of(world, asked)
    found = compare_pair(
        world,
        lambda side: operations.perform(side, operation),
        horizon_ms=HORIZON_MS,
        seeds=[seed],
    )
    return found.seeds[0]


def decided(side: World) -> list[Decision]:
    """Return what one run decides up to the horizon."""
    until = side.context.now_ms + HORIZON_MS
    run = side.context.journal.take_decisions()
    return [*run, *simulate(side, until_ms=until).decisions]


@pytest.mark.parametrize("stack", STACKS)
@settings(max_examples=DRAWS, phases=[Phase.generate])
@given(data=st.data(), seed=st.integers(1, 3))
def test_the_verdict_is_that_of_two_runs(
    stack: str, data: st.DataObject, seed: int
) -> None:
    begin, asked = data.draw(cases(stack))
    world, until = begin.world, begin.now + HORIZON_MS
    before = world.hash()
    sides = []
    for made in ([], asked):
        side = fork(world, seed=seed)
        if made:
            operations.perform(side, operation_of(world, made))
        there, parts = list(side.objects), gangs(world, side)
        sides.append(measured(begin, run_of(side, until), there, until, parts))
    found = verdict_of(world, asked, seed)
    expected = differing(*sides)
    assert rows_of(found.verdict) == expected
    for row in found.verdict.workloads:
        both = expected.get(row.subject, (None, None))
        counted = row.fates[0] not in ("equal", "elsewhere", "moved")
        assert row.later_ms == (later_of(both) if counted else 0)
    assert world.hash() == before


@pytest.mark.parametrize("stack", STACKS)
@settings(max_examples=DRAWS, phases=[Phase.generate])
@given(data=st.data(), seed=st.integers(1, 3))
def test_sums_are_those_of_rows_and_each_chain_ends_at_the_change(
    stack: str, data: st.DataObject, seed: int
) -> None:
    begin, asked = data.draw(cases(stack))
    lives = both_lives(begin, asked, seed)
    found = verdict(*lives)
    rows = found.workloads
    for groups in found.by.values():
        for name in ("later_ms", "waiting_ms", "lost_ms"):
            assert sum(getattr(one, name) for one in groups) == getattr(found, name)
        for one in groups:
            assert one.later_ms == one.waiting_ms + one.lost_ms
        assert sum(one.later for one in groups) == sum(row.loses for row in rows)
        assert sum(one.earlier for one in groups) == sum(row.gains for row in rows)
        for side in ("without", "changed"):
            whole = getattr(found, side)
            for name in ("units", "evictions", "work_lost_ms", "waited_ms", "finished"):
                parts = (getattr(getattr(one, side), name) for one in groups)
                assert sum(parts) == getattr(whole, name)
    names = {str(key) for side in lives for key in {*side.units, *side.pods}}
    for row in rows:
        assert row.later_ms == row.waiting_ms + row.lost_ms
        if row.why is None:
            assert row.fates[0] in ("equal", "onlyWith", "onlyWithout", "moved")
            continue
        at, times = row.why, []
        while at != -1:
            link = found.links[at]
            assert link.event == "change" or link.subject in names
            times.append(link.at_ms)
            at = link.cause
        assert link.event == "change"
        assert times == sorted(times, reverse=True)


@pytest.mark.parametrize("stack", STACKS)
@settings(max_examples=DRAWS, phases=[Phase.generate])
@given(data=st.data(), seed=st.integers(1, 3))
def test_with_both_sides_swapped_every_sign_is_swapped(
    stack: str, data: st.DataObject, seed: int
) -> None:
    begin, asked = data.draw(cases(stack))
    lives = both_lives(begin, asked, seed)
    there, back = verdict(*lives), verdict(*reversed(lives))
    assert there.later_ms == -back.later_ms
    rows = {row.subject: row for row in back.workloads}
    assert rows.keys() == {row.subject for row in there.workloads}
    for row in there.workloads:
        other = rows[row.subject]
        assert (row.later_ms, row.lost_ms) == (-other.later_ms, -other.lost_ms)
        assert sorted(map(opposite, row.fates)) == sorted(other.fates)


@pytest.mark.parametrize("stack", STACKS)
@settings(max_examples=DRAWS, phases=[Phase.generate])
@given(data=st.data())
def test_the_verdict_is_that_of_two_runs_of_the_command_line(
    stack: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    asked = [one for one in data.draw(changes(stack)) if "node" not in one]
    there = data.draw(files(stack))
    world = world_of(*there, **policy_of(stack))
    asked = there_to(world, asked)
    if "Pod/default/w0" in gangs(world) and stack == "kube":
        # A member that is there and then deleted is not one that never was: the others
        # were tried with it.
        asked = [one for one in asked if "delete" not in one]
    document = {**policy_of(stack), "simulation": {"latencies": None}}
    policy = {"apiVersion": "quotalab.dev/v1", "kind": "Policy", "spec": document}
    folder = tmp_path_factory.mktemp("runs")
    runs = [
        by_command_line(folder / name, manifests)
        for name, manifests in (
            ("without", [policy, *there]),
            ("changed", written([policy, *there], asked)),
        )
    ]
    changed = fork(world)
    operations.perform(changed, operation_of(world, asked))
    for run, side in zip(runs, (fork(world), changed), strict=True):
        assert run == courses(decided(side))


def both_lives(begin: Begin, asked: list[Change], seed: int) -> list[Lives]:
    """Return the lives of a run without the changes, and of one with them."""
    world, until = begin.world, begin.now + HORIZON_MS
    found = []
    for made in ([], asked):
        side = fork(world, seed=seed)
        if made:
            operations.perform(side, operation_of(world, made))
        found.append(Side(side, until, world).at(until, lambda: None).lives)
    return found


def opposite(fate: str) -> str:
    """Return what a fate is with both sides swapped."""
    pairs = [*zip(LOSSES, GAINS, strict=True), ("onlyWith", "onlyWithout")]
    both = dict(pairs) | {other: one for one, other in pairs}
    return both.get(fate, fate)


def courses(decisions: list[Decision]) -> list[Any]:
    """Return what was decided, of whom and when."""
    return sorted(
        (one.at_ms, type(one).__name__, str(one.subject))
        for one in decisions
        if type(one).__name__ in ENDS
    )


ENDS = ("Admit", "Bind", "Evict", "Preempt", "Finish", "Fail")


def by_command_line(folder: Path, manifests: list[Manifest]) -> list[Any]:
    """Run files by the command line; return what was decided, of whom and when."""
    folder.mkdir()
    (folder / "world.yaml").write_text(yaml.safe_dump_all(manifests))
    out = io.StringIO()
    until = f"{HORIZON_MS // 1000}s"
    run_by_command_line([str(folder), "--until", until, "--seed", "1", "--json"], out)
    return sorted(
        (one["atMs"] if "atMs" in one else one["at_ms"], one["type"], one["subject"])
        for one in json.loads(out.getvalue())["decisions"]
        if one["type"] in ENDS
    )


def written(manifests: list[Manifest], asked: list[Change]) -> list[Manifest]:
    """Return the files with the changes written into them by hand."""
    found = {place_of(one): one for one in manifests}
    for change in asked:
        ((kind, given_change),) = change.items()
        if kind == "apply":
            found[place_of(given_change)] = given_change
        elif kind == "delete":
            del found[given_change["kind"], given_change["name"]]
        elif kind == "patch":
            place = given_change["kind"], given_change["name"]
            found[place] = merge(found[place], given_change["body"])
        else:
            place = "Policy", ""
            found[place] = merge(found[place], given_change)
    return list(found.values())


def place_of(manifest: Manifest) -> tuple[str, str]:
    return manifest["kind"], manifest.get("metadata", {}).get("name", "")


@pytest.mark.parametrize("stack", STACKS)
@settings(max_examples=DRAWS, phases=[Phase.generate])
@given(data=st.data())
def test_the_verdict_of_a_plan_is_that_of_two_runs_of_its_files(
    stack: str, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    there = data.draw(files(stack))
    asked = [one for one in [data.draw(patches(stack))] if "node" not in one]
    folder = tmp_path_factory.mktemp("plan")
    spec = {**policy_of(stack), "simulation": {"latencies": None}}
    policy = {"apiVersion": "quotalab.dev/v1", "kind": "Policy", "spec": spec}
    sides = [policy, *there], written([policy, *there], asked)
    for name, manifests in zip(("base.yaml", "changed.yaml"), sides, strict=True):
        (folder / name).write_text(yaml.safe_dump_all(manifests))
    work_of = [policy, *(one for one in there if one["kind"] in ("Job", "Pod"))]
    (folder / "work.yaml").write_text(yaml.safe_dump_all(work_of))
    out = io.StringIO()
    words = [f"{folder}/changed.yaml", "--against", f"{folder}/base.yaml"]
    words += ["--on", f"{folder}/work.yaml", "--horizon", f"{HORIZON_MS}ms", "--json"]
    assert run_plan([*words, "--seeds", "1", "--workers", "1"], out) == 0
    found = msgspec.convert(json.loads(out.getvalue())["verdict"], ChangeVerdict)
    runs = []
    for given_policy, *manifests in sides:
        world = world_of(*manifests, **given_policy["spec"])
        begin = Begin(fork(world))
        there, parts = list(world.objects), gangs(world)
        run = run_of(world, HORIZON_MS)
        runs.append(measured(begin, run, there, HORIZON_MS, parts))
    assert rows_of(found) == differing(*runs)


@pytest.mark.parametrize("stack", STACKS)
@settings(max_examples=DRAWS, phases=[Phase.generate])
@given(data=st.data(), seed=st.integers(1, 3))
def test_an_empty_change_gives_an_empty_verdict(
    stack: str, data: st.DataObject, seed: int
) -> None:
    begin, _ = data.draw(cases(stack))
    found = verdict_of(begin.world, [], seed)
    assert (found.verdict.workloads, found.verdict.links) == ([], [])
    assert not found.differs
    assert found.without == found.changed
