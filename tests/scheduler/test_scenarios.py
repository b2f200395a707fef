"""Every scenario of the library: it runs as it says, in three languages."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from scheduler.analysis.beside import run_beside
from scheduler.analysis.expectations import judge
from scheduler.assembly import Assembled, StackOpenError, assemble
from scheduler.cli.run import read_sources
from scheduler.engine.tick import SimulationResult, run_tick, simulate
from scheduler.engine.world import World
from scheduler.model import durations
from scheduler.model.decisions import Arrive, Bind, Decision, Fail
from scheduler.model.durations import span_ms
from scheduler.model.objects import Key
from scheduler.model.patches import merge
from scheduler.model.policy import read_policy
from scheduler.model.scenario import (
    Checkpoint,
    Expectation,
    Match,
    Scenario,
    ScenarioSpec,
)
from scheduler.model.sentence import Sentence
from tests import invariants
from tests.builders import job, node, pod, world_of

LIBRARY = Path(__file__).parents[2] / "sandbox/scenarios"
NAMES = sorted(path.parent.name for path in LIBRARY.glob("*/scenario.yaml"))
LANGUAGES = {"en", "zh-Hans", "zh-Hant"}
#: A time from the start, in a text; lengths of time stand after other words.
INSTANT = re.compile(
    r"\b(?:[Aa]t|since|until|before) (?:(\d+) min\b)?(?: ?\b([\d.]*\d) s\b)?"
)
#: A name, among other words.
WORD = re.compile(r"[a-z\d]+(?:-[a-z\d]+)*")
#: Where a sentence, or a part of one, ends.
SENTENCE = re.compile("[.;:。；：]")
#: Instants without a decision, which an expected later one stands for: the check's
#: answer and its delay, the pods of an admission and their start and readiness;
#: and an end that would have been.
IMPLIED = {
    "check-rejects": {6_000},
    "steps-take-time": {4_000, 7_000},
    "two-clusters-one-lost": {40 * 60_000},
}
#: Instants of a stop's own tick whose decisions its text describes as taken already.
DESCRIBED = {
    "hierarchy-lending": {4_000},
    "kube-elastic-quota": {3_000},
    "kube-gang-deadlock": {5_000},
    "kube-gpu-binpack": {3_000},
    "limit-range": {1_000},
    "strict-fifo": {2_000},
    "thread-weight-zero-cycle": {22_000},
    "yunikorn-nodes-binpacking": {3_000},
    "yunikorn-nodes-fair": {3_000},
    "yunikorn-replica-sets-3": {35_000},
}

every_scenario = pytest.mark.parametrize("name", NAMES)


def opened(name: str) -> Assembled:
    """Return a fresh world at virtual time 0."""
    return assemble(read_sources([LIBRARY / name]))


@cache
def said(name: str) -> ScenarioSpec:
    scenario = opened(name).scenario
    assert scenario is not None
    return scenario.spec


@cache
def played(name: str) -> tuple[Assembled, SimulationResult, list[Sentence]]:
    """Return the world at its horizon, what was decided, what was complained."""
    made = opened(name)
    outcome = simulate(made.world, until_ms=horizon_of(name))
    return made, outcome, made.world.problems()


def texts_of(spec: ScenarioSpec) -> list[dict[str, str]]:
    """Return what it says and answers: the summary and each checkpoint's texts."""
    texts = [spec.summary]
    for checkpoint in spec.checkpoints:
        texts += [checkpoint.say, checkpoint.answer]
        if checkpoint.right is not None:
            texts.append(checkpoint.choices[checkpoint.right])
    return texts


def question_of(checkpoint: Checkpoint) -> str:
    """Return what it asks, lets choose and answers, in English."""
    texts = [checkpoint.ask, *checkpoint.choices, checkpoint.answer]
    return " ".join(text.get("en", "") for text in texts)


def sentences_of(checkpoint: Checkpoint, language: str) -> list[str]:
    """Return the parts of the answer, and the right choice, that are no mere name."""
    said_of = [checkpoint.answer.get(language, "")]
    if checkpoint.right is not None:
        said_of.append(checkpoint.choices[checkpoint.right].get(language, ""))
    parts = [part.strip() for text in said_of for part in SENTENCE.split(text)]
    least = 12 if language == "en" else 8
    return [p for p in parts if len(p) >= least and not WORD.fullmatch(p.lower())]


def instants_of(checkpoint: Checkpoint, tick_ms: int) -> set[int]:
    """Return the instants (ms) of the tick at which the page opens it.

    Instant 0 is of the first tick: a checkpoint there comes before everything.
    """
    end = -(-durations.milliseconds(checkpoint.at) // tick_ms) * tick_ms
    begin = end - tick_ms + 1
    return set(range(0 if begin == 1 else begin, end + 1)) if end else set()


def names_of(decision: Decision) -> set[str]:
    """Return the names of whom it is about, by whom, and of the jobs they are of."""
    names = set()
    for key in (decision.subject, decision.by):
        parts = key.name.removeprefix("job-").split("-") if key else []
        names |= {"-".join(parts[:n]) for n in range(1, len(parts) + 1)}
    return names


def horizon_of(name: str) -> int:
    return durations.milliseconds(said(name).horizon)


@every_scenario
def test_the_page_opens_no_scenario_on_an_empty_board(name):
    made = opened(name)
    first = durations.milliseconds(said(name).checkpoints[0].at)
    simulate(made.world, until_ms=first)
    assert {key.kind for key in made.world.objects} & {"Workload", "Pod"}


@every_scenario
def test_what_is_expected_happens(name):
    made, outcome, _ = played(name)
    verdicts = judge(made.scenario, outcome.decisions)
    assert [verdict.text for verdict in verdicts if not verdict.holds] == []


@every_scenario
def test_what_runs_beside_a_stop_is_decided_as_it_says(name):
    for side in run_beside(opened(name).world, said(name)):
        assert side.beside.expect
        assert set(side.beside.title) == LANGUAGES
        assert [v.text for v in side.verdicts if not v.holds] == []
        found, parts = side.world.problems(), side.beside.reports
        known = [*said(name).reports, *parts]
        assert [
            p.text for p in found if not any(part in p.text for part in known)
        ] == []
        assert all(any(part in p.text for p in found) for part in parts)


@every_scenario
def test_every_law_holds_at_the_horizon(name):
    made, _, _ = played(name)
    invariants.check(made.world)


@every_scenario
def test_nothing_is_reported_but_what_it_says(name):
    made, _, problems = played(name)
    findings = [f for f in made.loaded.findings if f.level != "unsupported"]
    found = [problem.text for problem in problems] + [str(one) for one in findings]
    said_so = said(name).reports
    assert [one for one in found if not any(part in one for part in said_so)] == []
    assert [part for part in said_so if not any(part in one for one in found)] == []


@pytest.mark.parametrize(
    "name",
    [
        n
        for n in NAMES
        if said(n).policy.get("yunikorn", {}).get("laws") == "documented"
    ],
)
def test_a_lesson_that_the_released_core_decides_otherwise_shows_both(name):
    released = opened(name)
    spec = merge(
        released.world.header().policy["spec"], {"yunikorn": {"laws": "released"}}
    )
    released.world.set_policy(read_policy({"spec": spec}))
    decisions = simulate(released.world, until_ms=horizon_of(name)).decisions
    same = all(verdict.holds for verdict in judge(released.scenario, decisions))
    stops = said(name).checkpoints
    beside = [side.policy for stop in stops for side in stop.beside]
    assert same or {"yunikorn": {"laws": "released"}} in beside
    versions = [stop for stop in stops if "YuniKorn 1." in stop.answer.get("en", "")]
    assert same or versions


@every_scenario
def test_stored_and_loaded_midway_it_ends_the_same(name):
    made, outcome, _ = played(name)
    instants = sorted({decision.at_ms for decision in outcome.decisions})
    world = opened(name).world
    for part in (1, 2):
        simulate(world, until_ms=instants[len(instants) * part // 3])
        awaited = invariants.due_later(world)
        world = World.decode(world.encode())
        assert invariants.due_later(world) == awaited
    simulate(world, until_ms=horizon_of(name))
    assert world.hash() == made.world.hash()


@every_scenario
def test_tick_by_tick_it_decides_the_same(name):
    _, outcome, _ = played(name)
    until = min(outcome.end_ms, 120_000)
    world = opened(name).world
    found = []
    while world.context.now_ms < until:
        run_tick(world)
        found += world.take().decisions
    known = [d for d in outcome.decisions if d.at_ms <= world.context.now_ms]
    assert found == known


@every_scenario
def test_every_text_is_there_in_three_languages(name):
    spec = said(name)
    texts = [spec.title, spec.summary]
    for checkpoint in spec.checkpoints:
        texts += [checkpoint.say, checkpoint.ask, checkpoint.answer]
        texts += checkpoint.choices
    for text in texts:
        assert not text or set(text) == LANGUAGES, text
        assert all(part.strip() for part in text.values()), text


@every_scenario
def test_every_instant_that_its_text_names_is_one_at_which_something_is_expected(name):
    spec = said(name)
    expected = {durations.milliseconds(e.at) for e in spec.expect if e.at}
    expected |= IMPLIED.get(name, set())
    for text in texts_of(spec):
        for minutes, seconds in INSTANT.findall(text.get("en", "")):
            at = 60_000 * int(minutes or 0) + 1000 * float(seconds or 0)
            if not (minutes or seconds):
                continue
            assert any(abs(at - ms) < 500 for ms in expected), text["en"]


@every_scenario
def test_a_statement_is_shown_at_an_instant_at_which_something_is_expected(name):
    spec = said(name)
    assert {shown.at for shown in spec.shows} <= {
        "",
        *(expected.at for expected in spec.expect if not expected.never),
    }


@every_scenario
def test_its_checkpoints_come_in_order_before_the_horizon(name):
    spec = said(name)
    times = [durations.milliseconds(c.at) for c in spec.checkpoints]
    assert times
    assert times == sorted(set(times))
    assert times[-1] <= horizon_of(name)


@every_scenario
def test_no_board_of_an_answer_is_of_a_time_after_the_next_question(name):
    for stop, after in pairwise(said(name).checkpoints):
        assert not stop.shown or span_ms(stop.shown) <= span_ms(after.at), stop.ask


@every_scenario
def test_its_checkpoints_are_at_the_end_of_a_tick(name):
    tick_ms = opened(name).world.policy.spec.simulation.tick_ms
    times = [durations.milliseconds(c.at) for c in said(name).checkpoints]
    assert [at for at in times if at % tick_ms] == []


@every_scenario
def test_in_the_tick_of_a_stop_nothing_is_decided_that_is_expected_or_asked_about(name):
    made, outcome, _ = played(name)
    tick_ms = made.world.policy.spec.simulation.tick_ms
    decided = [d for d in outcome.decisions if not isinstance(d, Arrive)]
    expected = {
        durations.milliseconds(one.at)
        for one in said(name).expect
        if one.at and not one.never and one.event.type != "Arrive"
    }
    for checkpoint in said(name).checkpoints:
        shown = instants_of(checkpoint, tick_ms) - DESCRIBED.get(name, set())
        assert not expected & shown, checkpoint.ask
        asked = set(WORD.findall(question_of(checkpoint)))
        about = [d for d in decided if d.at_ms in shown and names_of(d) & asked]
        assert about == [], checkpoint.ask


@every_scenario
def test_a_question_has_an_answer_and_choices_that_can_be_counted(name):
    for checkpoint in said(name).checkpoints:
        assert bool(checkpoint.ask) == bool(checkpoint.answer)
        assert bool(checkpoint.ask) == bool(checkpoint.choices), checkpoint.ask
        if checkpoint.choices:
            assert checkpoint.right in range(len(checkpoint.choices))


@every_scenario
def test_nothing_tells_an_answer_before_its_bet_is_closed(name):
    shown = [said(name).title]
    for stop in said(name).checkpoints:
        shown += [stop.say, stop.ask]
        for language in sorted(LANGUAGES):
            words = " | ".join(text.get(language, "") for text in shown)
            told = [one for one in sentences_of(stop, language) if one in words]
            assert told == [], stop.ask
        shown += [*stop.choices, stop.answer]


@every_scenario
def test_it_expects_something_of_the_engine(name):
    assert said(name).expect


def test_no_two_scenarios_have_the_same_place_or_title():
    specs = [said(name) for name in NAMES]
    assert len({spec.order for spec in specs}) == len(specs)
    for language in LANGUAGES:
        assert len({spec.title[language] for spec in specs}) == len(specs)


@pytest.mark.parametrize(
    ("event", "times", "holds"),
    [
        ({"never": True}, 0, True),
        ({"never": True}, 1, False),
        ({"most": 2}, 0, True),
        ({"most": 2}, 2, True),
        ({"most": 2}, 3, False),
        ({}, 0, False),
    ],
)
def test_an_expectation_counts_what_it_matches(event, times, holds):
    expected = Expectation(event=Match(type="Bind", node="a"), **event)
    text = {"en": "t"}
    spec = ScenarioSpec(title=text, summary=text, expect=[expected])
    pod = Key("Pod", "default", "p")
    decisions = [Bind(at_ms=1, subject=pod, node="a") for _ in range(times)]
    others = [Bind(at_ms=1, subject=pod, node="b"), Fail(at_ms=1, subject=pod)]
    (verdict,) = judge(Scenario(spec=spec), [*decisions, *others])
    assert verdict.holds is holds


YUNIKORN_QUEUES = "partitions: [{name: default, queues: [{name: root}]}]"
QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: d}
spec: {clusterQueue: q}
"""
YUNIKORN_POD = """
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {schedulerName: yunikorn, containers: [{name: c, image: i}]}
"""
YUNIKORN_PROFILE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: yunikorn}]
"""
POD_GROUP = """
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: g}
spec: {minMember: 1}
"""
LABELLED = """
apiVersion: batch/v1
kind: Job
metadata: {name: j, labels: {kueue.x-k8s.io/queue-name: nowhere}}
spec: {template: {spec: {containers: [{name: c, image: i}]}}}
"""


@pytest.mark.parametrize(
    ("texts", "stack"),
    [
        ([YUNIKORN_QUEUES], "yunikorn"),
        ([LABELLED], "kueue"),
        ([YUNIKORN_POD], "yunikorn"),
        ([YUNIKORN_POD, YUNIKORN_PROFILE], "kueue"),
        ([POD_GROUP], "kube"),
        ([POD_GROUP, LABELLED], "kueue"),
    ],
)
def test_files_that_name_no_stack_are_taken_for_the_one_they_are_of(texts, stack):
    sources = [(f"{n}.yaml", text) for n, text in enumerate(texts)]
    assert assemble(sources).world.policy.spec.stack == stack


@pytest.mark.parametrize("yunikorn", [YUNIKORN_QUEUES, YUNIKORN_POD])
@pytest.mark.parametrize("other", [QUEUE, LABELLED, POD_GROUP])
def test_files_for_two_stacks_are_refused_until_somebody_says_which(yunikorn, other):
    sources = [("a.yaml", yunikorn), ("b.yaml", other)]
    with pytest.raises(StackOpenError, match=r"more than one scheduler: .* yunikorn"):
        assemble(sources, skip_errors=True)
    made = assemble(sources, policy={"stack": "yunikorn"})
    assert made.world.policy.spec.stack == "yunikorn"


@pytest.mark.parametrize(
    ("stack", "warned"), [("kueue", True), ("yunikorn", False), ("kube", False)]
)
def test_a_queue_that_is_missing_matters_where_queues_are_kueues(stack, warned):
    found = assemble([("j.yaml", LABELLED)], policy={"stack": stack}).loaded.findings
    assert any("nowhere" in finding.problem for finding in found) == warned


def test_a_missing_queue_is_said_on_import_as_kueue_says_it_later():
    found = assemble([("j.yaml", LABELLED)]).loaded.findings
    said = "LocalQueue nowhere doesn't exist in namespace default; the workload waits"
    assert [str(one).partition(" until")[0] for one in found] == [
        f"j.yaml:4: metadata.labels.kueue.x-k8s.io/queue-name: {said}"
    ]


def test_nodes_and_pods_that_no_queue_concerns_run_under_kube_scheduler():
    assert world_of(node("n"), pod("p")).policy.spec.stack == "kube"
    assert world_of(node("n"), job("j", queue="main")).policy.spec.stack == "kueue"
    assert world_of(pod("p")).policy.spec.stack == "kueue"
