"""Webhooks that pods are made past: which are called, which are down, what they set."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import yaml

from scheduler.analysis.conversion.unsimulated import features_of
from scheduler.analysis.explain.places import not_made
from scheduler.analysis.explain.would import would
from scheduler.analysis.forecast.submission import read_submission
from scheduler.assembly import InputError
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model.objects import Key, Object
from tests.builders import assembled, job, node, pod, small_cluster, world_of
from tests.scheduler.lifetime.test_pod_quotas import tried_at

STACKS = ["kube", "kueue", "yunikorn"]
HOOK = Key("MutatingWebhookConfiguration", "", "second")
SAID = (
    'failed calling webhook "pods.second": failed to call webhook: Post '
    '"https://second.system.svc:443/?timeout=10s": no endpoints available for service '
    '"second"'
)
RULE = {
    "operations": ["CREATE"],
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "resources": ["pods"],
}


def hook(kind: str = HOOK.kind, sets: str = "", **given: Any) -> dict[str, Any]:
    """Return a configuration whose webhook takes pods and is behind Service second."""
    annotations = {"quotalab.dev/sets-scheduler-name": sets} if sets else {}
    webhook = {
        "name": "pods.second",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "clientConfig": {"service": {"name": "second", "namespace": "system"}},
        "rules": [RULE],
        **given,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": kind,
        "metadata": {"name": "second", "annotations": annotations},
        "webhooks": [webhook],
    }


def service() -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "second", "namespace": "system"},
        "spec": {"selector": {"app": "second"}},
    }


def server(*, ready: bool = True) -> dict[str, Any]:
    """Return the pod of the webhook, on node n; one that is not ready has no node."""
    made = pod("server")
    made["metadata"] |= {"namespace": "system", "labels": {"app": "second"}}
    made["metadata"]["annotations"] = {"quotalab.dev/runtime": "never"}
    if not ready:
        made["spec"]["nodeSelector"] = {"no": "where"}
    return made


def world(*given: dict[str, Any], stack: str = "kube", **policy: Any) -> World:
    objects = small_cluster() if stack == "kueue" else []
    return world_of(
        node("n", cpu=9), service(), *objects, *given, stack=stack, **policy
    )


def work(stack: str = "kube", **given: Any) -> dict[str, Any]:
    return job("j", queue="main" if stack == "kueue" else "", arrival="1s", **given)


def made(of: World, seconds: int = 10) -> bool:
    """Return whether the Job has its pod so long after the start."""
    simulate(of, until_ms=1000 * seconds)
    return any(key.namespace == "default" for key in of.keys("Pod"))


@pytest.mark.parametrize("stack", STACKS)
def test_no_pod_is_made_while_a_webhook_that_fails_is_down(stack):
    down = world(hook(), server(ready=False), work(stack), stack=stack)
    assert tried_at(down, 20) == [1, 2, 4, 8, 16]
    assert not made(down, 20)


@pytest.mark.parametrize("stack", STACKS)
def test_pods_are_made_at_the_next_try_once_its_pod_is_ready(stack):
    late = world(hook(), work(stack), server(ready=False), stack=stack)
    simulate(late, until_ms=5_000)
    late.delete(Key("Pod", "system", "server"))
    late.put(Object(key=Key("Pod", "system", "server"), manifest=server()))
    assert not made(late, 7)
    assert made(late, 9)


@pytest.mark.parametrize("stack", STACKS)
def test_a_webhook_with_a_ready_pod_holds_nothing_back(stack):
    assert made(world(hook(), server(), work(stack), stack=stack))


def test_another_ready_pod_of_its_service_serves_once_the_first_is_gone():
    second = copy.deepcopy(server())
    second["metadata"]["name"] = "other"
    late = world(hook(), server(), second, work(), job("k", arrival="20s"))
    for at_ms, name in ((10_000, "server"), (25_000, "other")):
        simulate(late, until_ms=at_ms)
        late.delete(Key("Pod", "system", name))
    simulate(late, until_ms=40_000)
    assert {key.name for key in late.keys("Pod")} == {"j-main-0", "k-main-0"}
    late.put(Object(key=Key("Job", "default", "l"), manifest=job("l")))
    simulate(late, until_ms=50_000)
    assert "l-main-0" not in {key.name for key in late.keys("Pod")}


@pytest.mark.parametrize("stack", ["kube", "kueue"])
def test_a_webhook_whose_pod_is_on_a_deleted_node_is_down_at_once(stack):
    late = world(hook(), node("other"), on("n"), work(stack), stack=stack)
    simulate(late, until_ms=900)
    late.delete(Key("Node", "", "n"))
    assert Key("Pod", "system", "server") in late.objects
    assert not made(late)


@pytest.mark.parametrize("status", ["Unknown", "False"])
def test_a_webhook_whose_pod_is_on_a_node_that_is_not_ready_is_down_meanwhile(status):
    late = world(hook(), node("other"), on("n"), work())
    simulate(late, until_ms=900)
    said(late, "n", status)
    assert not made(late, 6)
    said(late, "n", "True")
    assert made(late, 9)


def test_a_pod_that_has_served_serves_no_more_once_it_is_not_ready():
    late = world(hook(), node("other"), on("n"), work(), job("k", arrival="20s"))
    assert made(late, 10)
    said(late, "n", "False")
    simulate(late, until_ms=25_000)
    assert "k-main-0" not in {key.name for key in late.keys("Pod")}


def on(name: str) -> dict[str, Any]:
    """Return the pod of the webhook, bound to this node."""
    given = server()
    given["spec"]["nodeName"] = name
    return given


def said(of: World, name: str, status: str) -> None:
    """Let a node say whether it is Ready."""
    key = Key("Node", "", name)
    of.objects[key].status["conditions"] = [{"type": "Ready", "status": status}]
    of.put(of.objects[key])


@pytest.mark.parametrize(
    ("differs", "taken"),
    [
        ({}, True),
        ({"operations": ["*"]}, True),
        ({"operations": ["UPDATE", "DELETE"]}, False),
        ({"apiGroups": ["*"]}, True),
        ({"apiGroups": ["batch"]}, False),
        ({"apiVersions": ["*"]}, True),
        ({"apiVersions": ["v1beta1"]}, False),
        ({"resources": ["*"]}, True),
        ({"resources": ["*/*"]}, True),
        ({"resources": ["jobs", "pods/*"]}, True),
        ({"resources": ["jobs", "pods/status", "*/scale"]}, False),
        ({"scope": "Namespaced"}, True),
        ({"scope": "Cluster"}, False),
    ],
)
def test_a_rule_takes_the_creation_of_pods_as_the_api_server_reads_it(differs, taken):
    assert made(world(hook(rules=[RULE | differs]), work())) is not taken


@pytest.mark.parametrize(
    ("differs", "taken"),
    [
        ({"namespaceSelector": {"matchLabels": {"webhook": "on"}}}, False),
        ({"namespaceSelector": {"matchLabels": {"team": "a"}}}, True),
        (
            {
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": "x"}
                }
            },
            False,
        ),
        ({"objectSelector": {"matchLabels": {"app": "other"}}}, False),
        ({"objectSelector": {"matchLabels": {"app": "mine"}}}, True),
        ({"failurePolicy": "Ignore"}, False),
        ({"clientConfig": {"url": "https://elsewhere.example/mutate"}}, False),
    ],
)
def test_selectors_and_the_failure_policy_say_whose_pods_it_refuses(differs, taken):
    space = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "default", "labels": {"team": "a"}},
    }
    given = work()
    given["spec"]["template"]["metadata"] = {"labels": {"app": "mine"}}
    assert made(world(space, hook(**differs), given)) is not taken


def test_a_validating_webhook_that_is_down_refuses_pods_too():
    assert not made(world(hook("ValidatingWebhookConfiguration"), work()))


@pytest.mark.parametrize("named", ["", "default-scheduler", "third"])
@pytest.mark.parametrize("up", [True, False])
def test_the_scheduler_that_a_webhook_gives_is_set_while_it_is_up(named, up):
    given = work()
    if named:
        given["spec"]["template"]["spec"]["schedulerName"] = named
    held = world(hook(sets="mine", failurePolicy="Ignore"), server(ready=up), given)
    assert made(held)
    [key] = [key for key in held.keys("Pod") if key.namespace == "default"]
    expected = "mine" if up and named != "third" else named
    assert held.get(key).spec.get("schedulerName", "") == expected


def test_a_webhook_that_takes_its_own_pods_does_not_come_back_and_that_is_said():
    own = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "second", "namespace": "system"},
        "spec": {
            "selector": {"matchLabels": {"app": "second"}},
            "template": {
                "metadata": {"labels": {"app": "second"}},
                "spec": copy.deepcopy(pod("x")["spec"]),
            },
        },
    }
    held = world(hook(), own)
    simulate(held, until_ms=600_000)
    assert not list(held.keys("Pod"))
    said = [one.text for one in not_made(held, Key("Deployment", "system", "second"))]
    assert said == [
        f"No more of its pods are made: {SAID}",
        "MutatingWebhookConfiguration second says failurePolicy Fail of webhook "
        "pods.second, and no pod of Service system/second is ready. With failurePolicy "
        "Ignore pods are made without it.",
        "Its rules take the pods of its own Service, too: it does not come back by "
        "itself unless its namespaceSelector leaves out namespace system.",
        "That is tried again in 1m0s.",
    ]


@pytest.mark.parametrize(
    ("given", "at"),
    [
        (
            {
                "namespaceSelector": {
                    "matchExpressions": [{"key": "a", "operator": "X"}]
                }
            },
            "webhooks[0].namespaceSelector.matchExpressions[0].operator",
        ),
        ({"objectSelector": {"matchLabels": {"a": 1}}}, "objectSelector.matchLabels.a"),
        ({"timeoutSeconds": 0}, "webhooks[0].timeoutSeconds"),
    ],
)
def test_a_webhook_that_no_api_server_would_take_is_refused_by_its_field(given, at):
    with pytest.raises(InputError, match=re.escape(at)):
        world(hook(**given))


@pytest.mark.parametrize("change", [server(), hook(failurePolicy="Ignore")])
def test_a_webhook_that_holds_nothing_back_any_more_is_not_said_to(change):
    held = world(hook(), work())
    simulate(held, until_ms=5_000)
    given = change["metadata"]
    key = Key(change["kind"], given.get("namespace", ""), given["name"])
    held.put(Object(key=key, manifest=copy.deepcopy(change)))
    simulate(held, until_ms=6_000)
    said = [one.text for one in not_made(held, Key("Job", "default", "j"))]
    assert said == [
        f"No more of its pods are made: {SAID}",
        "That is tried again in 4s.",
    ]


def test_who_asks_what_would_start_is_told_of_the_failure_policy():
    held = world(hook())
    found = would(held, read_submission(held, [("j", yaml.safe_dump(job("new")))]))
    assert found.starts == "never"
    first, *_ = [one.text for one in found.changes]
    assert first == "failurePolicy Ignore of webhook pods.second"


VALIDATING = "ValidatingWebhookConfiguration"


@pytest.mark.parametrize(
    ("other", "change"),
    [
        ({}, "failurePolicy Ignore of webhook pods.second and pods.other"),
        (
            {"objectSelector": {"matchLabels": {"app": "mine"}}},
            "failurePolicy Ignore of webhook pods.second and pods.other",
        ),
        (
            {"objectSelector": {"matchLabels": {"app": "other"}}},
            "failurePolicy Ignore of webhook pods.second",
        ),
        ({"failurePolicy": "Ignore"}, "failurePolicy Ignore of webhook pods.second"),
    ],
)
def test_all_webhooks_that_refuse_the_work_are_past_with_ignore_of_each(other, change):
    given = work()
    given["spec"]["template"]["metadata"] = {"labels": {"app": "mine"}}
    held = world(hook(), hook(VALIDATING, name="pods.other", **other))
    found = would(held, read_submission(held, [("j", yaml.safe_dump(given))]))
    assert [one.text for one in found.changes] == [change]
    held.put(Object(key=Key("Job", "default", "j"), manifest=given))
    simulate(held, until_ms=5_000)
    _, told, *_ = [one.text for one in not_made(held, Key("Job", "default", "j"))]
    assert ("Down, too: pods.other." in told) is change.endswith("other")


def test_webhooks_that_take_the_pods_of_each_other_are_said_not_to_come_back():
    service_ = service()
    service_["metadata"] = {"name": "other", "namespace": "apart"}
    behind = {"service": {"name": "other", "namespace": "apart"}}
    held = world(
        hook(namespaceSelector=named("apart", "default")),
        service_,
        hook(
            VALIDATING,
            name="pods.other",
            clientConfig=behind,
            namespaceSelector=named("system"),
        ),
        work(),
    )
    simulate(held, until_ms=5_000)
    *_, told, _ = [one.text for one in not_made(held, Key("Job", "default", "j"))]
    assert told == (
        "Pods of its Service wait for pods.other, and those wait for it: none comes back "
        "by itself unless a namespaceSelector leaves out namespace system."
    )


def named(*names: str) -> dict[str, Any]:
    """Return a selector of these namespaces."""
    expression = {"key": "kubernetes.io/metadata.name", "operator": "In"}
    return {"matchExpressions": [{**expression, "values": [*names]}]}


def test_a_stored_world_tries_again_when_the_world_does():
    first = world(hook(), work())
    simulate(first, until_ms=5_000)
    again = World.decode(first.encode())
    assert tried_at(again, 40) == tried_at(first, 40) == [8, 16, 32]


def test_a_service_that_is_missing_is_found_and_the_webhook_is_up():
    lacking = [hook(), node("n"), work()]
    assert made(world_of(*lacking, stack="kube"))
    assert told(*lacking) == ["doesn't exist in namespace system; the webhook is taken"]
    assert told(*lacking, service()) == ["is here, and nothing that makes one: webhook"]
    assert told(*lacking, service(), server()) == []
    lenient = hook(failurePolicy="Ignore")
    assert told(*lacking[1:], lenient, service()) == []


@pytest.mark.parametrize(
    "spec",
    [
        "x",
        {"template": ["x"]},
        {"template": {"metadata": "x"}},
        {"template": {"metadata": {"labels": ["app"]}}},
    ],
)
def test_an_object_of_an_unknown_kind_and_of_any_shape_makes_no_pod_of_a_service(spec):
    strange = {
        "apiVersion": "example.com/v1",
        "kind": "Strange",
        "metadata": {"name": "x", "namespace": "system"},
        "spec": spec,
    }
    expected = ["is here, and nothing that makes one: webhook"]
    assert told(hook(), node("n"), service(), strange) == expected


def told(*objects: dict[str, Any]) -> list[str]:
    """Return the part that tells one finding on the Service from the other."""
    found = " ".join(map(str, assembled(*objects, stack="kube").loaded.findings))
    parts = (
        "doesn't exist in namespace system; the webhook is taken",
        ("is here, and nothing that makes one: webhook"),
    )
    return [part for part in parts if part in found]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({}, False),
        ({"resources": ["jobs", "pods"]}, True),
        ({"operations": ["*"]}, True),
    ],
)
def test_rules_for_more_than_new_pods_are_said_not_to_be_followed(rule, said):
    held = world(hook(rules=[RULE | rule]))
    found = [one.text for one in features_of(held)]
    assert any("a webhook is followed for the Pods" in one for one in found) is said


@pytest.mark.parametrize("spec", [["x"], "x", {"selector": "x"}, {"selector": {}}])
def test_a_service_of_another_shape_selects_nothing_and_its_webhook_is_up(spec):
    assert made(world_of(node("n"), {**service(), "spec": spec}, hook(), work()))
