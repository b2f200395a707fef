"""A pod goes where its claims can have their devices; one without waits and is woken."""

from __future__ import annotations

import pytest

from scheduler.model.devices.claims import Device, read_rule
from scheduler.model.objects import Key
from tests.scheduler.kube.rig import Rig, node, pod

DRIVER = "gpu.example.com"
NO_NODE = "0/2 nodes are available:"


def named(kind, name, spec, namespace=""):
    metadata = {"name": name, "namespace": namespace, "uid": f"uid-{name}"}
    return {"kind": kind, "metadata": metadata, "spec": spec}


def device_class(*expressions):
    selectors = [{"cel": {"expression": text}} for text in expressions]
    return named("DeviceClass", "gpu", {"selectors": selectors})


def devices(where, count, *, generation=1, model="a100"):
    made = [
        {"name": f"gpu-{i}", "attributes": {"model": {"string": model}}}
        for i in range(count)
    ]
    pool = {"name": where, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": DRIVER, "pool": pool, "nodeName": where, "devices": made}
    return named("ResourceSlice", f"{where}-{generation}", spec)


def request(count=1, *, name="gpu", everything=False, selector=""):
    inner = {"deviceClassName": "gpu", "count": count}
    if everything:
        inner = {"deviceClassName": "gpu", "allocationMode": "All"}
    if selector:
        inner["selectors"] = [{"cel": {"expression": selector}}]
    return {"name": name, "exactly": inner}


def claim(name, *requests, **more):
    spec = {"devices": {"requests": list(requests), **more}}
    return named("ResourceClaim", name, spec, "default")


def template(*requests):
    spec = {"spec": {"devices": {"requests": list(requests)}}}
    return named("ResourceClaimTemplate", "one", spec, "default")


def using(name, claimed="", **more):
    entry = {"name": "gpu", "resourceClaimTemplateName": "one"}
    if claimed:
        entry = {"name": "gpu", "resourceClaimName": claimed}
    return pod(name, cpu=None, resourceClaims=[entry], **more)


def cluster(*manifests, **simulation):
    nodes = [node("n0"), node("n1")]
    slices = [devices("n0", 2), devices("n1", 4, model="h100")]
    return Rig(*nodes, device_class(), *slices, *manifests, **simulation)


def test_a_claim_takes_its_pod_to_the_node_with_enough_devices():
    rig = cluster(claim("three", request(3)), using("p", "three"))
    rig.settle()
    assert rig.places() == {"p": "n1"}
    rig.write()
    status = rig.objects[Key("ResourceClaim", "default", "three")].status
    assert [one["device"] for one in status["allocation"]["devices"]["results"]] == [
        "gpu-0",
        "gpu-1",
        "gpu-2",
    ]
    assert status["reservedFor"] == [{"resource": "pods", "name": "p"}]


def test_pods_of_a_template_have_devices_of_their_own_until_there_are_none():
    rig = cluster(template(request(2)))
    for name in "abcd":
        rig.put(using(name))
    rig.settle()
    assert sorted(rig.places().values()) == ["n0", "n1", "n1"]
    assert rig.pending()["d"].startswith(f"{NO_NODE} 2 cannot allocate all claims.")
    rig.remove(Key("Pod", "default", "a"))
    rig.run(20_000)
    assert "d" in rig.places()


def test_all_devices_of_a_node_are_had_only_while_none_is_taken():
    rig = cluster(template(request()), claim("all", request(everything=True)))
    rig.put(using("small", nodeSelector={"kubernetes.io/hostname": "n0"}))
    rig.settle()
    rig.put(using("p", "all"))
    rig.put(claim("more", request(everything=True)))
    rig.put(using("q", "more"))
    rig.settle()
    assert rig.places() == {"small": "n0", "p": "n1"}


def test_pods_that_share_a_claim_share_its_node():
    rig = cluster(claim("shared", request()), using("p", "shared"))
    rig.settle()
    where = rig.places()["p"]
    other = {"n0": "n1", "n1": "n0"}[where]
    rig.put(using("q", "shared"))
    rig.put(using("r", "shared", nodeSelector={"kubernetes.io/hostname": other}))
    rig.settle()
    assert rig.places() == {"p": where, "q": where}
    assert "1 resourceclaim not available on the node" in rig.pending()["r"]


def test_a_pod_is_held_back_until_its_claim_exists():
    rig = cluster(using("p", "late"), using("q"))
    rig.settle()
    assert rig.places() == {}
    rig.put(claim("late", request()))
    rig.put(template(request()))
    rig.run(20_000)
    assert sorted(rig.places()) == ["p", "q"]


def test_a_request_of_a_class_that_does_not_exist_says_so():
    rig = Rig(node("n0"), devices("n0", 1), claim("c", request()), using("p", "c"))
    rig.settle()
    said = "0/1 nodes are available: request gpu: device class gpu does not exist."
    assert rig.pending()["p"].startswith(said)
    rig.put(device_class())
    rig.run(20_000)
    assert rig.places() == {"p": "n0"}


def test_a_selector_takes_devices_with_its_attribute_only():
    wanted = f'device.attributes["{DRIVER}"].model == "a100"'
    rig = cluster(claim("c", request(2, selector=wanted)), using("p", "c"))
    rig.settle()
    assert rig.places() == {"p": "n0"}


def test_devices_of_one_claim_can_have_to_be_alike():
    rig = Rig(node("n0"), device_class())
    mixed = devices("n0", 4)
    for index, model in enumerate("xyzy"):
        mixed["spec"]["devices"][index]["attributes"]["model"]["string"] = model
    rig.put(mixed)
    alike = {"matchAttribute": f"{DRIVER}/model"}
    rig.put(claim("c", request(2), constraints=[alike]))
    rig.put(using("p", "c"))
    rig.settle()
    rig.write()
    given = rig.objects[Key("ResourceClaim", "default", "c")].status["allocation"]
    assert [d["device"] for d in given["devices"]["results"]] == ["gpu-1", "gpu-3"]


def test_only_the_newest_slices_of_a_pool_count():
    rig = Rig(node("n0"), device_class(), devices("n0", 4), claim("c", request(2)))
    rig.put(devices("n0", 1, generation=2))
    rig.put(using("p", "c"))
    rig.settle()
    assert "1 cannot allocate all claims" in rig.pending()["p"]


def test_a_pod_that_is_found_on_a_node_has_devices_there():
    rig = cluster(template(request(2)))
    rig.put(using("old", nodeName="n0"))
    rig.put(using("p", nodeSelector={"kubernetes.io/hostname": "n0"}))
    rig.settle()
    assert rig.places() == {"old": "n0"}


@pytest.mark.parametrize("latency", [0, 1000])
@pytest.mark.parametrize("named", ["c", ""])
def test_what_is_allocated_or_assumed_outlives_a_restart(latency, named):
    rig = Rig(node("n0"), device_class(), devices("n0", 2), bind_latency_ms=latency)
    rig.put(claim("c", request(2)))
    rig.put(template(request(2)))
    rig.put(using("p", named))
    rig.settle()
    again = rig.restarted()
    again.put(using("q"))
    again.run(5_000)
    assert again.places() == {"p": "n0"}
    again.remove(Key("Pod", "default", "p"))
    again.run(40_000)
    assert again.places() == {"q": "n0"}


def test_claims_of_a_deleted_template_outlive_a_restart():
    rig = Rig(node("n0"), device_class(), devices("n0", 1), template(request()))
    rig.put(using("p"))
    rig.put(using("q"))
    rig.settle()
    rig.remove(Key("ResourceClaimTemplate", "default", "one"))
    again = rig.restarted()
    assert again.stage.dump_state() == rig.stage.dump_state()
    again.remove(Key("Pod", "default", "p"))
    again.run(40_000)
    assert list(again.places()) == ["q"]


def test_a_claim_deleted_while_its_pod_is_bound_gives_no_device_away():
    rig = Rig(node("n0"), device_class(), devices("n0", 1), bind_latency_ms=1000)
    rig.put(claim("c", request()))
    rig.put(using("p", "c"))
    rig.settle()
    rig.remove(Key("ResourceClaim", "default", "c"))
    rig.run(40_000)
    assert rig.places() == {}
    assert 'could not find ResourceClaim "default/c"' in rig.pending()["p"]
    assert not rig.stage.shared.devices.taken()


DEVICE = Device(
    driver=DRIVER,
    pool="n0",
    name="gpu-0",
    attributes={f"{DRIVER}/model": "a100", f"{DRIVER}/index": 3, f"{DRIVER}/new": True},
    capacity={f"{DRIVER}/memory": 40 * 2**30},
)
SELECTED = {
    f'device.driver == "{DRIVER}"': True,
    'device.driver != "other"': True,
    f'device.attributes["{DRIVER}"].index >= 4': False,
    f'device.attributes["{DRIVER}"].new': True,
    f'!device.attributes["{DRIVER}"].new': False,
    f'device.attributes["{DRIVER}"].none == "x"': False,
    f'device.capacity["{DRIVER}"].memory.compareTo(quantity("40Gi")) >= 0': True,
    f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].model == "x"': False,
    f"device.driver == '{DRIVER}' && device.attributes['{DRIVER}'].model == 'a100'": (
        True
    ),
    f"device.capacity['{DRIVER}'].memory.compareTo(quantity('41Gi')) >= 0": False,
}


@pytest.mark.parametrize("expression", SELECTED)
def test_an_expression_that_compares_selects_by_what_it_says(expression):
    assert read_rule(expression)(DEVICE) is SELECTED[expression]


def test_any_other_expression_is_not_read():
    assert read_rule('device.attributes["a"].b.matches("x")') is None
    assert read_rule('device.driver == "a" || device.driver == "b"') is None
