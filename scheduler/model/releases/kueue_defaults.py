"""What Kueue fills in where a Configuration says nothing, by apiVersion and release.

Read from `apis/config/*/defaults.go` of each tag.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.model.releases.versions import parsed

_MINUTE = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingDefaults:
    """Of waitForPodsReady."""

    version: str  # of the Configuration's API
    since: str  # the first release of this row
    on: bool = False  # where there is no section
    timeout_ms: int | None = 5 * _MINUTE  # None: the field is required
    recovers: bool = True  # recoveryTimeout is the timeout; else there is none
    blocks: bool = False  # blockAdmission


#: In the order of releases, for each apiVersion.
WAITING = (
    WaitingDefaults(version="v1beta1", since="0.11.0", recovers=False, blocks=True),
    WaitingDefaults(version="v1beta1", since="0.16.0", blocks=True),
    WaitingDefaults(version="v1beta2", since="0.15.0", timeout_ms=None, recovers=False),
    WaitingDefaults(version="v1beta2", since="0.16.0", timeout_ms=None),
    WaitingDefaults(
        version="v1beta2", since="0.19.0", on=True, timeout_ms=30 * _MINUTE
    ),
)
#: The apiVersion of a Configuration that names none: the newest that a release reads.
API_VERSIONS = (("v1beta1", "0.11.0"), ("v1beta2", "0.15.0"))


def waiting_defaults(version: str, release: str) -> WaitingDefaults | None:
    """Return the defaults of a release; None where it does not read that apiVersion."""
    rows = [row for row in WAITING if row.version == version]
    known = [row for row in rows if parsed(row.since) <= parsed(release)]
    return known[-1] if known else None


def api_version(release: str) -> str:
    """Return the newest apiVersion of the Configuration that a release reads."""
    known = [name for name, since in API_VERSIONS if parsed(since) <= parsed(release)]
    return known[-1]
