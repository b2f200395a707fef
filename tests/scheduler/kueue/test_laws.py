"""Laws that hold in any world: usage, victims, equal runs, fair sharing at rest."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.kueue.queries import violations
from scheduler.engine.kueue.tree.quota import add_usages, remove_usages, share_of_node
from scheduler.engine.kueue.tree.tree import Cohort, ResourceNode
from scheduler.model.decisions import Admit, Preempt
from scheduler.model.objects import Key
from tests.scheduler.kueue.rig import Rig

AMOUNT = st.integers(0, 8)
LIMIT = st.none() | st.integers(0, 6)
WEIGHT = st.sampled_from(["0", "500m", "1", "2"])


@st.composite
def trees(draw):
    """Return cohorts (name, parent) and queues with quota, limits and policies."""
    depth = draw(st.integers(1, 3))
    cohorts = [(f"c{i}", f"c{draw(st.integers(0, i - 1))}") for i in range(1, depth)]
    queues = []
    for i in range(draw(st.integers(2, 5))):
        cpu = draw(AMOUNT)
        lending = draw(LIMIT)
        queues.append(
            {
                "name": f"q{i}",
                "cpu": cpu,
                "cohort": f"c{draw(st.integers(0, depth - 1))}",
                "borrowing": draw(LIMIT),
                "lending": None if lending is None else min(lending, cpu),
                "within": draw(st.sampled_from(["Never", "LowerPriority"])),
                "reclaim": draw(st.sampled_from(["Never", "LowerPriority", "Any"])),
                "weight": draw(WEIGHT),
            }
        )
    return cohorts, queues


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "finish", "remove", "off"]),
        st.integers(0, 4),
        st.integers(1, 5),
        st.integers(0, 2),
    ),
    max_size=14,
)
FAIR = st.booleans()


def build(tree, *, fair: bool) -> Rig:
    cohorts, queues = tree
    rig = Rig({"fairSharing": {}} if fair else {})
    for name, parent in cohorts:
        rig.put("Cohort", name, {"parentName": parent}, namespace="")
    for queue in queues:
        rig.queue(**queue)
    return rig


def play(rig: Rig, queues: list, steps: list) -> list:
    """Carry the steps out, one a second; return all that was decided."""
    reported = []
    for number, (what, where, cpu, priority) in enumerate(steps):
        act(rig, queues, number, what, where, cpu, priority)
        reported += rig.run(number)
    return reported


def act(rig, queues, number, what, where, cpu, priority) -> None:
    if what == "add":
        queue = queues[where % len(queues)]["name"]
        rig.workload(f"w{number}", queue, cpu=cpu, priority=priority)
        return
    running = rig.runs()
    if not running:
        return
    key = Key("Workload", "default", running[where % len(running)])
    if what == "finish":
        rig.stage.finish(key)
    elif what == "remove":
        rig.stage.remove(key)
    else:
        rig.edit(key, active=False)


def expected_usage(cohort: Cohort, resource_node: ResourceNode) -> int:
    below = [
        max(0, inner.usage - inner.local_quota)
        for child in cohort.children()
        if (inner := child.resource_nodes.get(resource_node.flavor_resource))
        is not None
    ]
    return sum(below)


@settings(max_examples=120, deadline=None)
@given(tree=trees(), steps=STEPS, fair=FAIR)
def test_usage_is_the_sum_of_what_is_below(tree, steps, fair):
    rig = build(tree, fair=fair)
    play(rig, tree[1], steps)
    assert list(violations(rig.stage)) == []
    for cohort in rig.stage.cluster.forest.cohorts.values():
        for resource_node in cohort.resource_nodes.values():
            assert resource_node.usage == expected_usage(cohort, resource_node)


@settings(max_examples=60, deadline=None)
@given(tree=trees(), steps=STEPS, fair=FAIR)
def test_equal_input_gives_equal_decisions(tree, steps, fair):
    first = play(build(tree, fair=fair), tree[1], steps)
    second = play(build(tree, fair=fair), tree[1], steps)
    assert first == second


@settings(max_examples=150, deadline=None)
@given(tree=trees(), steps=STEPS, fair=FAIR)
def test_no_victim_could_have_been_spared(tree, steps, fair):
    """Each victim, put back alone, makes its preemptor not fit."""
    rig = build(tree, fair=fair)
    for number, step in enumerate(steps):
        act(rig, tree[1], number, *step)
        rig.context.now_ms = number * 1000
        rig.controllers()
        before = len(rig.context.journal.decisions)
        rig.stage.cycle()
        check_victims(rig, rig.context.journal.decisions[before:])
        rig.controllers()


def check_victims(rig: Rig, decisions: list) -> None:
    if any(isinstance(d, Admit) for d in decisions):
        return  # usage has moved on since the search
    victims: dict[Key, list] = {}
    for d in decisions:
        if isinstance(d, Preempt):
            victims.setdefault(d.by, []).append(rig.stage.cluster.workloads[d.subject])
    if len(victims) != 1:
        return  # several searches in one cycle reserve for one another
    ((by, works),) = victims.items()
    preemptor = rig.stage.cluster.workloads[by]
    queue = rig.stage.cluster.cluster_queue_of(preemptor)
    resource_node, amount = queue.resource_nodes["f", "cpu"], preemptor.totals[0]["cpu"]
    fair = rig.stage.settings.fair
    for work in works:
        remove_usages(work.usage)
    assert fits(resource_node, amount)
    for work in works:
        add_usages(work.usage)
        # A classical search may have looked for room within nominal quota only.
        beyond = not fair and resource_node.usage + amount > resource_node.nominal
        assert beyond or not fits(resource_node, amount)
        remove_usages(work.usage)
    for work in works:
        add_usages(work.usage)


def fits(resource_node: ResourceNode, amount: int) -> bool:
    """Return whether `amount` fits: asked of the semantics' formula, top down."""
    return amount <= max(0, room(resource_node))


def room(resource_node: ResourceNode) -> int:
    if resource_node.parent is None:
        return resource_node.subtree_quota - resource_node.usage
    above = room(resource_node.parent)
    if resource_node.borrowing_limit is not None:
        stored = resource_node.subtree_quota - resource_node.local_quota
        taken = max(0, resource_node.usage - resource_node.local_quota)
        above = min(above, stored - taken + resource_node.borrowing_limit)
    return max(0, resource_node.local_quota - resource_node.usage) + above


@settings(max_examples=80, deadline=None)
@given(tree=trees(), steps=STEPS)
def test_fair_sharing_comes_to_rest(tree, steps):
    """With nothing new, preemptions end: the rig gives up on an endless cycle."""
    rig = build(tree, fair=True)
    play(rig, tree[1], steps)
    assert rig.run(1000) == []
    for node in rig.stage.cluster.forest.nodes():
        assert share_of_node(node).value >= 0


@settings(max_examples=60, deadline=None)
@given(tree=trees(), steps=STEPS, fair=FAIR)
def test_nobody_is_admitted_beyond_the_quota_of_the_whole_tree(tree, steps, fair):
    rig = build(tree, fair=fair)
    play(rig, tree[1], steps)
    for cohort in rig.stage.cluster.forest.cohorts.values():
        if cohort.parent is None:
            for resource_node in cohort.resource_nodes.values():
                assert resource_node.usage <= resource_node.subtree_quota
