"""Gang scheduling: task groups, placeholders, and pods that take their place."""

from __future__ import annotations

from scheduler.yunikorn.applications import Application, Ask
from scheduler.yunikorn.partition import Partition


def replace(partition: Partition) -> bool:
    """Replace one placeholder by a real pod, if any can be."""
    return False


def waits(app: Application, ask: Ask) -> bool:
    """Tell whether an ask waits for a placeholder of its group."""
    return False
