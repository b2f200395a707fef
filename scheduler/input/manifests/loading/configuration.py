"""What is no object: sections of the policy, queues.yaml, generator files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from scheduler.input.manifests import kinds, kueue
from scheduler.input.manifests import queues_yaml as yunikorn
from scheduler.input.manifests.changes import AT_START
from scheduler.input.manifests.documents import Document, read_documents
from scheduler.input.manifests.fields import expect_items, expect_object, expect_texts
from scheduler.input.manifests.generator import generate, is_generator
from scheduler.input.manifests.loading.identity import kind_of, values_of
from scheduler.input.manifests.loading.loaded import Finding, Loaded, unsupported
from scheduler.model.errors import ManifestError, PolicyError, UnknownNameError
from scheduler.model.kube.configuration import notices, read_configurations
from scheduler.model.kube.older_names import path_given, without_foreign_plugins
from scheduler.model.kube.profiles import DEFAULT_NAME
from scheduler.model.kueue.configuration import DEFAULT_STRATEGIES, GROUP, OF_PROCESS
from scheduler.model.problems import Problem, Wanted, expected, parted
from scheduler.words.effects import Effect, Gap
from scheduler.words.findings import Kept
from scheduler.words.read_as import ReadAs


def take_bare(loaded: Loaded, document: Document) -> None:
    """Take what has no kind: a queues.yaml, also within a text, or a generator file."""
    if is_generator(document.data):
        # Take the objects that a generator file of Kueue stands for.
        for obj in generate(document):
            loaded.check_room(1, document, "cohorts")
            before = loaded.by_key.get(obj.key)
            if before is None:
                loaded.put(obj, document)
            elif before.manifest != obj.manifest and obj.key.kind != "Namespace":
                at = loaded.places[obj.key].place()
                problem = Problem.GENERATED.said(key=obj.key, place=at)
                sort = Problem.GENERATED_KIND.said(kind=obj.key.kind)
                loaded.warn(document.place(), problem, sort)
        return
    if text := values_of(document):
        for inner in read_documents(text, file=document.file):
            take_bare(loaded, inner)
        return
    yunikorn.read(document)  # says what is wrong with it, by line
    laws = (loaded.policy.get("yunikorn") or {}).get("laws", "released")
    for path, said in yunikorn.untaken(document, laws):
        loaded.warn(document.place(path), said)
    if "queues" in loaded.policy.get("yunikorn", {}):
        loaded.warn(document.place(), ReadAs.QUEUES.said())
    _merge_policy(loaded, document, {"yunikorn": {"queues": document.data}})


def take_configuration(loaded: Loaded, document: Document) -> None:
    """Take a configuration of a scheduler, a policy or a scenario."""
    match document.kind:
        case "Configuration":
            kueue.check_configuration(document)
            _take_kueue(loaded, document, document.data)
            for path in kueue.kept_fields(document):
                _leave_out_setting(loaded, document, path)
        case "Kueue":
            given = configuration_of(document)
            kueue.check_configuration(
                replace(document, data=given, root=None, lines=None)
            )
            _take_kueue(loaded, document, given)
            said = ReadAs.OPENSHIFT.said(label=f"{MANAGED}=true")
            loaded.warn(document.place("spec.config"), said)
            for path in unread(document):
                _leave_out_setting(loaded, document, path)
        case "KubeSchedulerConfiguration":
            _add_scheduler(loaded, document)
        case "Policy":
            spec = document.data.get("spec")
            if not isinstance(spec, dict):
                raise document.error("spec", expected(Wanted.OBJECT))
            # Name what an earlier file sets otherwise: the later counts.
            for section in spec.keys() & loaded.policy.keys():
                before, now = loaded.policy[section], spec[section]
                if not (isinstance(before, dict) and isinstance(now, dict)):
                    continue
                for name in sorted(before.keys() & now.keys()):
                    if before[name] != now[name]:
                        place = document.place(f"spec.{section}.{name}")
                        loaded.warn(
                            place, ReadAs.SETTING.said(name=f"{section}.{name}")
                        )
            _merge_policy(loaded, document, spec)
        case "Load":
            loaded.loads.append(document)
        case _:
            loaded.scenarios.append(document)


def _take_kueue(loaded: Loaded, document: Document, given: dict[str, Any]) -> None:
    """Take Kueue's Configuration: the last of several files counts, as in a cluster."""
    before = loaded.policy.pop("kueue", None)
    if before not in (None, given):
        loaded.warn(document.place(), ReadAs.SETTING.said(name="Configuration"))
    _merge_policy(loaded, document, {"kueue": given})


def _leave_out_setting(loaded: Loaded, document: Document, path: str) -> None:
    """Name a field of Kueue's Configuration; each that would decide by itself."""
    gap, sort = Kept.SETTING.at(path), Kept.SETTINGS.said(name=path)
    if path in OF_PROCESS:
        gap = Kept.PROCESS.at(path)
        sort = gap.problem
    elif path == "resources.deviceClassMappings":
        gap = gap._replace(effect=Effect.NO_DEVICE_QUOTA)
    found = unsupported(document.place(path), gap)
    loaded.findings.append(replace(found, sort=sort))


def _add_scheduler(loaded: Loaded, document: Document) -> None:
    """Take a scheduler's configuration; several run side by side, as a List.

    Of two that serve one schedulerName the later counts, which is said.
    """
    given, foreign = without_foreign_plugins(document.data)
    for notice in foreign:
        gap = Gap(notice.path, notice.said, Effect.NO_PLUGIN)
        loaded.findings.append(unsupported(document.place(notice.path), gap))
    # Refuse with its place what no scheduler would start with.
    try:
        read_configurations(given)
    except (PolicyError, UnknownNameError) as error:
        path, problem = parted(error.said)
        path = path.removeprefix("kubeScheduler").removeprefix(".")
        raise document.error(path_given(path, foreign), problem) from error
    for notice in notices(document.data):
        place = document.place(notice.path)
        effect = Effect.NO_DECISION if notice.ignored else Effect.NONE
        loaded.findings.append(Finding("warning", place, notice.said, effect=effect))
    served = {*_profiles(given)}
    others = [one for one in loaded.schedulers if one != given]
    for name in [name for one in others for name in _profiles(one) if name in served]:
        said = ReadAs.SETTING.said(name=f"schedulerName {name}")
        loaded.warn(document.place("profiles"), said)
    if loaded.schedulers:
        del loaded.policy["kubeScheduler"]
    loaded.schedulers = [left for one in others if (left := _without(one, served))]
    if not loaded.schedulers:
        _merge_policy(loaded, document, {"kubeScheduler": given})
    loaded.schedulers.append(given)
    if len(loaded.schedulers) > 1:
        loaded.policy["kubeScheduler"] = {"kind": "List", "items": loaded.schedulers}


def _profiles(given: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the profiles of a configuration by the name by which pods choose each."""
    profiles = given.get("profiles") or [{}]
    return {str(one.get("schedulerName") or DEFAULT_NAME): one for one in profiles}


def _without(given: dict[str, Any], served: set[str]) -> dict[str, Any] | None:
    """Return a configuration without the profiles that another serves; None for none."""
    if served.isdisjoint(_profiles(given)):
        return given
    left = [one for name, one in _profiles(given).items() if name not in served]
    return {**given, "profiles": left} if left else None


def _merge_policy(loaded: Loaded, document: Document, patch: dict[str, Any]) -> None:
    for section, value in patch.items():
        if section in loaded.policy and section not in ("yunikorn", "simulation"):
            raise document.error("", Problem.SECTION.said(name=repr(section)))
        if isinstance(value, dict) and section in loaded.policy:
            value = {**loaded.policy[section], **value}
        loaded.policy[section] = value


def read_config_map(loaded: Loaded, document: Document) -> None:
    """Take the policy that a ConfigMap of Kueue or YuniKorn holds, if any."""
    texts = document.data.get("data") or {}
    if not isinstance(texts, dict):
        raise document.error("data", expected(Wanted.OBJECT_OF_TEXTS))
    for name, text in texts.items():
        if not isinstance(text, str) or not (_is_named(name) or _is_ours(name, text)):
            continue
        for inner in _inner(document, name, text):
            if kinds.split(inner.api_version)[0] in AT_START:
                kind_of(inner)  # raises for a kind that the group has not
                take_configuration(loaded, inner)
            elif name == yunikorn.FILE or yunikorn.holds_queues(inner):
                take_bare(loaded, inner)
    _name_settings(loaded, document, texts)


def _name_settings(loaded: Loaded, document: Document, texts: dict[str, Any]) -> None:
    """Name what a ConfigMap of YuniKorn says beside its queues, if it is one."""
    if document.metadata.get("name") not in ("yunikorn-defaults", "yunikorn-configs"):
        return
    for name in texts:
        if str(name).startswith(("admissionController.", "service.")):
            gap = Kept.SETTINGS.at(f"data.{name}", name=str(name))
            leave_out(loaded, document, gap)


def _inner(document: Document, name: str, text: str) -> list[Document]:
    at = document.place(f"data.{name}")
    try:
        return read_documents(text, file=f"{at.file}:{at.line} {name}")
    except ManifestError:
        if _is_named(name) and _is_ours(name, text):
            raise
        return []  # not YAML of ours; a ConfigMap may hold anything


def _is_named(name: str) -> bool:
    return name.endswith((".yaml", ".yml"))


def _is_ours(name: str, text: str) -> bool:
    """Return whether a scheduler would read it: by its key, or the group it names."""
    return name == yunikorn.FILE or any(f"{group}/" in text for group in AT_START)


def leave_out(loaded: Loaded, document: Document, gap: Gap) -> None:
    """Report that a field is kept without effect."""
    loaded.findings.append(unsupported(document.place(gap.field), gap))


# ------------------------------------------------------------------------
# The object by which OpenShift's operator configures Kueue: to Kueue's Configuration.

#: The label of the namespaces whose jobs are managed.
MANAGED = "kueue.openshift.io/managed"
_CONFIG = "spec.config"
_FRAMEWORKS = {
    "AppWrapper": "workload.codeflare.dev/appwrapper",
    "BatchJob": "batch/job",
    "Deployment": "deployment",
    "JaxJob": "kubeflow.org/jaxjob",
    "JobSet": "jobset.x-k8s.io/jobset",
    "LeaderWorkerSet": "leaderworkerset.x-k8s.io/leaderworkerset",
    "MPIJob": "kubeflow.org/mpijob",
    "PaddleJob": "kubeflow.org/paddlejob",
    "Pod": "pod",
    "PyTorchJob": "kubeflow.org/pytorchjob",
    "RayCluster": "ray.io/raycluster",
    "RayJob": "ray.io/rayjob",
    "RayService": "ray.io/rayservice",
    "SparkApplication": "sparkoperator.k8s.io/sparkapplication",
    "StatefulSet": "statefulset",
    "TFJob": "kubeflow.org/tfjob",
    "TrainJob": "trainer.kubeflow.org/trainjob",
    "XGBoostJob": "kubeflow.org/xgboostjob",
}
#: Where pods are not waited for, they may take a year.
_NEVER = "8760h"
#: What the operator documents where nobody says how long pods may take.
_TIMEOUT_S = 1800
_AGAIN = {
    "backoffBaseSeconds": "backoffBaseSeconds",
    "backoffMaxSeconds": "backoffMaxSeconds",
    "retryLimit": "backoffLimitCount",
    "timeReference": "timestamp",
}
_BY_WORKLOAD = (
    "admission",
    "recoveryTimeoutSeconds",
    "requeuingStrategy",
    "timeoutSeconds",
)
_POLICIES = (None, "", "None", "ByWorkload", "ByWorkloadDefaults")
_READ = {
    "admissionFairSharing": ("configuration", "custom"),
    "gangScheduling": ("policy", "byWorkload"),
    "integrations": ("frameworks", "externalFrameworks", "labelKeysToCopy"),
    "preemption": ("preemptionPolicy",),
    "workloadManagement": ("labelPolicy",),
}


def configuration_of(document: Document) -> dict[str, Any]:
    """Return the Configuration that the operator writes of a `Kueue` object.

    Raises ManifestError naming a field with a value that the operator refuses.
    """
    spec = expect_object(document, document.data, "spec", needed=True)
    config = expect_object(document, spec, _CONFIG, needed=True)

    def section(name: str) -> dict[str, Any]:
        return expect_object(document, config, f"{_CONFIG}.{name}")

    found: dict[str, Any] = {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "Configuration",
        "integrations": _integrations(document, section("integrations")),
        "managedJobsNamespaceSelector": {"matchLabels": {MANAGED: "true"}},
        "manageJobsWithoutQueueName": section("workloadManagement").get("labelPolicy")
        == "None",
    }
    gangs = section("gangScheduling")
    if gangs.get("policy") == "ByWorkload":
        found["waitForPodsReady"] = _waiting(document, gangs)
    elif gangs.get("policy") == "None":
        found["waitForPodsReady"] = {"timeout": _NEVER, "blockAdmission": False}
    if section("preemption").get("preemptionPolicy") == "FairSharing":
        found["fairSharing"] = {"preemptionStrategies": [*DEFAULT_STRATEGIES]}
    if usage := section("admissionFairSharing"):
        found["admissionFairSharing"] = _usage(usage)
    return found


def _integrations(document: Document, given: dict[str, Any]) -> dict[str, Any]:
    path = f"{_CONFIG}.integrations"
    frameworks = expect_texts(document, given, f"{path}.frameworks")
    for index, name in enumerate(frameworks):
        if name not in _FRAMEWORKS:
            known = Wanted.ONE_OF.said(known=", ".join(_FRAMEWORKS))
            place = f"{path}.frameworks[{index}]"
            raise document.error(place, expected(known, name))
    found: dict[str, Any] = {"frameworks": [_FRAMEWORKS[name] for name in frameworks]}
    others = [
        f"{one.get('resource')}.{one.get('version')}.{one.get('group')}"
        for _, one in expect_items(document, given, f"{path}.externalFrameworks")
    ]
    keys = [
        one.get("key")
        for _, one in expect_items(document, given, f"{path}.labelKeysToCopy")
    ]
    if others:
        found["externalFrameworks"] = others
    if keys:
        found["labelKeysToCopy"] = keys
    return found


def _waiting(document: Document, gangs: dict[str, Any]) -> dict[str, Any]:
    path = f"{_CONFIG}.gangScheduling.byWorkload"
    given = expect_object(document, gangs, path)
    again = expect_object(document, given, f"{path}.requeuingStrategy")
    found: dict[str, Any] = {
        "timeout": f"{given.get('timeoutSeconds') or _TIMEOUT_S}s",
        "blockAdmission": given.get("admission") == "Sequential",
    }
    if (recovery := given.get("recoveryTimeoutSeconds")) is not None:
        found["recoveryTimeout"] = f"{recovery}s"
    names = {ours: again[theirs] for theirs, ours in _AGAIN.items() if theirs in again}
    return found | ({"requeuingStrategy": names} if names else {})


def _usage(given: Mapping[str, Any]) -> dict[str, Any]:
    custom = given.get("custom") or {}
    found: dict[str, Any] = {
        "usageHalfLifeTime": f"{custom.get('usageHalfLifeTimeSeconds', 1800)}s",
        "usageSamplingInterval": f"{custom.get('usageSamplingIntervalSeconds', 300)}s",
    }
    if weights := custom.get("resourceWeights"):
        found["resourceWeights"] = {
            one["name"]: float(one["weight"]) for one in weights
        }
    return found


def unread(document: Document) -> Iterator[str]:
    """Yield the paths of an object's configuration that nothing here follows."""
    for name, value in document.data["spec"]["config"].items():
        known = _READ.get(name)
        if known is None:
            yield f"{_CONFIG}.{name}"
        elif isinstance(value, dict):
            yield from (f"{_CONFIG}.{name}.{one}" for one in value if one not in known)
    gangs = document.data["spec"]["config"].get("gangScheduling") or {}
    if gangs.get("policy") not in _POLICIES:
        yield f"{_CONFIG}.gangScheduling.policy"
    for name in gangs.get("byWorkload") or {}:
        if name not in _BY_WORKLOAD:
            yield f"{_CONFIG}.gangScheduling.byWorkload.{name}"
