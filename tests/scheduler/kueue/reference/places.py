"""Places under a topology, by the text: every count from the leaves, every time.

Source: docs/semantics/kueue-topology.md#the-search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Path = tuple[str, ...]
Given = list[tuple[Path, int, int]]  # domain, pods, leaders


class Room(NamedTuple):
    """What a domain takes; `led` numbers are beside the leader."""

    pods: int
    led_pods: int
    slices: int
    led_slices: int
    leaders: int
    score: int


@dataclass(kw_only=True)
class Asked:
    """One search: levels by number, 0 the highest."""

    free: Mapping[Path, Mapping[str, int] | None]  # None: left out by a filter
    depth: int
    pod: Mapping[str, int]
    count: int
    leader: Mapping[str, int] | None = None
    level: int = 0
    slice_level: int = 0
    size: int = 1
    inner: Mapping[int, int] = field(default_factory=dict)  # level -> size
    required: bool = False
    anywhere: bool = False
    least_free: bool = False
    scores: Mapping[Path, int] = field(default_factory=dict)

    @property
    def leaders(self) -> int:
        return 0 if self.leader is None else 1

    def domains(self, level: int) -> list[Path]:
        return sorted({leaf[: level + 1] for leaf in self.free})

    def below(self, domain: Path) -> list[Path]:
        return [d for d in self.domains(len(domain)) if d[:-1] == domain]


Rooms = Callable[[Path], Room]


def how_often(free: Mapping[str, int], pod: Mapping[str, int]) -> int:
    return max(0, min(free.get(name, 0) // each for name, each in pod.items() if each))


# ---- phase 1 ----


def room(asked: Asked, domain: Path) -> Room:
    level = len(domain) - 1
    if len(domain) == asked.depth:
        found = leaf_room(asked, domain)
    else:
        size = asked.inner.get(level + 1, 1)
        found = together(asked, [room(asked, d) for d in asked.below(domain)], size)
    return sliced(asked, level, found)


def sliced(asked: Asked, level: int, found: Room) -> Room:
    if level < asked.slice_level:
        return found
    whole, led = found.pods // asked.size, found.led_pods // asked.size
    if level > asked.slice_level:
        whole = led = 0
    return found._replace(slices=whole, led_slices=led)


def leaf_room(asked: Asked, leaf: Path) -> Room:
    free = asked.free[leaf]
    if free is None:
        return Room(0, 0, 0, 0, 0, 0)
    pods, score = how_often(free, asked.pod), asked.scores.get(leaf, 0)
    if asked.leader is None or not how_often(free, asked.leader):
        return Room(pods, pods, 0, 0, 0, score)
    rest = {name: have - asked.leader.get(name, 0) for name, have in free.items()}
    return Room(pods, how_often(rest, asked.pod), 0, 0, 1, score)


def together(asked: Asked, parts: list[Room], size: int) -> Room:
    parts = [
        part._replace(
            pods=part.pods // size * size, led_pods=part.led_pods // size * size
        )
        for part in parts
    ]
    pods, slices = sum(p.pods for p in parts), sum(p.slices for p in parts)
    able = [p for p in parts if p.leaders >= asked.leaders]
    led_pods = led_slices = 0
    if able:
        led_pods = pods - min(p.pods - p.led_pods for p in able)
        led_slices = slices - min(p.slices - p.led_slices for p in able)
    leaders = max([p.leaders for p in parts], default=0)
    return Room(
        pods, led_pods, slices, led_slices, leaders, sum(p.score for p in parts)
    )


# ---- phase 2 ----


def in_order(
    asked: Asked, domains: list[Path], of: Rooms, *, leaders: bool
) -> list[Path]:
    def rank(domain: Path) -> tuple[Any, ...]:
        r = of(domain)
        most = r.led_slices if leaders else r.slices
        pods = r.led_pods if leaders else r.pods
        first = r.leaders if leaders else 0
        return -first, -r.score, most if asked.least_free else -most, pods, domain

    return sorted(domains, key=rank)


def holds(r: Room, leaders: int, *, slices: bool) -> int:
    if slices:
        return r.led_slices if leaders else r.slices
    return r.led_pods if leaders else r.pods


def closest(
    domains: list[Path], of: Rooms, need: int, leaders: int, *, slices: bool = True
) -> Path:
    alike = []
    for domain in domains:
        if of(domain).score != of(domains[0]).score:
            break
        alike.append(domain)
    enough = [
        d
        for d in alike
        if holds(of(d), leaders, slices=slices) >= need and of(d).leaders >= leaders
    ]
    return min(
        enough,
        key=lambda d: holds(of(d), leaders, slices=slices),
        default=domains[0],
    )


def leader_to_the_front(
    domains: list[Path], of: Rooms, need: int, leaders: int, *, slices: bool
) -> list[Path]:
    if not leaders:
        return domains
    have = sum(holds(of(d), 0, slices=slices) for d in domains)
    for domain in domains:
        r = of(domain)
        lost = holds(r, 0, slices=slices) - holds(r, 1, slices=slices)
        if r.leaders >= leaders and have - lost >= need:
            return [domain, *(d for d in domains if d != domain)]
    return domains


def chosen(asked: Asked) -> list[Path] | int:
    """Return the domains that take everything together, or how much would fit."""
    need, leaders = asked.count // asked.size, asked.leaders

    def of(domain: Path) -> Room:
        return room(asked, domain)

    def enough(domain: Path) -> bool:
        return of(domain).led_slices >= need and of(domain).leaders >= leaders

    for level in range(asked.level, -1, -1):
        ordered = in_order(asked, asked.domains(level), of, leaders=bool(leaders))
        if asked.least_free:
            single = next((d for d in ordered if enough(d)), None)
        else:
            # Preferred affinity may have put one that is enough behind others.
            behind = ordered if asked.required else ordered[:1]
            at = next((i for i, d in enumerate(behind) if enough(d)), None)
            single = None
            if at is not None:
                single = closest(ordered[at:], of, need, leaders)
        if single is not None:
            return [single]
        if asked.required:
            last = of(ordered[-1])
            return last.pods if asked.least_free else of(ordered[0]).slices
        if asked.anywhere:
            return several(asked, ordered, of)
    return several(asked, ordered, of)


def several(asked: Asked, ordered: list[Path], of: Rooms) -> list[Path] | int:
    """Return in order as many as it takes, the leader's first, the last one closest."""
    left, leaders, taken = asked.count // asked.size, asked.leaders, []
    rest = leader_to_the_front(ordered, of, left, leaders, slices=True)
    if leaders:
        first = rest[0]
        if not of(first).leaders:
            return 0
        if not asked.least_free and of(first).led_slices >= left:
            first = closest(rest, of, left, leaders)
        taken, left = [first], left - of(first).led_slices
        if left > 0:
            rest = in_order(asked, rest[1:], of, leaders=False)
    while left > 0 and rest:
        first = rest[0]
        if not asked.least_free and of(first).slices >= left:
            first = closest(rest, of, left, 0)
        taken, left = [*taken, first], left - of(first).slices
        rest = rest[1:]
    return taken if left <= 0 else asked.count // asked.size - left


def spread(
    asked: Asked,
    domains: list[Path],
    of: Rooms,
    pods: int,
    leaders: int,
    size: int,
    *,
    slices: bool,
) -> Given:
    """Return the shortest beginning of the list that is enough."""
    left, found = pods // size, []
    rest = leader_to_the_front(domains, of, left, leaders, slices=slices)
    for at, domain in enumerate(rest):
        r = of(domain)
        if holds(r, leaders, slices=slices) >= left and r.leaders >= leaders:
            if not asked.least_free:
                domain = closest(rest[at:], of, left, leaders, slices=slices)
            return [*found, (domain, left * size, leaders)]
        took = min(holds(r, leaders, slices=slices), left)
        led = min(r.leaders, leaders)
        found.append((domain, took * size, led))
        left, leaders = left - took, leaders - led
    return []


def below(asked: Asked, given: Given, of: Rooms, size: int) -> Given:
    """Spread what each domain got over its own children, in pieces."""

    def pieces(domain: Path) -> Room:
        r = of(domain)
        return r._replace(slices=r.pods // size, led_slices=r.led_pods // size)

    found: Given = []
    for domain, pods, leaders in given:
        children = in_order(asked, asked.below(domain), of, leaders=False)
        numbers, slices = (pieces, True) if size > 1 else (of, False)
        found += spread(asked, children, numbers, pods, leaders, size, slices=slices)
    return found


def places(asked: Asked) -> tuple[dict[Path, int], dict[Path, int]] | int:
    """Return where pods and leader stand, or how many slices would."""
    domains = chosen(asked)
    if isinstance(domains, int):
        return domains

    def of(domain: Path) -> Room:
        return room(asked, domain)

    whole = asked.count, asked.leaders, asked.size
    given = spread(asked, domains, of, *whole, slices=True)
    for level in range(len(domains[0]), asked.depth):
        if level <= asked.slice_level:
            anew = sorted({d for parent, *_ in given for d in asked.below(parent)})
            anew = in_order(asked, anew, of, leaders=False)
            given = spread(asked, anew, of, *whole, slices=True)
        else:
            given = below(asked, given, of, asked.inner.get(level, 1))
    return stands(given)


def stands(given: Given) -> tuple[dict[Path, int], dict[Path, int]]:
    return (
        {leaf: pods for leaf, pods, _ in sorted(given) if pods},
        {leaf: leaders for leaf, _, leaders in sorted(given) if leaders},
    )
