"""Plays a script on a server: each step is answered, each `see` reads everything."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from api.client.sending import Transport
from api.proving import shown, shown_yunikorn
from scheduler.input.manifests.kinds import BY_KIND
from scheduler.model.admission_check import MULTI_KUEUE, PROVISIONING
from scheduler.model.texts.plain_text import write

# ------------------------------------------------------------------------
# Where the objects of a script are in a Kubernetes API.


#: Kind to API version and plural: all that a sandbox simulates or keeps.
RESOURCES = {
    name: (kind.api_version, kind.plural)
    for name, kind in BY_KIND.items()
    if kind.plural
}
#: Kinds without a namespace.
OF_CLUSTER = frozenset(name for name in RESOURCES if not BY_KIND[name].namespaced)
DEFAULT_NAMESPACE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One object, or all of a kind, in a Kubernetes API.

    Without a `name` it is the list of a namespace; without a `namespace` that of all.
    `version` is the API version where it is not the one in RESOURCES.
    """

    kind: str
    namespace: str = ""
    name: str = ""
    sub: str = ""
    version: str = ""

    @property
    def path(self) -> str:
        """Return the path of a request."""
        known, plural = RESOURCES[self.kind]
        version = self.version or known
        root = "/api/v1" if version == "v1" else f"/apis/{version}"
        if self.namespace and self.kind not in OF_CLUSTER:
            root += f"/namespaces/{self.namespace}"
        return "/".join(
            part for part in (f"{root}/{plural}", self.name, self.sub) if part
        )


# ------------------------------------------------------------------------
# Plays a script on a server: each step is answered, each `see` reads everything.


Document = dict[str, Any]
#: What a play was answered and saw: by number and name of the step.
Seen = dict[str, Any]

PATCHES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
}
JSON = "application/json"
#: The entry of what was seen that has the sentences of refusals.
MESSAGES = "# messages"
#: YuniKorn's ConfigMap.
CONFIGS = Place(kind="ConfigMap", namespace="yunikorn", name="yunikorn-configs")


class Server(Protocol):
    """What a script is played on."""

    def ask(
        self, method: str, place: Place, body: Any = None, media: str = JSON
    ) -> tuple[int, Any]:
        """Return the code and the body of an answer."""

    def get(self, path: str) -> Any:
        """Return what is at a path that is no object's; None when it is refused."""

    def objects(self, kind: str) -> list[Document]:
        """Return all objects of a kind."""

    def metrics(self) -> str | None:
        """Return Kueue's metrics, as Prometheus reads them; None if nobody reads them."""

    def advance(self, seconds: float) -> None:
        """Let time pass."""


def play(server: Server, script: Document) -> Seen:
    """Do all steps of a script that was read by `scripts`; return what was seen."""
    return _Play(server, script).seen


def compared(seen: Seen, script: Document) -> Document:
    """Return what is compared of a play, less what is set aside."""
    of_stack = shown_yunikorn if "queues" in script else shown
    kept: Document = of_stack.compared(seen, script)
    return kept


def differences(
    real: Seen,
    ours: Seen,
    script: Document,
    *,
    told: bool = True,
    others: Sequence[Seen] = (),
) -> list[shown.Difference]:
    """Return where two plays of a script differ, less what is set aside.

    Without `told` events and metrics are set aside, too. Of a script whose outcome
    differs from play to play, `others` are further real ones: what one of them showed
    is no difference. Cost: a comparison for each.
    """
    found = _differences(real, ours, script, told)
    for other in others:
        places = [one.at for one in _differences(other, ours, script, told)]
        found = [one for one in found if any(_overlap(one.at, at) for at in places)]
    return found


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two ways lead to one place, or one of them leads into the other."""
    return all(a == b for a, b in zip(one, other, strict=False))


def _differences(
    real: Seen, ours: Seen, script: Document, told: bool
) -> list[shown.Difference]:
    both = compared(real, script), compared(ours, script)
    for step in {*both[0]} & {*both[1]}:
        looks = [one[step] for one in both if isinstance(one[step], dict)]
        for entry in (shown.EVENTS, shown.METRICS):
            asked = all(entry in one for one in looks)
            if not told or not asked:  # or one was not asked for them
                for one in looks:
                    one.pop(entry, None)
    return [*shown.differences(*both)]


class _Play:
    def __init__(self, server: Server, script: Document) -> None:
        self.server, self.script = server, script
        self.seen: Seen = {}
        for number, step in enumerate(script["steps"]):
            for name, given in step.items():
                getattr(self, f"_{name}")(number, given)

    def _apply(self, number: int, documents: list[Document]) -> None:
        for document in documents:
            kind, metadata = document["kind"], document["metadata"]
            place = Place(
                kind=kind,
                namespace=metadata.get("namespace") or DEFAULT_NAMESPACE,
                version=document["apiVersion"],
            )
            code, answer = self.server.ask("POST", place, document)
            if kind == "Namespace" and code == 409:
                code = 200
            name = metadata.get("name") or metadata["generateName"]
            self._answered(f"{number} apply {kind} {name}", code, answer)

    def _delete(self, number: int, given: Document) -> None:
        code, answer = self.server.ask("DELETE", _place(given), given.get("options"))
        what = f"{number} delete {given['kind']} {given['name']}"
        self._answered(what, code, answer)

    def _patch(self, number: int, given: Document) -> None:
        kind, name = given["kind"], given.get("name")
        if not name:
            name = (self._owned(kind, {given["of"]}) or ["none"])[0]
        place = _place({**given, "name": name})
        media = PATCHES[given.get("type", "merge")]
        code, answer = self.server.ask("PATCH", place, given["body"], media)
        what = given.get("name") or f"of {given['of']}"
        self._answered(f"{number} patch {kind} {what}", code, answer)

    def _deletePodOf(self, number: int, owner: str) -> None:  # noqa: N802 - a step
        names = {owner, *self._owned("Workload", {owner})}
        if pods := self._owned("Pod", names):
            self.server.ask("DELETE", _place({"kind": "Pod", "name": pods[0]}))

    def _deleteOf(self, number: int, given: Document) -> None:  # noqa: N802 - a step
        code, answer = 404, None
        if names := self._owned(given["kind"], {given["of"]}):
            place = _place({**given, "name": names[0]})
            code, answer = self.server.ask("DELETE", place)
        what = f"{number} delete {given['kind']} of {given['of']}"
        self._answered(what, code, answer)

    def _advance(self, number: int, seconds: float) -> None:
        self.server.advance(seconds)

    def _see(self, number: int, label: str) -> None:
        objects = self.server.objects
        look: Document
        if "queues" in self.script:
            look = shown_yunikorn.cluster_as_seen(objects, self.server.get)
        else:
            look = {**shown.cluster_as_seen(objects)}
            look[shown.EVENTS] = shown.events_as_seen(objects("Event"))
            if (metrics := self.server.metrics()) is not None:
                look[shown.METRICS] = shown.metrics_as_seen(metrics)
        self.seen[f"{number} see {label}"] = look

    def _config(self, number: int, given: Document | str) -> None:
        body = {"data": {"queues.yaml": text_of(given)}}
        code, answer = self.server.ask("PATCH", CONFIGS, body, PATCHES["merge"])
        self._answered(f"{number} config", code, answer)

    def _owned(self, kind: str, owners: set[str]) -> list[str]:
        return sorted(
            one["metadata"]["name"]
            for one in self.server.objects(kind)
            for owner in one["metadata"].get("ownerReferences") or []
            if owner["name"] in owners
        )

    def _answered(self, what: str, code: int, answer: Any) -> None:
        self.seen[what] = "accepted" if code < 300 else f"refused {code}"
        if code >= 300 and isinstance(answer, dict):
            said = answer.get("message", "")
            self.seen.setdefault(MESSAGES, {})[what] = said


def text_of(queues: Document | str) -> str:
    """Return a queues.yaml as text."""
    if isinstance(queues, str):
        return queues
    return write(queues)


def _place(given: Document) -> Place:
    return Place(
        kind=given["kind"],
        namespace=given.get("namespace") or DEFAULT_NAMESPACE,
        name=given["name"],
        sub=given.get("sub", ""),
    )


# ------------------------------------------------------------------------
# A sandbox as a server of scripts: made for one script, deleted after it.


#: The releases of records whose script names none.
RELEASE = {"kueue": "0.19.2", "kubernetes": "1.36.3", "yunikorn": "1.9.0"}
#: Kueue's Configuration of a script that says nothing of frameworks.
FRAMEWORKS = ["batch/job", "pod", "deployment", "statefulset"]
#: What the steps of the recorded control plane took, whose kubelet was quick.
LATENCIES = {
    "workloadCreation": "100ms",
    "schedulingCycle": "100ms",
    "admission": "50ms",
    "reactivation": "1s",
    "jobStart": "150ms",
    "podStart": "300ms",
    "readiness": "100ms",
    "completion": "300ms",
    "suspension": "200ms",
    "termination": "500ms",
    "release": "200ms",
}
#: In the middle of a second: what is due at a whole one came as early in a recording.
_START = "2026-01-01T00:00:00.5Z"
#: Controllers that say of a check without parameters that it is not active.
_OF_KUEUE = (MULTI_KUEUE, PROVISIONING)
_SANDBOXES = "/api/v1/sandboxes"


class RefusedError(Exception):
    """A sandbox does not take what the script begins with; the message says why."""


class SandboxServer:
    """One sandbox for one script.

    `transport` carries requests to the API, `ticks` makes ticks of the sandbox with an
    id. Raises RefusedError when the sandbox does not take the configuration.
    """

    def __init__(
        self,
        transport: Transport,
        ticks: Callable[[str, int], None],
        script: Document,
        token: str = "",
    ) -> None:
        self.transport, self.ticks, self.token = transport, ticks, token
        self.sandbox = ""
        is_yunikorn = "queues" in script
        file = _yunikorn(script) if is_yunikorn else _kueue(script)
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": DEFAULT_NAMESPACE},
        }
        files = [file] if is_yunikorn else [file, namespace]
        body = {
            "title": script["name"],
            "release": {**RELEASE, **(script.get("release") or {})},
            "policy": {"simulation": {"startTime": _START}},
            "files": [
                {"name": f"{n}.yaml", "text": write(one)} for n, one in enumerate(files)
            ],
        }
        self.sandbox = self._made("POST", _SANDBOXES, body, JSON)["id"]
        simulation: Document = {"latencies": LATENCIES}
        if checks := list(_checks_of(script)):  # nobody but the script answers them
            simulation["admissionChecks"] = [
                {"check": name, "after": "24h", "answer": "Ready"} for name in checks
            ]
        spec = {"simulation": simulation} | (
            {"stack": "yunikorn"} if is_yunikorn else {}
        )
        path = f"{_SANDBOXES}/{self.sandbox}/policy"
        self._made("PATCH", path, {"spec": spec}, PATCHES["merge"])

    def __enter__(self) -> SandboxServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.sent("DELETE", f"{_SANDBOXES}/{self.sandbox}", None, JSON)

    def ask(
        self, method: str, place: Place, body: Any = None, media: str = JSON
    ) -> tuple[int, Any]:
        """Return the code and the body of an answer."""
        path = f"{_SANDBOXES}/{self.sandbox}{place.path}"
        return self.sent(method, path, body, media)

    def get(self, path: str) -> Any:
        """Return what is at a path, as of YuniKorn's REST service; None if refused."""
        path = f"{_SANDBOXES}/{self.sandbox}{path}"
        code, answer = self.sent("GET", path, None, JSON)
        return answer if code == 200 else None

    def metrics(self) -> str:
        """Return the metrics of the sandbox, as Prometheus reads them."""
        path = f"{_SANDBOXES}/{self.sandbox}/metrics"
        return self._answered("GET", path, None, "text/plain")[1].decode()

    def objects(self, kind: str) -> list[Document]:
        """Return all objects of a kind."""
        code, answer = self.ask("GET", Place(kind=kind))
        return answer["items"] if code == 200 else []

    def advance(self, seconds: float) -> None:
        """Make as many ticks, of a second each, and one at least."""
        self.ticks(self.sandbox, max(1, round(seconds)))

    def _made(self, method: str, path: str, body: Any, media: str) -> Any:
        code, answer = self.sent(method, path, body, media)
        if code >= 300:
            causes = (answer.get("details") or {}).get("causes") or []
            said = [answer.get("message", f"HTTP {code}")]
            said += [f"{one.get('field')}: {one.get('message')}" for one in causes]
            raise RefusedError("; ".join(said))
        return answer

    def sent(self, method: str, path: str, body: Any, media: str) -> tuple[int, Any]:
        """Return the code and the body of an answer of the API at a whole path."""
        data = None if body is None else json.dumps(body).encode()
        code, answer = self._answered(method, path, data, JSON, media)
        return code, json.loads(answer) if answer else None

    def _answered(
        self, method: str, path: str, data: bytes | None, accept: str, media: str = JSON
    ) -> tuple[int, bytes]:
        headers = {"Accept": accept}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        if data is not None:
            headers["Content-Type"] = media
        code, _, answer = self.transport(method, path, headers, data)
        return code, answer


def _kueue(script: Document) -> Document:
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "integrations": {"frameworks": FRAMEWORKS},
        **copy.deepcopy(script.get("config") or {}),
    }


def _yunikorn(script: Document) -> Document:
    queues = text_of(script["queues"])
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": CONFIGS.name, "namespace": CONFIGS.namespace},
        "data": {**(script.get("data") or {}), "queues.yaml": queues},
    }


def _checks_of(script: Document) -> Iterable[str]:
    return sorted(
        {
            document["metadata"]["name"]
            for step in script["steps"]
            for document in step.get("apply") or []
            if document["kind"] == "AdmissionCheck"
            and (
                document["spec"].get("controllerName") not in _OF_KUEUE
                or document["spec"].get("parameters")
            )
        }
    )
