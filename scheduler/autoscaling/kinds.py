"""What the autoscalers read of a world."""

from __future__ import annotations

from scheduler.autoscaling.group_spec import NODE_GROUP
from scheduler.autoscaling.karpenter.instance_type import INSTANCE_TYPE
from scheduler.autoscaling.karpenter.pool_spec import NODE_POOL
from scheduler.provisioning.conditions import REQUEST
from scheduler.provisioning.config import CONFIG

#: With the first of these there is an autoscaler.
GROWING = frozenset({NODE_GROUP, NODE_POOL})
AUTOSCALED = GROWING | {
    INSTANCE_TYPE,
    CONFIG,
    REQUEST,
    "AdmissionCheck",
    "ConfigMap",
}
