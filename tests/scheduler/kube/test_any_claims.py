"""Whatever happens to volumes, claims and devices: each is given once, and stored."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from scheduler.model.objects import Key
from tests.scheduler.kube import test_devices as dra
from tests.scheduler.kube import test_volumes as disks
from tests.scheduler.kube.rig import Manifest, Rig, node

Step = tuple[Any, ...]
Given = dict[Any, set[Key]]  # volume or device: the claims that have it

NUMBERS = st.integers(0, 1)
PODS = st.sampled_from("abcd")
PRIORITIES = st.sampled_from([0, 0, 10])
# What is removed is named by its kind and its place among those that are there.
REMOVED = ["Pod", "Pod", "PersistentVolumeClaim", "PersistentVolume"]
REMOVED += ["ResourceClaim", "ResourceClaimTemplate"]
WAIT = st.tuples(st.just("wait"), st.sampled_from([0, 500, 1_500, 10_000, 400_000]))
GONE = st.tuples(st.just("remove"), st.sampled_from(REMOVED), st.integers(0, 5))
MOUNTS = st.tuples(st.just("mounts"), PODS, st.sets(NUMBERS, min_size=1), PRIORITIES)
VOLUMES = st.one_of(
    WAIT,
    MOUNTS,
    MOUNTS,
    st.tuples(st.just("volume"), NUMBERS, st.sampled_from(["", "a", "b"])),
    st.tuples(st.just("claim"), NUMBERS, st.none() | NUMBERS),
    GONE,
)
DEVICES = st.one_of(
    WAIT,
    st.tuples(st.just("computes"), PODS, st.none() | NUMBERS, PRIORITIES),
    st.tuples(st.just("devices"), NUMBERS, st.integers(0, 3)),
    st.tuples(st.just("template"), st.integers(1, 2)),
    GONE,
)
STEPS = st.one_of(
    st.lists(steps, min_size=16, max_size=28)
    for steps in (VOLUMES, VOLUMES, DEVICES, VOLUMES | DEVICES)
)


def cluster(mode: str, provisioner: str, latency: int) -> Rig:
    """Return two nodes, in a zone each, with 2 and 3 devices and 2 volumes at most."""
    zones = {"n0": "a", "n1": "b"}
    return Rig(
        *(node(name, labels={disks.ZONE: zone}) for name, zone in zones.items()),
        dra.device_class(),
        dra.devices("n0", 2),
        dra.devices("n1", 3),
        disks.csi_node("n0", 2, [disks.ZONE]),
        disks.csi_node("n1", 2),
        disks.storage_class(mode, provisioner=provisioner),
        bind_latency_ms=latency,
    )


def act(rig: Rig, number: int, step: Step) -> None:
    """Put what does not exist yet, remove what is, or wait."""
    what, *more = step
    if what == "wait":
        rig.run(rig.context.now_ms + more[0])
    elif what == "remove":
        known = sorted(key for key in rig.objects if key.kind == more[0])
        if known:
            rig.remove(known[more[1] % len(known)])
    else:
        manifest = made(what, *more)
        metadata = manifest["metadata"]
        metadata["uid"] = f"uid-{metadata['name']}-{number}"
        namespace = metadata.get("namespace", "default")
        if Key(manifest["kind"], namespace, metadata["name"]) not in rig.objects:
            rig.put(manifest)
    rig.settle()


def made(what: str, *more: Any) -> Manifest:
    which = more[0]
    if what == "mounts":
        claims = [f"c{number}" for number in sorted(more[1])]
        return disks.using(f"v{which}", *claims, priority=more[2])
    if what == "computes":
        claim = "" if more[1] is None else f"d{more[1]}"
        return dra.using(f"d{which}", claim, priority=more[2])
    if what == "volume":
        return disks.volume(f"pv{which}", zone=more[1])
    if what == "claim":
        mode = "ReadWriteOncePod" if which == 1 else "ReadWriteOnce"
        named = {} if more[1] is None else {"volumeName": f"pv{more[1]}"}
        return disks.claim(f"c{which}", mode=mode, **named)
    if what == "devices":
        asked = dra.request(more[1] or 1, everything=not more[1])
        return dra.claim(f"d{which}", asked)
    return dra.template(dra.request(which))


def given_volumes(rig: Rig) -> Given:
    volumes = rig.stage.shared.volumes
    found: Given = defaultdict(set)
    for bindings in (volumes.bound, *volumes.assumed.values()):
        for claim, binding in bindings.items():
            found[binding.volume].add(claim)
    return found


def given_devices(rig: Rig) -> Given:
    known = rig.stage.shared.devices
    found: Given = defaultdict(set)
    for allocations in (known.allocated, *known.assumed.values()):
        for claim, allocation in allocations.items():
            for _, *device in allocation.devices:
                found[tuple(device)].add(claim)
    return found


def check(rig: Rig) -> None:
    volumes = given_volumes(rig)
    for found in (volumes, given_devices(rig)):
        assert {one: claims for one, claims in found.items() if len(claims) > 1} == {}
    holders = rig.stage.shared.volumes.holders
    assert {volume: {claim} for volume, claim in holders.items()} == volumes
    assert list(rig.broken()) == []


def plain(value: Any) -> Any:
    """Return a value as it is stored: a tuple is read back as a list."""
    return msgspec.msgpack.decode(msgspec.msgpack.encode(value))


def seen(rig: Rig) -> dict[Any, Any]:
    """Return all that is stored of a scheduler, and what it shows."""
    rig.write()
    return {
        **{k: plain([o.manifest, o.status, o.state]) for k, o in rig.objects.items()},
        "places": rig.places(),
        "pending": rig.pending(),
        "state": plain(rig.stage.dump_state()),
    }


CLAIM, MOUNTED = ("claim", 0, None), ("mounts", "b", {0}, 0)


@settings(max_examples=60, deadline=None)
@given(
    steps=STEPS,
    mode=st.sampled_from(["Immediate", disks.WAIT]),
    provisioner=st.sampled_from(["csi.example.com", "kubernetes.io/no-provisioner"]),
    latency=st.sampled_from([1_000, 0]),
)
@example(  # two pods bind one claim, and one of them is held back
    [CLAIM, MOUNTED, ("mounts", "c", {0}, 10), ("volume", 0, "")],
    disks.WAIT, "kubernetes.io/no-provisioner", 0,
)  # fmt: skip
@example(  # both bind it at the same time
    [MOUNTED, ("mounts", "c", {0}, 0), CLAIM, ("wait", 400_000)],
    disks.WAIT, "csi.example.com", 1_000,
)  # fmt: skip
@example(  # a claim names the volume that is on its way to another
    [("volume", 0, ""), CLAIM, MOUNTED, ("claim", 1, 0)],
    disks.WAIT, "csi.example.com", 1_000,
)  # fmt: skip
def test_no_volume_or_device_is_given_twice_and_a_restart_changes_nothing(
    steps: list[Step], mode: str, provisioner: str, latency: int
) -> None:
    """One of the two schedulers is read back from what it wrote after every step."""
    rig, again = (cluster(mode, provisioner, latency) for _ in range(2))
    for number, step in enumerate(steps):
        act(rig, number, step)
        act(again, number, step)
        again = again.restarted()
        check(rig)
        assert seen(again) == seen(rig)
