"""Long sentences, shortened to fit a card."""

from __future__ import annotations

LONGEST = 300


def shortened(sentence: str) -> str:
    """Return a sentence of at most LONGEST characters, cut between words with "…"."""
    if len(sentence) <= LONGEST:
        return sentence
    kept = sentence[: LONGEST - 1]
    head, space, _ = kept.rpartition(" ")
    return f"{(head if space else kept).rstrip(' ,;:')}…"
