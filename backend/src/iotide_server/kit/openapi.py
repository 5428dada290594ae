"""Adds implied error responses and examples to the OpenAPI document."""

from http import HTTPStatus
from typing import Any, Final

from fastapi import FastAPI

from iotide_server.kit.web import errors

Schema = dict[str, Any]

_JSON: Final = "application/json"
_DEEPEST: Final = 8
_BY_FORMAT: Final = {"date-time": "2026-11-21T10:00:00Z"}
_BY_TYPE: Final[dict[str, Any]] = {"integer": 1, "number": 1.0, "boolean": True, "string": "text", "null": None}
_REQUEST_ID: Final = "0d9f5a1e6c1b4c5f9a7e3b2d8c6f4a10"
_REFUSALS: Final[dict[int, dict[str, str]]] = {
    401: {"code": "not_authenticated", "message": "you are not signed in", "remedy": "sign in"},
    403: {"code": "not_allowed", "message": "you are not operator of this cluster", "remedy": "ask an administrator"},
    404: {"code": "not_found", "message": "there is no node 7", "remedy": "check the list"},
    409: {"code": "conflict", "message": "the current state does not allow it", "remedy": "reload it and try again"},
    413: {"code": "body_too_large", "message": "the body has more than 2097152 bytes", "remedy": "send less at once"},
    415: {
        "code": "wrong_content_type",
        "message": "the body is not declared as JSON",
        "remedy": "send application/json",
    },
    422: {"code": "invalid_input", "message": "repeats: Input should be greater than 0", "remedy": "give at least 1"},
    429: {"code": "too_many_streams", "message": "you have 20 streams open already", "remedy": "close some of them"},
    500: {
        "code": "internal_error",
        "message": "internal server error",
        "remedy": "search the server's log for this request_id",
    },
    503: {"code": "database_unavailable", "message": "the database does not answer", "remedy": "try again shortly"},
}


class DescribedApi(FastAPI):
    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = super().openapi()
            for path in document["paths"].values():
                for method, operation in path.items():
                    _complete(method, operation, document["components"]["schemas"])
        return super().openapi()


def _complete(method: str, operation: Schema, schemas: Schema) -> None:
    implied = {422, 500, 503}
    if "security" in operation:
        implied |= {401, 403}
        if method != "get":
            implied.add(409)  # published clusters reject any change
    if "requestBody" in operation:
        implied |= {413, 415}
    for status in implied:
        content = {_JSON: {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
        response = {"description": errors(status)[status]["description"], "content": content}
        operation["responses"].setdefault(str(status), response)
    operation["responses"] = dict(sorted(operation["responses"].items()))
    for status, response in operation["responses"].items():
        if int(status) >= HTTPStatus.BAD_REQUEST and "content" in response:
            # Otherwise FastAPI lists errors with the media type of a stream or file.
            response["content"] = {_JSON: next(iter(response["content"].values()))}
        _add_example(response, schemas, _REFUSALS.get(int(status)))
    _add_example(operation.get("requestBody", {}), schemas, None)


def _add_example(part: Schema, schemas: Schema, refusal: dict[str, str] | None) -> None:
    media = part.get("content", {}).get(_JSON)
    if media is None or "example" in media or "schema" not in media:
        return
    if refusal:
        media["example"] = {"error": {"field": None, "value": None, **refusal, "request_id": _REQUEST_ID}}
    else:
        media["example"] = _example(media["schema"], schemas)


def _example(schema: Schema, schemas: Schema, depth: int = 0) -> object:
    if schema.get("examples"):
        return schema["examples"][0]
    if "$ref" in schema:
        return _example(schemas[schema["$ref"].rpartition("/")[2]], schemas, depth + 1)
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return _example(schema[key][0], schemas, depth + 1)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if "enum" in schema:
        return schema["enum"][0]
    return _example_of_type(schema, schemas, depth)


def _example_of_type(schema: Schema, schemas: Schema, depth: int) -> object:
    match schema.get("type"):
        case "object":
            properties = schema.get("properties", {})
            return {name: _example(part, schemas, depth + 1) for name, part in properties.items()}
        case "array":
            return [] if depth > _DEEPEST else [_example(schema.get("items", {}), schemas, depth + 1)]
        case "integer":
            return int(schema.get("minimum", _BY_TYPE["integer"]))
        case "string":
            return _BY_FORMAT.get(schema.get("format", ""), _BY_TYPE["string"])
        case kind:
            return _BY_TYPE.get(str(kind))
