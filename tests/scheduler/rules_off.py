"""A plug-in of pytest: the tests of this run with one rule of the ledger turned over.

`QUOTALAB_RULE_OFF=id pytest -p tests.scheduler.rules_off`: each release that has the rule
lacks it, and the others have it. A test that holds the rule fails then.
"""

from __future__ import annotations

import os
import re
from contextlib import ExitStack

from scheduler.model.releases import release
from scheduler.model.releases.kueue_gates import KUEUE_GATES
from scheduler.model.releases.rules import rule, turned

_HELD = ExitStack()  # for as long as the process lives


def turn(name: str) -> None:
    """Turn one rule over in this process, for good."""
    gate = rule(name).gate
    if not gate:
        _HELD.enter_context(turned(name))
        return
    sides = {"on": "off", "off": "on"}
    runs = re.sub(r"\b(on|off)\b", lambda found: sides[found[0]], KUEUE_GATES[gate])
    KUEUE_GATES[gate] = runs
    release.kueue_gates.cache_clear()


if os.environ.get("QUOTALAB_RULE_OFF"):
    turn(os.environ["QUOTALAB_RULE_OFF"])
