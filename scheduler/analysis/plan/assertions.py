"""The file of assertions: what must hold on the changed side, by itself or beside the base."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from scheduler.analysis.plan.faults import Fault, FaultsError, faults_of
from scheduler.analysis.plan.sentences import EXAMPLES, read_sentence
from scheduler.analysis.plan.terms import (
    Unit,
    amount,
    has_queues,
    known,
    nearest,
    percent,
    shown,
    unit_of,
)
from scheduler.input.manifests.documents import Document, read_documents
from scheduler.model.errors import QuantityError, SchedulerError
from scheduler.model.problems import Form, Wanted, expected

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
