"""What the autoscalers read of a world."""

from __future__ import annotations

from scheduler.model.autoscaling.group_spec import NODE_GROUP
from scheduler.model.autoscaling.instance_type import INSTANCE_TYPE
from scheduler.model.autoscaling.pool_spec import NODE_POOL
from scheduler.model.autoscaling.provisioning_config import CONFIG, REQUEST

#: With the first of these there is an autoscaler.
GROWING = frozenset({NODE_GROUP, NODE_POOL})
AUTOSCALED = GROWING | {
    INSTANCE_TYPE,
    CONFIG,
    REQUEST,
    "AdmissionCheck",
    "ConfigMap",
}
