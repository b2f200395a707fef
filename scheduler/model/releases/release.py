"""The release of each scheduler that a world decides as; part of its policy."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from scheduler.model.errors import PolicyError
from scheduler.model.problems import Form
from scheduler.model.releases.versions import (
    FOLLOWED_FROM,
    TITLES,
    Scheduler,
    canonical,
    known,
    older,
)


class Release(
    msgspec.Struct,
    rename="camel",
    forbid_unknown_fields=True,
    frozen=True,
    kw_only=True,
):
    """Kueue's, kube-scheduler's and YuniKorn's release, each apart.

    One that is not given decides as this product does by itself: as Kueue's default
    branch, as the newest kube-scheduler and YuniKorn.
    """

    kueue: str | msgspec.UnsetType = msgspec.UNSET
    kubernetes: str | msgspec.UnsetType = msgspec.UNSET
    yunikorn: str | msgspec.UnsetType = msgspec.UNSET

    def of(self, scheduler: Scheduler) -> str | None:
        """Return the release of a scheduler; None where none is given."""
        given: str | msgspec.UnsetType = getattr(self, scheduler)
        return None if given is msgspec.UNSET else given

    def given(self) -> Iterator[tuple[Scheduler, str]]:
        """Yield what is given, Kueue's first."""
        for scheduler in TITLES:
            version = self.of(scheduler)
            if version is not None:
                yield scheduler, version

    def older(self) -> Iterator[tuple[Scheduler, str]]:
        """Yield what is given and is older than what is followed."""
        for scheduler, version in self.given():
            if older(version, FOLLOWED_FROM[scheduler]):
                yield scheduler, version


#: Of a world without one.
NO_RELEASE = Release()


def read_release(given: Release) -> Release:
    """Return a release as it is stored. PolicyError names one that is not known."""
    found: dict[str, str] = {}
    for scheduler, text in given.given():
        version = canonical(scheduler, text)
        if version is None:
            raise PolicyError(
                Form.UNKNOWN_NAME.said(
                    family=f"release of {TITLES[scheduler]}",
                    name=text,
                    known=known(scheduler),
                ),
                f"policy: release.{scheduler}",
            )
        found[scheduler] = version
    return Release(**found)
