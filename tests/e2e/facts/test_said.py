"""A number in a sentence is REST's only in its own unit, rounded as the page rounds it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.e2e.facts.said import wrong

AMOUNTS = [
    {"resource": "cpu", "amount": "4500"},
    {"resource": "memory", "amount": str(3 * 2**29)},
    {"resource": "nvidia.com/gpu", "amount": "8"},
    {"resource": "nvidia.com/gpu", "amount": "4"},
    {"resource": "example.com/fpga", "amount": "2"},
]
ANSWER: dict[str, Any] = {
    "tick": 7,
    "requests": AMOUNTS,
    "pod": {"cpu": "250", "memory": "1048576"},
    "path": {"resource": "cpu", "queue": "root", "used": "1500", "max": None},
    "waitMs": [64_900, 7_499_000, 250],
    "atMs": 11_640,
    "startedMs": 41_200,
    "used": 0.4325,
    "shareAfter": 12.1,
    "priority": 1000,
    "holds": True,
    "message": "short of 3 CPU on node 9",
    "totals": [
        {"measure": "waitMeanMs", "values": [11_640.0, 90_400.0], "deltas": [78_760.0]},
        {"measure": "utilisation.cpu", "values": [0.4325, 0.4325], "deltas": [0.0]},
        {"measure": "workLost.nvidia.com/gpu", "values": [1.5, None], "deltas": [None]},
        {"measure": "finished", "values": [40, 38], "deltas": [-2]},
    ],
    "costs": [
        {"rule": "latestStart", "value": -12_340},
        {"rule": "prioritySum", "value": 2 * 2**31 + 300},
    ],
    "steps": [{"kind": "setup"}, {"kind": "candidate"}, {"kind": "candidate"}],
}


@pytest.mark.parametrize(
    ("path", "right", "others"),
    [
        (
            "requests",
            "4.5\xa0CPU",
            ["4.6 CPU", "4.5 GiB", "4,500 CPU", "4.5", "4,500", "450 %"],
        ),
        ("requests", "1.5\xa0GiB", ["1.5 MiB", "1.5 CPU", "1,536 GiB", "1.5"]),
        ("requests", "8 GPU", ["9 GPU", "8 CPU", "8", "8 s", "800 %"]),
        ("requests", "12 GPU", ["13 GPU", "12"]),
        ("requests", "2 fpga", ["3 fpga", "8 fpga", "2 CPU"]),
        ("requests", "5 kinds", ["6 kinds", "5 GPU", "500 %", "5 s"]),
        ("requests", "and 2 more", ["and 4 more"]),
        ("pod", "0.25 CPU, 1 MiB", ["0.3 CPU", "250 CPU", "1 GiB", "0.25"]),
        ("path", "root\tcpu\t1.5\t–", ["1,500", "1.6", "1.5 GiB"]),
        ("waitMs", "1 min\xa05 s", ["1 min 4 s", "65 s", "1 h 5 min", "65"]),
        ("waitMs", "2 h\xa04 min", ["2 h 5 min", "2 min 4 s", "124 min", "2 h"]),
        ("waitMs", "250 ms", ["250 s", "250", "251 ms"]),
        ("atMs", "not before 11.6 s", ["11.7 s", "11.6 ms", "11.6", "11,640"]),
        ("startedMs", "runs since 42", ["runs since 41", "42", "42 s"]),
        ("used", "43\xa0%", ["44 %", "43", "0.43 %", "43 s"]),
        ("used", "43% of it", ["4% of it"]),
        ("shareAfter", "share after 13", ["share after 12", "13 s", "13 CPU"]),
        ("priority", "priority 1,000", ["1", "1 s", "1 CPU", "100,000 %"]),
        ("totals|0", "11.6 s\t1 min 30 s\t+1 min 19 s", ["11.6 %", "11.7 s", "12 s"]),
        ("totals|1", "43.3\xa0%\t0", ["43.2 %", "43 %", "43.3", "0.43"]),
        ("totals|2", "1.5\xa0GPU·h", ["1.5 GPU", "1.5 CPU·h", "1.5 h", "1.5"]),
        ("totals|3", "40\t38\t−2", ["39", "40 %", "4,000 %", "40 s"]),
        ("costs", "12.3 s", ["12.4 s", "12.3", "12,340"]),
        ("costs", "300 + 2 × 2³¹", ["301 + 2 × 2³¹", "300 + 3 × 2³¹"]),
        ("steps", "Candidate 2, it", ["Candidate 3, it", "Candidate 2 s"]),
        ("message", "short of 3 CPU", ["short of 3 GPU", "3", "4 CPU"]),
        ("", "at tick 7", ["at tick 8", "7", "7 s", "7 %"]),
        ("holds", "it holds", ["1"]),
    ],
)
def test_a_number_is_known_in_its_own_unit_alone(
    path: str, right: str, others: list[str]
) -> None:
    assert list(wrong(f"said {path}", right, ANSWER)) == []
    assert [one for one in others if not list(wrong(f"said {path}", one, ANSWER))] == []
