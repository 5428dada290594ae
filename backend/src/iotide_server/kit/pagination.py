"""Cursor pagination by the last key shown, stable while rows are added."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Generic, TypeVar

from fastapi import Depends, Query
from sqlalchemy import Select
from sqlalchemy.orm import InstrumentedAttribute, Session

from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.web import Output

T = TypeVar("T")
R = TypeVar("R")

LARGEST_ID = 2**63 - 1


class Page(Output, Generic[T]):
    """One page of a list. `next_cursor` is null on the last page."""

    items: list[T]
    next_cursor: str | None


@dataclass(frozen=True, slots=True)
class Slice(Generic[R]):
    rows: Sequence[R]
    next_cursor: str | None

    def page(self, show: Callable[[R], T]) -> Page[T]:
        return Page(items=[show(row) for row in self.rows], next_cursor=self.next_cursor)


@dataclass(frozen=True, slots=True)
class PageRequest:
    limit: int
    last_id: int | None

    @property
    def before_id(self) -> int:
        return LARGEST_ID if self.last_id is None else self.last_id

    @property
    def after_id(self) -> int:
        return 0 if self.last_id is None else self.last_id

    def cut(self, rows: Sequence[R], key: Callable[[R], int]) -> Slice[R]:
        """Cut up to `limit + 1` rows to a page; the extra row shows that another page follows."""
        if len(rows) <= self.limit:
            return Slice(rows, None)
        shown = rows[: self.limit]
        return Slice(shown, urlsafe_b64encode(str(key(shown[-1])).encode()).decode().rstrip("="))


def require_span(since: datetime | None, until: datetime | None, what: str = "span") -> None:
    if since is not None and until is not None and since > until:
        remedy = f"give a time after {since.isoformat()}, or omit it"
        words = f"to: the {what} ends before it begins"
        raise InvalidInputError(words, field="to", value=until.isoformat(), remedy=remedy)


def page_request(
    limit: Annotated[int, Query(ge=1, le=500, description="Rows per page")] = 50,
    cursor: Annotated[str | None, Query(max_length=64, description="`next_cursor` of the previous page")] = None,
) -> PageRequest:
    if cursor is None:
        return PageRequest(limit, None)
    try:
        last_id = int(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error):
        last_id = 0
    if not 0 < last_id <= LARGEST_ID:
        raise InvalidInputError(
            "cursor: invalid", field="cursor", value=cursor, remedy="send next_cursor of the previous page unchanged"
        )
    return PageRequest(limit, last_id)


Paging = Annotated[PageRequest, Depends(page_request)]


def newest_first(
    session: Session, statement: Select[R], key: InstrumentedAttribute[int], request: PageRequest
) -> Slice[R]:
    limited = statement.where(key < request.before_id).order_by(key.desc()).limit(request.limit + 1)
    return request.cut(session.scalars(limited).all(), key=lambda row: int(getattr(row, key.key)))
