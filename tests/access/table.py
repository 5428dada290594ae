"""The table of every route and every caller: each is called in a transaction that is rolled back."""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from access.callers import CALLERS, Caller, Headers, Proof
from access.requests import REQUESTS
from access.rules import NOT_ALLOWED, NOT_AUTHENTICATED, NOT_FOUND, Ids, Ownership, Request, expected
from access.site import MARK
from anyio.from_thread import BlockingPortal
from factories.routes import DeclaredRoute
from fastapi import FastAPI
from sqlalchemy.engine import Connection
from sqlalchemy.orm import Session
from starlette.types import Message
from structlog.testing import capture_logs

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.rules import AccessRule, AnyPerson, HasRole, Public, SignedInAhead, SignedInOrReading
from iotide_server.clusters.agents.rules import ConfirmsToken, IsNode, IsNodeOrWaits
from iotide_server.kit.db import Database
from iotide_server.main import API

_SHOWS_WHAT_IS_NOT_THEIRS = "and shows what is not theirs"
_SHOWS_NOTHING = "and shows nothing of the cluster"


@dataclass(frozen=True)
class Check:
    """One cell of the table."""

    route: DeclaredRoute
    caller: Caller
    expected: str
    observed: str

    def __str__(self) -> str:
        return f"{self.route} by {self.caller.name}: {self.expected} expected, {self.observed} observed"


class TakenBack(Database):
    """Transactions of one connection that never commit; `taken_back` rolls them back."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection.engine)
        self._connection = connection

    @contextmanager
    def transaction(self, *, statement_seconds: float | None = None) -> Iterator[Session]:
        """Open a transaction as the base does, without actions after the commit, which would reach other
        connections.
        """
        del statement_seconds  # it would end all that follows on the one connection
        with (
            Session(self._connection, join_transaction_mode="create_savepoint", expire_on_commit=False) as session,
            session.begin(),
        ):
            yield session

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """Undo all changes of the block, and none from before."""
        begun = self._connection.in_transaction()
        outer = self._connection.begin_nested() if begun else self._connection.begin()
        try:
            yield
        finally:
            outer.rollback()


@dataclass(frozen=True)
class Asking:
    """The API with its site and callers."""

    app: FastAPI
    portal: BlockingPortal
    database: TakenBack
    ids: Ids
    headers: Mapping[str, Headers]

    def checks(self, routes: Sequence[DeclaredRoute], callers: Sequence[Caller] = CALLERS) -> list[Check]:
        """Yield the check of every route that has a request, for every caller."""
        was_open = self.app.state.public_read
        try:
            with capture_logs():  # refused passwords are logged
                # In the event loop of the application: its requests wait for objects of that loop.
                return self.portal.call(self._checks, routes, callers)
        finally:
            self.app.state.public_read = was_open

    async def _checks(self, routes: Sequence[DeclaredRoute], callers: Sequence[Caller]) -> list[Check]:
        return [
            Check(route, caller, expected(route, request, caller), await self._observed(route, request, caller))
            for route in routes
            if (request := REQUESTS.get(str(route)))
            for caller in callers
        ]

    async def _observed(self, route: DeclaredRoute, request: Request, caller: Caller) -> str:
        ids = {**self.ids, **{name: self.ids[key] for name, key in request.names.items()}}
        query = request.query.format(**ids)
        headers = {**self.headers[caller.name], **(request.headers(ids) if request.headers else {})}
        content = request.body(ids) if request.body else None
        self.app.state.public_read = caller.proof is Proof.READING
        self.app.state.database = Database(self.database.engine) if request.streams else self.database
        with self.database.taken_back():
            answer = await asked(self.app, route.method, route.url(ids), query, headers, content)
        return " ".join([str(answer.status), *_remarks(route, request, caller, answer)])


@dataclass
class Answer:
    """An answer of the API."""

    status: int = 0
    text: str = ""


def head_of(method: str, path: str, query: str, headers: Headers) -> dict[str, Any]:
    """Return the head of a request as ASGI hands it to an application."""
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }


async def asked(app: FastAPI, method: str, path: str, query: str, headers: Headers, content: object = None) -> Answer:
    """Send a request without socket and client: for three thousand requests those cost more than the API itself."""
    body = content if isinstance(content, bytes) else b"" if content is None else json.dumps(content).encode()
    kind = "application/octet-stream" if isinstance(content, bytes) else "application/json"
    sent = {"content-type": kind, "content-length": str(len(body))} if body else {}
    scope = head_of(method, path, query, {**sent, **headers})
    incoming: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]
    answer, pieces = Answer(), []

    async def receive() -> Message:
        return incoming.pop() if incoming else await asyncio.Future()

    async def send(message: Message) -> None:
        answer.status = message.get("status", answer.status)
        pieces.append(message.get("body", b""))

    await app(scope, receive, send)
    answer.text = b"".join(pieces).decode("utf-8", "replace")
    return answer


def _remarks(route: DeclaredRoute, request: Request, caller: Caller, answer: Answer) -> Iterator[str]:
    """Return remarks that the status alone does not show."""
    if answer.status >= HTTPStatus.BAD_REQUEST or isinstance(route.rules[0], Public):
        return
    if '"accepted":false' in answer.text:
        yield "and refused"
    is_stranger = not caller.may(Role.VIEWER) and caller.node in {None, "far"}
    if is_stranger and MARK in answer.text:
        yield _SHOWS_WHAT_IS_NOT_THEIRS
    if route.method == "GET" and request.ownership is Ownership.UNOWNED and request.shows:
        (rule,) = route.rules
        sees = isinstance(rule, HasRole) and caller.may(rule.role)
        if sees and MARK not in answer.text:
            yield _SHOWS_NOTHING


def missing(routes: Sequence[DeclaredRoute]) -> list[str]:
    """Return routes without a request, and requests without a route."""
    return sorted({str(route) for route in routes} ^ REQUESTS.keys())


def summary(routes: Sequence[DeclaredRoute], checks: Sequence[Check]) -> str:
    """Return the line that the tests print."""
    differences = sum(check.expected != check.observed for check in checks)
    counts = f"routes={len(routes)} roles={len(CALLERS)} checks={len(checks)}"
    return f"access: {counts} differences={differences} missing={len(missing(routes))}"


_RULE_NAMES: Mapping[type[AccessRule], str] = {
    Public: "anyone",
    AnyPerson: "person",
    SignedInAhead: "person",
    SignedInOrReading: "person or open for reading",
    IsNode: "node",
    IsNodeOrWaits: "node or pending node",
    ConfirmsToken: "node with a token to confirm",
}

_HEAD = """\
# Who may call what
Made by `./dev generate` from the rule of each route and the owner of the object that the route names. A test calls
every route as every caller, about existing objects, and compares the answers. It fails on any difference or missing
route.

The objects belong to one cluster. *viewer*, *operator* and *admin* have that role in it and use a browser. *admin of
all* has the role in all clusters, *other operator* and *other admin* in another cluster. For objects that callers may
not see, the answer is 404, and lists leave them out. A token has the role of its owner, limited to its scopes.

2xx means that access is allowed. So do 409 and 422, which depend on the state of the object, and the 401 of the two
routes that need another proof in their body.

"""


def document(routes: Sequence[DeclaredRoute]) -> str:
    """Return the expected table in Markdown."""
    shorts = {NOT_AUTHENTICATED: "401", NOT_ALLOWED: "403", NOT_FOUND: "404"}
    header = ["route", "rule", "belongs to", *(caller.name for caller in CALLERS)]
    lines = [_row(header), _row(["---"] * len(header))]
    for route in sorted(routes, key=lambda route: (route.path, route.method)):
        request = REQUESTS[str(route)]
        answers = [expected(route, request, caller) for caller in CALLERS]
        shown = [shorts.get(answer, answer.partition(" ")[0]) for answer in answers]
        name = f"{route.method} {route.path.removeprefix(API)}"
        lines.append(_row([f"`{name}`", _rule_name(route), request.ownership.value, *shown]))
    return _HEAD + "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule_name(route: DeclaredRoute) -> str:
    (rule,) = route.rules
    return rule.role.value if isinstance(rule, HasRole) else _RULE_NAMES[type(rule)]
