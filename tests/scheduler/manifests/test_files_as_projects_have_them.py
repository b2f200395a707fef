"""Files of the kinds that other projects keep: each comes to a world, with what is true of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scheduler.assembly import assemble
from scheduler.input.manifests.run_times import assumed_run_times

ROOT = Path(__file__).resolve().parents[3]
KUEUE = "apiVersion: kueue.x-k8s.io/v1beta2\n"
FLAVOR = KUEUE + "kind: ResourceFlavor\nmetadata: {name: a100}\n"
CQ = KUEUE + (
    "kind: ClusterQueue\nmetadata: {name: research}\nspec:\n"
    "  namespaceSelector: {}\n  resourceGroups:\n"
    "  - coveredResources: [cpu]\n    flavors:\n    - name: a100\n"
    "      resources: [{name: cpu, nominalQuota: 8}]\n"
)
LQ = KUEUE + (
    "kind: LocalQueue\nmetadata: {name: lq, namespace: team}\n"
    "spec: {clusterQueue: research}\n"
)
BASE = "---\n".join((FLAVOR, CQ, LQ))
POD = (
    "      restartPolicy: Never\n      containers:\n"
    "      - {name: c, image: i, resources: {requests: {cpu: 1}}}\n"
)
JOB = (
    "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: train\n  namespace: team\n"
    "  labels: {kueue.x-k8s.io/queue-name: lq}\nspec:\n  template:\n    spec:\n" + POD
)
QUEUES = "partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]"
YK = (
    "apiVersion: v1\nkind: Pod\nmetadata: {name: p, labels: {applicationId: a, queue: root.a}}\n"
    "spec:\n  schedulerName: yunikorn\n  containers: [{name: c, image: i}]\n"
)
SCHEDULER = (
    "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    "profiles:\n- schedulerName: mine\n  plugins:\n    score:\n"
    "      enabled: [{name: CostAware, weight: 2}]\n"
    "      disabled: [{name: NodeResourcesBalancedAllocation}]\n"
)
SWF = (
    "; MaxProcs: 8\n1 0 5 60 2 -1 -1 2 90 -1 1 1 1 1 1 1 -1 -1 7\n"
    "; a comment in the middle\n2 9 5 60 2 -1 -1 2 90 -1 1 1 1 1 1 1 -1 -1\n3 20 5"
)
STATE = {
    "format_version": "1.0",
    "terraform_version": "1.9.0",
    "values": {
        "root_module": {
            "resources": [
                {"type": "kubectl_manifest", "values": {"yaml_body": text}}
                for text in (FLAVOR, CQ, LQ)
            ]
        }
    },
}
PODS = {
    "apiVersion": "v1",
    "kind": "List",
    "items": [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "p", "namespace": "x"},
            "spec": {"nodeName": "n", "containers": [{"name": "c", "image": "i"}]},
        }
    ],
}
CHART = "apiVersion: v2\nname: c\nversion: 0.1.0\n"
LISTED = "- op: replace\n  path: /spec/stopPolicy\n  value: Hold\n"
DUMP = {"rmDiagnostics": {}, "partitions": [], "config": {"queues.yaml": QUEUES}}

Files = dict[str, str]
#: what it is -> its files, the stack, and the codes of what is said.
CASES: dict[str, tuple[Files, str, set[str]]] = {
    "queues and a Job": (
        {"queues.yaml": BASE, "job.yaml": JOB},
        "kueue",
        {"runTime.assumed"},
    ),
    "a kustomization's base and overlay, with a strategic patch": (
        {
            "base/kustomization.yaml": "resources: [q.yaml]\n",
            "base/q.yaml": BASE,
            "prod/kustomization.yaml": "resources: [../base]\npatches: [{path: p.yaml}]\n",
            "prod/p.yaml": CQ.replace("8", "80"),
        },
        "kueue",
        {"aside.kustomization", "aside.part"},
    ),
    "an overlay with a JSON 6902 patch": (
        {
            "q.yaml": BASE,
            "prod/kustomization.yaml": "patchesJson6902: [{path: p.yaml, target: {kind: ClusterQueue}}]\n",
            "prod/p.yaml": LISTED,
        },
        "kueue",
        {"aside.kustomization", "aside.part"},
    ),
    "a JSON 6902 patch by itself beside manifests": (
        {"q.yaml": BASE, "p.yaml": LISTED},
        "kueue",
        {"aside.patch"},
    ),
    "a chart with its templates": (
        {
            "q.yaml": BASE,
            "c/Chart.yaml": CHART,
            "c/values.yaml": "cpu: 8\n",
            "c/templates/q.yaml": "{{- range .Values.q }}\n" + CQ + "{{- end }}\n",
            "c/templates/_helpers.tpl": '{{- define "c" }}{{ end }}',
        },
        "kueue",
        {"aside.chart"},
    ),
    "templates whose chart was left behind": (
        {"q.yaml": BASE, "t.yaml": CQ.replace("research", '"{{ .Values.name }}"')},
        "kueue",
        {"aside.template"},
    ),
    "a chart's values with YuniKorn's queues": (
        {
            "values.yaml": f"yunikornDefaults:\n  queues.yaml: |\n    {QUEUES}\n",
            "pod.yaml": YK,
        },
        "yunikorn",
        {"runTime.assumed"},
    ),
    "Terraform's files": (
        {"q.yaml": BASE, "main.tf": 'resource "x" "y" {}'},
        "kueue",
        {"aside.terraform"},
    ),
    "Terraform's state": ({"state.json": json.dumps(STATE)}, "kueue", set()),
    "a scheduler's configuration with a plug-in of its own": (
        {"config.yaml": SCHEDULER},
        "kueue",
        {"foreign.plugin"},
    ),
    "a list of pods alone": (
        {"pods.json": json.dumps(PODS)},
        "kueue",
        {"missing.nodes", "runTime.assumed"},
    ),
    "YuniKorn's full state dump": ({"state.json": json.dumps(DUMP)}, "yunikorn", set()),
    "a log with more columns, comments in the middle, a last line cut off": (
        {"log.swf": SWF},
        "kueue",
        {"trace.line", "trace.wider"},
    ),
    "queues that name what is missing": (
        {
            "q.yaml": CQ.replace("{}", "{matchLabels: {team: a}}") + "---\n" + LQ,
            "job.yaml": JOB.replace("lq}", "other}"),
        },
        "kueue",
        {"missing.named", "missing.namedIn", "missing.namespace", "runTime.assumed"},
    ),
    "a load beside queues": (
        {
            "q.yaml": BASE,
            "load.yaml": "apiVersion: quotalab.dev/v1\nkind: Load\nspec:\n  arrivals:\n"
            "  - process: week\n    parameters: {perDay: 3}\n    object:\n      "
            + JOB.replace("\n", "\n      ").rstrip()
            + "\n",
        },
        "kueue",
        {"runTime.assumed"},
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_files_come_to_a_world_with_what_is_true_of_them(what: str) -> None:
    files, stack, expected = CASES[what]
    made = assemble(list(files.items()))
    loaded = made.loaded
    found = [*loaded.findings, *assumed_run_times(loaded, "60s")]
    codes = {one.said.code for one in found}
    assert loaded.errors == []
    assert made.world.policy.spec.stack == stack
    assert expected <= codes


def test_the_page_about_example_files_has_a_row_for_each() -> None:
    text = (ROOT / "docs" / "example-files.md").read_text()
    assert [what for what in CASES if f"| {what} |" not in text] == []


@pytest.mark.parametrize(("laws", "count"), [("released", 1), ("documented", 0)])
def test_a_state_aware_order_is_told_under_the_laws_that_read_it_as_fifo(laws, count):
    policy = f"apiVersion: quotalab.dev/v1\nkind: Policy\nspec: {{stack: yunikorn, yunikorn: {{laws: {laws}}}}}\n"
    leaf = "{name: a, properties: {application.sort.policy: stateaware}}"
    queues = (
        f"partitions: [{{name: default, queues: [{{name: root, queues: [{leaf}]}}]}}]\n"
    )
    found = assemble([("policy.yaml", policy), ("queues.yaml", queues)]).loaded.findings
    assert [one.said.code for one in found] == ["readAs.stateAware"] * count
