"""Whether a flavor's nodes could run a pod: taints and node affinity."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from scheduler.model.podset_template import PodShape
from scheduler.model.quota import Flavor
from scheduler.model.selectors import HARD_EFFECTS, Requirement, Taint, tolerated


def ineligibility_of(
    shape: PodShape, flavor: Flavor, keys: Collection[str] | None = None
) -> str:
    """Return why the flavor cannot run such a pod, or "".

    Only these label keys count; None: those that the flavor has.
    Source: docs/semantics/kueue.md#flavor-eligibility.
    """
    taint = _untolerated(shape, flavor)
    if taint is not None:
        return f"untolerated taint {taint} in flavor {flavor.name}"
    if not _matches(shape, flavor.labels, flavor.labels if keys is None else keys):
        return f"flavor {flavor.name} doesn't match node affinity"
    return ""


def _untolerated(shape: PodShape, flavor: Flavor) -> Taint | None:
    tolerations = (*shape.tolerations, *flavor.tolerations)
    for taint in flavor.taints:
        if taint.effect in HARD_EFFECTS and not tolerated(taint, tolerations):
            return taint
    return None


def _matches(shape: PodShape, labels: Mapping[str, str], keys: Collection[str]) -> bool:
    for key, value in shape.selector.items():
        if key in keys and labels.get(key) != value:
            return False
    if shape.affinity is None:
        return True
    terms = [_kept(term, keys) for term in shape.affinity]
    # A term with nothing left matches any node, and terms are alternatives.
    if not all(terms):
        return True
    return any(all(r.matches(labels) for r in term) for term in terms)


def _kept(term: Iterable[Requirement], keys: Collection[str]) -> list[Requirement]:
    return [requirement for requirement in term if requirement.key in keys]
