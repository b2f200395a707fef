"""Verbs that ask why and when: explain, preemptions, compare, reproduce, forecast, would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from api.command.changing import run_times_asked
from api.command.output import Found
from api.command.verbs import Asked, Part, WrongError, one, verb
from scheduler.analysis.explain.answers import lines_of
from scheduler.analysis.explain.would import lines_of as told
from scheduler.analysis.forecast.starts import (
    Forecast,
    SubmissionForecast,
    submission_text_of,
    text_of,
)
from scheduler.cli.run_time_words import add_run_time_words
from scheduler.model import durations
from scheduler.model.errors import SchedulerError
from scheduler.model.texts.plain_text import write, write_all


def _explain(part: Part) -> None:
    one(part)
    part.add_argument(
        "object",
        metavar="NAME",
        nargs="?",
        default="",
        help="a Workload, job, pod, gang, application, queue, cohort or node, with its "
        "namespace or kind before it, if need be; all that waits where none is given",
    )
    part.add_argument(
        "--kind",
        choices=["Workload", "Pod", "Application"],
        help="all that is known of this one: conditions, searches, node tables",
    )
    part.add_argument("--tick", type=int, help="as it was then")


@verb(
    "explain",
    "say what waits and for what, or why anything is as it is",
    "explain ID",
    "explain ID default/job-a-12345",
    "explain ID default/pod-1 --kind Pod --json",
    arguments=_explain,
)
def explain(asked: Asked) -> Found:
    """Explain."""
    words = asked.words
    if words.kind is None:
        whole: Any = asked.client.operations.waiting_read(
            words.sandbox,
            about=words.object or None,
            tick=words.tick,
            tried=bool(words.object) or None,
        )
        return Found(document=whole, text="\n".join(lines_of(whole)))
    namespace, slash, name = words.object.partition("/")
    if not slash:
        raise WrongError(f"expected NAMESPACE/NAME, got {words.object!r}")
    found: Any = asked.client.operations.explain_read(
        words.sandbox, namespace, name, kind=words.kind, tick=words.tick
    )
    return Found(document=found, text=_sentences(found))


def _sentences(found: dict[str, Any]) -> str:
    lines = [str(line) for line in found.get("sentences") or ()]
    for name in ("summary", "message", "reason"):
        if not lines and found.get(name):
            lines.append(str(found[name]))
    return "\n".join(lines) or write(found)


def _compare(part: Part) -> None:
    one(part)
    part.add_argument("other", metavar="ID2")


@verb(
    "compare",
    "put two branches side by side",
    "compare ID ID2 --json",
    arguments=_compare,
)
def compare(asked: Asked) -> Found:
    """Compare."""
    words = asked.words
    found: Any = asked.client.operations.compare_read(words.sandbox, with_=words.other)
    return Found(document=found)


def _place(part: Part) -> None:
    one(part)
    part.add_argument("event", metavar="REVISION.SEQ", help="see `events`")


@verb(
    "preemption",
    "show the search behind a preemption",
    "preemption ID 12.3",
    arguments=_place,
)
def preemption(asked: Asked) -> Found:
    """Show a preemption, step by step."""
    words = asked.words
    found = asked.client.operations.preemption_steps_read(words.sandbox, words.event)
    return Found(document=found, text=write(found))


def _reproduce(part: Part) -> None:
    _place(part)
    part.add_argument("--seconds", type=int, default=20, help="search so long (20)")
    part.add_argument("-o", "--output", metavar="FILE", help="stdout when left out")


@verb(
    "reproduce",
    "find the smallest world that still shows a decision",
    "reproduce ID 12.3 -o smallest.yaml",
    arguments=_reproduce,
)
def reproduce(asked: Asked) -> Found:
    """Print a scenario that expects the decision, with the objects that it needs."""
    words = asked.words
    found = asked.client.operations.reproduction_read(
        words.sandbox, words.event, seconds=words.seconds
    )
    if not found["found"]:
        line = f"{found['decision']}: not shown by its objects alone; nothing found"
        return Found(document=found, line=line, status=1)
    text = write_all(found["documents"])
    minimal = "nothing can be left out" if found["minimal"] else "stopped early"
    note = f"{found['before']} objects to {found['after']}, {minimal}"
    if words.output:
        Path(words.output).write_text(text, encoding="utf-8")
        return Found(document=found, line=words.output, notes=[note])
    return Found(document=found, text=text, notes=[note])


def _forecast(part: Part) -> None:
    one(part)
    part.add_argument(
        "--submit", metavar="FILE", help="of a manifest that is not submitted yet"
    )
    part.add_argument(
        "--queues",
        nargs="+",
        default=[],
        metavar="QUEUE",
        help="with --submit: LocalQueues to try, NAME or NAMESPACE/NAME, or all",
    )
    part.add_argument("--futures", type=int, default=20, help="at most 200 (20)")
    part.add_argument("--horizon", default="1h", help="how far each goes (1h)")
    part.add_argument("--within", help="a further time to give the chance of: 20m")
    part.add_argument(
        "--arrivals",
        choices=("known", "continued"),
        help="only those that are known, or beyond them as they came "
        "(continued beside a real cluster, else known)",
    )
    part.add_argument("--seed", type=int, default=1, help="of what is drawn (1)")
    part.add_argument("--seconds", type=int, default=20, help="run them so long (20)")
    part.add_argument("--tick", type=int, help="as it was then")


@verb(
    "forecast",
    "say when each waiting workload starts, or one would that is not submitted yet",
    "forecast ID",
    "forecast ID --futures 100 --horizon 8h --arrivals continued --json",
    "forecast ID --submit job.yaml --queues all --within 20m",
    arguments=_forecast,
)
def forecast(asked: Asked) -> Found:
    """Print a line per waiting workload, or per queue: from when to when it starts."""
    words = asked.words
    if words.submit:
        return _submission(asked)
    if words.queues:
        raise WrongError("--queues: expected --submit FILE beside it")
    found = asked.client.operations.forecast_read(
        words.sandbox,
        futures=words.futures,
        horizon_ms=_ms("--horizon", words.horizon),
        seconds=words.seconds,
        seed=words.seed,
        tick=words.tick,
        arrivals=words.arrivals,
        within_ms=_ms("--within", words.within) if words.within else None,
    )
    return Found(document=found, text=text_of(msgspec.convert(found, Forecast)))


def _submission(asked: Asked) -> Found:
    words = asked.words
    file = Path(words.submit)
    body = {
        "files": [{"name": file.name, "text": file.read_text(encoding="utf-8")}],
        "queues": words.queues,
        "futures": words.futures,
        "horizonMs": _ms("--horizon", words.horizon),
        "seconds": words.seconds,
        "seed": words.seed,
        "tick": words.tick,
        "arrivals": words.arrivals,
        "withinMs": _ms("--within", words.within) if words.within else None,
    }
    create = asked.client.operations.forecast_submission_create
    sent: Any = {name: value for name, value in body.items() if value is not None}
    found = create(words.sandbox, sent)
    read = msgspec.convert(found, SubmissionForecast)
    return Found(document=found, text=submission_text_of(read))


def _would(part: Part) -> None:
    one(part)
    part.add_argument("job", metavar="FILE", help="the file of the work")
    part.add_argument("--horizon", default="24h", help="how far is looked (24h)")
    part.add_argument("--tick", type=int, help="as it was then")
    add_run_time_words(part)


@verb(
    "would",
    "say whether work would start if it were submitted, when, and at whose cost",
    "would ID job.yaml",
    arguments=_would,
)
def would(asked: Asked) -> Found:
    """Say whether work would start; exit status 1 where it does not within the horizon."""
    words = asked.words
    file = Path(words.job)
    body: Any = {
        "files": [{"name": file.name, "text": file.read_text(encoding="utf-8")}],
        "horizonMs": _ms("--horizon", words.horizon),
        "runTimes": run_times_asked(words),
    }
    if words.tick is not None:
        body["tick"] = words.tick
    found: Any = asked.client.operations.would_create(words.sandbox, body)
    never = found["starts"] == "never"
    return Found(document=found, text="\n".join(told(found)), status=int(never))


def _ms(option: str, text: str) -> int:
    try:
        return durations.span_ms(text)
    except SchedulerError as error:
        raise WrongError(f"{option}: {error}") from error
