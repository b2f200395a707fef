"""Extenders: asked over a port, obeyed, ignored when they may be, and replayed."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from typing import Any

import pytest

from scheduler.engine.kube.extender.ports import ExtenderError, Port
from scheduler.model.decisions import Bind, Fail, Preempt
from scheduler.model.errors import PolicyError
from scheduler.model.kube.configuration import Extender, read_configurations
from scheduler.model.objects import Key
from scheduler.model.policy import ExtenderAnswers
from tests.scheduler.kube.rig import Rig, node, pod


class RecordedExtender:
    """Gives back answers in the order in which they were given before."""

    def __init__(self, answers: list[Any]) -> None:
        self._answers = iter(answers)

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        try:
            answer = next(self._answers)
        except StopIteration:
            raise ExtenderError("no recorded answer is left") from None
        if isinstance(answer, dict) and set(answer) == {"failed"}:
            raise ExtenderError(answer["failed"])
        return answer


class RecordingExtender:
    """Passes questions on and keeps the answers for a replay."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self.answers: list[Any] = []

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        try:
            answer = self._port.call(extender, verb, payload)
        except ExtenderError as problem:
            self.answers.append({"failed": str(problem)})
            raise
        self.answers.append(answer)
        return answer


class Http:
    """A port that really asks, as the service would for an allowed address."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        request = urllib.request.Request(
            f"{extender.url_prefix}/{verb}", json.dumps(payload).encode()
        )
        try:
            with urllib.request.urlopen(
                request, timeout=extender.timeout_ms / 1000
            ) as answer:
                return json.loads(answer.read())
        except urllib.error.URLError as problem:
            raise ExtenderError(f"{extender.url_prefix}: {problem}") from problem


def asking(prefix: str, **more: Any) -> dict[str, Any]:
    verbs = {
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "preemptVerb": "preempt",
        "bindVerb": "bind",
    }
    return {"extenders": [{"urlPrefix": prefix, "weight": 100, **verbs, **more}]}


def three_nodes(configuration: dict[str, Any], port: Any) -> Rig:
    closed = {"extender.example/closed": "yes"}
    return Rig(
        node("n0", labels=closed),
        node("n1"),
        node("n2"),
        configuration=configuration,
        port=port,
    )


def test_the_example_closes_a_node_and_ranks_the_others(example_extender: str) -> None:
    rig = three_nodes(asking(example_extender), Http())
    rig.put(pod("p"))
    rig.settle()
    assert rig.places() == {"p": "n1"}


def test_an_extender_that_refuses_is_named_in_the_condition(
    example_extender: str,
) -> None:
    closed = {"extender.example/closed": "yes"}
    rig = Rig(
        node("n0", labels=closed), configuration=asking(example_extender), port=Http()
    )
    rig.put(pod("p"))
    rig.settle()
    message = rig.pending()["p"]
    assert message.startswith("0/1 nodes are available: 1 node(s) were closed by")


def test_an_extender_keeps_a_victim_from_being_preempted(example_extender: str) -> None:
    rig = Rig(node("n0", cpu=1), configuration=asking(example_extender), port=Http())
    rig.put(pod("old", labels={"app": "precious"}))
    rig.settle()
    rig.put(pod("boss", priority=9))
    rig.settle()
    assert set(rig.places()) == {"old"}


def test_recorded_answers_give_the_same_places_without_a_call(
    example_extender: str,
) -> None:
    recording = RecordingExtender(Http())
    first = three_nodes(asking(example_extender), recording)
    first.put(pod("p"))
    first.settle()
    second = three_nodes(asking(example_extender), RecordedExtender(recording.answers))
    second.put(pod("p"))
    second.settle()
    assert second.places() == first.places()


def test_without_leave_of_the_operator_nobody_is_called() -> None:
    rig = three_nodes(asking("http://192.0.2.1"), None)
    rig.put(pod("p"))
    rig.settle()
    assert rig.places() == {}
    assert "has not allowed the address" in rig.pending()["p"]


def test_an_ignorable_extender_that_fails_is_passed_over() -> None:
    rig = three_nodes(asking("http://192.0.2.1", ignorable=True), None)
    rig.put(pod("p"))
    rig.settle()
    assert list(rig.places()) == ["p"]


def test_an_extender_is_asked_only_about_what_it_manages() -> None:
    managed = [{"name": "example.com/fpga"}]
    rig = three_nodes(asking("http://192.0.2.1", managedResources=managed), None)
    rig.put(pod("p"))
    rig.settle()
    assert list(rig.places()) == ["p"]


def test_an_extender_is_not_asked_about_no_node() -> None:
    rig = three_nodes(asking("http://192.0.2.1"), None)
    rig.put(pod("p", cpu=99))
    rig.settle()
    assert "Insufficient cpu" in rig.pending()["p"]


class Agreeing:
    """A port whose filter passes every node on as it came."""

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        return {"Nodes": payload["Nodes"], "NodeNames": payload["NodeNames"]}


@pytest.mark.parametrize(
    ("cached", "tied"),
    [
        pytest.param(False, True, id="documents lose the pods on the node"),
        pytest.param(True, False, id="names keep them"),
    ],
)
def test_what_an_extender_hands_back_decides_what_scoring_sees(
    cached: bool, tied: bool
) -> None:
    extender = {
        "urlPrefix": "http://x",
        "filterVerb": "filter",
        "nodeCacheCapable": cached,
    }
    places = set()
    for seed in range(12):
        rig = Rig(
            node("n0"),
            node("n1"),
            configuration={"extenders": [extender]},
            port=Agreeing(),
            seed=seed,
        )
        rig.put(
            {
                **pod("old", cpu=3),
                "spec": {**pod("old", cpu=3)["spec"], "nodeName": "n0"},
            }
        )
        rig.put(pod("p"))
        rig.settle()
        places.add(rig.places()["p"])
    assert places == ({"n0", "n1"} if tied else {"n1"})


@pytest.mark.parametrize(
    ("extender", "problem"),
    [
        pytest.param({"weight": 1}, "urlPrefix", id="no address"),
        pytest.param(
            {"urlPrefix": "http://x", "prioritizeVerb": "p"}, "weight", id="no weight"
        ),
        pytest.param({"urlPrefix": "http://x", "filter": "f"}, "filter", id="bad key"),
    ],
)
def test_a_bad_extender_is_named(extender: dict[str, Any], problem: str) -> None:
    with pytest.raises(PolicyError, match=rf"extenders\[0\].*{problem}"):
        read_configurations({"extenders": [extender]})


# --- time, and what an explanation shows


def stated(prefix: str = "http://gpu.example", **more: Any) -> dict[str, Any]:
    return {"url_prefix": prefix, **more}


def slow(*pods: str, verbs: dict[str, Any] | None = None, **answers: Any) -> Rig:
    given = {"urlPrefix": "http://gpu.example", **(verbs or {"filterVerb": "filter"})}
    return Rig(
        node("n0", cpu=8),
        node("n1", cpu=8),
        *(pod(name) for name in pods),
        configuration={"extenders": [given]},
        extenders=[ExtenderAnswers(**stated(**answers))],
    )


def bound_on(rig: Rig) -> dict[str, str]:
    return {d.subject.name: d.node for d in rig.decisions if isinstance(d, Bind)}


def bound_at(rig: Rig) -> dict[str, int]:
    return {d.subject.name: d.at_ms for d in rig.decisions if isinstance(d, Bind)}


@pytest.mark.parametrize(("cached", "spared"), [(True, ["n0"]), (False, ["n0"])])
def test_a_stated_extender_spares_who_runs_on_a_node(
    cached: bool, spared: list[str]
) -> None:
    verbs = {"preemptVerb": "preempt", "nodeCacheCapable": cached}
    rig = slow("a", "b", verbs=verbs, spares=spared)
    rig.settle()
    rig.put(pod("boss", cpu=8, priority=9))
    rig.settle()
    rig.run(60_000)
    gone = {d.subject.name for d in rig.decisions if isinstance(d, Preempt)}
    assert gone == {name for name, at in bound_on(rig).items() if at == "n1"} - {"boss"}


def test_everybody_waits_while_an_extender_is_asked_about_one() -> None:
    rig = slow("a", "b", latency_ms=300)
    rig.run(5_000)
    assert bound_at(rig) == {"a": 300, "b": 600}


def test_a_slow_binder_holds_up_its_own_pod_only() -> None:
    rig = slow("a", "b", latency_ms=300, verbs={"bindVerb": "bind"})
    rig.run(5_000)
    assert bound_at(rig) == {"a": 300, "b": 300}


SCORING = {"filterVerb": "filter", "prioritizeVerb": "score", "weight": 1}


def test_an_extender_that_is_not_asked_takes_no_time() -> None:
    rig = slow("a", latency_ms=300)
    rig.put(pod("large", cpu=9, priority=10))
    rig.run(5_000)
    assert bound_at(rig) == {"a": 300}


def test_one_node_that_is_left_is_not_prioritized() -> None:
    rig = slow("a", latency_ms=300, verbs=SCORING, refuse={"n0": "no driver"})
    rig.run(5_000)
    assert bound_at(rig) == {"a": 300}


def test_two_nodes_that_are_left_are_prioritized() -> None:
    rig = slow("a", latency_ms=300, verbs=SCORING)
    rig.run(5_000)
    assert bound_at(rig) == {"a": 600}


def test_an_extender_behind_one_that_leaves_no_node_takes_no_time() -> None:
    prefixes = "http://first.example", "http://second.example"
    rig = Rig(
        node("n0"),
        pod("a"),
        configuration={
            "extenders": [{"urlPrefix": p, "filterVerb": "filter"} for p in prefixes]
        },
        extenders=[
            ExtenderAnswers(
                url_prefix=prefixes[0], refuse={"n0": "full"}, latency_ms=300
            ),
            ExtenderAnswers(url_prefix=prefixes[1], latency_ms=900),
        ],
    )
    rig.run(5_000)
    assert [d.at_ms for d in rig.decisions if isinstance(d, Fail)] == [300]


class Naming:
    """An extender that keeps every node and notes the names it was asked about."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        self.asked.append(payload["NodeNames"])
        return {"NodeNames": payload["NodeNames"]}


def test_an_extender_is_asked_about_the_nominated_node_alone() -> None:
    given = {
        "urlPrefix": "http://gpu.example",
        "filterVerb": "filter",
        "nodeCacheCapable": True,
    }
    port = Naming()
    rig = Rig(
        node("n0"),
        node("n1"),
        pod("a", cpu=4),
        pod("b", cpu=4),
        configuration={"extenders": [given]},
        port=port,
    )
    rig.run(0)
    port.asked.clear()
    rig.put(pod("urgent", cpu=1, priority=10))
    rig.run(60_000)
    assert [len(names) for names in port.asked] == [1]


def test_an_answer_after_the_timeout_is_none() -> None:
    rig = slow("a", latency_ms=6_000)
    rig.run(5_000)
    assert "no answer within 5s" in rig.pending()["a"]


def test_a_restart_while_an_extender_is_asked_loses_no_time() -> None:
    rig = slow("a", "b", latency_ms=300)
    rig.run(100)
    again = rig.restarted()
    again.run(5_000)
    assert bound_at(again) == {"a": 300, "b": 600}


def test_a_pod_deleted_while_its_extender_is_asked_lets_the_next_have_its_turn() -> (
    None
):
    rig = slow("a", "b", latency_ms=300)
    rig.run(100)
    rig.remove(Key("Pod", "default", "a"))
    rig.run(5_000)
    assert list(bound_at(rig)) == ["b"]


def test_the_table_has_the_stated_answers() -> None:
    rig = slow(
        "a",
        verbs={"filterVerb": "filter", "prioritizeVerb": "score", "weight": 2},
        refuse={"n0": "no driver"},
        scores={"n1": 7},
    )
    found = rig.stage.table(Key("Pod", "default", "a"))
    assert found is not None
    assert found.feasible == ["n1"]
    assert found.filter["n0"].message == "no driver"
    assert found.scores["Extender"].raw == {"n1": 140}


class Refusing:
    """An extender that refuses n0, and counts how often it is asked."""

    asked = 0

    def call(self, extender: Extender, verb: str, payload: dict[str, Any]) -> Any:
        self.asked += 1
        kept = [n for n in payload["Nodes"]["items"] if n["metadata"]["name"] != "n0"]
        return {"Nodes": {"items": kept}, "FailedNodes": {"n0": "no driver"}}


def test_the_table_has_the_recorded_answer_and_asks_nobody() -> None:
    given = {"urlPrefix": "http://gpu.example", "filterVerb": "filter"}
    port = Refusing()
    rig = Rig(
        node("n0", cpu=8),
        node("n1", cpu=1),
        pod("a", cpu=4),
        configuration={"extenders": [given]},
        port=port,
    )
    rig.run(0)
    asked = port.asked
    for each in (rig, rig.restarted()):
        found = each.stage.table(Key("Pod", "default", "a"))
        assert found is not None
        assert found.feasible == []
        assert found.filter["n0"].message == "no driver"
    assert port.asked == asked
