"""Files become objects and policy; what is wrong is reported with its place."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import pytest
import yaml

from docs.written.outcomes import table
from scheduler.assembly import InputError, assemble
from scheduler.input.manifests.load import load
from scheduler.input.manifests.report import report_of
from scheduler.model.kube.configuration import read_configurations
from scheduler.model.objects import Key
from tests.builders import cluster_queue, flavor, job, node

SAMPLES = Path(__file__).parents[4] / "shared" / "samples" / "kueue"

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata:
  name: main
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: default
      resources:
      - name: cpu
        nominalQuota: 4
"""


def problems(text: str) -> list[str]:
    return [str(finding) for finding in load([("in.yaml", text)]).errors]


def changed(old: str, new: str) -> str:
    assert old in QUEUE
    return QUEUE.replace(old, new)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        pytest.param("kind: [", "in.yaml:2", "not YAML", id="broken YAML"),
        pytest.param(
            "apiVersion: v1\nkind: Nod\nmetadata: {name: n}\n",
            "in.yaml:2: kind",
            "did you mean Node?",
            id="an unknown kind",
        ),
        pytest.param(
            "apiVersion: batch/v1\nkind: Jobb\nmetadata: {name: n}\n",
            "in.yaml:2: kind",
            "unknown kind 'Jobb' of group 'batch'; did you mean Job?",
            id="a misspelled kind of a known group",
        ),
        pytest.param(
            changed("nominalQuota: 4", "nominalQuota: four"),
            "in.yaml:13: spec.resourceGroups[0].flavors[0].resources[0].nominalQuota",
            "expected a quantity",
            id="a bad quantity",
        ),
        pytest.param(
            changed("  namespaceSelector: {}", "  cohrt: x\n  namespaceSelector: {}"),
            "in.yaml:6: spec.cohrt",
            "",
            id="a misspelled field",
        ),
        pytest.param(
            changed("v1beta2", "v1alpha1"),
            "in.yaml:1: apiVersion",
            "known: v1beta2, v1beta1",
            id="an old version",
        ),
        pytest.param(
            "kind: ClusterQueue\nmetadata: {name: a}\n",
            "in.yaml:1: apiVersion",
            "expected a text",
            id="no apiVersion",
        ),
        pytest.param(
            changed("  name: main", "  name: main\n  annotations: {quotalab.dev/x: y}"),
            "in.yaml:5: metadata.annotations",
            "unknown annotation quotalab.dev/x",
            id="an unknown annotation of ours",
        ),
    ],
)
def test_bad_input_is_reported_with_file_line_and_field(text, place, words):
    (problem,) = problems(text)
    assert problem.startswith(place), problem
    assert words in problem


def test_every_problem_is_reported_at_once_and_nothing_is_taken():
    with pytest.raises(InputError) as error:
        assemble(
            [
                ("a.yaml", QUEUE),
                ("b.yaml", "kind: ["),
                ("c.yaml", changed("nominalQuota: 4", "nominalQuota: x")),
            ]
        )
    assert len(error.value.loaded.errors) == 2


def test_a_loop_of_cohorts_is_a_warning_with_its_path():
    def cohort(name: str, parent: str) -> str:
        return (
            "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\n"
            f"metadata: {{name: {name}}}\nspec:\n  parentName: {parent}\n"
        )

    text = "---\n".join([cohort("a", "b"), cohort("b", "c"), cohort("c", "a")])
    found = assemble([("loop.yaml", text)]).loaded.findings
    (warning,) = [one for one in found if "loop: a -> b -> c -> a" in one.problem]
    assert warning.level == "warning"


def test_a_job_that_requests_more_than_its_limit_is_refused():
    text = (
        "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j, namespace: default}\n"
        "spec: {template: {spec: {containers: [{name: c, image: i, "
        "resources: {requests: {cpu: 2}, limits: {cpu: 1}}}]}}}\n"
    )
    with pytest.raises(InputError, match=r"requests.cpu: expected at most the limit 1"):
        assemble([("job.yaml", text)])


@pytest.mark.parametrize(
    ("section", "near"),
    [
        ("featureGates: {TASProfileMixd: true}", "expected one of TASProfileMixed"),
        ("integrations: {frameworks: [batch/jobs]}", "expected one of batch/job"),
    ],
)
def test_a_configuration_with_which_kueue_would_not_start_is_refused(section, near):
    text = (
        f"apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n{section}\n"
    )
    with pytest.raises(InputError, match=near):
        assemble([("config.yaml", text)])


def test_a_name_that_nothing_has_is_a_warning_with_its_line():
    found = assemble([("in.yaml", QUEUE)]).loaded.findings
    (warning,) = [finding for finding in found if finding.level == "warning"]
    assert str(warning).startswith("in.yaml:10: spec.resourceGroups[0].flavors[0].name")
    assert "stays inactive" in warning.problem


def test_a_label_that_names_no_priority_class_is_a_warning_with_its_field():
    text = yaml.safe_dump(job("j", priority_class="urgent"))
    found = assemble([("in.yaml", text)]).loaded.findings
    (warning,) = [finding for finding in found if finding.level == "warning"]
    assert "metadata.labels.kueue.x-k8s.io/priority-class" in str(warning)
    assert "gets no Workload" in warning.problem


def test_what_is_not_simulated_is_named_with_its_line_and_the_rest_loads():
    text = QUEUE + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: r}\n"
    loaded = load([("in.yaml", text)])
    (finding,) = [f for f in loaded.findings if f.level == "unsupported"]
    assert str(finding).startswith("in.yaml:16: kind: Secret default/r: not simulated")
    assert {obj.key.kind for obj in loaded.objects} == {"ClusterQueue", "Secret"}


def test_the_later_of_two_of_one_name_counts():
    loaded = load([("a.yaml", QUEUE), ("b.yaml", changed("Quota: 4", "Quota: 5"))])
    (queue,) = loaded.objects
    group = queue.spec["resourceGroups"][0]
    assert group["flavors"][0]["resources"][0]["nominalQuota"] == 5
    assert "replaces the one at a.yaml:1" in loaded.findings[0].problem


def test_what_is_given_again_keeps_its_place_among_its_kind():
    first = changed("name: main", "name: one")
    again = first.replace("Quota: 4", "Quota: 5")
    loaded = load([("a.yaml", first), ("b.yaml", QUEUE), ("c.yaml", again)])
    assert [obj.key.name for obj in loaded.objects] == ["one", "main"]
    assert "Quota': 5" in str(loaded.objects[0].spec)


def test_a_config_map_that_holds_a_configuration_is_read_as_policy():
    text = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    fairSharing:
      preemptionStrategies: [LessThanInitialShare]
"""
    loaded = load([("in.yaml", text)])
    assert loaded.policy["kueue"]["fairSharing"] == {
        "preemptionStrategies": ["LessThanInitialShare"]
    }


def test_v1beta1_is_read_and_v1beta2_is_kept():
    text = changed("v1beta2", "v1beta1").replace(
        "  namespaceSelector", "  cohort: team\n  namespaceSelector"
    )
    (queue,) = load([("in.yaml", text)]).objects
    assert queue.manifest["apiVersion"] == "kueue.x-k8s.io/v1beta2"
    assert queue.spec["cohortName"] == "team"


def test_server_fields_are_left_out_and_status_is_kept():
    text = """\
apiVersion: v1
kind: Node
metadata:
  name: n
  resourceVersion: "7"
  managedFields: [{manager: kubelet}]
status:
  allocatable: {cpu: "4"}
"""
    (node,) = load([("in.yaml", text)]).objects
    assert set(node.metadata) == {"name"}
    assert node.status["allocatable"]["cpu"] == "4"


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample manifests are not here")
def test_the_sample_manifests_load_together_and_in_any_order():
    files = [(p.name, p.read_text()) for p in sorted(SAMPLES.glob("*.yaml"))]
    keys = {obj.key for obj in load(files).objects}
    assert Key("ClusterQueue", "", "agi-cluster-queue") in keys
    shuffle = random.Random(7).sample
    for order in itertools.chain([files], (shuffle(files, len(files)) for _ in "abc")):
        loaded = load(order)
        assert loaded.errors == []
        assert {obj.key for obj in loaded.objects} == keys
    for file in files:
        assert load([file]).errors == []


SCHEDULER = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: {name}
"""


def scheduler_names(*names: str) -> list[str]:
    text = "---\n".join(SCHEDULER.format(name=name) for name in names)
    loaded = load([("schedulers.yaml", text)])
    assert not loaded.errors
    found = read_configurations(loaded.policy["kubeScheduler"])
    return [c.profiles[0].scheduler_name for c in found]


def test_one_scheduler_configuration_stays_as_it_is():
    loaded = load([("scheduler.yaml", SCHEDULER.format(name="a"))])
    assert loaded.policy["kubeScheduler"]["kind"] == "KubeSchedulerConfiguration"


def test_several_scheduler_configurations_run_side_by_side():
    assert scheduler_names("a", "b", "c") == ["a", "b", "c"]


def test_a_policy_and_a_configuration_of_the_same_scheduler_are_one_too_many():
    policy = (
        "apiVersion: quotalab.dev/v1\nkind: Policy\n"
        "spec: {kubeScheduler: {profiles: [{schedulerName: a}]}}\n"
    )
    found = problems(f"{policy}---\n{SCHEDULER.format(name='b')}")
    assert len(found) == 1
    assert "'kubeScheduler' is given twice" in found[0]


TOOL = "kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes: [{role: worker}]\n"


def test_a_file_of_a_tool_beside_manifests_refuses_nothing_and_is_reported():
    loaded = load([("kind.yaml", TOOL), ("f.yaml", yaml.safe_dump(flavor()))])
    assert not loaded.errors
    assert [obj.key.kind for obj in loaded.objects] == ["ResourceFlavor"]
    (finding,) = loaded.findings
    assert "a Cluster of kind.x-k8s.io without a name" in finding.problem
    assert loaded.outcomes["kind.yaml", "Cluster", "refused"] == 1


def test_a_file_of_a_tool_alone_is_an_error():
    assert len(load([("kind.yaml", TOOL)]).errors) == 1
    assert len(load([("board.json", '{"panels": []}')]).errors) == 1


def test_the_values_of_a_config_map_are_read_as_the_queues_they_hold():
    queues = "partitions: [{name: default, queues: [{name: root}]}]"
    loaded = load([("config.yaml", yaml.safe_dump({"queues.yaml": queues}))])
    assert not loaded.errors
    assert "queues" in loaded.policy["yunikorn"]


def test_an_admission_check_for_a_flavor_that_the_queue_has_not_is_a_warning():
    queue = cluster_queue("q")
    check = {"name": "c", "onFlavors": ["elsewhere"]}
    queue["spec"]["admissionChecksStrategy"] = {"admissionChecks": [check]}
    made = assemble([("q.yaml", yaml.safe_dump_all([flavor(), queue]))])
    problems = [finding.problem for finding in made.loaded.findings]
    assert "this ClusterQueue has no flavor 'elsewhere': not checked in it" in problems


def test_a_table_of_outcomes_has_a_row_per_file(tmp_path):
    (tmp_path / "f.yaml").write_text(yaml.safe_dump(flavor()))
    (tmp_path / "kind.yaml").write_text(TOOL)
    rows = table([tmp_path]).splitlines()[2:]
    assert rows[0] == f"| `{tmp_path.name}/f.yaml` | 1 | 0 | 0 | 0 |  |"
    assert "| 0 | 0 | 0 | 1 | error: not an object of a cluster" in rows[1]


VOLCANO_JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j}
spec: {minAvailable: 3, queue: default, tasks: [{replicas: 3, name: t}]}
"""


def test_a_job_of_another_group_is_kept_and_not_read_as_a_job_of_batch():
    loaded = load([("volcano.yaml", VOLCANO_JOB)])
    assert [finding.level for finding in loaded.findings] == ["unsupported"]
    assert "quotalab convert" in loaded.findings[0].problem
    assert loaded.objects[0].key == Key("Job.batch.volcano.sh", "", "j")


@pytest.mark.parametrize(
    "text",
    [
        "kind: Kustomization\napiVersion: kustomize.config.k8s.io/v1beta1",
        "resources: []",
    ],
)
def test_a_kustomization_is_said_not_to_be_applied(text):
    files = [("a/kustomization.yaml", text), ("a/n.yaml", yaml.safe_dump(node("n")))]
    loaded = load(files)
    (finding,) = loaded.findings
    assert (finding.level, finding.place.file) == ("unsupported", files[0][0])
    assert "not applied" in finding.problem
    assert finding.effect
    assert len(loaded.objects) == 1
    assert load(files[:1]).findings[0].level == "error"


def test_a_list_whose_items_are_null_is_an_empty_one():
    loaded = load([("dump.yaml", "apiVersion: v1\nkind: List\nitems:\n")])
    assert [finding.level for finding in loaded.findings] == ["warning"]


@pytest.mark.parametrize(
    ("kind", "spec"),
    [("PodGroup", {"minMember": 2}), ("ElasticQuota", {"max": {"cpu": "2"}})],
)
def test_a_kind_of_the_older_group_is_read_as_the_newer_one(kind, spec):
    groups = ("scheduling.sigs.k8s.io", "scheduling.x-k8s.io")
    (found,), (same,) = (
        load([("g.yaml", f"apiVersion: {group}/v1alpha1\nkind: {kind}\n"
               f"metadata: {{name: g}}\nspec: {spec}\n")]).objects
        for group in groups
    )  # fmt: skip
    assert found == same
    assert found.key.kind == kind


STAMPED = """\
apiVersion: v1
kind: Pod
metadata: {name: p, %s}
spec: {containers: [{name: c}]}
status:
  %s
"""


@pytest.mark.parametrize(
    ("metadata", "status", "path"),
    [
        ("creationTimestamp: soon", "{}", "metadata.creationTimestamp"),
        ("deletionTimestamp: soon", "{}", "metadata.deletionTimestamp"),
        ("uid: a", "startTime: soon", "status.startTime"),
        ("uid: a", "conditions: [{type: A, lastTransitionTime: soon}]",
         "status.conditions[0].lastTransitionTime"),
    ],
)  # fmt: skip
def test_a_time_that_is_none_is_an_error_where_it_stands(metadata, status, path):
    (found,) = load([("p.yaml", STAMPED % (metadata, status))]).errors
    assert found.place.field == path
    assert found.problem.startswith("expected a time such as")


def test_the_same_object_with_another_status_is_said_to_be_replaced():
    text = STAMPED % ("uid: a", "phase: %s")
    loaded = load([("p.yaml", f"{text % 'Pending'}---\n{text % 'Running'}")])
    (found,) = loaded.findings
    assert "replaces the one at p.yaml:1" in found.problem


SPELT = """\
apiVersion: v1
kind: %s
metadata:
  name: %s
  namespace: %s
spec: {containers: [{name: c}]}
"""


@pytest.mark.parametrize(
    ("kind", "name", "namespace", "said"),
    [
        ("Pod", "Team_A", "default", "n.yaml:4: metadata.name: not a name: 'Team_A'"),
        ("Pod", "a.-b", "default", "n.yaml:4: metadata.name: not a name: 'a.-b'"),
        ("Pod", "p", "Team_A", "n.yaml:5: metadata.namespace: not a namespace: 'Tea"),
        ("Pod", "p", "a.b", "n.yaml:5: metadata.namespace: not a namespace: 'a.b'"),
        ("Namespace", "a.b", "default", "n.yaml:4: metadata.name: not a name: 'a.b'"),
        ("Secret", "p", "-a", "n.yaml:5: metadata.namespace: not a namespace: '-a'"),
    ],
)
def test_a_name_that_no_api_server_takes_is_an_error(kind, name, namespace, said):
    loaded = load([("n.yaml", SPELT % (kind, name, namespace))])
    (found,) = loaded.errors
    assert str(found).startswith(said)


def test_names_with_points_and_those_of_roles_are_taken():
    role = "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\n"
    role += "metadata: {name: 'system:Leader_A'}\n"
    pod = SPELT % ("Pod", "a-b.c9", "team-a")
    assert load([("r.yaml", role), ("p.yaml", pod)]).errors == []


def test_a_version_that_is_no_longer_read_is_named_with_the_one_that_is():
    old = "apiVersion: extensions/v1beta1\nkind: Deployment\nmetadata: {name: d}\n"
    (found,) = load([("x.yaml", old)]).findings
    assert "Deployment of apps/v1 is simulated" in found.problem


def test_objects_that_replace_others_are_one_sort_of_finding_per_kind():
    flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {{name: {name}}}\nspec: {{nodeLabels: {{a: {value}}}}}\n"
    files = [
        (f"{name}-{value}.yaml", flavor.format(name=name, value=value))
        for name in ("small", "large")
        for value in ("one", "two")
    ]
    (found,) = report_of(load(files)).findings
    assert (found.count, found.problem.startswith("ResourceFlavor: one")) == (2, True)
    assert len(found.places) == 2


def test_of_two_configurations_of_kueue_the_last_counts_and_is_named():
    text = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmanageJobsWithoutQueueName: {}\n"
    loaded = load([("a.yaml", text.format("true")), ("b.yaml", text.format("false"))])
    assert loaded.policy["kueue"]["manageJobsWithoutQueueName"] is False
    (found,) = loaded.findings
    assert str(found).startswith("b.yaml:1: Configuration takes the place")


@pytest.mark.parametrize(
    "text",
    [
        "kind: Kustomization\nresources: [a.yaml]\n",
        "apiVersion: builtin\nkind: PrefixSuffixTransformer\nmetadata: {name: a}\n",
    ],
)
def test_what_kustomize_reads_is_named_as_such(text):
    (found,) = load([("base/kustomization.yaml", text)]).findings
    assert found.problem.startswith("a kustomization, which is not applied")


def test_the_configuration_of_another_controller_is_kept_and_named():
    text = "apiVersion: jobset.x-k8s.io/v1alpha1\nkind: Configuration\nmetadata: {name: a}\n"
    (found,) = load([("jobset.yaml", text)]).findings
    assert (found.level, "jobset.x-k8s.io" in found.problem) == ("unsupported", True)


def test_of_two_configurations_that_serve_one_name_the_later_counts_and_is_said():
    head = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    )
    named = [f"{head}profiles: [{{schedulerName: {name}}}]\n" for name in "aba"]
    named[2] += "parallelism: 4\n"
    loaded = load([(f"{n}.yaml", text) for n, text in enumerate(named)])
    kept = loaded.policy["kubeScheduler"]["items"]
    assert [one["profiles"][0]["schedulerName"] for one in kept] == ["b", "a"]
    said = [str(one) for one in loaded.findings if "takes the place" in one.problem]
    assert [one.split(": ")[0].split(":")[0] for one in said] == ["2.yaml"]


def test_the_other_profiles_of_an_earlier_configuration_stay():
    profile = "- schedulerName: {}\n"
    head = SCHEDULER.removesuffix(profile.format("{name}"))
    files = ["".join(map(profile.format, names)) for names in ("abc", "bcd")]
    loaded = load([(f"{n}.yaml", head + one) for n, one in enumerate(files)])
    found = read_configurations(loaded.policy["kubeScheduler"])
    served = [[one.scheduler_name for one in each.profiles] for each in found]
    assert served == [["a"], ["b", "c", "d"]]
    said = [one.problem for one in loaded.findings]
    assert said == [
        f"schedulerName {name} takes the place of the one before it" for name in "bc"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "a: b: c\n",
        "- regex: a\n  weight: 1\n",
        "- label: a\n  kind: b\n  commands: [kubectl apply -f spec.yaml]\n",
        "patches: []\npatches: []\nspec: {}\n",
        "kind: Changed\nbody: a\ntime: b\n",
        "kind: CronJob\nimage: {}\n",
        "apiVersion: v1\nkind: Policy\npredicates: []\n",
    ],
)
def test_a_file_that_names_no_kind_is_left_aside_whatever_it_is(text):
    flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: a}\n"
    loaded = load([("kep.yaml", text), ("flavor.yaml", flavor)])
    (found,) = loaded.findings
    assert (found.level, len(loaded.objects)) == ("unsupported", 1)
    assert found.problem.endswith("so it is no object of a cluster: not taken")


@pytest.mark.parametrize(
    "text",
    [
        "kind: Job\na: b: c\n",
        "kind: Job\napiVersion: batch/v1\nspec: {a: 1, a: 1}\n",
        '{"apiVersion": "batch/v1", "kind": "Job", "spec": {"a": 1, "a": 1}}',
    ],
)
def test_a_file_that_names_a_kind_and_is_broken_is_an_error(text):
    flavor = "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: a}\n"
    loaded = load([("broken.yaml", text), ("flavor.yaml", flavor)])
    assert [found.level for found in loaded.findings] == ["error"]
