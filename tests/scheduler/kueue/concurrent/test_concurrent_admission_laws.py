"""Laws of concurrent admission, whatever comes: no quota counts twice, one variant runs."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.decisions import Admit, Decision
from scheduler.model.objects import Object
from tests.invariants import violations
from tests.scheduler.kueue.concurrent.test_concurrent_admission import (
    a_world,
    admitted,
    cpu,
    family,
    queue,
    used,
)

JOBS = st.lists(
    st.fixed_dictionaries(
        {
            "amount": st.integers(1, 3),
            "runtime": st.sampled_from(["5s", "20s", "45s"]),
            "arrival": st.sampled_from(["0s", "1s", "10s", "11s"]),
            "priority_class": st.sampled_from(["", "high"]),
        }
    ),
    min_size=1,
    max_size=5,
)
QUOTAS = st.fixed_dictionaries(
    {n: st.integers(0, 4) for n in ("first", "second", "third")}
)
MODES = st.sampled_from(
    [("", ""), ("RetainFirstAdmission", ""), ("TryPreferredFlavors", "second")]
)


def families(world: World, jobs: int) -> list[tuple[Object, dict[str, Object]]]:
    there = {key.name for key in world.keys("Workload")}
    names = [f"j{i}" for i in range(jobs)]
    return [
        family(world, name)
        for name in names
        if any(one.startswith(f"job-{name}-variant") for one in there)
    ]


@settings(max_examples=25, deadline=None)
@given(jobs=JOBS, quotas=QUOTAS, mode=MODES, again=st.integers(1, 6))
def test_a_job_holds_the_quota_of_one_variant_at_most(jobs, quotas, mode, again):
    world = a_world(
        *(cpu(f"j{i}", **one) for i, one in enumerate(jobs)), of=queue(*mode, **quotas)
    )
    before: dict[str, str] = {}
    copy: World | None = None
    decided: list[Decision] = []
    for step in range(1, 9):
        decided += simulate(world, until_ms=step * 5_000).decisions
        if copy is not None:
            simulate(copy, until_ms=step * 5_000)
        if step == again:
            copy = world.copy()
        assert list(violations(world)) == []
        assert all(int(used(world)[name]) <= most for name, most in quotas.items())
        for parent, variants in families(world, len(jobs)):
            run = {name: one for name, one in variants.items() if admitted(one)}
            assert len(run) <= 1
            assert admitted(parent) == bool(run)
            held = parent.status.get("admission") if run else None
            assert held == next((one.status["admission"] for one in run.values()), None)
            if mode[0] == "RetainFirstAdmission" and run and not _evicted(parent):
                flavor = next(iter(run))
                assert before.setdefault(parent.key.name, flavor) == flavor
    assert copy is not None
    assert copy.hash() == world.hash()
    for parent, variants in families(world, len(jobs)):
        assert_first_wins(decided, parent, variants)


def assert_first_wins(
    decided: list[Decision], parent: Object, variants: dict[str, Object]
) -> None:
    """The first admission of a job is that of the first variant that was admitted."""
    keys = {one.key for one in variants.values()}
    admits = [d for d in decided if isinstance(d, Admit)]
    firsts = [d.subject.name for d in admits if d.subject in keys][:1]
    ours = [d.message for d in admits if d.subject == parent.key][:1]
    assert ours == [f"The variant {name} is admitted" for name in firsts]


def _evicted(parent: Object) -> bool:
    """Return whether a parent was ever preempted: then all flavors are tried again."""
    return any(c["type"] == "Evicted" for c in parent.status["conditions"])
