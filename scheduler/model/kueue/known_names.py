"""Names that Kueue knows: with another one in its Configuration it does not start.

Source: docs/semantics/kueue-lifecycle.md#configuration.
"""

from __future__ import annotations

from scheduler.model.releases.kueue_gates import KUEUE_GATES

#: Feature gates of any release, so that a Configuration of an older one is read.
GATES = tuple(KUEUE_GATES)
#: Integrations of any release.
INTEGRATIONS = (
    "batch/job",
    "deployment",
    "jobset.x-k8s.io/jobset",
    "kubeflow.org/jaxjob",
    "kubeflow.org/mpijob",
    "kubeflow.org/mxjob",
    "kubeflow.org/paddlejob",
    "kubeflow.org/pytorchjob",
    "kubeflow.org/tfjob",
    "kubeflow.org/xgboostjob",
    "leaderworkerset.x-k8s.io/leaderworkerset",
    "pod",
    "ray.io/raycluster",
    "ray.io/rayjob",
    "ray.io/rayservice",
    "sparkoperator.k8s.io/sparkapplication",
    "statefulset",
    "trainer.kubeflow.org/trainjob",
    "workload.codeflare.dev/appwrapper",
)
