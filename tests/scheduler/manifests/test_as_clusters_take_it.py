"""What an API server takes without complaint is taken here, and means the same."""

from __future__ import annotations

import pytest
import yaml

from scheduler.assembly import InputError, assemble
from scheduler.input.manifests.known_fields.finding import nearest_key
from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import report_of
from scheduler.model.kube.configuration import read_configurations

DEPLOYMENT = """\
# Source: chart/templates/deployment.yaml
apiVersion: apps/v1
kind: Deployment
metadata:
  name: app
  labels: {app: x, tier: }
  annotations:
    checksum/config:
spec:
  replicas:
  selector: {matchLabels: {tier: }}
  template:
    metadata: {labels: {tier: }, annotations: null}
    spec:
      nodeSelector: {disk: }
      containers:
      - name: c
        image: i
        env: null
        resources: {limits: , requests: {cpu: , memory: 1Gi}}
---
# Source: chart/templates/empty.yaml
"""


def taken(text):
    loaded = load([("w.yaml", text)])
    assert not loaded.errors
    return loaded


def test_what_helm_leaves_empty_is_an_empty_text_or_none_of_it():
    (app,) = taken(DEPLOYMENT).objects
    assert app.labels == {"app": "x", "tier": ""}
    assert app.annotations == {"checksum/config": ""}
    template = app.spec["template"]
    assert template["metadata"]["labels"] == {"tier": ""}
    assert app.spec["selector"] == {"matchLabels": {"tier": ""}}
    assert template["spec"]["nodeSelector"] == {"disk": ""}
    (container,) = template["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "0", "memory": "1Gi"}


def test_a_kind_that_decides_nothing_keeps_its_nulls_outside_of_its_metadata():
    text = "{apiVersion: x.dev/v1, kind: X, spec: {labels: {a: }}, "
    (one,) = taken(text + "metadata: {name: x, labels: {b: }}}").objects
    assert (one.labels, one.spec) == ({"b": ""}, {"labels": {"a": None}})


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("rbac.authorization.k8s.io/v1 ClusterRole", "system:node"),
        ("user.openshift.io/v1 Identity", "htpasswd:dev"),
        ("user.openshift.io/v1 Group", "CN=Team A,OU=x"),
        ("image.openshift.io/v1 ImageStreamTag", "ruby:2.7"),
        ("apiregistration.k8s.io/v1 APIService", "v1."),
        ("oauth.openshift.io/v1 OAuthAccessToken", "sha256~abcDEF_-x"),
    ],
)
def test_names_that_are_no_names_of_hosts_are_taken_of_the_kinds_that_have_them(
    kind, name
):
    version, _, kind = kind.partition(" ")
    text = yaml.safe_dump(
        {"apiVersion": version, "kind": kind, "metadata": {"name": name}}
    )
    (one,) = taken(text).objects
    assert (one.key.kind, one.key.name) == (kind, name)


def test_a_priority_class_without_a_value_has_0():
    text = (
        "{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}}"
    )
    (one,) = taken(text).objects
    assert one.manifest["value"] == 0


@pytest.mark.parametrize("kind", ["Config", "Status"])
def test_a_kubeconfig_among_manifests_is_left_out_and_the_rest_counts(kind):
    text = f"{{apiVersion: v1, kind: {kind}, users: []}}\n---\n" + DEPLOYMENT
    loaded = taken(text)
    assert [one.key.kind for one in loaded.objects] == ["Deployment"]
    (found,) = report_of(loaded).findings
    assert found.effect == "nothing of it counts, as kubectl would not take it"


@pytest.mark.parametrize(
    "key",
    [
        "kueue.x-k8s.io/stopping",
        "yunikorn.apache.org/namespace.max.cpu",
        "yunikorn.apache.org/namespace.max.memory",
    ],
)
def test_keys_that_the_systems_write_or_obey_are_known(key):
    assert nearest_key(key) is None


ZONES = """
apiVersion: topology.node.k8s.io/{version}
kind: NodeResourceTopology
metadata: {{name: worker-0, annotations: {{k8stopoawareschedwg/rte-update: periodic}}}}
topologyPolicies: [SingleNUMANodePodLevel]
attributes:
- {{name: topologyManagerPolicy, value: single-numa-node}}
- {{name: topologyManagerScope, value: pod}}
zones:
- name: node-0
  type: Node
  costs: [{{name: node-0, value: 10}}, {{name: node-1, value: 21}}]
  resources:
  - {{name: cpu, capacity: "32", allocatable: "30", available: "14"}}
  - {{name: memory, capacity: "134905819136", allocatable: "133Gi", available: 60Gi}}
"""


@pytest.mark.parametrize("version", ["v1alpha1", "v1alpha2"])
def test_zones_of_a_node_are_taken_as_an_agent_reports_them(version):
    loaded = taken(ZONES.format(version=version))
    assert report_of(loaded).findings == []
    (one,) = loaded.objects
    assert (one.key.kind, one.key.path) == ("NodeResourceTopology", "worker-0")


def test_an_amount_of_a_zone_that_is_none_is_named():
    text = ZONES.format(version="v1alpha2").replace("60Gi", "much")
    (found,) = load([("w.yaml", text)]).errors
    assert found.place.field == "zones[0].resources[1].available"


def test_what_a_cache_of_zones_would_do_is_said():
    text = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: NodeResourceTopologyMatch}]}}
  pluginConfig:
  - {name: NodeResourceTopologyMatch, args: {cacheResyncPeriodSeconds: 5}}
"""
    (found,) = report_of(taken(text)).findings
    assert found.problem.startswith("no cache of zones is simulated")
    assert found.effect == "no decision depends on it"


OWN = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    queueSort:
      disabled: [{name: "*"}]
      enabled: [{name: OurQueue}]
    score:
      enabled: [{name: NodeResourceFit}, {name: ImageLocality, weight: 7}]
  pluginConfig:
  - name: OurQueue
    args: {by: deadline}
"""


def test_a_plugin_of_somebodys_own_scheduler_is_left_out_and_the_rest_counts():
    made = assemble([("own.yaml", OWN)])
    said = [one.problem for one in made.loaded.findings if one.level == "unsupported"]
    assert said == [
        "plugin OurQueue is not known here",
        "plugin NodeResourceFit is not known here; did you mean NodeResourcesFit?",
        "plugin OurQueue is not known here",
    ]
    (profile,) = read_configurations(made.loaded.policy["kubeScheduler"])[0].profiles
    assert profile.points["queue_sort"] == ["PrioritySort"]
    assert profile.weights["ImageLocality"] == 7


def test_what_is_wrong_beside_such_a_plugin_is_named_where_it_stands():
    text = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- plugins:\n    score:\n      enabled:\n      - name: OurScore\n"
        "      - name: ImageLocality\n      - name: OurOther\n      - name: ImageLocality\n"
    )
    with pytest.raises(InputError) as refused:
        assemble([("own.yaml", text)])
    (error,) = refused.value.loaded.errors
    assert (error.place.line, error.place.field) == (
        10,
        "profiles[0].plugins.score.enabled[3]",
    )


NODE = """\
apiVersion: v1
kind: Node
metadata: {name: n}
status: {allocatable: {cpu: "8"}}
"""
PODS = """\
apiVersion: v1
kind: Pod
metadata: {name: %s}
spec: {nodeName: %s, containers: [{name: c, image: i}]}
---
"""


def test_a_node_that_takes_no_pod_is_named():
    said = [one.problem for one in assemble([("n.yaml", NODE)]).loaded.findings]
    assert [one.split(",")[0] for one in said] == [
        "Node n has no 'pods' in status.allocatable"
    ]


def test_pods_without_their_nodes_are_one_finding_that_says_how_to_get_them():
    text = PODS % ("a", "n1") + PODS % ("b", "n2")
    (found,) = assemble([("pods.yaml", text)]).loaded.findings
    assert found.problem.startswith("2 pods run on nodes that are not here (n1 and n2)")
    assert found.problem.endswith("kubectl get nodes -o yaml")


TEMPLATE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {nodeName: n9, containers: [{name: c, image: i}]}
"""


def test_a_template_that_names_a_node_is_no_pod_that_runs_there():
    found = assemble([("web.yaml", TEMPLATE)]).loaded.findings
    assert [one.problem for one in found if "run" in one.problem] == []


VALUES = """\
image: {tag: v1}
yunikorn:
  yunikornDefaults:
    queues.yaml: |
      partitions:
      - name: default
        queues:
        - name: root
          queues: [{name: sales}]
"""


def test_queues_in_the_values_of_a_chart_are_taken():
    made = assemble([("values.yaml", VALUES)])
    partition = made.world.policy.spec.yunikorn.queues["partitions"][0]
    assert partition["queues"][0]["queues"] == [{"name": "sales"}]


LOGGED = """\
partitions:
- name: default
  queues:
  - name: root
    queues:
    - name: sales
      properties: {preemption.delay: 0s}
"""


def test_a_property_that_yunikorn_logs_and_leaves_is_a_finding_where_it_stands():
    (found,) = assemble([("queues.yaml", LOGGED)]).loaded.findings
    assert (found.level, found.place.line) == ("warning", 7)
    assert found.problem.startswith("preemption.delay: expected a duration above 0")
    assert found.problem.endswith("30s is used")
