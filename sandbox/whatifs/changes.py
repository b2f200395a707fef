"""Changes of a what-if as they are asked, and the operation that makes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sandbox.access import limits as limited
from sandbox.actions import nodes, pins
from sandbox.actions.import_plan import Imported, changed_policy, plan_of
from sandbox.actions.objects import keep_start_time, refuse_queues_gone
from sandbox.base.errors import Cause, DeniedError, InvalidError, SandboxError
from sandbox.base.refusals import Refused
from sandbox.page.rows.transport import POLICY_KEY
from sandbox.world import operations
from sandbox.world.operations import Delete, Part, Put, SetPolicy, Several
from scheduler.analysis.explain.sentences import meant
from scheduler.assembly import merge
from scheduler.engine.multikueue.checks import CLUSTER
from scheduler.engine.world import World, fork
from scheduler.input.manifests.load import load
from scheduler.model.errors import SchedulerError
from scheduler.model.objects import Key
from scheduler.model.problems import Wanted, expected

#: What a change may be; each names its one key.
KINDS = (
    "patch",
    "apply",
    "delete",
    "policy",
    "release",
    "move",
    "pin",
    "node",
    "cluster",
)

#: Changes of what the world took before: it does not refuse what comes of them, where
#: they edit. A pod that is pinned elsewhere is made anew, and may be refused.
_SURE = ("move", "pin")


def operation_of(world: World, changes: Sequence[Mapping[str, Any]]) -> Several:
    """Return what makes the changes, in order; each was made on a copy of the world.

    The world given stays as it is. Raises InvalidError whose causes name the change by
    its number, and the field within it. O(objects), but for a last change that is one
    of `_SURE` and makes nothing anew, before which no copy is needed.
    """
    other = world
    parts: list[Part] = []
    for number, change in enumerate(changes, 1):
        ((kind, given),) = change.items()
        place = f"changes[{number - 1}].{kind}"
        made = list(_parts(other, kind, given, place))
        parts += made
        anew = any(isinstance(part, Delete) for part in made)
        if number == len(changes) and kind in _SURE and not anew:
            break
        if other is world:
            other = fork(world)
        for part in made:
            try:
                operations.perform(other, part)
            except SchedulerError as error:
                raise _wrong(place, error) from error
    return Several(parts)


def subjects_of(changes: Iterable[Mapping[str, Any]]) -> set[str]:
    """Return the keys of the objects that changes name, and the policy's."""
    found: set[str] = set()
    for change in changes:
        ((kind, given),) = change.items()
        match kind:
            case "policy" | "release":
                found.add(POLICY_KEY)
            case "apply" if given.get("kind") == "Policy":
                found.add(POLICY_KEY)
            case "apply":
                loaded = load((), limits=limited.of_texts(), objects=[("", given)])
                found |= {str(obj.key) for obj in loaded.objects}
            case "node":
                found.add(str(Key("Node", "", given["name"])))
            case "cluster":
                found.add(str(Key(CLUSTER, "", given["name"])))
            case "pin":
                found.add(str(Key("Pod", given["namespace"], given["name"])))
            case _:
                found.add(str(_key(given)))
    return found


def _parts(world: World, kind: str, given: Any, place: str) -> Iterable[Part]:
    if kind == "policy":
        return _policy(world, given, place)
    if kind == "release":  # that decides instead, from here on
        return _policy(world, {"spec": {"release": given}}, place)
    if kind == "apply":
        return _applied(world, given, place)
    if kind in ("move", "pin", "node", "cluster"):
        return _acted(world, kind, given, place)
    key = _key(given)
    if key not in world.objects:
        said = Refused.NOT_THERE.said(kind=key.kind, name=key.path)
        raise InvalidError(said, causes=[Cause(problem=said, field=place)])
    if kind == "delete":
        try:
            refuse_queues_gone(world, key)
        except InvalidError as error:
            raise _placed(error, place) from error
        return [Delete([(key.kind, key.namespace, key.name)])]
    return _applied(
        world, merge(world.objects[key].manifest, given["body"]), place, key
    )


def _acted(world: World, kind: str, given: Any, place: str) -> Iterable[Part]:
    """Return what an action of the same name does."""
    try:
        if kind == "move":
            subject = meant(world, _key(given)) or _key(given)
            change = pins.change_of(world, subject, _key(given["to"]))
            operation = pins.move_of(world, change)
        elif kind == "pin":
            pod = pins.pod_of(world, Key("Pod", given["namespace"], given["name"]))
            if given["node"]:
                nodes.node_of(world, given["node"])
            operation = pins.operation_of(world, pod, given["node"])
        elif kind == "cluster":
            operation = nodes.cluster_change_of(world, given["name"], given["change"])
        elif given["change"] == "add":
            size = given["labels"], given["allocatable"]
            operation = nodes.new_node(world, given["name"], given["like"], *size)
        else:
            node = nodes.node_of(world, given["name"])
            operation = nodes.change_of(node, given["change"])
    except SandboxError as error:
        raise _wrong(place, error) from error
    return operation.parts if isinstance(operation, Several) else [operation]


def _key(given: Mapping[str, Any]) -> Key:
    return Key(given["kind"], given["namespace"], given["name"])


def _policy(world: World, patch: Any, place: str) -> list[Part]:
    return _policy_as(world, merge(world.policy.document(), patch), place)


def _policy_as(world: World, after: dict[str, Any], place: str) -> list[Part]:
    before = world.policy.document()
    try:
        part = changed_policy(before, after, Imported())
        if part is not None:
            keep_start_time(before, part.document)
    except InvalidError as error:
        raise _placed(error, place) from error
    return [] if part is None else [part]


def _applied(
    world: World, manifest: Mapping[str, Any], place: str, only: Key | None = None
) -> list[Part]:
    """Return what creates or changes one object, checked as an import of it is.

    A Policy takes the place of the one there is.
    """
    if manifest.get("kind") == "Policy" and only is None:
        return _policy_as(world, dict(manifest), place)
    loaded = load((), limits=limited.of_texts(), objects=[(place, dict(manifest))])
    keys = [obj.key for obj in loaded.objects]
    if only is not None and keys != [only] and not loaded.errors:
        given = ", ".join(map(str, keys)) or "nothing"
        said = expected(Wanted.ALONE.said(only=only), given=given)
        raise InvalidError(said, causes=[Cause(problem=said, field=place)])
    try:
        operation, _ = plan_of(world, loaded, skip_errors=False)
    except InvalidError as error:
        raise _placed(error, place) from error
    if operation is None:
        return []
    parts = operation.parts if isinstance(operation, Several) else [operation]
    return [part for part in parts if isinstance(part, Put | SetPolicy)]


def _wrong(place: str, error: SchedulerError | SandboxError) -> InvalidError:
    return InvalidError(error.said, causes=[Cause(problem=error.said, field=place)])


def _placed(error: InvalidError, place: str) -> InvalidError:
    """Return the error with the place of each cause within the body of the request."""
    causes = [
        _cause_at(cause, place) for cause in error.causes if cause.level == "error"
    ]
    kind = DeniedError if isinstance(error, DeniedError) else InvalidError
    return kind(error.said, causes=causes or [Cause(problem=error.said, field=place)])


def _cause_at(cause: Cause, place: str) -> Cause:
    """Return a cause whose field is one of the request's body."""
    field = ".".join(one for one in (place, cause.field.removeprefix("policy")) if one)
    return Cause(
        problem=cause.problem, field=field, level=cause.level, count=cause.count
    )
