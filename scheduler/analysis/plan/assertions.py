"""The file of assertions: what must hold on the changed side, by itself or beside the base."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from scheduler.analysis.plan.faults import Fault, FaultsError, faults_of
from scheduler.input.manifests.documents import Document, read_documents
from scheduler.model import durations
from scheduler.model.errors import QuantityError, SchedulerError
from scheduler.model.problems import Form, Wanted, expected

# ------------------------------------------------------------------------
# The measures that an assertion may name: their units, and which a queue has.


Unit = Literal["time", "share", "count"]

#: A share of workloads by wait: waitP95, waitP99.
_QUANTILE = re.compile(r"waitP([0-9][0-9]?)")
#: What each queue has, and all work together.
OF_QUEUES: Mapping[str, Unit] = {
    "waitMean": "time",
    "waitP50": "time",
    "waitP90": "time",
    "waitP95": "time",
    "waitP99": "time",
    "waitMax": "time",
    "arrived": "count",
    "waiting": "count",
}
#: What only the whole run has. A dot leads to a resource.
OF_RUNS: Mapping[str, Unit] = {
    "finished": "count",
    "preemptions": "count",
    "preemptionsPerHour": "count",
    "evictions": "count",
    "evictionsPerHour": "count",
    "restarts": "count",
    "workLost": "time",
    "makespan": "time",
    "jain": "share",
    "shareError": "share",
    "timeToFair": "time",
    "timeToFairMax": "time",
    "searches": "count",
    "candidatesLookedAt": "count",
    "simulations": "count",
}
BY_RESOURCE: Mapping[str, Unit] = {
    "workLost": "count",
    "utilisation": "share",
    "goodput": "share",
    "fragmentation": "share",
}
#: More is better; of all others less is.
HIGH = frozenset({"finished", "jain", "utilisation", "goodput"})


def unit_of(measure: str) -> Unit | None:
    """Return the unit of a measure; None when there is no such measure."""
    name, dot, resource = measure.partition(".")
    if dot:
        return BY_RESOURCE.get(name) if resource else None
    if _QUANTILE.fullmatch(name):
        return "time"
    return OF_QUEUES.get(name) or OF_RUNS.get(name)


def quantile_of(measure: str) -> float | None:
    """Return 0.95 of "waitP95"; None for what is no quantile."""
    match = _QUANTILE.fullmatch(measure)
    return int(match[1]) / 100 if match else None


def has_queues(measure: str) -> bool:
    """Return whether each queue has the measure."""
    return measure in OF_QUEUES or quantile_of(measure) is not None


def known() -> list[str]:
    """Return the names for a message."""
    return [*OF_QUEUES, *OF_RUNS, *(f"{name}.RESOURCE" for name in BY_RESOURCE)]


def nearest(given: str, names: list[str]) -> str:
    """Return "; did you mean X?", or "" for nothing near."""
    near = difflib.get_close_matches(given, names, n=1)
    return f"; did you mean {near[0]}?" if near else ""


def amount(text: object, unit: Unit) -> float:
    """Return a bound in the unit: milliseconds, a share of 1, a number.

    Raises QuantityError saying what was expected.
    """
    if unit == "time":
        if not isinstance(text, str):
            raise QuantityError(expected(Wanted.DURATION.said(example='"30s"'), text))
        return float(durations.span_ms(text.replace(" ", "")))
    if isinstance(text, str) and (found := percent(text)) is not None:
        if unit == "share":
            return found
    elif isinstance(text, int | float) and not isinstance(text, bool):
        return float(text)
    wanted = Wanted.SHARE_LIKE if unit == "share" else Wanted.NUMBER
    raise QuantityError(expected(wanted, text))


def percent(text: str) -> float | None:
    """Return 0.1 of "10%"; None for what is no percentage."""
    match = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*%\s*", text)
    return float(match[1]) / 100 if match else None


def shown(value: float | None, unit: Unit) -> str:
    """Return a value for people: "1m30s", "82.1%", "2.4"."""
    if value is None:
        return "-"
    if unit == "share":
        return f"{100 * value:.1f}%"
    if unit == "count":
        return f"{value:.4g}" if abs(value) < 10_000 else f"{value:,.0f}"
    sign = "-" if value < 0 else ""
    ms = abs(value)
    whole = round(ms / 1000) * 1000 if ms >= 600_000 else round(ms / 100) * 100
    return sign + durations.duration_text(whole)


# ------------------------------------------------------------------------
# The file of assertions: what must hold on the changed side, by itself or beside the
# base.


_KEYS = (
    "name",
    "measure",
    "queue",
    "min",
    "max",
    "maxIncrease",
    "maxDecrease",
    "tolerance",
    "over",
)
_BOUNDS = ("min", "max", "maxIncrease", "maxDecrease")
#: A wait that grows by less than a second is never too much longer in percent.
_TOLERANCE_MS = 1000.0


@dataclass(frozen=True, slots=True)
class Growth:
    """A bound on the way from base to changed: a share of the base, or an amount."""

    amount: float
    of_base: bool

    def allowed(self, base: float, tolerance: float) -> float:
        """Return how far the changed side may go from this value of the base."""
        return max(tolerance, self.amount * abs(base) if self.of_base else self.amount)


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """One thing that must hold; bounds in the unit of the measure.

    `queue` is "" for all work together and "*" for each queue.
    """

    name: str
    measure: str
    unit: Unit
    file: str
    line: int
    queue: str = ""
    min: float | None = None
    max: float | None = None
    increase: Growth | None = None
    decrease: Growth | None = None
    tolerance: float = 0.0
    over: Literal["mean", "every"] = "mean"
    given: Any = None  # as the file has it: a sentence or fields

    @property
    def against_base(self) -> bool:
        """Return whether the base is looked at."""
        return self.increase is not None or self.decrease is not None


def read_assertions(text: str, file: str) -> list[Assertion]:
    """Return the assertions of a file. Raises FaultsError with everything wrong."""
    try:
        documents = read_documents(text, file=file)
    except SchedulerError as error:
        raise FaultsError(faults_of(error, file)) from error
    if len(documents) != 1:
        found = len(documents)
        place = documents[1].place() if found else Document(file=file, data={}).place()
        raise FaultsError([Fault(place, f"expected one document, found {found}")])
    return _Reading(documents[0]).all()


class _Reading:
    """One document, with the faults that were found in it so far."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.faults: list[Fault] = []

    def all(self) -> list[Assertion]:
        data = self.document.data
        self._expect_known(data, ("assertions",), "")
        given = data.get("assertions")
        if not isinstance(given, list) or not given:
            self._fault("assertions", "expected a list of at least one assertion")
            given = []
        found = [self._one(item, f"assertions[{n}]") for n, item in enumerate(given)]
        if self.faults:
            raise FaultsError(self.faults)
        return [one for one in found if one is not None]

    def _fault(self, path: str, problem: object) -> None:
        self.faults.append(Fault(self.document.place(path), str(problem)))

    def _expect_known(
        self, holder: dict[str, Any], names: tuple[str, ...], path: str
    ) -> None:
        for key in holder:
            if key not in names:
                hint = nearest(str(key), list(names))
                where = f"{path}.{key}" if path else str(key)
                problem = Form.UNKNOWN_KEY.said(known=f"{', '.join(names)}{hint}")
                self._fault(where, problem)

    def _one(self, item: Any, path: str) -> Assertion | None:
        before = len(self.faults)
        fields = self._fields_of(item, path)
        if fields is None:
            return None
        self._expect_known(fields, _KEYS, path)
        measure, unit = self._measure(fields, path)
        for key in ("name", "queue"):
            if not isinstance(fields.get(key, ""), str):
                self._fault(f"{path}.{key}", expected(Wanted.TEXT, fields[key]))
        over = fields.get("over", "mean")
        if over not in ("mean", "every"):
            self._fault(
                f"{path}.over",
                expected(Wanted.CHOICE.said(first="mean", last="every"), over),
            )
        if not any(key in fields for key in _BOUNDS):
            self._fault(
                path,
                Form.FOUND_NONE.said(
                    wanted=Wanted.ONE_OF.said(known=", ".join(_BOUNDS))
                ),
            )
        queue = fields.get("queue", "")
        if queue and unit is not None and not has_queues(measure):
            problem = f"{measure} is of the whole run, not of a queue"
            self._fault(f"{path}.queue", problem)
        if unit is None or len(self.faults) > before:
            return None
        return self._made(fields, path, measure, unit, item)

    def _fields_of(self, item: Any, path: str) -> dict[str, Any] | None:
        if isinstance(item, str):
            fields = read_sentence(item)
            if fields is None:
                forms = "; ".join(f'"{one}"' for one in EXAMPLES)
                problem = f"no sentence that is understood; such as {forms}"
                self._fault(path, problem)
                return None
            return {"name": " ".join(item.split()), **fields}
        if not isinstance(item, dict):
            self._fault(path, f"expected fields or a sentence, got {item!r:.60}")
            return None
        return item

    def _measure(self, fields: dict[str, Any], path: str) -> tuple[str, Unit | None]:
        measure = fields.get("measure")
        unit = unit_of(measure) if isinstance(measure, str) else None
        if unit is None and "measure" not in fields:
            self._fault(path, f"expected a measure; known: {', '.join(known())}")
        elif unit is None:
            hint = nearest(str(measure), known())
            problem = f"no measure {measure!r}; known: {', '.join(known())}{hint}"
            self._fault(f"{path}.measure", problem)
        return str(measure), unit

    def _made(
        self, fields: dict[str, Any], path: str, measure: str, unit: Unit, given: Any
    ) -> Assertion | None:
        before = len(self.faults)
        growing = [self._growth(fields, n, path, unit) for n in _BOUNDS[2:]]
        tolerance = self._bound(fields, "tolerance", path, unit)
        made = Assertion(
            name=fields.get("name") or _named(fields, measure),
            measure=measure,
            unit=unit,
            file=self.document.file,
            line=self.document.place(path).line,
            queue=fields.get("queue", ""),
            min=self._bound(fields, "min", path, unit),
            max=self._bound(fields, "max", path, unit),
            increase=growing[0],
            decrease=growing[1],
            tolerance=_tolerance(tolerance, unit, growing),
            over=fields.get("over", "mean"),
            given=given,
        )
        if len(self.faults) > before:
            return None
        if made.min is not None and made.max is not None and made.min > made.max:
            self._fault(f"{path}.min", "expected a min that is not above max")
        return made

    def _bound(
        self, fields: dict[str, Any], name: str, path: str, unit: Unit
    ) -> float | None:
        if name not in fields:
            return None
        try:
            return amount(fields[name], unit)
        except QuantityError as error:
            self._fault(f"{path}.{name}", str(error))
            return None

    def _growth(
        self, fields: dict[str, Any], name: str, path: str, unit: Unit
    ) -> Growth | None:
        given = fields.get(name)
        if isinstance(given, str) and (share := percent(given)) is not None:
            return Growth(share, of_base=True)
        found = self._bound(fields, name, path, unit)
        return None if found is None else Growth(found, of_base=False)


def _tolerance(given: float | None, unit: Unit, growing: list[Growth | None]) -> float:
    if given is not None:
        return given
    relative = any(growth is not None and growth.of_base for growth in growing)
    return _TOLERANCE_MS if relative and unit == "time" else 0.0


def _named(fields: dict[str, Any], measure: str) -> str:
    """Return a name made of the fields: "waitP95 of inference, max 30s"."""
    queue = fields.get("queue", "")
    of = {"": "", "*": " of each queue"}.get(queue, f" of {queue}")
    bounds = ", ".join(f"{n} {fields[n]}" for n in _BOUNDS if n in fields)
    return f"{measure}{of}, {bounds}"


def words_of(assertion: Assertion) -> Iterator[str]:
    """Yield the bounds for people: "at most 30s", "at most 10% above base"."""
    if assertion.min is not None:
        yield f"at least {shown(assertion.min, assertion.unit)}"
    if assertion.max is not None:
        yield f"at most {shown(assertion.max, assertion.unit)}"
    for growth, way in ((assertion.increase, "above"), (assertion.decrease, "below")):
        if growth is not None:
            unit = "share" if growth.of_base else assertion.unit
            yield f"at most {shown(growth.amount, unit)} {way} base"


# ------------------------------------------------------------------------
# Assertions in words: a few forms, each turned into the fields of an assertion.

_TIME = r"(?P<bound>[0-9.]+ ?(?:ms|s|m|h)(?:[0-9.]+(?:ms|s|m))*)"
_UNDER = r"(?:under|below|at most|no more than|within)"
_FEW = r"(?:no more than|at most|under|fewer than)"
_WAIT = r"(?P<wait>p[0-9][0-9]?|mean|average|median|max|maximum|longest|worst)"
_FORMS = (
    rf"(?:(?P<queue>\S+) )?{_WAIT} wait (?:is )?{_UNDER} {_TIME}",
    rf"{_FEW} (?P<bound>[0-9.]+) (?P<what>preemptions|evictions)(?P<rate> per hour)?",
    r"(?P<none>no queue) waits more than (?P<more>[0-9.]+ ?%) longer than on (?:the )?base"
    r"(?: \((?P<wait>[a-z]+[0-9]{0,2})\))?",
    r"(?P<queue>\S+) waits no more than (?P<more>[0-9.]+ ?%) longer than on (?:the )?base"
    r"(?: \((?P<wait>[a-z]+[0-9]{0,2})\))?",
    r"(?P<resource>\S+) utili[sz]ation (?:is )?(?:at least|above|no less than) "
    r"(?P<least>[0-9.]+ ?%)",
    r"(?P<all>everything|all work) starts",
)
#: What to write, for messages and documents.
EXAMPLES = (
    "inference p95 wait under 30s",
    "no more than 2 preemptions per hour",
    "no queue waits more than 10% longer than on base",
    "inference waits no more than 10% longer than on base (p95)",
    "cpu utilisation at least 60%",
    "everything starts",
)
_WAITS = {
    "mean": "waitMean",
    "average": "waitMean",
    "median": "waitP50",
    "max": "waitMax",
    "maximum": "waitMax",
    "longest": "waitMax",
    "worst": "waitMax",
}


def read_sentence(text: str) -> dict[str, Any] | None:
    """Return the fields that a sentence stands for; None when no form fits."""
    words = " ".join(text.split()).rstrip(".")
    for form in _FORMS:
        if match := re.fullmatch(form, words, re.IGNORECASE):
            return _fields({n: v for n, v in match.groupdict().items() if v})
    return None


def _fields(given: dict[str, str]) -> dict[str, Any] | None:
    queue = {"queue": given["queue"]} if "queue" in given else {}
    if "more" in given:
        measure = _measure(given.get("wait", "mean"))
        wide = {"queue": "*"} if "none" in given else queue
        bound = given["more"].replace(" ", "")
        return {"measure": measure, **wide, "maxIncrease": bound} if measure else None
    if "wait" in given:
        measure = _measure(given["wait"])
        return {"measure": measure, **queue, "max": given["bound"].replace(" ", "")}
    if "what" in given:
        rate = "PerHour" if "rate" in given else ""
        return {"measure": given["what"].lower() + rate, "max": float(given["bound"])}
    if "least" in given:
        least = given["least"].replace(" ", "")
        return {"measure": f"utilisation.{given['resource']}", "min": least}
    return {"measure": "waiting", "max": 0}


def _measure(wait: str) -> str:
    """Return "waitP95" of "p95"; "" for what is no wait."""
    if re.fullmatch(r"[pP][0-9][0-9]?", wait):
        return f"wait{wait.upper()}"
    return _WAITS.get(wait.lower(), "")
