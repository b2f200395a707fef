"""Balanced placement: a like number of slices on as few domains as possible.

Source: docs/semantics/kueue-topology.md#balanced-placement.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import NamedTuple

from scheduler.engine.kueue.topology.counts import NOTHING, Count, Counts
from scheduler.engine.kueue.topology.descent import DomainShare, each_alone
from scheduler.engine.kueue.topology.levels import by_capacity
from scheduler.engine.kueue.topology.question import Question
from scheduler.engine.kueue.topology.tree import Domain, Leaf


class Greedy(NamedTuple):
    """How many domains it takes, and the last one taken with and without a leader."""

    used: int
    with_leader: Domain | None
    without: Domain | None


class Kept(NamedTuple):
    """The best set of domains so far: what is left of it, and its threshold."""

    threshold: int
    used: int
    domains: list[Domain]
    view: View


class View:
    """Counts with some domains struck out; the counts below stay as they are."""

    def __init__(self, counts: Counts, question: Question) -> None:
        self.counts = counts
        self.question = question
        self.lowest = counts.lowest
        self.changed: dict[Domain, Count] = {}

    def of(self, domain: Domain) -> Count:
        """Return the count of a domain in this view."""
        found = self.changed.get(domain)
        return self.counts.of(domain) if found is None else found

    def ordered(self, domains: Sequence[Domain], *, leaders: bool) -> list[Domain]:
        """Return the domains in the order in which they are taken."""
        listed = sorted(domains, key=lambda domain: domain.path)
        return by_capacity(listed, self.of, least_free=False, leaders=leaders)

    def prune(self, domains: Sequence[Domain], threshold: int) -> None:
        """Strike out what cannot hold the threshold, in two levels."""
        for domain in domains:
            for child in domain.children.values():
                self._test(child, threshold)
        for domain in domains:
            self.changed[domain] = self._again(domain)
            self._test(domain, threshold)

    def _again(self, domain: Domain) -> Count:
        known = self.of(domain)
        if isinstance(domain, Leaf):
            return known
        parts = [self.of(child) for child in domain.children.values()]
        again = self.counts.combine(domain.level, parts, inner=False)
        return again._replace(score=known.score)

    def _test(self, domain: Domain, threshold: int) -> None:
        count = self.of(domain)
        if count.slices < threshold:
            self._strike(domain, leader_only=False)
        elif (
            self.question.leaders
            and count.leaders
            and count.slices_with_leader < threshold
        ):
            self._strike(domain, leader_only=True)

    def _strike(self, domain: Domain, *, leader_only: bool) -> None:
        count = self.of(domain)
        if leader_only:
            self.changed[domain] = count._replace(
                pods_with_leader=0, slices_with_leader=0, leaders=0
            )
        else:
            self.changed[domain] = NOTHING._replace(score=count.score)
        for child in domain.children.values():
            self._strike(child, leader_only=leader_only)


def place(counts: Counts, question: Question) -> list[DomainShare] | None:
    """Return the leaves of a balanced placement; None when there is none."""
    kept = _best_set(counts, question)
    if kept is None:
        return None
    need, leaders, view = question.slices, question.leaders, kept.view
    level, candidates = question.level, kept.domains
    if question.level < question.slice_level:
        chosen = _optimal(view, candidates, need, leaders, by_entropy=True)
        if chosen is None:
            return None
        candidates = [child for domain in chosen for child in domain.in_order()]
        level += 1
    picked = _optimal(view, candidates, need, leaders, by_entropy=False)
    if picked is None:
        return None
    shares = _even(view, question, picked, kept.threshold)
    return None if shares is None else _descend(view, question, shares, level)


def _best_set(counts: Counts, question: Question) -> Kept | None:
    best: Kept | None = None
    for domains in _candidate_sets(counts, question):
        found = _try_set(counts, question, domains, best.threshold if best else 0)
        if found is None or found.threshold == 0:
            continue
        if (
            best is None
            or found.threshold > best.threshold
            or (found.threshold == best.threshold and found.used < best.used)
        ):
            best = found
    return best


def _candidate_sets(counts: Counts, question: Question) -> list[list[Domain]]:
    if question.level == 0:
        return [counts.tree.level(0)]
    return [d.in_order() for d in counts.tree.level(question.level - 1)]


def _try_set(
    counts: Counts, question: Question, domains: list[Domain], least: int
) -> Kept | None:
    need, leaders = question.slices, question.leaders
    view = View(counts, question)
    low = domains
    if question.level < question.slice_level:
        low = [child for domain in domains for child in domain.in_order()]
    first = _greedy(view, low, need, leaders)
    if first is None:
        return None
    threshold, second = _thresholds(view, question, first)
    if threshold < least:
        return None
    view.prune(domains, threshold)
    fitting = _greedy(view, domains, need, leaders)
    if fitting is None and second < threshold:
        if second <= 0 or second < least:
            return None
        threshold, view = second, View(counts, question)
        view.prune(domains, threshold)
        fitting = _greedy(view, domains, need, leaders)
    if fitting is None:
        return None
    return Kept(threshold, fitting.used, domains, view)


def _thresholds(view: View, question: Question, found: Greedy) -> tuple[int, int]:
    """Return how many slices each domain is to hold, and a milder number."""
    numbers = [question.slices // found.used if found.used else 0]
    if found.with_leader is not None:
        numbers.append(view.of(found.with_leader).slices_with_leader)
    if found.without is not None:
        numbers.append(view.of(found.without).slices)
    threshold = second = min(numbers)
    if question.leaders and found.without is not None:
        second = min(threshold, view.of(found.without).slices_with_leader)
    return threshold, second


def _greedy(
    view: View, domains: Sequence[Domain], need: int, leaders: int
) -> Greedy | None:
    """Return how many of the largest domains are enough; None when all are not."""
    used = 0
    with_leader = without = None
    rest = list(domains)
    if leaders:
        rest = view.ordered(rest, leaders=True)
        with_leader = rest.pop(0)
        if not view.of(with_leader).leaders:
            return None
        need -= view.of(with_leader).slices_with_leader
        used = 1
    for domain in view.ordered(rest, leaders=False):
        if need <= 0 or view.of(domain).slices <= 0:
            break
        without = domain
        need -= view.of(domain).slices
        used += 1
    return None if need > 0 else Greedy(used, with_leader, without)


def _optimal(
    view: View, domains: Sequence[Domain], need: int, leaders: int, *, by_entropy: bool
) -> list[Domain] | None:
    """Return as few domains as greedy takes, with the least capacity to spare."""
    greedy = _greedy(view, domains, need, leaders)
    if greedy is None:
        return None
    ordered = sorted(domains, key=lambda domain: domain.path)
    if by_entropy:
        ordered.sort(key=lambda domain: _entropy_rank(view, domain))
    start = (leaders, need * view.question.size)
    table: list[dict[tuple[int, int], list[Domain]]] = [{start: []}]
    table += [{} for _ in range(greedy.used)]
    for domain in ordered:
        count = view.of(domain)
        for used in range(greedy.used, 0, -1):
            for state in sorted(table[used - 1]):
                _extend(table[used], table[used - 1][state], state, domain, count)
    ends = [state for state in table[greedy.used] if state[0] == 0 and state[1] <= 0]
    if not ends:
        return None
    return table[greedy.used][max(ends)]


def _extend(
    into: dict[tuple[int, int], list[Domain]],
    before: list[Domain],
    state: tuple[int, int],
    domain: Domain,
    count: Count,
) -> None:
    leaders, pods = state
    if leaders <= 0 and pods <= 0:
        return
    if leaders > 0 and count.leaders > 0:
        led = (leaders - count.leaders, pods - count.pods_with_leader)
        into.setdefault(led, [*before, domain])
    if count.slices > 0:
        into.setdefault((leaders, pods - count.pods), [*before, domain])


def _entropy_rank(view: View, domain: Domain) -> tuple[float, ...]:
    count = view.of(domain)
    pods = [view.of(child).pods for child in domain.in_order()]
    total = sum(pods)
    entropy = -sum(p / total * log2(p / total) for p in pods if p)
    return (-count.leaders, -count.slices_with_leader, -entropy)


def _even(
    view: View, question: Question, picked: list[Domain], threshold: int
) -> list[DomainShare] | None:
    """Give each domain the threshold, and what is left over to the first ones."""
    extra = question.slices - len(picked) * threshold
    if extra < 0:
        return None
    leaders = question.leaders
    shares = []
    for domain in view.ordered(picked, leaders=True):
        count = view.of(domain)
        room = count.slices_with_leader if leaders else count.slices
        more = min(room - threshold, extra)
        shares.append(DomainShare(domain, (threshold + more) * question.size, leaders))
        extra, leaders = extra - more, 0
    return None if extra > 0 else shares


def _descend(
    view: View, question: Question, shares: list[DomainShare], level: int
) -> list[DomainShare]:
    for index in range(level, view.lowest):
        if index < question.slice_level:
            size = question.size
        else:
            size = question.inner.get(index + 1, 1)
        shares = each_alone(view, question, shares, size)
    return shares
