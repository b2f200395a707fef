"""A node that preemption could free, and the victims that it would take."""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.model.pod import Pod


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node and who would have to go, the most important first."""

    node: str
    victims: tuple[Pod, ...]
    violations: int = 0  # victims that a disruption budget protects
