"""Log context of a request."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from uuid import uuid4

from starlette.datastructures import Headers
from starlette.types import Scope
from structlog.contextvars import bound_contextvars, get_contextvars

REQUEST_ID_HEADER: Final = "X-Request-Id"
_SANE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
_SUBJECTS: Final = re.compile(r"/(run|order|campaign|attempt|node|series|schedule)s?/(\d{1,19})(?=/|$)")

MakeId = Callable[[], str]


def new_request_id() -> str:
    return uuid4().hex


@contextmanager
def request_context(scope: Scope, make_id: MakeId) -> Iterator[str]:
    """Bind the request's id and the ids in its path to all log lines."""
    # Keep a well-formed id of a proxy or client, to join logs of several services.
    given = Headers(scope=scope).get(REQUEST_ID_HEADER, "")
    request_id = given if _SANE.fullmatch(given) else make_id()
    subjects = {f"{kind}_id": int(number) for kind, number in _SUBJECTS.findall(scope["path"])}
    with bound_contextvars(request_id=request_id, **subjects):
        yield request_id


def current_request_id() -> str | None:
    request_id: str | None = get_contextvars().get("request_id")
    return request_id
