"""What each request costs the web process, of a world of 10,000 objects and of 1,000.

Run `./dev bench tests/bench/bench_requests.py`. CPU seconds of the thread that answers,
on SQLite, with the work of workers left out; cold: with no world in memory, as after a start or when
another process wrote last.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import pytest
import yaml
from rest_framework.test import APIClient

from sandbox import actions
from sandbox.models import KeptForecast, Question
from sandbox.world import worlds
from tests.bench.size import sized
from tests.bench.worlds import crowded
from tests.builders import job, node
from tests.sandbox.conftest import person, tick  # noqa: F401 - a fixture

POD = {"containers": [{"name": "c", "image": "i"}]}


def cost(client: APIClient, method: str, path: str, body: Any, **more: str) -> str:
    """Return CPU seconds of a request, cold and warm, and what it was answered."""
    found = []
    for cold in (True, False):
        if cold:
            worlds.forget_all()
        begun = time.thread_time()
        answer = getattr(client, method)(path, body, **{"format": "json", **more})
        found.append(time.thread_time() - begun)
        Question.objects.all().delete()
        KeptForecast.objects.all().delete()
    return f"{found[0]:.2f} {found[1]:.2f} {answer.status_code}"


@pytest.mark.bench
@pytest.mark.timeout(1200)
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("workloads", "nodes"),
    [(sized(8_900, 40), sized(1_000, 10)), (700, 80)][: sized(2, 1)],
)
def test_each_request(person, settings, workloads, nodes):  # noqa: F811 - the fixture
    settings.ANSWER_INLINE, settings.ANSWER_WAIT_S = False, 0
    settings.LIMITS = {**settings.LIMITS, "answers": 0, "answers_per_user": 0}
    settings.REQUEST_CPU_S = 0
    files = crowded(workloads=workloads, nodes=nodes)
    sandbox = actions.do_create(person, files=files).sandbox
    actions.do_play(person, sandbox.pk)
    tick(sandbox, 10)
    actions.do_pause(person, sandbox.pk)
    client = APIClient()
    client.raise_request_exception = False
    base = f"/api/v1/sandboxes/{sandbox.pk}"
    small = [{"name": "a.yaml", "text": yaml.safe_dump(job("small", queue="lq1"))}]
    large = [{"name": name, "text": text} for name, text in files]
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": POD}
    archive = client.get(f"{base}/archive").content
    kueue = f"{base}/apis/kueue.x-k8s.io/v1beta2"
    lines: list[tuple[str, str, Any]] = [
        ("get", base, None),
        ("get", f"{base}/state", None),
        ("get", f"{base}/state?tick=5", None),
        ("get", f"{base}/tables/workloads?limit=100", None),
        ("get", f"{base}/tables/workloads?tick=5&limit=100", None),
        ("get", f"{base}/events?limit=500", None),
        ("get", f"{base}/samples", None),
        ("get", f"{base}/fairness", None),
        ("get", f"{base}/capacity", None),
        ("get", f"{base}/explain/default/w00100", None),
        ("get", f"{base}/explain/default/w00100?tick=5", None),
        ("get", f"{base}/objects/Workload/default/w00100", None),
        ("get", f"{base}/objects/Workload/default/w00100?tick=5", None),
        ("get", f"{base}/policy?tick=5", None),
        ("get", f"{base}/export", None),
        ("get", f"{base}/export?output=json", None),
        ("get", f"{base}/export?what=workloads", None),
        ("get", f"{base}/export?what=events", None),
        ("get", f"{base}/archive", None),
        ("get", f"{base}/script", None),
        ("get", f"{base}/script/file", None),
        ("get", f"{base}/metrics", None),
        ("get", f"{base}/disk", None),
        ("get", f"{base}/audit", None),
        ("get", f"{base}/imports", None),
        ("get", f"{base}/shadow", None),
        ("get", f"{base}/pair?with={sandbox.pk}", None),
        ("get", f"{base}/compare?with={sandbox.pk}", None),
        ("get", f"{base}/preemptions", None),
        ("get", f"{base}/explain/default/w00100/counterfactuals", None),
        ("get", f"{base}/explain/default/w00100/film", None),
        ("get", f"{base}/forecast", None),
        ("get", f"{kueue}/workloads", None),
        ("get", f"{kueue}/workloads?limit=500", None),
        ("get", f"{kueue}/workloads?labelSelector=a%3Db", None),
        ("get", f"{base}/api/v1/nodes", None),
        ("get", f"{base}/api/v1/pods", None),
        ("get", f"{base}/api/v1/events", None),
        (
            "get",
            f"{base}/apis/visibility.kueue.x-k8s.io/v1beta2/clusterqueues/cq1/pendingworkloads",
            None,
        ),
        ("get", f"{base}/ws/v1/partition/default/nodes", None),
        ("get", f"{base}/ws/v1/fullstatedump", None),
        ("get", "/metrics", None),
        ("get", "/api/v1/sandboxes", None),
        ("get", "/api/v1/disk", None),
        ("post", f"{base}/actions/import", {"files": small}),
        ("post", f"{base}/actions/import?dryRun=All", {"files": large}),
        ("post", f"{base}/actions/apply", {"objects": [node("extra")]}),
        ("post", f"{base}/api/v1/namespaces/default/pods", pod),
        ("put", f"{base}/objects/Pod/default/p", pod),
        ("delete", f"{base}/objects/Pod/default/p", None),
        ("patch", f"{base}/policy", {"spec": {"simulation": {"podStart": "3s"}}}),
        (
            "post",
            f"{base}/actions/move",
            {
                "workload": "default/w00100",
                "to": {"kind": "LocalQueue", "namespace": "default", "name": "lq2"},
            },
        ),
        ("post", f"{base}/actions/node", {"name": "n0001", "change": "cordon"}),
        (
            "post",
            f"{base}/actions/delete",
            {"objects": [{"kind": "Node", "namespace": "", "name": "extra"}]},
        ),
        (
            "post",
            f"{base}/what-ifs?wait=0",
            {"changes": [{"node": {"name": "n0001", "change": "drain"}}]},
        ),
        ("post", f"{base}/actions/play", {"speed": 0}),
        ("post", f"{base}/actions/pause", None),
        ("post", f"{base}/actions/fork", {}),
        ("post", f"{base}/actions/fork", {"tick": 5}),
        ("post", f"{base}/actions/convert", {"stack": "yunikorn"}),
        ("post", f"{base}/actions/undo", None),
        ("post", f"{base}/actions/redo", None),
        ("post", f"{base}/actions/rewind", {"tick": 5}),
        ("post", "/api/v1/sandboxes", {"scenario": "friday-rush"}),
        ("post", "/api/v1/sandboxes", {"files": small}),
        ("post", "/api/v1/sandboxes", {"files": large}),
        ("post", "/api/v1/imports/dry", {"files": large}),
        ("post", "/api/v1/imports/dry", {"files": small, "into": sandbox.pk}),
        ("post", "/api/v1/conversions", {"files": large}),
        ("post", "/api/v1/traces/preview", {"files": large}),
        ("post", f"{base}/actions/archive", None),
        ("post", f"{base}/actions/unarchive", None),
    ]
    count = len(worlds.copy_of(sandbox.pk)[0].objects)
    sys.stderr.write(f"\n{count} objects\n")
    for method, path, body in lines:
        said = cost(client, method, path, body)
        shown = path.replace(base, "").replace("/api/v1/", "/") or "/"
        sys.stderr.write(f"{said}  {method.upper()} {shown}\n")
    begun = time.thread_time()
    answer = client.post(
        "/api/v1/archives", archive, content_type="application/vnd.quotalab.sandbox"
    )
    sys.stderr.write(
        f"{time.thread_time() - begun:.2f} - {answer.status_code}  POST /archives\n"
    )
    begun = time.thread_time()
    answer = client.delete(base)
    sys.stderr.write(
        f"{time.thread_time() - begun:.2f} - {answer.status_code}  DELETE /\n"
    )
