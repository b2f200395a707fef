"""What the reference shows to type: a body of each operation, and its command line.

A test sends each body to a sandbox with queues, and parses each line.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FLAVOR = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ResourceFlavor",
    "metadata": {"name": "spot"},
}
_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: nightly, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: busybox, resources: {requests: {cpu: 1}}}]
"""
_FILES = [{"name": "nightly.yaml", "text": _JOB}]
_QUEUE = {
    "apiVersion": "kueue.x-k8s.io/v1beta2",
    "kind": "ClusterQueue",
    "metadata": {"name": "main"},
    "spec": {
        "namespaceSelector": {},
        "resourceGroups": [
            {
                "coveredResources": ["cpu"],
                "flavors": [
                    {
                        "name": "default",
                        "resources": [{"name": "cpu", "nominalQuota": 8}],
                    }
                ],
            }
        ],
    },
}
_VOLCANO = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 2, capability: {cpu: 8}}
"""
_EXPERIMENT = {
    "apiVersion": "quotalab.dev/v1",
    "kind": "Experiment",
    "spec": {
        "base": {"scenario": "classical-reclaim"},
        "seeds": {"count": 2},
        "variants": [
            {"name": "as it is"},
            {"name": "slow", "policy": {"simulation": {"defaultRuntime": "5m"}}},
        ],
        "horizon": "2m",
    },
}
_SEARCH = {
    **_EXPERIMENT,
    "spec": {
        "base": {"scenario": "classical-reclaim"},
        "seeds": {"count": 2},
        "objectives": [{"measure": "waitMeanMs"}],
        "search": {
            "runs": 8,
            "change": [{"quota": {"flavor": "default", "resource": "cpu", "step": 1}}],
        },
        "horizon": "2m",
    },
}
_TRACE = [{"name": "day.swf", "text": "1 0 -1 60 1 -1 -1 1 90 -1 1 1 1 1 1 1 -1 -1\n"}]

#: Operation -> a body that a sandbox with ClusterQueue `main`, its LocalQueues `main`
#: and `second`, and Job `train-1` takes.
BODIES: Mapping[str, dict[str, Any]] = {
    "apply": {"objects": [_FLAVOR]},
    "conversions": {"files": [{"name": "volcano.yaml", "text": _VOLCANO}]},
    "convert": {"stack": "yunikorn"},
    "delete_objects": {
        "objects": [{"kind": "Job", "namespace": "default", "name": "train-1"}]
    },
    "experiments_create": {"document": _EXPERIMENT},
    "experiments_estimate": {"document": _SEARCH},
    "forecast_submission_create": {"files": _FILES, "futures": 2},
    "forecasts_create": {"futures": 2, "horizonMs": 600000},
    "fork": {"tick": 2, "title": "from tick 2"},
    "import_files": {"files": _FILES},
    "imports_dry": {"files": _FILES},
    "move": {"workload": "default/train-1", "to": "second"},
    "node": {"name": "spare", "change": "add", "allocatable": {"cpu": "8"}},
    "objects_patch": {"metadata": {"labels": {"team": "search"}}},
    "objects_put": _QUEUE,
    "play": {"speed": 5},
    "policy_patch": {"spec": {"simulation": {"defaultRuntime": "5m"}}},
    "policy_put": {"spec": {}},
    "rewind": {"tick": 1},
    "sandboxes_change": {"title": "nightly queues"},
    "sandboxes_create": {"scenario": "classical-reclaim"},
    "shares_create": {"mayFork": True},
    "speed": {"speed": 5},
    "step": {"ticks": 10},
    "tokens_create": {"name": "ci", "scope": "write"},
    "traces_preview": {"files": _TRACE},
    "would_create": {"files": _FILES},
    "what_ifs_create": {
        "changes": [{"policy": {"spec": {"simulation": {"defaultRuntime": "5m"}}}}],
        "horizonMs": 60000,
    },
}
#: Operation -> the line of `quotalab` that asks for it.
COMMANDS: Mapping[str, str] = {
    "archive": "quotalab archive $ID",
    "archive_read": "quotalab export $ID --what archive -o sandbox.quotalab",
    "archives_create": "quotalab restore sandbox.quotalab",
    "compare_read": "quotalab compare $ID $OTHER",
    "conversions": "quotalab convert volcano.yaml",
    "disk_read": "quotalab disk",
    "events_read": "quotalab events $ID --type Preempt,Evict",
    "experiments_create": "quotalab experiment compare.yaml",
    "explain_read": "quotalab explain $ID default/train-1",
    "export_read": "quotalab export $ID -o world.yaml",
    "forecast_read": "quotalab forecast $ID --futures 20",
    "forecast_submission_create": "quotalab forecast $ID --submit nightly.yaml",
    "would_create": "quotalab would $ID nightly.yaml",
    "fork": "quotalab fork $ID --tick 2",
    "hash_read": "quotalab hash $ID",
    "import_files": "quotalab import --into $ID nightly.yaml",
    "incident_create": "quotalab incident $ID --from 60 --to 600 --policy fair.yaml",
    "metrics_read": "quotalab metrics $ID",
    "pause": "quotalab pause $ID",
    "play": "quotalab play $ID --speed 5",
    "policy_patch": "quotalab policy $ID --patch policy.yaml",
    "policy_read": "quotalab policy $ID",
    "preemption_steps_read": "quotalab preemption $ID $PLACE",
    "redo": "quotalab redo $ID",
    "reproduction_read": "quotalab reproduce $ID $PLACE",
    "rewind": "quotalab rewind $ID --tick 1",
    "sandboxes_change": "quotalab keep $ID --days 30 --ticks 0",
    "sandboxes_create": "quotalab open classical-reclaim",
    "sandboxes_delete": "quotalab delete $ID",
    "sandboxes_list": "quotalab list",
    "scenarios_list": "quotalab scenarios",
    "shadow_read": "quotalab shadow $ID",
    "speed": "quotalab speed $ID --speed 5",
    "state_read": "quotalab state $ID --tick 60",
    "step": "quotalab step $ID --ticks 10 --wait",
    "tables_read": "quotalab table $ID workloads phase=pending",
    "tokens_create": "quotalab token ci --scope write",
    "tokens_delete": "quotalab tokens --revoke $TOKEN_ID",
    "tokens_list": "quotalab tokens",
    "twins_create": "quotalab twin prod.qrec",
    "unarchive": "quotalab unarchive $ID",
    "undo": "quotalab undo $ID",
    "what_ifs_create": "quotalab what-if $ID --change more-nodes.yaml",
    "what_ifs_patch": "quotalab patch $ID 3 queues.yaml",
}
