"""Alibaba's openb: pods and nodes of a GPU cluster in 2023, as CSV.

A pod asks for shares of GPUs. They are counted in thousandths on the node, not on
each device: `alibabacloud.com/gpu-milli`, as the trace's own Node manifests have it.
"""

from __future__ import annotations

from typing import Any

from scheduler.input.manifests.dumps.formats import GPU_MILLI, GPU_MODEL
from scheduler.input.manifests.loading.checking import label_of
from scheduler.input.traces.formats.rows import Row, first_line, number, rows_of
from scheduler.input.traces.options import Trace, TraceJob, TraceOptions
from scheduler.model.errors import ManifestError, SourceLocation
from scheduler.model.problems import FileProblem
from scheduler.model.registry import register
from scheduler.model.sentence import Sentence
from scheduler.words.traces import LeftOut, Taken

_POD = {"name", "cpu_milli", "memory_mib", "num_gpu", "creation_time", "deletion_time"}
_NODE = {"sn", "cpu_milli", "memory_mib", "gpu"}
_COLUMNS = ("qos", "gpu_spec", "pod_phase")


@register(
    "trace",
    "openb",
    label="Alibaba openb",
    help="*.csv of Alibaba's GPU cluster of 2023: its list of pods or its nodes.",
)
class Openb:
    """The CSV files of cluster-trace-gpu-v2023.

    Source: <https://github.com/alibaba/clusterdata/tree/master/cluster-trace-gpu-v2023>
    """

    @staticmethod
    def recognises(file: str, text: str) -> bool:
        """Return whether the columns are those of its pods or its nodes."""
        if not file.lower().endswith(".csv"):
            return False
        columns = set(first_line(text))
        return columns >= _POD or columns >= _NODE

    @staticmethod
    def read(text: str, file: str, options: TraceOptions) -> Trace:
        """Return its pods as jobs of one pod, or its nodes."""
        del options
        columns = set(first_line(text))
        trace = Trace(file=file)
        if columns >= _NODE:
            for row in rows_of(text):
                _take_node(trace, row)
        elif columns >= _POD:
            _read_pods(trace, text, columns)
        else:
            raise ManifestError(
                FileProblem.COLUMNS.said(known=", ".join(sorted(_POD))),
                place=SourceLocation(file=file, line=1),
            )
        return trace


def _read_pods(trace: Trace, text: str, columns: set[str]) -> None:
    trace.columns = [name for name in _COLUMNS if name in columns]
    trace.fields = {"models": "gpu_spec", "start": "scheduled_time"}
    shares = 0
    for row in rows_of(text):
        _take_pod(trace, row)
        milli = number(row.values.get("gpu_milli", ""))
        shares += milli is not None and 0 < milli < 1000
    if shares:
        trace.said.append(Taken.SHARES.said(pods=shares, resource=GPU_MILLI))


def _take_pod(trace: Trace, row: Row) -> None:
    values, name = row.values, row.values.get("name", "")
    created, deleted = (
        number(values.get(key, "")) for key in ("creation_time", "deletion_time")
    )
    started = number(values.get("scheduled_time", ""))
    requests = _requests(values)
    reason: Sentence | None = None
    if created is None:
        reason = LeftOut.UNKNOWN.said(field="creation_time")
    elif deleted is None:
        reason = LeftOut.UNKNOWN.said(field="deletion_time")
    elif started is None and "scheduled_time" in values:
        reason = LeftOut.NEVER_SCHEDULED.said()
    elif requests is None:
        reason = LeftOut.OPENB_POD.said()
    if reason:
        trace.leave_out(row.line, LeftOut.POD.said(name=f"{name!r:.60}"), reason)
    if reason or created is None or deleted is None or requests is None:
        return
    begin = created if started is None else started
    trace.jobs.append(
        TraceJob(
            line=row.line,
            name=name,
            submit_s=created,
            run_s=max(0.0, deleted - begin),
            start_s=begin,
            pods=1,
            requests=requests,
            models=tuple(m for m in values.get("gpu_spec", "").split("|") if m),
            values={key: values[key] for key in trace.columns if values.get(key)},
        )
    )


def _requests(values: dict[str, str]) -> dict[str, str] | None:
    cpu, memory, gpus = (
        number(values.get(key, "")) for key in ("cpu_milli", "memory_mib", "num_gpu")
    )
    if cpu is None or memory is None or gpus is None:
        return None
    found = {"cpu": f"{cpu:.0f}m", "memory": f"{memory:.0f}Mi"}
    if gpus > 0:
        milli = number(values.get("gpu_milli", ""))
        found[GPU_MILLI] = f"{gpus * (1000 if milli is None else milli):.0f}"
    return found


def _take_node(trace: Trace, row: Row) -> None:
    values, name = row.values, label_of(row.values.get("sn", ""))
    cpu, memory, gpus = (
        number(values.get(key, "")) for key in ("cpu_milli", "memory_mib", "gpu")
    )
    if not name or cpu is None or memory is None or gpus is None:
        part = LeftOut.NODE.said(name=f"{name!r:.60}")
        trace.leave_out(row.line, part, LeftOut.OPENB_NODE.said())
        return
    amounts = {"cpu": f"{cpu:.0f}m", "memory": f"{memory:.0f}Mi", "pods": "1000"}
    if gpus > 0:
        amounts[GPU_MILLI] = f"{gpus * 1000:.0f}"
    labels = {"kubernetes.io/hostname": name}
    if model := values.get("model"):
        labels[GPU_MODEL] = model
    trace.documents.append((row.line, _node(name, labels, amounts)))


def _node(name: str, labels: dict[str, str], amounts: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": {"allocatable": amounts, "capacity": dict(amounts)},
    }
