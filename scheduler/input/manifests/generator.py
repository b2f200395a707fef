"""Kueue's performance generator files: classes of queues and workloads, multiplied.

Source: the generator configurations of <https://github.com/kubernetes-sigs/kueue/tree/main/test/performance/scheduler>
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scheduler.input.manifests.documents import Document
from scheduler.input.manifests.fields import expect_items, expect_text, expect_whole
from scheduler.model.annotations import ARRIVAL, RUNTIME
from scheduler.model.errors import ManifestError
from scheduler.model.objects import Key, Object
from scheduler.model.problems import Wanted, expected

Fields = dict[str, Any]

FLAVOR = "rf"
#: Label of ClusterQueues and Workloads: the class of the file that made them.
CLASS = "kueue.x-k8s.io/performance-scheduler-class"
_API = "kueue.x-k8s.io/v1beta2"


def is_generator(data: Fields) -> bool:
    """Return whether a document without kind is a generator file."""
    cohorts = data.get("cohorts")
    return "kind" not in data and isinstance(cohorts, list) and bool(cohorts)


def generate(document: Document) -> Iterator[Object]:
    """Yield the objects that a generator file stands for.

    One flavor and one resource, cpu; every ClusterQueue gets a LocalQueue and
    every set of workloads in it one arrival per interval. Raises ManifestError
    naming the field.
    """
    yield _object("ResourceFlavor", "", FLAVOR, {})
    yield Object(
        key=Key("Namespace", "", "default"),
        manifest={
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "default", "labels": {}},
        },
    )
    number = 0
    for path, cohort in expect_items(document, document.data, "cohorts"):
        for at in range(_count(document, cohort, path)):
            name = f"{expect_text(document, cohort, f'{path}.className')}-{at}"
            yield _object("Cohort", "", name, {})
            for where, queues in expect_items(document, cohort, f"{path}.queuesSets"):
                for index in range(_count(document, queues, where)):
                    queue = f"{name}-{_class(document, queues, where)}-{index}"
                    yield from _queue(document, queues, where, queue, name)
                    for obj in _workloads(document, queues, where, queue):
                        number += 1
                        obj.metadata["uid"] = f"generated-{number:08d}"
                        yield obj


def _class(document: Document, holder: Fields, path: str) -> str:
    return expect_text(document, holder, f"{path}.className")


def _count(document: Document, holder: Fields, path: str) -> int:
    return expect_whole(document, holder, f"{path}.count", least=0, default=1)


def _object(
    kind: str,
    namespace: str,
    name: str,
    spec: Fields,
    annotations: dict[str, str] | None = None,
    labelled: str = "",
) -> Object:
    metadata: Fields = {"name": name}
    if labelled:
        metadata["labels"] = {CLASS: labelled}
    if namespace:
        metadata["namespace"] = namespace
    if annotations:
        metadata["annotations"] = annotations
    manifest = {"apiVersion": _API, "kind": kind, "metadata": metadata, "spec": spec}
    return Object(key=Key(kind, namespace, name), manifest=manifest)


def _queue(
    document: Document, given: Fields, path: str, name: str, cohort: str
) -> Iterator[Object]:
    quota: Fields = {"name": "cpu", "nominalQuota": str(given.get("nominalQuota", 0))}
    if given.get("borrowingLimit") is not None:
        quota["borrowingLimit"] = str(given["borrowingLimit"])
    flavor = {"name": FLAVOR, "resources": [quota]}
    preemption: Fields = {
        field: given.get(field) or "Never"
        for field in ("reclaimWithinCohort", "withinClusterQueue")
    }
    preemption["borrowWithinCohort"] = {"policy": "Never"}
    spec = {
        "cohortName": cohort,
        "queueingStrategy": "BestEffortFIFO",
        "namespaceSelector": {},
        "stopPolicy": "None",
        "preemption": preemption,
        "flavorFungibility": {
            "whenCanBorrow": "MayStopSearch",
            "whenCanPreempt": "TryNextFlavor",
        },
        "resourceGroups": [{"coveredResources": ["cpu"], "flavors": [flavor]}],
    }
    labelled = _class(document, given, path)
    yield _object("ClusterQueue", "", name, spec, labelled=labelled)
    spec = {"clusterQueue": name, "stopPolicy": "None"}
    yield _object("LocalQueue", "default", name, spec)


def _workloads(
    document: Document, given: Fields, path: str, queue: str
) -> Iterator[Object]:
    for where, batch in expect_items(document, given, f"{path}.workloadsSets"):
        interval = expect_whole(
            document, batch, f"{where}.creationIntervalMs", least=0, default=0
        )
        for number in range(_count(document, batch, where)):
            at = interval * (number + 1)
            for inner, kind in expect_items(document, batch, f"{where}.workloads"):
                name = f"{queue}-{_class(document, kind, inner)}-{number}"
                yield _workload(document, kind, inner, name, queue, at)


def _workload(
    document: Document, kind: Fields, path: str, name: str, queue: str, at: int
) -> Object:
    runtime = expect_whole(document, kind, f"{path}.runtimeMs", least=0, default=0)
    request = kind.get("request", 1)
    if isinstance(request, bool) or not isinstance(request, int | str):
        raise _bad(document, f"{path}.request", request)
    container = {
        "name": "c",
        "image": "i",
        "resources": {"requests": {"cpu": str(request)}},
    }
    template = {"spec": {"containers": [container], "restartPolicy": "Never"}}
    spec = {
        "active": True,
        "queueName": queue,
        "priority": expect_whole(
            document, kind, f"{path}.priority", least=-(2**31), default=0
        ),
        "podSets": [{"name": "main", "count": 1, "template": template}],
    }
    annotations = {ARRIVAL: f"{at}ms", RUNTIME: f"{runtime}ms"}
    labelled = _class(document, kind, path)
    return _object("Workload", "default", name, spec, annotations, labelled)


def _bad(document: Document, path: str, given: object) -> ManifestError:
    return document.error(path, expected(Wanted.QUANTITY, given=f"{given!r:.60}"))
