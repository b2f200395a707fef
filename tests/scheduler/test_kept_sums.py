"""What is kept by differences is what counting anew gives, after any history."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler.analysis.measures.subjects import Ledger, QuotaHolding, Subject
from scheduler.engine.kube.cache.pod_group import PodGroupIndex
from scheduler.engine.kueue.usage.ledger import UsageLedger
from scheduler.engine.kueue.workload.info import LocalQueue
from scheduler.engine.stage import Context
from scheduler.model.durations import stamp_us
from scheduler.model.kueue.usage_settings import UsageFairSharing
from scheduler.model.objects import Key
from scheduler.model.pod import GANG_LABELS, OLD_GROUP_LABEL, read_pod
from tests.builders import pod

FEW = settings(max_examples=60)
KEYS = [Key("Workload", "default", name) for name in "abcd"]
AMOUNTS = st.dictionaries(st.sampled_from(["cpu", "memory"]), st.integers(0, 9))
HISTORY = st.lists(
    st.tuples(
        st.sampled_from(["wait", "wait", "stop", "take", "take", "release", "later"]),
        st.sampled_from(KEYS),
        st.sampled_from("xy"),
        AMOUNTS,
    ),
    max_size=20,
)


def some(shares: dict[str, dict[str, int]]) -> dict[tuple[str, str], int]:
    """Return what is not zero, by queue and resource."""
    return {(q, r): n for q, row in shares.items() for r, n in row.items() if n}


def counted(rows) -> dict[tuple[str, str], int]:
    """Return the sums of (queue, amounts, times)."""
    total: dict[tuple[str, str], int] = {}
    for queue, amounts, times in rows:
        for resource, amount in amounts.items():
            total[queue, resource] = total.get((queue, resource), 0) + amount * times
    return {key: amount for key, amount in total.items() if amount}


@FEW
@given(HISTORY)
def test_what_subjects_hold_and_wait_for_is_the_sum_over_them(history):
    ledger, now, ended = Ledger(), 0, []
    for what, key, queue, amounts in history:
        before = ledger.held.get(key)
        if what == "wait":
            shape = tuple(sorted(amounts.items()))
            ledger.wait(key, Subject(queue, "", (shape,), amounts, None))
        elif what == "stop":
            ledger.stop_waiting(key)
        elif what == "take":
            parts = ((queue, amounts),)
            ledger.take(
                key, QuotaHolding(queue=queue, usage=amounts, since_ms=now, parts=parts)
            )
        elif what == "release":
            ledger.release(key, now)
        else:
            now += 7
        if what in ("take", "release") and before is not None:
            ended.append((before.queue, before.usage, now - before.since_ms))
        held, waiting = ledger.held.values(), ledger.waiting.values()
        assert some(ledger.using) == counted((h.queue, h.usage, 1) for h in held)
        assert some(ledger.taken) == counted((*p, 1) for h in held for p in h.parts)
        assert some(ledger.asking) == counted((s.queue, s.totals, 1) for s in waiting)
        assert ledger.shapes.total() == len(waiting)
        assert set(ledger.shapes) == {(s.queue, s.shapes[0]) for s in waiting}
        running = [(h.queue, h.usage, now - h.since_ms) for h in held]
        assert some(ledger.spent_until(now)) == counted([*ended, *running])


MOMENTS = st.lists(
    st.tuples(st.integers(0, 6), st.integers(0, 9)), min_size=1, max_size=25
)


@FEW
@given(MOMENTS)
def test_decayed_usage_is_what_its_samples_leave_of_it(moments):
    """Each sample counts for the time since the one before it, and halves from then."""
    half_life_s, interval_s = 20, 3
    context = Context(seed=1, epoch_us=stamp_us("2026-01-01T00:00:00Z"))
    rules = UsageFairSharing(
        half_life_s=half_life_s, interval_us=interval_s * 1_000_000
    )
    ledger = UsageLedger(rules, context, is_sampled=lambda _: True)
    queue = LocalQueue(Key("LocalQueue", "default", "q"))
    ledger.note(queue)
    ledger.look()
    samples: list[tuple[float, float, int]] = []  # at, for so long, cores
    for wait_s, cores in moments:
        context.now_ms += wait_s * 1000
        queue.admitted_usage["f", "cpu"] = cores * 1000
        last_us = ledger.entries[queue].last_us
        ledger.sample_due()
        if ledger.entries[queue].last_us != last_us:
            at_s = context.now_ms / 1000
            samples.append((at_s, (context.now_us - last_us) / 1e6, cores))
    left = sum(
        cores
        * (1 - 0.5 ** (for_s / half_life_s))
        * 0.5 ** ((samples[-1][0] - at_s) / half_life_s)
        for at_s, for_s, cores in samples
    )
    kept = ledger.entries[queue].consumed.get("cpu", 0) / 1e9
    assert abs(kept - left) < 1e-6


PUTS = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from(["", "g", "h"]), st.booleans()),
    max_size=14,
)


@FEW
@given(PUTS)
def test_members_of_groups_are_the_known_pods_that_say_so(puts):
    index, known = PodGroupIndex(), {}
    for name, group, older in puts:
        label = OLD_GROUP_LABEL if older else GANG_LABELS[0]
        made = read_pod(pod(name, labels={label: group} if group else {}), {})
        if group or older:
            index.put(made)
            known[name] = group
        else:
            index.remove(made)
            known.pop(name, None)
        for each in "gh":
            members = [m.key.name for m in index.of(Key("PodGroup", "default", each))]
            assert members == sorted(n for n, of in known.items() if of == each)
