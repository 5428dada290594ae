"""Markdown pages of the API, from its OpenAPI document: one for each tag, and one for the types that tags share."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

Schema = Mapping[str, Any]

_REF: Final = "#/components/schemas/"
_INTRODUCTION: Final = """# API
Every page and command of iotide uses this API. Send a token as `Authorization: Bearer iot_...`, and bodies as JSON:

    curl --cacert ca.crt -H "Authorization: Bearer $IOTIDE_TOKEN" https://SERVER:8470/api/v1/campaigns

The [access table](../access.md) says which role each route needs. [examples/rest](../../examples/rest) submits a
campaign and waits for it, with curl and in Python. `/api/v1/openapi.json` of each server describes its API for code
generators. Each error has a code, a message and a remedy, as
[ErrorBody](#type-errorbody) lists them. Any route may answer:

| status | meaning |
|---|---|
| 401, 403 | you are not signed in, or have no right to do this |
| 413, 415, 422 | the body is too large, is not JSON, or a value is wrong |
| 429 | too many requests at a time |
| 500, 503 | an error of iotide, or its database does not answer |

Operations list their other errors.
"""
_LIMITS: Final = (
    ("minimum", "maximum", ""),
    ("exclusiveMinimum", "exclusiveMaximum", ", exclusive"),
    ("minLength", "maxLength", " characters"),
    ("minItems", "maxItems", " entries"),
    ("minProperties", "maxProperties", " keys"),
)
_UNBOUNDED: Final = 2**62
"""Larger maximums are those of the database's integers."""
_YES: Final = {True: "yes", False: ""}
_USUAL_ERRORS: Final = {"401", "403", "413", "415", "422", "429", "500", "503"}
"""Explained in the introduction, not with each operation."""


def api_pages(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each page; `api` is the first."""
    schemas: Mapping[str, Schema] = document["components"]["schemas"]
    operations = defaultdict(list)
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            operations[operation["tags"][0]].append((f"{method.upper()} {path}", operation))
    users = defaultdict(set)
    for tag, rows in operations.items():
        for name in _reached(rows, schemas):
            users[name].add(tag)
    names = {tag: f"api/{tag.replace(' ', '-')}" for tag in sorted(operations)}
    yield "api", _introduction(operations, names)
    for tag, page in names.items():
        own = [name for name in sorted(schemas) if users[name] == {tag}]
        parts = [f"# API: {tag}", *(_operation(*row) for row in operations[tag])]
        yield page, "\n\n".join([*parts, *_types(own, schemas)])
    shared = [name for name in sorted(schemas) if len(users[name]) > 1]
    yield "api/types", "\n\n".join(["# API: shared types", *_types(shared, schemas)])


def _introduction(operations: Mapping[str, Sequence[Any]], names: Mapping[str, str]) -> str:
    rows = [f"| [{tag}]({page}.md) | {len(operations[tag])} |" for tag, page in names.items()]
    tree = ["```{toctree}", ":hidden:", *names.values(), "api/types", "```"]
    table = "\n".join(["| routes about | number |", "|---|---|", *rows])
    return "\n".join([_INTRODUCTION, table, "", *tree])


def _reached(part: object, schemas: Mapping[str, Schema]) -> set[str]:
    """Return the names of the types that a part of the document uses, directly or by others."""
    found: set[str] = set()
    pending = [part]
    while pending:
        this = pending.pop()
        if isinstance(this, Mapping):
            name = str(this.get("$ref", "")).removeprefix(_REF)
            if name in schemas and name not in found:
                found.add(name)
                pending.append(schemas[name])
            pending.extend(this.values())
        elif isinstance(this, Sequence) and not isinstance(this, str):
            pending.extend(this)
    return found


def _operation(route: str, operation: Schema) -> str:
    parts = [f"## {operation['summary']}", f"    {route}", operation["description"]]
    if operation.get("parameters"):
        rows = [
            (f"`{one['name']}`", one["in"], _type(one["schema"]), _YES[one.get("required", False)], _meaning(one))
            for one in operation["parameters"]
        ]
        parts.append(_table(("parameter", "in", "type", "required", "meaning"), rows))
    if "requestBody" in operation:
        parts.append(f"Body: {_contents(operation['requestBody'])}")
    answers = operation["responses"]
    parts += [f"Answer {status}: {_contents(answer)}" for status, answer in answers.items() if status < "3"]
    errors = [
        f"{status} {answer['description']}"
        for status, answer in answers.items()
        if status not in _USUAL_ERRORS and status >= "3"
    ]
    if errors:
        parts.append(f"Other errors: {', '.join(errors)}")
    return "\n\n".join(parts)


def _contents(body: Schema) -> str:
    kinds = [
        f"{_type(content.get('schema', {}))}{'' if media == 'application/json' else f' as `{media}`'}"
        for media, content in body.get("content", {}).items()
    ]
    return " or ".join(kinds) or "no body"


def _types(names: Sequence[str], schemas: Mapping[str, Schema]) -> Iterator[str]:
    if names:
        yield "## Types"
    for name in names:
        schema = schemas[name]
        yield f"({_anchor(name)})=\n### {schema.get('title', name)}"
        if "description" in schema:
            yield schema["description"]
        if "properties" not in schema:
            yield _type(schema)
            continue
        required = schema.get("required", ())
        rows = [
            (f"`{field}`", _type(value), _YES[field in required], _meaning(value))
            for field, value in schema["properties"].items()
        ]
        yield _table(("field", "type", "required", "meaning"), rows)


def _anchor(name: str) -> str:
    return f"type-{name.lower().replace('_', '-')}"


def _type(schema: Schema) -> str:
    """Return a type in words, with links to named types."""
    if "$ref" in schema:
        name = schema["$ref"].removeprefix(_REF)
        return f"[{name}](#{_anchor(name)})"
    for choice in ("anyOf", "oneOf", "allOf"):
        if choice in schema:
            return " or ".join(dict.fromkeys(map(_type, schema[choice])))
    if "const" in schema or "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema.get("enum", [schema.get("const")]))
    kind = schema.get("type", "any value")
    if kind == "array":
        kind = f"list of {_type(schema.get('items', {}))}"
    elif kind == "object":
        values = schema.get("additionalProperties", {})
        kind = f"object of {_type(values)}" if isinstance(values, Mapping) and values else "object"
    limits = ", ".join(_limits(schema))
    return f"{kind} ({limits})" if limits else kind


def _limits(schema: Schema) -> Iterator[str]:
    if "format" in schema:
        yield schema["format"]
    for least_key, most_key, unit in _LIMITS:
        least, most = schema.get(least_key), schema.get(most_key, _UNBOUNDED)
        if most < _UNBOUNDED:
            yield f"at most {most:,}{unit}" if least is None else f"{least:g} to {most:,}{unit}"
        elif least is not None:
            yield f"at least {least:,}{unit}"
    if "pattern" in schema:
        yield f"`` {schema['pattern']} ``"  # patterns may have a backtick


def _meaning(schema: Schema) -> str:
    inner = schema.get("schema", schema)
    parts = [schema.get("description", "")]
    if inner.get("default") not in (None, ""):
        parts.append(f"Default: `{inner['default']}`")
    if "examples" in inner:
        parts.append(f"Example: `{inner['examples'][0]}`")
    return ". ".join(part.rstrip(".") for part in parts if part)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(text) for text in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
