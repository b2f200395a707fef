"""Two-phase admission with answers by rule, in a world of its own."""

from __future__ import annotations

import pytest

from scheduler.engine.kueue.stage import KueueStage
from scheduler.model.admission_check import CheckRule, RecordedAnswer
from scheduler.model.errors import PolicyError
from scheduler.model.kueue.check_state import CheckState
from scheduler.model.objects import Key
from scheduler.model.policy import read_policy
from tests.scheduler.kueue.rig import Rig


class Checked(Rig):
    """A queue `q` whose workloads need the check `safe`, answered by a rule."""

    def __init__(self, **rule: object) -> None:
        super().__init__()
        rules = [CheckRule(check="safe", **rule)] if rule else []
        self.stage = KueueStage(self.context, self.stage.settings, rules=rules)
        for obj in self.objects.values():
            self.stage.put(obj)
        self.put("AdmissionCheck", "safe", {"controllerName": "c"}, namespace="")
        self.queue("q", 2)
        key = next(key for key in self.objects if key.kind == "ClusterQueue")
        strategy = {"admissionChecks": [{"name": "safe"}]}
        self.edit(key, admissionChecksStrategy=strategy)

    def reasons(self, at_s: float) -> list[tuple[str, str, str]]:
        return self.run(at_s)


def admitted(rig: Rig, name: str) -> bool:
    works = rig.stage.cluster.workloads.values()
    return next(w for w in works if w.key.name == name).has_condition("Admitted")


NO = RecordedAnswer(workload="default/w", answer="Retry", after="1s", attempt=1)


@pytest.mark.parametrize(
    ("rule", "waits_s", "ready_s"),
    [
        pytest.param({"after": "10s"}, 9.9, 10, id="after its delay"),
        pytest.param(
            {"every": "1h", "open": "1m", "after": "2m"}, 3599, 3600, id="while open"
        ),
        pytest.param(
            {"after": "5s", "recorded": [NO]}, 1, 6, id="by a record of one attempt"
        ),
    ],
)
def test_a_check_is_answered_when_its_rule_says_and_not_before(rule, waits_s, ready_s):
    rig = Checked(**rule)
    rig.workload("w", "q")
    rig.run(0)
    rig.run(waits_s)
    assert not admitted(rig, "w")
    rig.run(ready_s)
    assert admitted(rig, "w")


def test_a_check_without_a_rule_is_ready_at_once():
    rig = Checked()
    rig.workload("w", "q")
    rig.run(0)
    assert admitted(rig, "w")


def test_a_check_left_to_people_waits_for_them():
    rig = Checked(by_hand=True)
    key = rig.workload("w", "q")
    rig.run(0)
    rig.run(1000)
    assert not admitted(rig, "w")
    rig.stage.answer_check(key, "safe", CheckState("Ready", "", 0))
    rig.run(1001)
    assert admitted(rig, "w")


def test_of_answers_that_a_status_states_only_news_is_taken():
    rig = Checked(by_hand=True)
    key = rig.workload("w", "q")
    rig.run(0)
    pending = {"name": "safe", "state": "Pending", "message": "soon"}
    elsewhere = {"name": "other", "state": "Ready"}
    for answers, news in (
        ([pending], True),
        ([pending, elsewhere], False),
        ([{**pending, "message": "sooner"}], True),
        ([{**pending, "message": "sooner", "state": "Ready"}], True),
    ):
        rig.context.journal.touched.clear()
        rig.stage.answer_checks(key, answers)
        assert (key in rig.context.journal.touched) is news
    assert {name: a.message for name, a in rig.work("w").checks.items()} == {
        "safe": "sooner"
    }


def test_an_answer_that_comes_with_the_end_of_the_queue_admits_nobody():
    rig = Checked(by_hand=True)
    key = rig.workload("w", "q")
    rig.run(0)
    rig.stage.remove(Key("ClusterQueue", "", "q"))
    rig.stage.answer_check(key, "safe", CheckState("Ready", "", 0))
    rig.run(1)
    (work,) = rig.stage.cluster.workloads.values()
    assert not admitted(rig, "w")
    assert work.conditions["QuotaReserved"].reason == "Misconfigured"


def test_a_rejected_workload_is_deactivated_and_its_quota_is_free():
    rig = Checked(answer="Rejected", after="1s")
    rig.workload("w", "q", 2)
    rig.run(0)
    rig.run(1)
    (work,) = rig.stage.cluster.workloads.values()
    assert not work.active
    assert work.conditions["Evicted"].reason == "DeactivatedDueToAdmissionCheck"
    assert not rig.stage.cluster.forest.queues["q"].admitted.workloads


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"after": "soon"}, "simulation.admissionChecks[0].after"),
        ({"every": "1h"}, "expected both every and open"),
        ({"every": "0s", "open": "0s"}, "more than 0s"),
        ({"probability": 2}, "probability"),
    ],
)
def test_a_rule_that_says_nothing_is_refused_by_path(rule, words):
    simulation = {"admissionChecks": [{"check": "safe", **rule}]}
    with pytest.raises(PolicyError) as caught:
        read_policy({"spec": {"simulation": simulation}})
    assert words in str(caught.value)


def test_a_check_of_a_workload_that_is_gone_is_answered_by_nobody():
    rig = Checked(after="10s")
    key = rig.workload("w", "q")
    rig.run(0)
    rig.stage.remove(key)
    assert rig.stage.due() is None
    assert rig.run(20) == []


def test_a_check_that_is_no_longer_asked_for_is_not_waited_for():
    rig = Checked(after="10s")
    rig.workload("w", "q")
    rig.run(0)
    assert rig.stage.due() == 10_000
    queue = Key("ClusterQueue", "", "q")
    rig.edit(queue, admissionChecksStrategy={"admissionChecks": []})
    rig.run(1)
    assert admitted(rig, "w")
    assert rig.stage.due() is None
