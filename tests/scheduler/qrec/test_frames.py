"""A file that was cut or damaged anywhere gives what was whole before."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.model.errors import SchedulerError
from scheduler.recorded.qrec.frames import MAGIC, FrameReader, frame

LINES = st.lists(st.binary(min_size=1).filter(lambda b: b"\n" not in b), min_size=1)


@given(st.lists(LINES, max_size=4), st.data())
def test_a_crash_at_any_byte_leaves_the_frames_before_it(
    frames: list[list[bytes]], data: st.DataObject
) -> None:
    ends = [len(MAGIC)]
    for lines in frames:
        ends.append(ends[-1] + len(frame(lines)))
    whole = MAGIC + b"".join(map(frame, frames))
    cut = data.draw(st.integers(len(MAGIC), len(whole)))
    reader = FrameReader(io.BytesIO(whole[:cut]), "a.qrec")
    kept = sum(end <= cut for end in ends[1:])
    assert list(reader) == frames[:kept]
    assert reader.position == ends[kept]
    assert reader.torn_bytes == cut - ends[kept]


@pytest.mark.parametrize("cut", range(len(MAGIC)))
def test_a_part_that_was_only_begun_holds_nothing(cut: int) -> None:
    reader = FrameReader(io.BytesIO(MAGIC[:cut]), "a.1.qrec")
    assert (list(reader), reader.position) == ([], 0)


def test_a_damaged_frame_ends_the_reading() -> None:
    whole = bytearray(MAGIC + frame([b"a"]) + frame([b"b"]))
    whole[-3] ^= 1
    assert list(FrameReader(io.BytesIO(bytes(whole)), "a.qrec")) == [[b"a"]]


def test_another_file_is_refused_by_name() -> None:
    with pytest.raises(SchedulerError, match=r"x\.yaml: expected a \.qrec file"):
        FrameReader(io.BytesIO(b"kind: Pod"), "x.yaml")
