"""Durations, timestamps, annotations and random streams."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.model import durations, streams
from scheduler.model.annotations import read_timing
from scheduler.model.durations import Span, read_span
from scheduler.model.errors import QuantityError


@pytest.mark.parametrize(
    ("text", "ms"),
    [("90s", 90_000), ("1m30s", 90_000), ("1.5h", 5_400_000), ("250ms", 250), ("0", 0)],
)
def test_a_go_duration_is_read(text, ms):
    assert durations.milliseconds(text) == ms


@pytest.mark.parametrize("text", ["", "90", "1 m", "s", "1x", "1m 3s"])
def test_what_is_no_duration_is_refused(text):
    with pytest.raises(QuantityError, match="expected a duration"):
        durations.nanoseconds(text)


@given(st.integers(0, 10**12))
def test_a_printed_duration_reads_back(ms):
    assert durations.milliseconds(durations.duration_text(ms)) == pytest.approx(
        ms, rel=1e-5
    )


@given(st.integers(0, 4 * 10**15))
def test_a_printed_time_reads_back(us):
    assert durations.stamp_us(durations.stamp_text(us)) == us


def test_a_time_with_an_offset_is_the_same_instant():
    assert durations.stamp_us("2026-01-01T02:00:00+02:00") == durations.stamp_us(
        "2026-01-01T00:00:00Z"
    )


def test_spans_are_fixed_exponential_or_uniform():
    assert read_span("60s") == Span(shape="fixed", values=(60_000,))
    assert read_span("exp(60s)") == Span(shape="exp", values=(60_000,))
    assert read_span("uniform(10s, 60s)") == Span(
        shape="uniform", values=(10_000, 60_000)
    )


@pytest.mark.parametrize("text", ["exp(1s,2s)", "uniform(1s)", "uniform(2s,1s)", "-1s"])
def test_a_span_that_makes_no_sense_is_refused(text):
    with pytest.raises(QuantityError):
        read_span(text)


def test_days_and_weeks_are_lengths():
    assert read_span("1w2d").values == (9 * 86_400_000,)


def test_a_log_normal_length_has_the_median_and_percentile_that_it_names():
    span = read_span("lognormal(median 5m, p90 20m)")
    drawn = sorted(span.draw(1, "runtime", str(n)) for n in range(4_000))
    assert drawn[2_000] == pytest.approx(300_000, rel=0.1)
    assert drawn[3_600] == pytest.approx(1_200_000, rel=0.1)


def test_an_unknown_annotation_of_ours_is_an_error_that_lists_the_known():
    with pytest.raises(QuantityError, match=r"quotalab\.dev/runtme; known: .*runtime"):
        read_timing({"quotalab.dev/runtme": "60s", "example.com/x": "y"})


def test_a_new_draw_never_shifts_another():
    before = streams.uniform(1, "runtime", "a")
    streams.uniform(1, "runtime", "b")
    assert streams.uniform(1, "runtime", "a") == before
    assert streams.uniform(2, "runtime", "a") != before


@given(st.integers(), st.text(max_size=5), st.integers(0, 5))
def test_uniform_draws_are_within_their_range(seed, subject, n):
    assert 0.0 <= streams.uniform(seed, "x", subject, n) < 1.0


def test_uids_are_reproducible_and_differ_by_ordinal():
    first = streams.uid(1, "Pod", "a", "b")
    assert first == streams.uid(1, "Pod", "a", "b")
    assert first != streams.uid(1, "Pod", "a", "b", 1)
