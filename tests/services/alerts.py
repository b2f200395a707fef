"""The alert rules of docs/monitoring, asked of two scrapes: which of them are true.

The part of PromQL that they use: instant samples with equal labels, `rate` and
`increase` between the two scrapes, `max`, `min`, `sum`, comparisons, `and`, `+`, `-`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.services.default_run import ROOT

RULES: list[dict[str, Any]] = yaml.safe_load(
    (ROOT / "docs" / "monitoring" / "alerts.yaml").read_text()
)["groups"][0]["rules"]
_OVER_TIME = re.compile(r"(rate|increase)\((\w+)(\{[^}]*\})?\[\d+m\]\)")
_INSTANT = re.compile(r"(?<![\w\"])((?:quotalab_|up)\w*)(\{[^}]*\})?")
_LABEL = re.compile(r"(\w+)=\"([^\"]*)\"")


def firing(before: str, after: str, seconds: float) -> list[str]:
    """Return the alerts whose expressions are true of scrapes so many seconds apart."""
    scrapes = [_samples(text) for text in (before, after)]
    scope = {"at": _reader(scrapes, seconds), "sum": sum, "min": min}
    scope["max"] = lambda values: max(values, default=0)
    return [rule["alert"] for rule in RULES if eval(_python(rule["expr"]), scope)]


def _python(expr: str) -> str:
    expr = _OVER_TIME.sub(r"@('\1', '\2', '\3')", expr)
    parts = re.split(r"(@\([^)]*\))", expr)
    plain = [
        part if part.startswith("@") else _INSTANT.sub(r"@('', '\1', '\2')", part)
        for part in parts
    ]
    found = "".join(plain).replace("@(", "at(")
    # `up` and a bare rate are lists: one that is true is enough.
    return re.sub(r"^(at\([^)]*\))", r"max(\1)", found)


def _reader(
    scrapes: Sequence[list[tuple[str, dict[str, str], float]]], seconds: float
) -> Callable[[str, str, str], list[float]]:
    def at(function: str, name: str, given: str) -> list[float]:
        if name == "up":
            return [1.0]
        wanted = dict(_LABEL.findall(given or "")).items()
        old, new = (
            {
                tuple(labels.items()): value
                for found, labels, value in scrape
                if found == name and wanted <= labels.items()
            }
            for scrape in scrapes
        )
        if not function:
            return list(new.values())
        grown = [value - old.get(key, 0.0) for key, value in new.items()]
        return [one / seconds for one in grown] if function == "rate" else grown

    return at


def _samples(text: str) -> list[tuple[str, dict[str, str], float]]:
    return [
        (sample.name, dict(sample.labels), sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]
