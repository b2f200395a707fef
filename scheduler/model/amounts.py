"""Quantities: Kubernetes texts to exact integers in base units, and back.

An amount is an `int` in the canonical unit of its resource: thousandths for
`cpu`, whole units (bytes, pods, devices) for everything else.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from scheduler.model.errors import QuantityError
from scheduler.model.problems import Wanted, expected
from scheduler.model.sentence import Sentence

MAX = 2**63 - 1
MIN = -(2**63)
#: A quota too large for 64 bits, which no sum or comparison may exceed.
UNLIMITED = MAX

CPU = "cpu"
_BINARY_PRINTED = ("memory", "ephemeral-storage")
_HUGEPAGES = "hugepages-"

_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL = {
    "n": -9,
    "u": -6,
    "m": -3,
    "": 0,
    "k": 3,
    "M": 6,
    "G": 9,
    "T": 12,
    "P": 15,
    "E": 18,
}
_SHAPE = re.compile(
    r"(?P<sign>[+-]?)(?P<number>[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
    r"(?P<suffix>[KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]{1,3}|)"
)
_EXPONENT = re.compile("[eE][+-]?[0-9]")
_BINARY_FROM = 1024  # a smaller number is written without a binary suffix
_LONGEST = 64


def is_whole(text: str) -> bool:
    """Return whether a text is a whole number in the digits 0 to 9, without a sign.

    `str.isdigit` takes the digits of every script, which no real system reads.
    """
    return text.isascii() and text.isdigit()


def whole(text: str) -> int:
    """Return a whole number; a sign may stand before it. Raises QuantityError."""
    if not is_whole(text[1:] if text[:1] in ("-", "+") else text) or len(text) > 20:
        raise QuantityError(expected(Wanted.WHOLE, given=f"{text!r:.40}"))
    return int(text)


def parse(text: str | int | float) -> Fraction:
    """Return the exact value of a Kubernetes quantity.

    Accepts what the API server accepts: a decimal number with a binary (`Gi`),
    decimal (`m`, `k`) or exponent (`1e3`) suffix; YAML numbers too.
    Raises QuantityError naming the text.
    Source: <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>
    """
    if isinstance(text, bool) or not isinstance(text, str | int | float):
        raise QuantityError(_complaint(text))
    return _parse_text(text if isinstance(text, str) else _plain(text))


@lru_cache(maxsize=65536)
def _parse_text(text: str) -> Fraction:
    match = _SHAPE.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        raise QuantityError(_complaint(text))
    value = Fraction(match["number"].removesuffix("."))
    value *= _scale(match["suffix"])
    return -value if match["sign"] == "-" else value


def _scale(suffix: str) -> Fraction:
    if suffix in _BINARY:
        return Fraction(2 ** _BINARY[suffix])
    if suffix in _DECIMAL:
        return Fraction(10) ** _DECIMAL[suffix]
    return Fraction(10) ** int(suffix[1:])


def _plain(number: int | float) -> str:
    """Write a YAML number without the exponent sign that Python would use."""
    return format(Decimal(repr(number)), "f")


def _complaint(given: object) -> Sentence:
    shown = repr(given)
    if len(shown) > _LONGEST:
        shown = shown[:_LONGEST] + "...'"
    return expected(Wanted.QUANTITY_LIKE, given=shown)


def quantity(text: str | int | float) -> str:
    """Return a quantity as the API server writes it back: "1000m" is "1", 1000 is "1k".

    Source: <https://kubernetes.io/docs/reference/kubernetes-api/common-definitions/quantity/>
    """
    value, given = parse(text), str(text)
    if given.endswith("i") and abs(value) >= _BINARY_FROM:
        base, steps, smallest = 1024, ["", *_BINARY], Fraction(1)
    else:
        base, steps, smallest = 1000, [*_DECIMAL], _scale("n")
    left = value / smallest
    whole = -((-left.numerator) // left.denominator)
    step = 0
    while whole and whole % base == 0 and step < len(steps) - 1:
        whole, step = whole // base, step + 1
    suffix = steps[step] if whole else ""
    if suffix and isinstance(text, str) and _EXPONENT.search(text):
        suffix = f"e{_DECIMAL[suffix]}"
    return f"{whole}{suffix}"


def canonical(resource: str, text: str | int | float) -> int:
    """Return the amount in canonical units, rounded up and clamped to 64 bits.

    `cpu` in thousandths, all else in whole units: "100.5m" cpu is 101.
    Raises QuantityError.
    Source: docs/semantics/kueue.md#quantities-of-requests and
    docs/semantics/kube-scheduler.md#quantities-and-node-capacity.
    """
    value = parse(text)
    if resource == CPU:
        value *= 1000
    return clamp(-((-value.numerator) // value.denominator))


def quota(resource: str, text: str | int | float) -> int:
    """Return a quota in canonical units; too large for 64 bits is UNLIMITED.

    Source: docs/semantics/kueue.md#quantities-of-quota.
    """
    most = MAX // 1000 * 1000 if resource == CPU else MAX
    amount = canonical(resource, text)
    return UNLIMITED if amount >= most else amount


def clamp(value: int) -> int:
    """Return `value` held inside the signed 64 bit range."""
    return MAX if value > MAX else max(value, MIN)


def add(left: int, right: int) -> int:
    """Return the saturating sum; UNLIMITED plus anything is UNLIMITED.

    Source: docs/semantics/kueue.md#quantities-of-quota.
    """
    if left == UNLIMITED or right == UNLIMITED:
        return UNLIMITED
    return clamp(left + right)


def subtract(left: int, right: int) -> int:
    """Return the saturating difference; UNLIMITED less UNLIMITED is 0.

    Source: docs/semantics/kueue.md#quantities-of-quota.
    """
    if left == UNLIMITED:
        return 0 if right == UNLIMITED else UNLIMITED
    return MIN if right == UNLIMITED else clamp(left - right)


def fits(requests: Mapping[str, int], free: Mapping[str, int]) -> bool:
    """Return whether every request is within what is free; missing means none."""
    return all(amount <= free.get(name, 0) for name, amount in requests.items())


def text_of(resource: str, amount: int) -> str:
    """Return the amount as Kubernetes prints it: "1500m", "1Gi", "3k".

    Source: docs/semantics/kueue.md#printing-quantities.
    """
    return "<unlimited>" if amount == UNLIMITED else request_text(resource, amount)


def request_text(resource: str, amount: int) -> str:
    """Return a request as Kubernetes prints it: one that was clamped, as its bound.

    Source: docs/semantics/kueue.md#printing-quantities.
    """
    if resource == CPU:
        return decimal_si(amount, exponent=-3)
    if resource in _BINARY_PRINTED or resource.startswith(_HUGEPAGES):
        return binary_si(amount)
    return decimal_si(amount, exponent=0)


@lru_cache(maxsize=65536)
def decimal_si(value: int, *, exponent: int) -> str:
    """Return `value` x 10^exponent with the largest suffix that keeps it whole."""
    if value == 0:
        return "0"
    while value % 1000 == 0 and exponent < 18:
        value, exponent = value // 1000, exponent + 3
    suffix = {power: name for name, power in _DECIMAL.items()}[exponent]
    return f"{value}{suffix}"


@lru_cache(maxsize=65536)
def binary_si(value: int) -> str:
    """Return whole units with the largest binary suffix that keeps them whole.

    What is no multiple of 1024 is written in decimal: "45G".
    """
    if not value or value % 1024:
        return decimal_si(value, exponent=0)
    suffix = ""
    for name in _BINARY:
        if value % 1024:
            break
        value, suffix = value // 1024, name
    return f"{value}{suffix}"
