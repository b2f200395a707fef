"""What converting a world between Kueue and YuniKorn carries over, each way."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from scheduler.model.objects import Object
from scheduler.model.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the other stack has no word for."""

    subject: str  # kind and name, or a queue's path
    said: Sentence

    @property
    def lost(self) -> str:
        """Return what is lost, in English."""
        return self.said.text

    def __str__(self) -> str:
        return f"{self.subject}: {self.lost}"


@dataclass(slots=True, kw_only=True)
class Converted:
    """Documents for the other stack, and what they no longer say."""

    objects: list[Object] = field(default_factory=list)
    policy: dict[str, Any] = field(default_factory=dict)  # patch of PolicySpec
    losses: list[Loss] = field(default_factory=list)

    def lose(self, subject: str, lost: Sentence) -> None:
        """Note something that is not carried over, once."""
        loss = Loss(subject, lost)
        if loss not in self.losses:
            self.losses.append(loss)

    def keep(self, obj: Object) -> Object:
        """Take a copy of an object, without what engines wrote; return it."""
        status = dict(obj.status) if obj.key.kind == "Node" else {}
        kept = Object(key=obj.key, manifest=copy.deepcopy(obj.manifest), status=status)
        if obj.key.kind == "Pod":
            kept.manifest.get("spec", {}).pop("nodeName", None)
        self.objects.append(kept)
        return kept
