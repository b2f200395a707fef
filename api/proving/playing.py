"""Plays a script on a server: each step is answered, each `see` reads everything."""

from __future__ import annotations

from typing import Any, Protocol

from api.proving import shown, shown_yunikorn
from api.proving.resources import DEFAULT_NAMESPACE, Place
from scheduler.model.texts.plain_text import write

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


def differences(real: Seen, ours: Seen, script: Document) -> list[shown.Difference]:
    """Return where two plays of a script differ, less what is set aside."""
    return [*shown.differences(compared(real, script), compared(ours, script))]


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
        self.seen[f"{number} see {label}"] = (
            shown_yunikorn.cluster_as_seen(self.server.objects, self.server.get)
            if "queues" in self.script
            else shown.cluster_as_seen(self.server.objects)
        )

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
