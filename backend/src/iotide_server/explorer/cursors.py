"""Cursors of a sorted list."""

import binascii
import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from iotide_server.explorer.schemas import RunSort, SortKey
from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.pagination import LARGEST_ID

_LONGEST_SECONDS = 1e10


@dataclass(frozen=True, slots=True)
class PageEnd:
    key: datetime | float
    run_id: int


def write(sort: RunSort, place: PageEnd) -> str:
    key = place.key.isoformat() if isinstance(place.key, datetime) else place.key
    text = json.dumps([sort, key, place.run_id], separators=(",", ":"))
    return urlsafe_b64encode(text.encode()).decode().rstrip("=")


def read(sort: RunSort, cursor: str) -> PageEnd:
    """Return the page end of a cursor for the same sort, or raise InvalidInputError."""
    try:
        written, key, run_id = json.loads(urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
        place = PageEnd(_key(sort, key), int(run_id))
        is_ours = written == sort and 0 < place.run_id <= LARGEST_ID
    except (ValueError, TypeError, OverflowError, RecursionError, binascii.Error):
        is_ours = False
    if not is_ours:
        remedy = "send next_cursor of the previous page unchanged, with the same sort"
        raise InvalidInputError("cursor: not valid for this sort", field="cursor", value=cursor, remedy=remedy)
    return place


def _key(sort: RunSort, written: object) -> datetime | float:
    if sort.key is SortKey.TIME:
        moment = datetime.fromisoformat(str(written))
        if moment.tzinfo is None:
            raise ValueError(written)
        return moment
    number = float(str(written))
    if not isfinite(number) or (sort.key is SortKey.DURATION and abs(number) > _LONGEST_SECONDS):
        raise ValueError(written)
    return number
