"""Balanced placement, by the text: every set of domains is tried.

Source: docs/semantics/kueue-topology.md#balanced-placement.
"""

from __future__ import annotations

from itertools import combinations
from math import log2
from typing import Any

from tests.scheduler.kueue.reference.places import (
    Asked,
    Given,
    Path,
    Room,
    below,
    in_order,
    room,
    stands,
    together,
)

NONE = Room(0, 0, 0, 0, 0, 0)


class Struck:
    """Rooms without what cannot hold the threshold."""

    def __init__(self, asked: Asked, domains: list[Path], threshold: int) -> None:
        self.asked, self.changed = asked, dict[Path, Room]()
        for domain in domains:
            for child in asked.below(domain):
                self._strike(child, threshold)
        for domain in domains:
            children = [self.of(child) for child in asked.below(domain)]
            if children:
                self.changed[domain] = self._sum(domain, children)
            self._strike(domain, threshold)

    def of(self, domain: Path) -> Room:
        return self.changed.get(domain) or room(self.asked, domain)

    def _sum(self, domain: Path, parts: list[Room]) -> Room:
        found, level = together(self.asked, parts, 1), len(domain) - 1
        score = room(self.asked, domain).score
        if level >= self.asked.slice_level:
            size = self.asked.size if level == self.asked.slice_level else 10**9
            slices, led = found.pods // size, found.led_pods // size
            found = found._replace(slices=slices, led_slices=led)
        return found._replace(score=score)

    def _strike(self, domain: Path, threshold: int) -> None:
        r = self.of(domain)
        inside = [d for d in self.all() if d[: len(domain)] == domain]
        for each in inside if r.slices < threshold else ():
            self.changed[each] = NONE._replace(score=self.of(each).score)
        if r.slices >= threshold and r.leaders and r.led_slices < threshold:
            for each in inside if self.asked.leaders else ():
                known = self.of(each)
                self.changed[each] = known._replace(led_pods=0, led_slices=0, leaders=0)

    def all(self) -> list[Path]:
        return [
            d for level in range(self.asked.depth) for d in self.asked.domains(level)
        ]


def largest(
    view: Struck, domains: list[Path]
) -> tuple[int, Path | None, Path | None] | None:
    """Return how many of the largest are enough, the leader's and the last of them."""
    asked, led, last = view.asked, None, None
    need, used = asked.count // asked.size, 0
    rest = list(domains)
    if asked.leaders:
        led = min(
            in_order(asked, rest, view.of, leaders=True)[:1],
            default=None,
        )
        if led is None or not view.of(led).leaders:
            return None
        rest.remove(led)
        need, used = need - view.of(led).led_slices, 1
    for domain in in_order(asked, rest, view.of, leaders=False):
        if need <= 0 or not view.of(domain).slices:
            break  # preferred affinity may have put one with room behind it
        last, used = domain, used + 1
        need -= view.of(domain).slices
    return (used, led, last) if need <= 0 else None


def smallest_set(
    view: Struck, domains: list[Path], *, alike: bool
) -> list[Path] | None:
    """Return as few as the largest need, with the least to spare."""
    asked, found = view.asked, largest(view, domains)
    if found is None:
        return None
    listed = sorted(domains)
    if alike:
        listed.sort(key=lambda domain: _alike(view, domain))
    best: tuple[tuple[Any, ...], list[Path]] | None = None
    for places in combinations(range(len(listed)), found[0]):
        leads = (None,) if not asked.leaders else places
        for lead in leads:
            key = _spare(view, listed, places, lead)
            if key is not None and (best is None or key < best[0]):
                best = key, [listed[place] for place in places]
    return best[1] if best else None


def _spare(
    view: Struck, listed: list[Path], places: tuple[int, ...], lead: int | None
) -> tuple[Any, ...] | None:
    """Return what orders this set among others; None when it is none."""
    leaders = view.asked.leaders
    left = view.asked.count // view.asked.size * view.asked.size
    key: list[Any] = []
    for place in places:
        r = view.of(listed[place])
        takes = place == lead
        if (leaders <= 0 and left <= 0) or not (r.leaders if takes else r.slices):
            return None
        key = [place, (leaders, left), *key]
        leaders -= takes
        left -= r.led_pods if takes else r.pods
    return (-left, *key) if left <= 0 and leaders == 0 else None


def _alike(view: Struck, domain: Path) -> tuple[float, ...]:
    r = view.of(domain)
    pods = [view.of(child).pods for child in view.asked.below(domain)]
    shares = [p / sum(pods) for p in pods if p]
    return -r.leaders, -r.led_slices, sum(share * log2(share) for share in shares)


def balanced(asked: Asked) -> tuple[dict[Path, int], dict[Path, int]] | None:
    """Return where pods and leader stand; None where the usual search is left."""
    best: tuple[int, int, list[Path], Struck] | None = None
    sets = {d[:-1]: None for d in asked.domains(asked.level)}
    for above in sets:
        domains = asked.below(above) if above else asked.domains(0)
        found = _threshold(asked, domains, best[0] if best else 0)
        if found and (best is None or (-found[0], found[1]) < (-best[0], best[1])):
            best = found
    if best is None:
        return None
    threshold, _, domains, view = best
    level, picked = asked.level, domains
    if asked.level < asked.slice_level:
        upper = smallest_set(view, domains, alike=True)
        picked = [child for d in upper or () for child in asked.below(d)]
        level += 1
    chosen = smallest_set(view, picked, alike=False) if picked else None
    given = _equal(view, chosen, threshold) if chosen else None
    if given is None:
        return None
    for index in range(level + 1, asked.depth):
        deeper = index > asked.slice_level
        size = asked.inner.get(index, 1) if deeper else asked.size
        given = below(asked, given, view.of, size)
    return stands(given)


def _threshold(
    asked: Asked, domains: list[Path], least: int
) -> tuple[int, int, list[Path], Struck] | None:
    low = domains
    if asked.level < asked.slice_level:
        low = [child for domain in domains for child in asked.below(domain)]
    whole = Struck(asked, [], 0)
    found = largest(whole, low)
    if found is None:
        return None
    used, led, last = found
    numbers = [asked.count // asked.size // used if used else 0]
    numbers += [whole.of(led).led_slices] if led else []
    numbers += [whole.of(last).slices] if last else []
    milder = [whole.of(last).led_slices] if last and asked.leaders else []
    for threshold in dict.fromkeys((min(numbers), min(numbers + milder))):
        if threshold < max(least, 1):
            return None
        view = Struck(asked, domains, threshold)
        enough = largest(view, domains)
        if enough is not None:
            return threshold, enough[0], domains, view
    return None


def _equal(view: Struck, chosen: list[Path], threshold: int) -> Given | None:
    asked = view.asked
    extra = asked.count // asked.size - len(chosen) * threshold
    if extra < 0:
        return None
    leaders, given = asked.leaders, Given()
    for domain in in_order(asked, chosen, view.of, leaders=True):
        r = view.of(domain)
        more = min((r.led_slices if leaders else r.slices) - threshold, extra)
        given.append((domain, (threshold + more) * asked.size, leaders))
        extra, leaders = extra - more, 0
    return given if extra == 0 else None
