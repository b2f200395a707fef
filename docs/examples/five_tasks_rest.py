"""Five tasks by REST: sweep to CSV and plot, move, shares over time, why, gate.

Start `./dev run` first. Usage: python five_tasks_rest.py ADDRESS FILE...; needs requests and
matplotlib. Where people sign in, add `headers={"Authorization": f"Bearer {token}"}`.
"""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import requests

API = f"{sys.argv[1]}/api/v1"
FILES = [{"name": name, "text": Path(name).read_text()} for name in sys.argv[2:]]
PATCH = {"kueue": {"fairSharing": {}}}


def sweep() -> str:
    """Two policies with five seeds: the runs as CSV, and a plot of the mean waits."""
    variants = [{"name": "as it is"}, {"name": "fair", "policy": PATCH}]
    base = {"files": [one["name"] for one in FILES]}
    spec = {"base": base, "seeds": {"count": 5}, "variants": variants, "horizon": "10m"}
    document = {"apiVersion": "quotalab.dev/v1", "kind": "Experiment", "spec": spec}
    body = {"document": document, "files": FILES}
    made = requests.post(f"{API}/experiments?wait=60", json=body).json()
    text = requests.get(f"{API}/experiments/{made['id']}/results.csv").text
    Path("sweep.csv").write_text(text)
    rows = [
        r for r in csv.DictReader(io.StringIO(text)) if r["measure"] == "waitMeanMs"
    ]
    for name in ("as it is", "fair"):
        waits = [float(r["value"]) / 1000 for r in rows if r["variant"] == name]
        plt.plot(sorted(waits), label=name)
    plt.savefig("sweep.png")
    return f"{len(rows)} runs"


def move(sandbox: str) -> str:
    """Move the first workload that waits to another queue of its namespace."""
    rows = f"{API}/sandboxes/{sandbox}/tables"
    first = requests.get(f"{rows}/workloads?phase=pending&limit=1").json()["items"][0]
    queues = requests.get(f"{rows}/localqueues").json()["items"]
    to = next(q["name"] for q in queues if q["name"] != first["localQueue"])
    body = {"workload": f"{first['namespace']}/{first['name']}", "to": to}
    requests.post(
        f"{API}/sandboxes/{sandbox}/actions/move", json=body
    ).raise_for_status()
    return f"{body['workload']} to {to}"


def shares(sandbox: str) -> str:
    """The weighted share of each queue, tick by tick."""
    samples = requests.get(f"{API}/sandboxes/{sandbox}/samples").json()["items"]
    lines: dict[str, list[float]] = {}
    for sample in samples:
        for queue in sample["queues"]:
            lines.setdefault(queue["queue"], []).append(queue["share"])
    return ", ".join(f"{name} {max(values):.2f}" for name, values in lines.items())


def why(sandbox: str, job: str) -> str:
    """Why a job is where it is, in sentences."""
    found = requests.get(f"{API}/sandboxes/{sandbox}/explain/{job}").json()
    return "\n".join(found["sentences"])


def gate(sandbox: str) -> int:
    """The exit status of a pipeline: 1 where a change lets anybody start later."""
    body = {"changes": [{"policy": {"spec": PATCH}}], "horizonMs": 600_000}
    asked = f"{API}/sandboxes/{sandbox}/what-ifs?wait=60"
    verdict = requests.post(asked, json=body).json()["verdict"]
    return int(
        verdict["sums"]["later"]["values"][0] + verdict["sums"]["never"]["values"][0]
        > 0
    )


def main() -> int:
    """Do all five with one sandbox."""
    print(sweep())
    made = requests.post(f"{API}/sandboxes", json={"files": FILES, "seed": 1}).json()[
        "id"
    ]
    requests.post(f"{API}/sandboxes/{made}/actions/step?wait=60", json={"ticks": 20})
    rows = requests.get(f"{API}/sandboxes/{made}/tables/workloads?phase=pending").json()
    print(why(made, f"{rows['items'][0]['namespace']}/{rows['items'][0]['name']}"))
    print(shares(made))
    print(gate(made))
    print(move(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
