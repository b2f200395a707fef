"""Extenders: asked over a port, obeyed, ignored when they may be, and replayed."""

from __future__ import annotations

import importlib.util
import json
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from scheduler.errors import PolicyError
from scheduler.kube.configuration.configuration import read_configurations
from scheduler.kube.extender.extenders import (
    Extender,
    ExtenderError,
    RecordedExtender,
    RecordingExtender,
)
from tests.scheduler.kube.rig import Rig, node, pod

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "extender.py"


def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_extender", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


@pytest.fixture
def address() -> Iterator[str]:
    server = example().serve(0)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()


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


def test_the_example_closes_a_node_and_ranks_the_others(address: str) -> None:
    rig = three_nodes(asking(address), Http())
    rig.put(pod("p"))
    rig.settle()
    assert rig.places() == {"p": "n1"}


def test_an_extender_that_refuses_is_named_in_the_condition(address: str) -> None:
    closed = {"extender.example/closed": "yes"}
    rig = Rig(node("n0", labels=closed), configuration=asking(address), port=Http())
    rig.put(pod("p"))
    rig.settle()
    message = rig.pending()["p"]
    assert message.startswith("0/1 nodes are available: 1 node(s) were closed by")


def test_an_extender_keeps_a_victim_from_being_preempted(address: str) -> None:
    rig = Rig(node("n0", cpu=1), configuration=asking(address), port=Http())
    rig.put(pod("old", labels={"app": "precious"}))
    rig.settle()
    rig.put(pod("boss", priority=9))
    rig.settle()
    assert set(rig.places()) == {"old"}


def test_recorded_answers_give_the_same_places_without_a_call(address: str) -> None:
    recording = RecordingExtender(Http())
    first = three_nodes(asking(address), recording)
    first.put(pod("p"))
    first.settle()
    second = three_nodes(asking(address), RecordedExtender(recording.answers))
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
