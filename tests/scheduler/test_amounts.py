"""Quantities are read, rounded and printed as Kubernetes does."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.model import amounts, durations
from scheduler.model.errors import QuantityError


@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        pytest.param("cpu", "500m", 500, id="half a core"),
        pytest.param("cpu", 2, 2000, id="a YAML number"),
        pytest.param("cpu", 0.1, 100, id="a YAML fraction"),
        pytest.param("cpu", "100.5m", 101, id="rounded up"),
        pytest.param("memory", "1500m", 2, id="a fraction of a byte is a byte"),
        pytest.param("memory", "1Gi", 2**30, id="binary"),
        pytest.param("memory", "1.5Gi", 3 * 2**29, id="a binary fraction"),
        pytest.param("memory", "1e3", 1000, id="an exponent"),
        pytest.param("memory", "1E", 10**18, id="exa, not an exponent"),
        pytest.param("nvidia.com/gpu", "3k", 3000, id="kilo"),
        pytest.param("cpu", "-1", -1000, id="negative"),
        pytest.param("cpu", "9223372036854775807", amounts.UNLIMITED, id="too large"),
    ],
)
def test_a_quantity_becomes_canonical_units(resource, text, amount):
    assert amounts.canonical(resource, text) == amount


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1000m", "1"),
        ("1500m", "1500m"),
        (1000, "1k"),
        (0.5, "500m"),
        ("1e3", "1e3"),
        ("1024Mi", "1Gi"),
        ("1.5Gi", "1536Mi"),
        ("0.5Ki", "512"),
        ("0Mi", "0"),
    ],
)
def test_a_quantity_is_written_as_the_api_server_writes_it(text, written):
    assert amounts.quantity(text) == written


@pytest.mark.parametrize(
    "text", ["", "two", "1 Gi", "1gi", "1Kb", "--1", "1.2.3", "0x10", "9" * 80, True]
)
def test_what_is_no_quantity_is_refused_by_name(text):
    with pytest.raises(QuantityError, match="expected a quantity"):
        amounts.parse(text)


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        pytest.param("cpu", 1500, "1500m", id="thousandths"),
        pytest.param("cpu", 3000, "3", id="whole cores"),
        pytest.param("cpu", 1_000_000, "1k", id="a thousand cores"),
        pytest.param("memory", 2**30, "1Gi", id="binary"),
        pytest.param("memory", 1500 * 2**20, "1500Mi", id="not a whole Gi"),
        pytest.param("memory", 1025, "1025", id="no multiple of 1024"),
        pytest.param("nvidia.com/gpu", 3000, "3k", id="decimal"),
        pytest.param("pods", 0, "0", id="nothing"),
        pytest.param("cpu", amounts.UNLIMITED, "<unlimited>", id="unlimited"),
    ],
)
def test_an_amount_prints_as_kubernetes_prints_it(resource, amount, text):
    assert amounts.text_of(resource, amount) == text


@given(
    st.sampled_from(["cpu", "memory", "nvidia.com/gpu"]),
    st.integers(min_value=0, max_value=2**60),
)
def test_what_is_printed_reads_back(resource, amount):
    text = amounts.text_of(resource, amount)
    assert amounts.canonical(resource, text) == amount


def test_unlimited_swallows_what_is_added():
    assert amounts.add(amounts.UNLIMITED, -5) == amounts.UNLIMITED
    assert amounts.subtract(amounts.UNLIMITED, 7) == amounts.UNLIMITED
    assert amounts.subtract(amounts.UNLIMITED, amounts.UNLIMITED) == 0
    assert amounts.subtract(3, amounts.UNLIMITED) == amounts.MIN


@given(st.integers(amounts.MIN, amounts.MAX), st.integers(amounts.MIN, amounts.MAX))
def test_sums_stay_within_64_bits(left, right):
    assert amounts.MIN <= amounts.add(left, right) <= amounts.MAX
    assert amounts.MIN <= amounts.subtract(left, right) <= amounts.MAX


@pytest.mark.parametrize(
    "text", ["\u0664", "\u0661\u0660Gi", "1e\u0663", "\u00b2", "\uff14"]
)
def test_digits_of_other_scripts_are_no_quantity(text):
    with pytest.raises(QuantityError):
        amounts.parse(text)
    with pytest.raises(QuantityError):
        durations.nanoseconds(f"{text}s")
    assert not amounts.is_whole(text)


def test_a_duration_longer_than_go_has_is_refused():
    with pytest.raises(QuantityError, match="expected a duration"):
        durations.nanoseconds("9" * 400 + "h")
