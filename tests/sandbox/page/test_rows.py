"""What a card says of a long sentence."""

from __future__ import annotations

from sandbox.page.rows.wording import LONGEST, shortened


def test_a_short_sentence_stays():
    assert shortened("insufficient quota") == "insufficient quota"


def test_a_long_sentence_ends_between_words():
    reported = shortened("0/5 nodes are available: " + "insufficient cpu, " * 40)
    assert len(reported) <= LONGEST
    assert reported.endswith((" cpu…", " insufficient…"))


def test_a_word_without_end_is_cut_all_the_same():
    assert shortened("x" * 900) == "x" * (LONGEST - 1) + "…"
