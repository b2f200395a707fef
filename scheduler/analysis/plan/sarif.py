"""A plan as SARIF 2.1.0: what failed, at the file and line of the object that changed.

Source: SARIF 2.1.0, <https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html>
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from scheduler.analysis.plan.changes import Change
from scheduler.analysis.plan.faults import Fault
from scheduler.analysis.plan.judging import Verdict, sentence_of
from scheduler.analysis.plan.outcome import Outcome

#: Of a path, as it was given on the command line, what others open.
Locate = Callable[[str], str]
_MOST = 20


def sarif_of(outcome: Outcome, locate: Locate) -> str:
    """Return the document: a result for each assertion that does not hold.

    Its location is the change of the queue that failed, else the first change, else
    the assertion; the other changes are related locations.
    """
    failed = [verdict for verdict in outcome.verdicts if not verdict.holds]
    rules = [_rule(verdict.name) for verdict in outcome.verdicts]
    results = [_result(verdict, outcome.changes, locate) for verdict in failed]
    return _document(rules, results)


def faults_sarif(faults: Sequence[Fault], locate: Locate) -> str:
    """Return the document of a plan whose input cannot be taken."""
    results = [
        {
            "ruleId": "input",
            "level": "error",
            "message": {"text": fault.problem},
            "locations": [_place(fault.place.file, fault.place.line, locate)],
        }
        for fault in faults
    ]
    text = {"text": "The input of the plan can be taken."}
    return _document([{"id": "input", "shortDescription": text}], results)


def _rule(name: str) -> dict[str, Any]:
    return {"id": rule_id(name), "shortDescription": {"text": name}}


def rule_id(name: str) -> str:
    """Return a name for a rule that stays while the assertion keeps its name."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:60]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{slug or 'assertion'}-{digest[:8]}"


def _result(
    verdict: Verdict, changes: Sequence[Change], locate: Locate
) -> dict[str, Any]:
    placed = [change for change in changes if change.file]
    first = sorted(placed, key=lambda change: not _concerns(change, verdict))
    text = sentence_of(verdict)
    if first:
        text += f". Changed: {first[0]}"
    places = [_place(c.file, c.line, locate, str(c)) for c in first[1:_MOST]]
    at = (first[0].file, first[0].line) if first else (verdict.file, verdict.line)
    found = {
        "ruleId": rule_id(verdict.name),
        "level": "error",
        "message": {"text": text},
        "locations": [_place(*at, locate)],
        "partialFingerprints": {"assertion": rule_id(verdict.name)},
    }
    if places:
        numbered = [{**place, "id": n} for n, place in enumerate(places, start=1)]
        found["relatedLocations"] = numbered
    return found


def _concerns(change: Change, verdict: Verdict) -> bool:
    queues = {verdict.queue, *verdict.failed_queues}
    return change.object.partition("/")[2] in queues


def _place(file: str, line: int, locate: Locate, text: str = "") -> dict[str, Any]:
    place: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": locate(file)},
            "region": {"startLine": line},
        }
    }
    return {**place, "message": {"text": text}} if text else place


def _document(rules: list[dict[str, Any]], results: list[dict[str, Any]]) -> str:
    unique = list({rule["id"]: rule for rule in rules}.values())
    run = {
        "tool": {"driver": {"name": "quotalab plan", "rules": unique}},
        "results": results,
        "columnKind": "unicodeCodePoints",
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
