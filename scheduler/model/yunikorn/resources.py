"""Sparse resources of YuniKorn: what is missing differs from zero in limits only.

A resource is a plain dict from type to signed 64 bit integer; `vcore` counts
thousandths, everything else whole units. `None` stands for "not set".
Source: docs/semantics/yunikorn.md#combining-and-comparing-resources
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from scheduler.model.amounts import MAX, clamp
from scheduler.model.errors import QuantityError
from scheduler.model.problems import Problem, Wanted, expected, in_field
from scheduler.model.sentence import Sentence

Amounts = dict[str, int]
#: A resource as pairs sorted by type, positive ones only: what has to fit.
Needs = tuple[tuple[str, int], ...]

VCORE = "vcore"
PODS = "pods"

_SHAPE = re.compile(r"([0-9]+) *([A-Za-z]*)")
_SUFFIX = {
    "": 1,
    "k": 10**3,
    "M": 10**6,
    "G": 10**9,
    "T": 10**12,
    "P": 10**15,
    "E": 10**18,
    "Ki": 2**10,
    "Mi": 2**20,
    "Gi": 2**30,
    "Ti": 2**40,
    "Pi": 2**50,
    "Ei": 2**60,
}


def parse(resource: str, text: object) -> int:
    """Return the amount that a queues.yaml quantity stands for.

    Digits and a suffix, no sign, no decimals; `m` for vcore only.
    Raises QuantityError with the text. Source: docs/semantics/yunikorn.md#quantity-strings
    """
    match = _SHAPE.fullmatch(str(text).strip())
    if match is None or isinstance(text, bool):
        raise QuantityError(_complaint(resource, text))
    number, suffix = int(match[1]), match[2]
    if suffix == "m" and resource == VCORE:
        value = number
    elif suffix in _SUFFIX:
        value = number * _SUFFIX[suffix] * (1000 if resource == VCORE else 1)
    else:
        raise QuantityError(_complaint(resource, text))
    if value > MAX:
        raise QuantityError(Problem.BESIDE64.said(given=f"{resource}: {text!r}"))
    return value


def _complaint(resource: str, text: object) -> Sentence:
    example = '"500m" or "4"' if resource == VCORE else '"8" or "4Gi"'
    return in_field(resource, expected(Wanted.DIGITS.said(example=example), text))


def text_of(resource: str, amount: int) -> str:
    """Return the amount as queues.yaml writes it, in its largest whole unit."""
    if resource == VCORE:
        return f"{amount}m" if amount % 1000 else str(amount // 1000)
    for suffix in ("Ei", "Pi", "Ti", "Gi", "Mi", "Ki"):
        if amount and amount % _SUFFIX[suffix] == 0:
            return f"{amount // _SUFFIX[suffix]}{suffix}"
    return str(amount)


def needs_of(amounts: Amounts) -> Needs:
    """Return what has to fit: positive amounts in type order."""
    return tuple(sorted((t, v) for t, v in amounts.items() if v > 0))


def add_to(left: Amounts, right: Mapping[str, int]) -> None:
    """Add in place over the union of types, saturating at 64 bits."""
    for name, value in right.items():
        left[name] = clamp(left.get(name, 0) + value)


def take_from(left: Amounts, right: Mapping[str, int]) -> None:
    """Subtract in place over the union of types; may go negative."""
    for name, value in right.items():
        left[name] = clamp(left.get(name, 0) - value)


def take_and_prune(left: Amounts, right: Mapping[str, int]) -> None:
    """Subtract in place and forget the types that came to zero."""
    for name, value in right.items():
        rest = clamp(left.get(name, 0) - value)
        if rest:
            left[name] = rest
        else:
            left.pop(name, None)


def plus(left: Mapping[str, int], right: Mapping[str, int]) -> Amounts:
    """Return the sum over the union of types."""
    total = dict(left)
    add_to(total, right)
    return total


def minus(left: Mapping[str, int], right: Mapping[str, int]) -> Amounts:
    """Return the difference over the union of types."""
    rest = dict(left)
    take_from(rest, right)
    return rest


def minus_existing(left: Mapping[str, int], right: Mapping[str, int]) -> Amounts:
    """Return left - right for the types of the left side only."""
    return {t: clamp(v - right.get(t, 0)) for t, v in left.items()}


def least(left: Amounts | None, right: Amounts | None) -> Amounts | None:
    """Return the component-wise minimum; a type on one side only is taken over."""
    if left is None:
        return right
    if right is None:
        return left
    both = dict(right)
    for name, value in left.items():
        other = both.get(name)
        both[name] = value if other is None or value < other else other
    return both


def fits(limit: Mapping[str, int], needs: Iterable[tuple[str, int]]) -> bool:
    """Return whether needs are within the limit; a type not named there is 0."""
    return all(value <= limit.get(name, 0) for name, value in needs if value > 0)


def fits_undefined(limit: Mapping[str, int] | None, wanted: Needs) -> bool:
    """Return whether needs are within the limit; a type not named is unlimited."""
    if limit is None:
        return True
    for name, value in wanted:
        room = limit.get(name)
        if room is not None and value > room and value > 0:
            return False
    return True


def fits_existing(limit: Mapping[str, int], wanted: Mapping[str, int]) -> bool:
    """Return whether wanted is within the limit's own types, negatives as they are."""
    for name, room in limit.items():
        value = wanted.get(name)
        if value is not None and value > room:
            return False
    return True


def above_zero(amounts: Mapping[str, int]) -> bool:
    """Return whether no value is negative and at least one is positive."""
    found = False
    for value in amounts.values():
        if value < 0:
            return False
        if value > 0:
            found = True
    return found


def is_set(amounts: Amounts | None) -> Amounts | None:
    """Return the amounts, or None when nothing in them is above zero."""
    return amounts if amounts and above_zero(amounts) else None


def exceeds_existing(left: Mapping[str, int], right: Mapping[str, int]) -> bool:
    """Return whether left is strictly greater than right on the types of both.

    An empty right side is exceeded when all of left is positive; two sides
    without a common type count as exceeded.
    Source: docs/semantics/yunikorn.md#combining-and-comparing-resources
    """
    if not right:
        return bool(left) and all(value > 0 for value in left.values())
    differs = common = False
    for name, value in left.items():
        other = right.get(name)
        if other is None:
            continue
        common = True
        if other > value:
            return False
        differs = differs or other < value
    return differs or (not common and bool(left))


def share_any(left: Mapping[str, int], right: Mapping[str, int]) -> bool:
    """Return whether both name a common type, whatever the values."""
    return any(name in right for name in left)


def shortfall(wanted: Mapping[str, int], room: Mapping[str, int]) -> Amounts:
    """Return what is missing per type of `wanted`, zero left out."""
    rest = {t: v - room.get(t, 0) for t, v in wanted.items()}
    return {t: v for t, v in rest.items() if v > 0}


def usage_shares(
    used: Mapping[str, int], total: Mapping[str, int] | None
) -> tuple[float, ...]:
    """Return the shares of used over total, largest first, zeros left out.

    A type that total lacks counts as its raw number. Tuples compare as
    YuniKorn compares its share lists. Source: docs/semantics/yunikorn.md#usage-shares
    """
    shares = []
    for name, value in used.items():
        whole = total.get(name, 0) if total else 0
        if value:
            shares.append(value / whole if whole else float(value))
    shares.sort(reverse=True)
    return tuple(shares)


def fair_share(
    allocated: Mapping[str, int],
    guaranteed: Mapping[str, int] | None,
    fair_max: Mapping[str, int] | None,
) -> float:
    """Return the largest allocated / guaranteed (else / fair-max) over the types.

    A denominator that is there and not positive counts as 1 when anything is
    used. Source: docs/semantics/yunikorn.md#fair-share
    """
    top = 0.0
    for name, value in allocated.items():
        if value < 0:
            continue
        whole = guaranteed.get(name) if guaranteed else None
        if whole is None:
            whole = fair_max.get(name) if fair_max else None
        if whole is None:
            continue
        share = value / whole if whole > 0 else (1.0 if value else 0.0)
        top = max(top, share)
    return top


def describe(amounts: Mapping[str, int] | None) -> str:
    """Return the amounts for a message: `map[memory:1024 vcore:500]`."""
    inner = " ".join(f"{t}:{v}" for t, v in sorted((amounts or {}).items()))
    return f"map[{inner}]"


def strictly_greater(left: Mapping[str, int], right: Mapping[str, int]) -> bool:
    """Return whether left >= right over the union of types, and one differs."""
    names = left.keys() | right.keys()
    differences = [left.get(name, 0) - right.get(name, 0) for name in names]
    return any(differences) and min(differences) >= 0


def covers_existing(left: Mapping[str, int], right: Mapping[str, int]) -> bool:
    """Return whether left >= right on the types of both.

    An empty right side is covered when all of left is positive; two sides
    without a common type are covered.
    Source: docs/semantics/yunikorn.md#combining-and-comparing-resources
    """
    if not right:
        return bool(left) and all(value > 0 for value in left.values())
    return all(value >= right[name] for name, value in left.items() if name in right)
