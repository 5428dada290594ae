"""HTTP layer of all routes: transactions, errors, request time."""

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import datetime, timedelta
from http import HTTPStatus
from math import isfinite
from typing import Annotated, Any, Final, Self

import structlog
from anyio import CancelScope, CapacityLimiter, to_thread
from fastapi import Depends, FastAPI, Path, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute, iter_route_contexts
from psycopg.errors import LockNotAvailable, QueryCanceled
from pydantic import BaseModel, ConfigDict, Field, field_validator
from sqlalchemy import Connection, event, text
from sqlalchemy.exc import DataError, OperationalError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.orm import Session, SessionTransaction
from starlette.datastructures import State
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

from iotide_server.kit.app_values import AppValue
from iotide_server.kit.clock import CLOCK
from iotide_server.kit.db import CONNECTIONS, DATABASE, StorageFailure, storage_failure
from iotide_server.kit.errors import ErrorKind, InvalidInputError, IotideError
from iotide_server.kit.one_each import OneEachTurn, OneNodeTurn
from iotide_server.kit.request_context import current_request_id
from iotide_wire.base import NAME_PATTERN, problem_in

PUBLIC_URL: Final[AppValue[str]] = AppValue("public_url")
PUBLIC_READ: Final[AppValue[bool]] = AppValue("public_read")
STORAGE_FAILURE: Final[AppValue[tuple[StorageFailure | None, datetime | None]]] = AppValue("storage_failed")


_LONGEST_ECHO = 200
STORABLE_REMEDY = "leave out NUL characters and lone surrogates"
_LARGEST_INTEGER = 2**63 - 1
_OVERLOAD_SECONDS: Final = 10
"""Retry-After when a statement timed out or the disk failed."""
_NODE_LOCK_MILLISECONDS: Final = 1000
_SECRET_FIELDS = ("password", "token", "secret")
_STORAGE_REMEMBERED: Final = timedelta(minutes=1)
STORAGE_FULL = ErrorKind(503, "storage_full").says(
    "the disk of the database is full", "free disk space there; the service then continues automatically"
)
STORAGE_FAILED = ErrorKind(503, "storage_failed").says(
    "the disk of the database has failed", "check PostgreSQL's log and its disk"
)
DATABASE_UNAVAILABLE = ErrorKind(503, "database_unavailable").says("the database does not answer", "try again shortly")
TOOK_TOO_LONG = ErrorKind(503, "took_too_long").says(
    "the request exceeded the database's time limit; nothing was changed",
    "request less at once, for instance a shorter period, fewer configurations or one cluster; if a small request fails"
    " too, the database is overloaded: run `iotide-server doctor`",
)
HELD_UP = ErrorKind(503, "held_up").says(
    "another request blocked this one for a second; nothing was changed",
    "send the request again; agents retry automatically",
)
VALUE_UNSTORABLE = ErrorKind(422, "invalid_input").says(
    "a value cannot be stored", f"{STORABLE_REMEDY}, and keep integers within 64 bits"
)
BODY_UNREADABLE = ErrorKind(422, "invalid_input").says("the body cannot be read", "send JSON in UTF-8")
BODY_TOO_LARGE = ErrorKind(413, "body_too_large").says("{problem}", "send less at once")
ROUTE_NOT_FOUND = ErrorKind(404, "route_not_found").says("{problem}", "see /api/v1/openapi.json for all routes")
METHOD_NOT_ALLOWED = ErrorKind(405, "method_not_allowed").says("{problem}", "use a method of the Allow header")
_UNROUTED: Final = {kind.status: kind for kind in (ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED, BODY_TOO_LARGE)}
_log = structlog.get_logger(__name__)


def is_storable(text: str) -> bool:
    """Return false for NUL characters and lone surrogates, which JSON allows and PostgreSQL does not."""
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


class Input(BaseModel):
    """Base of request bodies. Rejects unknown fields and unstorable values."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @field_validator("*")
    @classmethod
    def _refuse_unstorable(cls, value: object) -> object:
        if isinstance(value, str) and not is_storable(value):
            raise ValueError(STORABLE_REMEDY)
        return value


class Output(BaseModel):
    """Base of response bodies. No field has a default, so all are always present."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def of_row(cls, row: object, **more: object) -> Self:
        return cls.model_validate({name: getattr(row, name) for name in cls.model_fields if name not in more} | more)


class ErrorDetail(Output):
    code: Annotated[str, Field(description="Stable error code, for programs", examples=["target_not_found"])]
    field: Annotated[str | None, Field(description="Path of the invalid input", examples=["targets[1]"])]
    value: Annotated[Any, Field(description="Rejected value", examples=["nfs9"])]
    message: Annotated[str, Field(description="What is wrong", examples=["there is no target nfs9"])]
    remedy: Annotated[str | None, Field(description="What to do about it", examples=["choose one of nfs0, nfs1"])]
    request_id: Annotated[
        str | None,
        Field(description="Id of the request in the server's log", examples=["0d9f5a1e6c1b4c5f9a7e3b2d8c6f4a10"]),
    ]


class ErrorBody(Output):
    error: ErrorDetail


def errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return error responses for `responses=` of a route, without implied ones such as 422."""
    return {status: {"model": ErrorBody, "description": HTTPStatus(status).phrase} for status in statuses}


Id = Annotated[int, Path(ge=1, le=2**63 - 1)]
"""Key of a row in a path, within PostgreSQL's bigint."""


async def transaction(request: Request) -> AsyncIterator[Session]:
    # Async: opening sends no query, and switching to a thread costs as much as one.
    database = DATABASE.of(request.app.state)
    opened = database.transaction()
    session = opened.__enter__()
    try:
        yield session
    except BaseException as error:
        await _end(opened, error)
        raise
    await _end(opened, None)


async def page_transaction(request: Request, _: OneEachTurn) -> AsyncIterator[Session]:
    """Open a transaction after the person's other page requests."""
    async with asynccontextmanager(transaction)(request) as session:
        yield session


async def node_transaction(request: Request, _: OneNodeTurn) -> AsyncIterator[Session]:
    """Open a transaction after the node's other requests. Statements wait a second for locks."""
    async with asynccontextmanager(transaction)(request) as session:
        event.listen(session, "after_begin", _limit_locks)
        yield session


def _limit_locks(_: Session, __: SessionTransaction, connection: Connection) -> None:
    connection.execute(text(f"SET LOCAL lock_timeout = {_NODE_LOCK_MILLISECONDS}"))


async def _end(opened: AbstractContextManager[Session], error: BaseException | None) -> None:
    # An extra thread, because all regular ones may be waiting for this connection.
    limiter = CapacityLimiter(1)
    trace = None if error is None else error.__traceback__
    with CancelScope(shield=True):  # also if the request is cancelled
        await to_thread.run_sync(opened.__exit__, None if error is None else type(error), error, trace, limiter=limiter)


# Otherwise requests waiting for connections fill the thread pool that the holders need.
Tx = Annotated[Session, Depends(page_transaction, scope="function", max_concurrency=CONNECTIONS - 1)]
"""For users' requests; leaves one connection to nodes."""

NodeTx = Annotated[Session, Depends(node_transaction, scope="function", max_concurrency=CONNECTIONS - 1)]
"""For agents' requests; leaves one connection to users.

A compromised node may lock its rows and request them again, so its requests wait without a connection.
"""


async def turn() -> AsyncIterator[None]:
    """Do nothing. `max_concurrency` queues requests without a thread or a connection."""
    yield


ONE_AT_A_TIME = Depends(turn, scope="function", max_concurrency=1)
"""For routes with the largest responses: two at once take twice the memory and as long."""


async def moment(request: Request) -> datetime:
    """Return the time of the request. Async, because a thread costs as much as a query."""
    clock = CLOCK.of(request.app.state)
    return clock()


Now = Annotated[datetime, Depends(moment)]


def install_error_handlers(app: FastAPI) -> None:
    handlers: Mapping[type[Exception], Any] = {
        IotideError: _refused,
        RequestValidationError: _malformed,
        HTTPException: _unrouted,
        DataError: _unstorable,
        OperationalError: _unavailable,
        PoolTimeoutError: _unavailable,
    }
    for kind, handler in handlers.items():
        app.add_exception_handler(kind, handler)


def refusal(error: IotideError) -> JSONResponse:
    body = {
        "code": error.code,
        "field": error.field,
        "value": _shown(error.field, error.value),
        "message": _storable(error.message),
        "remedy": error.remedy,
        "request_id": current_request_id(),
    }
    headers = {"WWW-Authenticate": "Bearer"} if error.status == HTTPStatus.UNAUTHORIZED else {}
    if error.wait_seconds is not None:
        headers["Retry-After"] = str(error.wait_seconds)
    return JSONResponse({"error": body}, error.status, headers)


async def _refused(_: Request, error: IotideError) -> JSONResponse:
    return refusal(error)


_PATTERN_REMEDIES: Final = {
    NAME_PATTERN: "use up to 63 letters, digits, dots, dashes and underscores, starting with a letter or digit",
}


async def _malformed(_: Request, error: RequestValidationError) -> JSONResponse:
    first = error.errors()[0]
    remedies = {
        "missing": "add it",
        "extra_forbidden": "remove it, or check its spelling against /api/v1/openapi.json",
        "json_invalid": "send valid JSON",
    }
    if first["type"] == "string_pattern_mismatch":
        pattern = first["ctx"]["pattern"]
        remedies[first["type"]] = _PATTERN_REMEDIES.get(pattern, f"change it to match {pattern}")
    field = None if first["type"] == "json_invalid" else _field_path(first["loc"])
    message = f"the body is not JSON: {first['ctx']['error']}" if first["type"] == "json_invalid" else problem_in(first)
    value = None if first["type"] == "missing" else first.get("input")
    usual = problem_in(first).replace("Input should", "it should")
    remedy = remedies.get(first["type"], usual)
    return refusal(
        InvalidInputError(f"{field}: {message}" if field else message, field=field, value=value, remedy=remedy)
    )


async def _unrouted(request: Request, error: HTTPException) -> JSONResponse:
    if error.status_code == HTTPStatus.BAD_REQUEST:  # FastAPI's error for an undecodable body
        return refusal(BODY_UNREADABLE())
    kind = _UNROUTED.get(error.status_code) or ErrorKind(error.status_code, IotideError.code).says("{problem}")
    response = refusal(kind(problem=str(error.detail).lower()))
    response.headers.update(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = ", ".join(sorted(_methods_at(request)))
    return response


def _methods_at(request: Request) -> set[str]:
    """Return the methods of all routes with this path; the router reports those of one."""
    routes = iter_route_contexts(request.app.routes)
    return {
        method
        for route in routes
        if isinstance(route.original_route, APIRoute) and route.path_regex.match(request.url.path)
        for method in route.methods or ()
    }


async def _unstorable(request: Request, error: DataError) -> JSONResponse:
    """Handle a value that passed validation, but contains NUL or an integer beyond 64 bits."""
    # Not logged: the error's text contains the value.
    _log.info("value_refused_by_database", path=request.url.path, error=type(error.orig).__name__)
    return refusal(VALUE_UNSTORABLE())


def storage_failed_lately(state: State) -> StorageFailure | None:
    failure, met_at = STORAGE_FAILURE.get(state) or (None, None)
    return failure if met_at is not None and CLOCK.of(state)() - met_at < _STORAGE_REMEMBERED else None


async def _unavailable(request: Request, error: SQLAlchemyError) -> JSONResponse:
    orig = error.orig if isinstance(error, OperationalError) else None
    if isinstance(orig, QueryCanceled):
        _log.warning("statement_took_too_long", method=request.method, path=request.url.path)
        return refusal(TOOK_TOO_LONG(wait_seconds=_OVERLOAD_SECONDS))
    if isinstance(orig, LockNotAvailable):
        _log.warning("request_held_up", method=request.method, path=request.url.path)
        return refusal(HELD_UP(wait_seconds=1))
    _log.warning("database_unavailable", path=request.url.path, error=str(error).splitlines()[0])
    failure = storage_failure(error)
    if failure is None:
        return refusal(DATABASE_UNAVAILABLE(wait_seconds=1))
    STORAGE_FAILURE.put(request.app.state, (failure, CLOCK.of(request.app.state)()))
    kind = STORAGE_FULL if failure is StorageFailure.FULL else STORAGE_FAILED
    return refusal(kind(wait_seconds=_OVERLOAD_SECONDS))


def _field_path(location: tuple[str | int, ...]) -> str | None:
    """Return `workloads[0].options` for `("body", "workloads", 0, "options")`."""
    path = ""
    for part in location[1:]:
        path += f"[{part}]" if isinstance(part, int) else f".{part}"
    return path.removeprefix(".") or None


def _shown(field: str | None, value: object) -> str | int | float | bool | None:
    """Return the value if it is safe to repeat."""
    if field is not None and any(secret in field for secret in _SECRET_FIELDS):
        return None
    match value:
        case bool() | None:
            return value
        case int() if abs(value) <= _LARGEST_INTEGER:
            return value
        case float() if isfinite(value):
            return value
        case dict() | list() | bytes():
            return None
        case _:
            text = _storable(str(value))
            return text if len(text) <= _LONGEST_ECHO else f"{text[:_LONGEST_ECHO]} ..."


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
