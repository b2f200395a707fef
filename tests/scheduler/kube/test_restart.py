"""A scheduler that is written down and taken up again decides the same."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.scheduler.kube.rig import GANG_PLUGINS, Rig, node, pod, pod_group, profile

ANTI = {
    "podAntiAffinity": {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {"matchLabels": {"app": "a"}},
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }
}
SPREAD = [
    {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "b"}},
    }
]

steps = st.lists(
    st.one_of(
        st.tuples(
            st.just("pod"),
            st.sampled_from(["plain", "big", "anti", "spread", "gang", "older"]),
            st.integers(0, 3),
        ),
        st.tuples(st.just("pod"), st.sampled_from(["big", "gang"]), st.integers(0, 1)),
        st.tuples(st.just("gone"), st.integers(0, 30), st.just(0)),
        st.tuples(st.just("cordon"), st.integers(0, 3), st.booleans()),
        st.tuples(st.just("wait"), st.integers(1, 12), st.just(0)),
    ),
    min_size=12,
    max_size=18,
)

CONFIGURATIONS: dict[str, Any] = {
    "one": {"profiles": [profile(plugins=GANG_PLUGINS)]},
    "patient": {
        "featureGates": {"SchedulerPopFromBackoffQ": False},
        "profiles": [
            profile(
                plugins=GANG_PLUGINS,
                pluginConfig=[
                    {
                        "name": "Coscheduling",
                        "args": {
                            "permitWaitingTimeSeconds": 5,
                            "podGroupRejectPercentage": 100,
                        },
                    }
                ],
            )
        ],
    },
    "two": {
        "kind": "List",
        "items": [
            {"profiles": [profile()]},
            {"profiles": [profile("second")]},
        ],
    },
}


def cluster(name: str, latency: int, **simulation: Any) -> Rig:
    nodes = [node(f"n{i}", cpu=4, labels={"zone": f"z{i % 2}"}) for i in range(4)]
    groups = [pod_group(f"g{i}", 3) for i in range(2)]
    return Rig(
        *nodes,
        *groups,
        configuration=CONFIGURATIONS[name],
        bind_latency_ms=latency,
        **simulation,
    )


def act(rig: Rig, number: int, step: tuple[str, Any, Any]) -> None:
    what, which, more = step
    if what == "pod":
        rig.put(manifest(f"p{number}", which, more, two="second" in str(rig.policy)))
    elif what == "gone":
        keys = sorted(key for key in rig.objects if key.kind == "Pod")
        if keys:
            rig.remove(keys[which % len(keys)])
    elif what == "cordon":
        zone = {"zone": f"z{which % 2}"}
        rig.put(node(f"n{which}", labels=zone, unschedulable=more))
    else:
        rig.run(rig.context.now_ms + which * 500)
    rig.settle()


def manifest(name: str, which: str, priority: int, *, two: bool) -> dict[str, Any]:
    more: dict[str, Any] = {"cpu": 1, "priority": priority * 10}
    if which == "big":
        more["cpu"] = 3
    elif which == "anti":
        more |= {"labels": {"app": "a"}, "affinity": ANTI}
    elif which == "spread":
        more |= {"labels": {"app": "b"}, "topologySpreadConstraints": SPREAD}
    elif which == "gang":
        more |= {"group": f"g{priority % 2}", "cpu": 2}
    elif which == "older":
        label = "pod-group.scheduling.sigs.k8s.io"
        more["labels"] = {f"{label}/name": "old", f"{label}/min-available": "2"}
    if two and priority % 2:
        more["scheduler"] = "second"
    return pod(name, **more)


@settings(max_examples=60)
@given(
    steps=steps,
    cut=st.integers(5, 11),
    name=st.sampled_from(sorted(CONFIGURATIONS)),
    latency=st.sampled_from([0, 700]),
    binding=st.sampled_from(["kubernetes", "compare-and-set"]),
    locking=st.sampled_from(["optimistic", "pessimistic"]),
)
def test_written_and_read_back_it_goes_on_as_if_never_stopped(
    steps: list[Any], cut: int, name: str, latency: int, binding: str, locking: str
) -> None:
    rig = cluster(name, latency, binding=binding, locking=locking)
    for number, step in enumerate(steps[:cut]):
        act(rig, number, step)
    other = rig.restarted()
    for number, step in enumerate(steps[cut:], start=cut):
        act(rig, number, step)
        act(other, number, step)
    rig.run(rig.context.now_ms + 8_000)
    other.run(other.context.now_ms + 8_000)
    assert other.decisions == rig.decisions
    assert other.places() == rig.places()
    assert other.pending() == rig.pending()
    assert list(rig.broken()) == []


def test_pods_that_are_set_aside_are_tried_again_when_they_would_be() -> None:
    rig = Rig(node("n", cpu=1), pod("late", cpu=2))
    rig.run(60_000)
    rig.put(pod("a-later", cpu=2))  # first by its name
    rig.run(120_000)
    again = rig.restarted()
    assert again.run(400_000) == rig.run(400_000) != []
