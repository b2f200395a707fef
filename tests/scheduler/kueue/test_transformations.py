"""Requests that the Configuration leaves out or turns into others."""

from __future__ import annotations

from tests.scheduler.kueue.rig import Rig

GPU = "example.com/gpu"


def ask(rig: Rig, **resources: str) -> None:
    rig.put("LocalQueue", "q", {"clusterQueue": "q"})
    requests = {name.replace("gpu", GPU): text for name, text in resources.items()}
    template = {"spec": {"containers": [{"resources": {"requests": requests}}]}}
    pod_set = {"name": "main", "count": 2, "template": template}
    rig.put("Workload", "w", {"queueName": "q", "podSets": [pod_set]})
    rig.run(0)


def used(rig: Rig) -> dict[str, str]:
    (work,) = rig.stage.cluster.workloads.values()
    assert work.admission is not None, work.conditions["QuotaReserved"].message
    return work.admission.document()["podSetAssignments"][0]["resourceUsage"]


def transform(*rules: dict[str, object], **more: object) -> Rig:
    rig = Rig({"resources": {"transformations": list(rules), **more}})
    rig.queue("q", 100)
    return rig


def test_an_output_is_rounded_up_for_each_pod():
    rig = transform({"input": GPU, "strategy": "Replace", "outputs": {"cpu": "0.3m"}})
    ask(rig, gpu="1", cpu="1")
    assert used(rig) == {"cpu": "2002m"}


def test_a_negative_output_is_an_allowance_and_never_less_than_nothing():
    rig = transform({"input": GPU, "strategy": "Replace", "outputs": {"cpu": "-1"}})
    ask(rig, gpu="5", cpu="1")
    assert used(rig) == {"cpu": "2"}


def test_a_product_takes_the_requests_as_they_were_left_by_the_exclusions():
    rule = {"input": "cpu", "multiplyBy": GPU, "outputs": {"cpu": "1"}}
    rig = transform(rule, excludeResourcePrefixes=["example.com/"])
    ask(rig, gpu="3", cpu="2")
    assert used(rig) == {"cpu": "8"}


def test_an_undeclared_resource_is_skipped_when_the_configuration_says_so():
    rig = transform(quotaCheckStrategy="IgnoreUndeclared")
    ask(rig, gpu="1", cpu="1")
    assert used(rig) == {"cpu": "2"}
