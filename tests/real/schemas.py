"""Make `scheduler/model/schemas/` anew of what Kubernetes and Kueue publish.

`python -m tests.real.schemas FOLDER` reads Go modules below FOLDER (a module
cache, `go env GOMODCACHE`): `k8s.io/kubernetes@v1.36.3` (its OpenAPI),
`k8s.io/api@v0.36.3` (numbers of fields, enumerations) and `sigs.k8s.io/kueue@v0.19.2`
(resource definitions). Names, numbers, types and defaults are taken; no description is.
The marks that are written by hand (`MARKS`) stay with their fields. With `--check`
nothing is written, and a difference is status 1.
"""

from __future__ import annotations

import difflib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scheduler.input.manifests.kinds import KUEUE, TABLE
from scheduler.model import schemas
from scheduler.model.texts.values import read_value

Schema = dict[str, Any]
KUBERNETES, API, QUEUES = "v1.36.3", "v0.36.3", "v0.19.2"
MODULES = (
    f"k8s.io/kubernetes@{KUBERNETES}",
    f"k8s.io/api@{API}",
    f"k8s.io/apimachinery@{API}",
    f"sigs.k8s.io/kueue@{QUEUES}",
)
FOLDER = Path(schemas.__file__).parent
#: What a line says that is not published.
MARKS = ("now", "said", "unread", "holds")
#: The order in which a line says what it says.
_KEYS = (
    *("type", "required", "enum", "default", "pattern", "minimum", "maximum"),
    *("minItems", "maxItems", "minLength", "maxLength", "maxProperties"),
    *("list", "keys", "map", "merge", "strategy"),
    *("always", "pointer", "at", "within", "inline", *MARKS),
)
_NEWEST, _OLDER = f"{KUEUE}.v1beta2.", f"{KUEUE}.v1beta1."
#: Asked for without being an object that is kept.
_ASKED = (
    "io.k8s.apimachinery.pkg.apis.meta.v1.ListMeta",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Status",
    "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions",
    "io.k8s.api.policy.v1.Eviction",
    "io.k8s.api.autoscaling.v1.Scale",
    "io.k8s.api.core.v1.Binding",
    "io.k8s.api.authorization.v1.SelfSubjectAccessReview",
    "io.k8s.api.authorization.v1.SelfSubjectRulesReview",
    "io.k8s.api.authentication.v1.SelfSubjectReview",
)
#: No client sends a resource definition in protobuf, and its type holds itself.
_UNTYPED = "io.k8s.apiextensions-apiserver."
_PLAIN = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "Quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "IntOrString",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "Time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "MicroTime",
    "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "FieldsV1",
    "io.k8s.apimachinery.pkg.runtime.RawExtension": "RawExtension",
}
_MESSAGE = re.compile(r"^message (\w+) \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_FIELD = re.compile(
    r"^  (?:(optional|repeated) )?(map<string, ?[.\w]+>|[.\w]+) (\w+) = ([0-9]+)",
    re.MULTILINE,
)
_STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_JSON = re.compile(
    r"^\t(?:\w+ +)?([*\[\]]*(?:map\[string\])?)([\w.]+) +`json:\"(\w+)((?:,\w+)*)\"",
    re.MULTILINE,
)
_ENUM = re.compile(r"^// \+enum\n(?://[^\n]*\n)*type (\w+) string", re.MULTILINE)
_CONST = re.compile(r"^\t\w+ +(\w+) *= \"([^\"]*)\"", re.MULTILINE)


def main(cache: Path, *, check: bool = False) -> int:
    """Write the files, or say how they differ."""
    status = 0
    for name, text in (("kubernetes", _kubernetes(cache)), ("kueue", _kueue(cache))):
        path = FOLDER / f"{name}.json"
        if check:
            was = path.read_text().splitlines()
            for line in difflib.unified_diff(was, text.splitlines(), lineterm="", n=1):
                status = 1
                sys.stdout.write(f"{line}\n")
        else:
            path.write_text(text)
    return status


def _kubernetes(cache: Path) -> str:
    given = cache / f"k8s.io/kubernetes@{KUBERNETES}/api/openapi-spec/swagger.json"
    definitions = json.loads(given.read_text())["definitions"]
    numbers = dict(_numbers(cache))
    enums = dict(_enums(cache / f"k8s.io/api@{API}"))
    written = dict(_written(cache))
    kinds: dict[str, str] = {}
    found: dict[str, Any] = {}
    served = {(k.group, v, k.kind) for k in TABLE if k.plural for v in k.versions}
    roots = [*_ASKED]
    for name, schema in definitions.items():
        for gvk in schema.get("x-kubernetes-group-version-kind") or ():
            place = gvk["group"], gvk["version"], gvk["kind"]
            if place in served and not name.startswith(_UNTYPED):
                kinds["/".join(place)] = short(name)
                roots.append(name)
    while roots:
        name = roots.pop()
        if short(name) in found or name in _PLAIN:
            continue
        schema = definitions[name]
        found[short(name)] = _fields(name, schema, numbers, enums, definitions, written)
        roots += [r for r in _references(schema) if r not in _PLAIN]
    _keep_marks(found, json.loads((FOLDER / "kubernetes.json").read_text())["types"])
    shown = json.dumps(kinds, sort_keys=True, indent=0)
    types = _lines(dict(sorted(found.items())))
    return f'{{\n"kinds": {shown},\n"types": {{\n{types}\n}}}}\n'


def _kueue(cache: Path) -> str:
    folder = cache / f"sigs.k8s.io/kueue@{QUEUES}/config/components/crd/bases"
    shown_as: dict[str, Any] = {}
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.yaml")):
        crd = read_value(path.read_text(), file=path.name)
        for defined, shown, types in _of_definition(crd):
            shown_as[defined] = shown
            found |= types
    newest, older = (
        {name.removeprefix(place): _short(fields, place) for name, fields in found.items()
         if name.startswith(place)}
        for place in (_NEWEST, _OLDER)
    )  # fmt: skip
    kept = json.loads((FOLDER / "kueue.json").read_text())
    _keep_marks(newest, kept["types"])
    differs = _difference(older, newest)
    _keep_marks(differs, kept["older"])
    definitions = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(shown, sort_keys=True)}"
        for name, shown in sorted(shown_as.items())
    )
    types, olds = _lines(dict(sorted(newest.items()))), _lines(differs)
    return (
        f'{{\n"definitions": {{\n{definitions}\n}},\n"types": {{\n{types}\n}},\n'
        f'"older": {{\n{olds}\n}}}}\n'
    )


def _short(fields: dict[str, Schema], place: str) -> dict[str, Schema]:
    return {
        name: {**field, "type": field["type"].replace(place, "")}
        for name, field in fields.items()
    }


def _difference(older: dict[str, Any], newest: dict[str, Any]) -> dict[str, Any]:
    """Return what of the older version's types is not as in the newest; null is gone."""
    found: dict[str, Any] = {}
    for path in sorted({*older, *newest}):
        if path not in older:
            found[path] = None
            continue
        was, now = older[path], newest.get(path, {})
        differs = {
            name: was.get(name)
            for name in sorted({*was, *now})
            if was.get(name) != _published(now.get(name))
        }
        if differs:
            found[path] = differs
    return found


def _published(field: Schema | None) -> Schema | None:
    return field and {name: v for name, v in field.items() if name not in MARKS}


def _keep_marks(found: dict[str, Any], kept: dict[str, Any]) -> None:
    """Lay over each field what was written about it by hand."""
    for path, fields in kept.items():
        for name, field in (fields or {}).items():
            if (there := (found.get(path) or {}).get(name)) is not None:
                there |= {mark: field[mark] for mark in MARKS if mark in field}


def _lines(types: dict[str, Any]) -> str:
    """Return types as JSON, a line per field."""
    found = []
    for path, fields in types.items():
        if fields is None:
            found.append(f"{json.dumps(path)}: null")
            continue
        lines = ",\n".join(
            f"  {json.dumps(name)}: {_line(field)}"
            for name, field in sorted(fields.items())
        )
        found.append(
            f"{json.dumps(path)}: {{{f'{chr(10)}{lines}{chr(10)}' if lines else ''}}}"
        )
    return ",\n".join(found)


def _line(field: Schema | None) -> str:
    said = field and {key: field[key] for key in _KEYS if key in field}
    return json.dumps(said, ensure_ascii=False)


def short(name: str) -> str:
    """Return the name of a type without what all have in common."""
    return (
        name.removeprefix("io.k8s.api.")
        .replace("io.k8s.apimachinery.pkg.apis.", "")
        .replace("io.k8s.apiextensions-apiserver.pkg.apis.", "")
    )


def _references(schema: Schema) -> Iterator[str]:
    for field in (schema.get("properties") or {}).values():
        for part in (
            field,
            field.get("items") or {},
            field.get("additionalProperties"),
        ):
            while isinstance(part, dict):
                if "$ref" in part:
                    yield part["$ref"].rpartition("/")[2]
                part = part.get("items") or part.get("additionalProperties")


def _fields(
    name: str,
    schema: Schema,
    numbers: Any,
    enums: Any,
    definitions: Any,
    written: Any,
) -> dict[str, Schema]:
    known = numbers.get(name, {})
    made: dict[str, Schema] = {}
    required = set(schema.get("required") or ())
    for field, given in (schema.get("properties") or {}).items():
        one: Schema = {"type": _type(given)}
        if field in known:
            one["at"] = known[field][0]
        if field in required:
            one["required"] = True
        if values := enums.get((name, field)):
            one["enum"] = values
        one |= _as_written(written.get((name, field)), one["type"])
        for key, ours in (
            ("x-kubernetes-list-type", "list"),
            ("x-kubernetes-list-map-keys", "keys"),
            ("x-kubernetes-map-type", "map"),
            ("x-kubernetes-patch-merge-key", "merge"),
            ("x-kubernetes-patch-strategy", "strategy"),
        ):
            if key in given:
                one[ours] = given[key]
        reference = given.get("$ref", "").rpartition("/")[2]
        if definitions.get(reference, {}).get("x-kubernetes-map-type") == "atomic":
            one["map"] = "atomic"
        made[field] = one
    for field, (number, type_) in known.items():
        if field not in made:  # embedded: its fields stand among those of its holder
            inner = numbers.get(type_, {})
            below = [n for n in inner if n in made]
            if below:
                made.setdefault("", {"inline": []})["inline"].append(
                    [number, short(type_)]
                )
                for n in below:
                    made[n]["within"] = [number, inner[n][0]]
                    made[n] |= _as_written(written.get((type_, n)), made[n]["type"])
                    if values := enums.get((type_, n)):
                        made[n]["enum"] = values
    return made


def _as_written(how: tuple[str, str] | None, type_: str) -> Schema:
    """Return whether a server writes the field always, and whether 0 is a value."""
    if how is None:
        return {}
    sign, options = how
    if sign:
        one: Schema = {} if "omitempty" in options else {"always": True}
        return {**one, "pointer": True} if sign == "*" else one
    message = "." in type_ or type_ in ("Time", "MicroTime", "IntOrString", "Quantity")
    if "omitzero" in options or ("omitempty" in options and not message):
        return {}
    return {"always": True}


def _written(cache: Path) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Yield (type, field) -> (pointer, list or map; options) of its Go struct."""
    for root in (cache / f"k8s.io/api@{API}", cache / f"k8s.io/apimachinery@{API}"):
        for path in sorted(root.rglob("*types.go")):
            place = ".".join(path.relative_to(root).parent.parts)
            package = "io.k8s.api" if "/api@" in str(root) else "io.k8s.apimachinery"
            for struct, body in _STRUCT.findall(path.read_text()):
                for sign, _, field, options in _JSON.findall(body):
                    yield (f"{package}.{place}.{struct}", field), (sign, options)


def _type(given: Schema) -> str:
    if "$ref" in given:
        name = given["$ref"].rpartition("/")[2]
        return _PLAIN.get(name, short(name))
    kind = given.get("type")
    if kind == "array":
        return f"[]{_type(given['items'])}"
    if kind == "object" and "additionalProperties" in given:
        return f"map {_type(given['additionalProperties'])}"
    if kind == "object" or kind is None:
        return "any"
    if kind == "integer":
        return str(given.get("format", "int64"))
    if given.get("format") == "byte":
        return "bytes"
    return {"boolean": "bool", "number": "double"}.get(str(kind), str(kind))


def _numbers(cache: Path) -> Iterator[tuple[str, dict[str, tuple[int, str]]]]:
    """Yield the fields of each published message: name -> (number, type)."""
    roots = (cache / f"k8s.io/api@{API}", cache / f"k8s.io/apimachinery@{API}")
    for root in roots:
        for path in sorted(root.rglob("generated.proto")):
            text = path.read_text()
            package = re.search(r"^package ([\w.]+);", text, re.MULTILINE)
            assert package is not None
            place = _swagger_name(package[1])
            for name, body in _MESSAGE.findall(text):
                yield (
                    f"{place}.{name}",
                    {
                        _json_name(field): (int(number), _absolute(type_, place))
                        for _, type_, field, number in _FIELD.findall(body)
                    },
                )


def _json_name(field: str) -> str:
    """Return what JSON calls a field of protobuf."""
    name = field.removeprefix("_")
    return "webhooks" if name == "Webhooks" else name


def _swagger_name(package: str) -> str:
    return re.sub(r"^k8s\.io\.", "io.k8s.", package)


def _absolute(type_: str, place: str) -> str:
    if type_.startswith("."):
        return _swagger_name(type_[1:])
    return f"{place}.{type_}"


def _enums(root: Path) -> Iterator[tuple[tuple[str, str], list[str]]]:
    """Yield (type, field) -> its values, where the field's Go type is an enumeration."""
    core = _values(root / "core/v1")
    for folder in sorted(p.parent for p in root.rglob("types.go")):
        group, version = folder.parts[-2:]
        place = f"io.k8s.api.{group}.{version}"
        own = _values(folder)
        for text in _texts(folder):
            for struct, body in _STRUCT.findall(text):
                for _, type_, field, _ in _JSON.findall(body):
                    values = own.get(type_) or core.get(type_.removeprefix("v1."))
                    if values and ("." in type_ or type_ in own):
                        yield (f"{place}.{struct}", field), values


def _texts(folder: Path) -> list[str]:
    return [path.read_text() for path in sorted(folder.glob("*types.go"))]


def _values(folder: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in _texts(folder):
        for name in _ENUM.findall(text):
            found.setdefault(name, [])
    for text in _texts(folder):
        for type_, value in _CONST.findall(text):
            if type_ in found:
                found[type_].append(value)
    return {name: sorted(set(values)) for name, values in found.items() if values}


def _of_definition(crd: Schema) -> Iterator[tuple[str, Schema, dict[str, Any]]]:
    """Yield how each version of a definition is shown, and its types, the root first."""
    names = crd["spec"]["names"]
    kind = names["kind"]
    for version in crd["spec"]["versions"]:
        name = f"{KUEUE}.{version['name']}.{kind}"
        types: dict[str, Any] = {}
        _put(types, name, version["schema"]["openAPIV3Schema"])
        shown = {
            "short": names.get("shortNames", []),
            "warning": version.get("deprecationWarning", ""),
            "columns": [
                [c["name"], c["type"], c["jsonPath"], c.get("priority", 0)]
                for c in version.get("additionalPrinterColumns") or ()
            ],
            "selectable": [
                f["jsonPath"].removeprefix(".")
                for f in version.get("selectableFields") or ()
            ],
        }
        yield f"{version['name']}/{kind}", shown, types


def _put(types: dict[str, Any], name: str, schema: Schema) -> None:
    made: dict[str, Schema] = {}
    types[name] = made
    required = set(schema.get("required") or ())
    for field, given in (schema.get("properties") or {}).items():
        one: Schema = {}
        if field == "metadata" and not given.get("properties"):
            one["type"] = "meta.v1.ObjectMeta"
        elif field == "template" and "podSets" in name:
            one["type"] = "core.v1.PodTemplateSpec"
        else:
            one["type"] = _structural(types, f"{name}.{field}", given)
        if field in required:
            one["required"] = True
        for key, ours in (
            ("default", "default"),
            ("enum", "enum"),
            ("pattern", "pattern"),
            ("minimum", "minimum"),
            ("maximum", "maximum"),
            ("minItems", "minItems"),
            ("maxItems", "maxItems"),
            ("minLength", "minLength"),
            ("maxLength", "maxLength"),
            ("maxProperties", "maxProperties"),
            ("x-kubernetes-list-type", "list"),
            ("x-kubernetes-list-map-keys", "keys"),
            ("x-kubernetes-map-type", "map"),
        ):
            if key in given:
                one[ours] = given[key]
        made[field] = one


def _structural(types: dict[str, Any], name: str, given: Schema) -> str:
    if given.get("x-kubernetes-int-or-string"):
        return "Quantity"
    kind = given.get("type")
    if kind == "array":
        return f"[]{_structural(types, name, given['items'])}"
    if kind == "object" and given.get("properties"):
        _put(types, name, given)
        return name
    if kind == "object" and "additionalProperties" in given:
        return f"map {_structural(types, name, given['additionalProperties'])}"
    if kind == "object" or kind is None:
        return "any"
    if kind == "integer":
        return str(given.get("format", "int64"))
    if given.get("format") == "date-time":
        return "Time"
    return {"boolean": "bool", "number": "double"}.get(str(kind), str(kind))


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), check="--check" in sys.argv))
