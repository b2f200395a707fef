"""The bytes of a `.qrec` file: a magic line, then frames that are whole or ignored.

A frame is a length, a CRC-32 and that many bytes of zlib data. A writer only
appends, so a crash at any byte leaves whole frames and at most one torn end.
The format is described in docs/recording.md#the-file.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from scheduler.input.files.inflating import inflated_size
from scheduler.model.errors import SchedulerError
from scheduler.model.problems import FileProblem, RequestProblem, in_field
from scheduler.model.schemas import KUEUE, fields_of
from scheduler.recorded.qrec.kept_work import (
    ALL,
    CONDITIONS,
    METADATA,
    TEMPLATE,
    WORK,
    Tree,
    fields,
)
from scheduler.recorded.qrec.kept_work import keep as _keep

MAGIC = b"QREC 1\n"
#: No frame is longer; a length above it is a torn or foreign end.
MOST_BYTES = 64 * 1024 * 1024
_HEAD = struct.Struct("<II")


def frame(lines: Iterable[bytes]) -> bytes:
    """Return one frame of these lines (JSON texts without line ends)."""
    data = zlib.compress(b"\n".join(lines), 6)
    return _HEAD.pack(len(data), zlib.crc32(data)) + data


class FrameReader:
    """Yields the lines of each whole frame.

    `position` is the offset behind the last whole frame that was read, and
    `torn_bytes` what lies behind it once the iteration has ended.
    """

    def __init__(self, stream: BinaryIO, name: str, most: int = 0) -> None:
        """Raises SchedulerError when the stream does not begin as a `.qrec`.

        `most` bytes may come out of its frames, 0 = any number: more are refused, as
        SchedulerError, before they are in memory.
        """
        found = stream.read(len(MAGIC))
        if not MAGIC.startswith(found):  # a begin of it is one that a crash cut off
            raise SchedulerError(
                in_field(
                    name,
                    FileProblem.RECORDING.said(known=repr(MAGIC), given=repr(found)),
                )
            )
        self.stream = stream
        self.position = len(MAGIC) if found == MAGIC else 0
        self.torn_bytes = 0
        self.name, self.most = name, most
        self.opened_bytes = 0

    def __iter__(self) -> Iterator[list[bytes]]:
        while True:
            head = self.stream.read(_HEAD.size)
            data = self._data(head)
            if data is None:
                return
            self.position += len(head) + len(data)
            yield self._opened(data).split(b"\n")

    def _opened(self, data: bytes) -> bytes:
        try:
            if self.most:
                left = self.most - self.opened_bytes
                self.opened_bytes += (size := inflated_size(data, left))
                if size > left:
                    raise SchedulerError(
                        in_field(self.name, RequestProblem.OPENED.said(most=self.most))
                    )
            return zlib.decompress(data)
        except zlib.error as error:
            raise SchedulerError(
                in_field(self.name, FileProblem.ZLIB.said(problem=error))
            ) from error

    def _data(self, head: bytes) -> bytes | None:
        """Return the bytes of a whole frame; None at the end or a torn one."""
        self.torn_bytes = len(head)
        if len(head) < _HEAD.size:
            return None
        length, crc = _HEAD.unpack(head)
        if length > MOST_BYTES:
            return None
        data = self.stream.read(length)
        self.torn_bytes += len(data)
        if len(data) < length or zlib.crc32(data) != crc:
            return None
        self.torn_bytes = 0
        return data


# ------------------------------------------------------------------------
# What of an object is written: the fields that decisions read, and no other.


Manifest = dict[str, Any]


def slim(manifest: Manifest) -> Manifest:
    """Return what is written of an object. Cost: that of the object's size.

    Of a kind that is not followed it is what it is called; of a ConfigMap its texts
    in YAML, as the schedulers' settings are.
    """
    found: Manifest = _keep(manifest, KEPT.get(str(manifest.get("kind")), _NAMED))
    return found


def _texts(given: Any) -> Any:
    return {
        name: text
        for name, text in (given or {}).items()
        if name.endswith((".yaml", ".yml"))
    }


def _of_kueue(path: str, **deeper: Tree) -> dict[str, Tree]:
    """Return a tree that keeps all fields of a type of Kueue, some by their trees."""
    names = (
        name
        for version in ("v1beta2", "v1beta1")
        for name in fields_of(f"{KUEUE}.{version}.{path}")
    )
    return {**dict.fromkeys(names, ALL), **deeper}


_NAMED: Tree = fields("apiVersion kind", metadata=METADATA)
_PLAIN: Tree = fields("apiVersion kind spec status", metadata=METADATA)
_NODE = fields("taints unschedulable")
_NODE_STATUS = fields("capacity allocatable images", conditions=CONDITIONS)
_WORKLOAD = _of_kueue(
    "Workload.spec", podSets=_of_kueue("Workload.spec.podSets", template=TEMPLATE)
)
#: Other parameters are the cloud provider's own.
_PARAMETERS = fields("ValidUntilSeconds")
_PROVISIONING = fields("provisioningClassName podSets", parameters=_PARAMETERS)
_PROVISIONING_CONFIG = _of_kueue(
    "ProvisioningRequestConfig.spec", parameters=_PARAMETERS
)
_NODE_POOL = fields(
    "disruption limits weight replicas",
    template=fields(
        "",
        metadata=METADATA,
        spec=fields(
            "taints startupTaints requirements expireAfter nodeClassRef "
            "terminationGracePeriod"
        ),
    ),
)
_CLAIM = fields("accessModes resources storageClassName volumeMode volumeName selector")
_VOLUME = fields(
    "capacity accessModes storageClassName volumeMode nodeAffinity",
    claimRef=fields("namespace name uid"),
    csi=fields("driver volumeHandle"),
)
#: Kind -> the tree of what is kept of it.
KEPT: dict[str, Tree] = {
    **WORK,
    **dict.fromkeys(
        (
            "ResourceFlavor",
            "Topology",
            "Cohort",
            "ClusterQueue",
            "LocalQueue",
            "AdmissionCheck",
            "LimitRange",
            "ResourceQuota",
            "Namespace",
            "PodGroup",
            "ElasticQuota",
            "PodDisruptionBudget",
            "MultiKueueConfig",
        ),
        _PLAIN,
    ),
    # Its spec says where a kubeconfig lies.
    "MultiKueueCluster": fields("apiVersion kind status", metadata=METADATA),
    "ProvisioningRequestConfig": fields(
        "apiVersion kind", metadata=METADATA, spec=_PROVISIONING_CONFIG
    ),
    "ProvisioningRequest": fields(
        "apiVersion kind status", metadata=METADATA, spec=_PROVISIONING
    ),
    "NodePool": fields("apiVersion kind status", metadata=METADATA, spec=_NODE_POOL),
    "Workload": fields("apiVersion kind status", metadata=METADATA, spec=_WORKLOAD),
    "WorkloadPriorityClass": fields("apiVersion kind value", metadata=METADATA),
    "PriorityClass": fields(
        "apiVersion kind value globalDefault preemptionPolicy", metadata=METADATA
    ),
    "RuntimeClass": fields("apiVersion kind overhead scheduling", metadata=METADATA),
    "PersistentVolumeClaim": fields(
        "apiVersion kind", metadata=METADATA, spec=_CLAIM, status=fields("phase")
    ),
    "PersistentVolume": fields(
        "apiVersion kind", metadata=METADATA, spec=_VOLUME, status=fields("phase")
    ),
    "StorageClass": fields(
        "apiVersion kind provisioner volumeBindingMode allowedTopologies",
        metadata=METADATA,
    ),
    "CSINode": fields("apiVersion kind spec", metadata=METADATA),
    "NodeResourceTopology": fields(
        "apiVersion kind attributes topologyPolicies zones", metadata=METADATA
    ),
    **dict.fromkeys(("ResourceClaim", "ResourceClaimTemplate"), _PLAIN),
    **dict.fromkeys(("DeviceClass", "ResourceSlice"), _PLAIN),
    "Node": fields(
        "apiVersion kind", metadata=METADATA, spec=_NODE, status=_NODE_STATUS
    ),
    "ConfigMap": fields("apiVersion kind", metadata=METADATA, data=_texts),
}
