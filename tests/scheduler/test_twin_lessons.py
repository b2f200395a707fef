"""Lessons on a twin: every number, time and name that their texts say is held to a run."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from scheduler.analysis.expectations import judge
from scheduler.analysis.forecast.present import drawn_of, given_of, present_of, waiting
from scheduler.analysis.forecast.track_record import PastForecast, track_record
from scheduler.analysis.forecast.world import forecast_from, futures_of
from scheduler.engine.tick import simulate
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.decisions import Admit, Decision
from scheduler.model.kueue.configuration import read_configuration
from scheduler.model.scenario import Scenario, TwinClaims
from scheduler.recorded.shadow.compare import Judge
from scheduler.recorded.shadow.decisions import History
from scheduler.recorded.twin import beginning
from scheduler.recorded.twin.files import read_files
from scheduler.recorded.twin.going_on import go_on, running_now
from scheduler.recorded.twin.observing import ObservedChange, observe
from scheduler.recorded.twin.played import recording_of
from tests.scheduler.test_scenarios import (
    LANGUAGES,
    NAMES,
    horizon_of,
    opened,
    said,
    texts_of,
)

CATALOGUE = Path(__file__).parents[2] / "frontend/src/lib/catalogue"
CATALOGUES = {
    "en": ("en.ts", "en-later.ts"),
    "zh-Hans": ("zh-hans.ts",),
}
#: As the page asks.
FUTURES, SEED, HORIZON_MS, INSTANTS = 20, 1, 3_600_000, 8
#: What the page has on it, in quotation marks; names; numbers.
QUOTED = re.compile(r"[“「]([^”」]+)[”」]")
NAME = re.compile(r"[a-z]+(?:-[a-z]+)*-\d+")
NUMBER = re.compile(r"\d+")

every_lesson = pytest.mark.parametrize("name", [n for n in NAMES if said(n).twin])


class Shown:
    """A recording of a scenario's run as a twin shows it, with its world at any tick."""

    def __init__(self, name: str) -> None:
        made = opened(name)
        self.found = read_files(
            [("a.qrec", recording_of(made.world, horizon_of(name)))]
        )
        self.ticks = list(beginning.ticks_of(self.found))
        self.decisions: list[Decision] = []
        self.names = set[str]()
        self._worlds: dict[int, bytes] = {}
        world, self.left_out = beginning.begin_recording(self.found)
        for tick, seen in self.ticks:
            self._worlds[world.tick] = world.encode()
            observe(world, seen, tick=tick, now_ms=1000 * tick)
            self.decisions += world.take().decisions
            self.names |= {key.name for key in world.objects}
        self.last = world.tick

    def at(self, tick: int) -> World:
        """Return the twin's world at a tick."""
        known = max(one for one in self._worlds if one <= tick)
        world = World.decode(self._worlds[known])
        for number, seen in self.ticks:
            if known < number <= tick:
                observe(world, seen, tick=number, now_ms=1000 * number)
        observe(world, [], tick=tick, now_ms=1000 * tick)
        world.take()
        return world

    def after(self, tick: int) -> list[ObservedChange]:
        return [one for number, seen in self.ticks if number > tick for one in seen]

    def came(self, tick: int, workload: str) -> int | None:
        """Return when (ms) a Workload was admitted first after a tick."""
        return next(
            (
                one.at_ms
                for one in self.decisions
                if isinstance(one, Admit)
                if one.at_ms > 1000 * tick and str(one.subject) == workload
            ),
            None,
        )


@cache
def shown(name: str) -> Shown:
    return Shown(name)


@cache
def futures(name: str, tick: int):
    """Return what a forecast of a tick begins from, and the starts in its futures."""
    present = present_of(running_now(shown(name).at(tick)), continued=True)
    numbers = range(FUTURES if waiting(present.world) else 0)
    return present, futures_of(present, numbers, seed=SEED, horizon_ms=HORIZON_MS)


def claims_of(name: str) -> TwinClaims:
    found = said(name).twin
    assert found is not None
    return found


def tick_of(text: str) -> int:
    return durations.milliseconds(text) // 1000


def seconds(ms: int | None) -> str:
    return "" if ms is None else f"{round(ms / 1000)}s"


@every_lesson
def test_a_recording_leaves_nothing_out(name):
    assert shown(name).left_out == []


@every_lesson
def test_the_engine_takes_as_many_of_the_decisions_as_the_lesson_says(name):
    one = shown(name)
    events = [
        ((seen.at_us - one.found.start_us) // 1000, seen.type, seen.object)
        for seen in one.found.events
    ]
    given = opened(name).world.policy.spec.kueue
    history = History(one.found.standing, events)
    judging = Judge(history, read_configuration(given), one.found.start_us)
    for claim in claims_of(name).shadow:
        until = durations.milliseconds(claim.at)
        verdicts = [judging.verdict(r) for r in judging.real if r.at_ms <= until]
        agree = sum(verdict.agrees for verdict in verdicts)
        assert (len(verdicts), agree) == (claim.judged, claim.agree)


@every_lesson
def test_what_it_says_of_a_forecast_is_what_is_forecast_and_what_came(name):
    for claim in claims_of(name).forecasts:
        tick = tick_of(claim.at)
        present, found = futures(name, tick)
        answer = forecast_from(
            present, found, asked=FUTURES, seed=SEED, horizon_ms=HORIZON_MS
        )
        (band,) = [one for one in answer.starts if one.workload == claim.workload]
        came = shown(name).came(tick, claim.workload)
        since = None if came is None else came - 1000 * tick
        times = (band.p10_ms, band.p50_ms, band.p90_ms, since)
        said = (claim.p10, claim.p50, claim.p90, claim.came)
        assert tuple(map(seconds, times)) == said


@every_lesson
def test_how_often_forecasts_were_right_is_what_it_says(name):
    claim, one = claims_of(name).record, shown(name)
    if claim is None:
        return
    ticks = {round(one.last * (n + 1) / (INSTANTS + 1)) for n in range(INSTANTS)}
    asked = sorted(ticks | {tick_of(made.at) for made in claims_of(name).forecasts})
    past = [
        PastForecast(
            at_ms=1000 * tick,
            horizon_ms=HORIZON_MS,
            known_ms=1000 * one.last,
            starts=drawn_of(given_of(*futures(name, tick)), seed=SEED),
        )
        for tick in asked
    ]
    found = track_record(past, lambda n, workload: one.came(asked[n], workload))
    shares = [round(100 * (x or 0)) for x in (found.coverage50, found.coverage90)]
    assert [found.judged, *shares] == [
        claim.judged,
        claim.coverage50,
        claim.coverage90,
    ]


@every_lesson
def test_a_fork_goes_on_as_it_says(name):
    one = shown(name)
    for claim in claims_of(name).forks:
        tick = tick_of(claim.at)
        fork = go_on(one.at(tick), one.after(tick))
        decisions = simulate(fork, until_ms=horizon_of(name)).decisions
        spec = {"title": {"en": "t"}, "summary": {"en": "s"}, "expect": claim.expect}
        verdicts = judge(Scenario(spec=type(said(name))(**spec)), decisions)
        assert [verdict.text for verdict in verdicts if not verdict.holds] == []


def all_texts(name):
    spec = said(name)
    asked = [stop.ask for stop in spec.checkpoints]
    choices = [choice for stop in spec.checkpoints for choice in stop.choices]
    return [*texts_of(spec), *asked, *choices]


def numbers_of(name) -> set[str]:
    """Return every number that the lesson's checked claims give."""
    spec, claims = said(name), claims_of(name)
    times = [stop.at for stop in spec.checkpoints]
    times += [expected.at for expected in spec.expect if expected.at]
    for fork in claims.forks:
        times += [fork.at, *(one.at for one in fork.expect if one.at)]
    for band in claims.forecasts:
        times += [band.at, band.p10, band.p50, band.p90, band.came]
    numbers = {-(-durations.milliseconds(one) // 1000) for one in times if one}
    numbers |= {n for one in claims.shadow for n in (one.judged, one.agree)}
    if (record := claims.record) is not None:
        numbers |= {record.judged, record.coverage50, record.coverage90}
    numbers |= {part for n in numbers if n >= 60 for part in divmod(n, 60)}
    return set(map(str, numbers))


@every_lesson
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_number_of_its_texts_is_one_that_a_run_gave(name, language):
    known = numbers_of(name)
    for text in all_texts(name):
        bare = NAME.sub("", text.get(language, ""))
        assert set(NUMBER.findall(QUOTED.sub("", bare))) <= known, bare


@every_lesson
@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_every_name_of_its_texts_is_an_object_of_the_recording(name, language):
    for text in all_texts(name):
        assert set(NAME.findall(text.get(language, ""))) <= shown(name).names


@every_lesson
@pytest.mark.parametrize("language", sorted(CATALOGUES))
def test_what_it_tells_to_press_is_on_the_page_in_that_language(name, language):
    files = [CATALOGUE / file for file in CATALOGUES[language]]
    words = "".join(path.read_text(encoding="utf-8") for path in files)
    values = set(re.findall(r'^  "[\w.-]+": "(.*)",$', words, re.MULTILINE))
    quoted = [q for text in all_texts(name) for q in QUOTED.findall(text[language])]
    assert set(quoted) <= values
    assert quoted


@every_lesson
def test_its_languages_say_the_same_numbers_and_names(name):
    for text in all_texts(name):
        said_in = {
            language: sorted([*NUMBER.findall(QUOTED.sub("", text[language]))])
            for language in text
        }
        assert len(set(map(tuple, said_in.values()))) <= 1, said_in
