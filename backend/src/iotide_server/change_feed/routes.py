"""The stream of news that keeps every open page up to date."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from functools import lru_cache
from typing import Annotated, Final

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import format_sse_event
from starlette.responses import StreamingResponse

from iotide_server.accounts.roles.page_holders import holder
from iotide_server.accounts.roles.rules import PAGE_HOLDERS, Reader
from iotide_server.change_feed import repository
from iotide_server.change_feed.feed import FEED, TOO_MANY_STREAMS, ChangeNotice
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.db import DATABASE, Database
from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.meters import EVENT_STREAMS
from iotide_server.kit.one_each import Holder
from iotide_server.kit.pagination import LARGEST_ID
from iotide_server.kit.suggest import choose_from
from iotide_server.kit.web import errors

CATCH_UPS: Final[AppValue[CapacityLimiter]] = AppValue("catch_ups")


router = APIRouter(tags=["live"])

TOPICS: Final = (
    *("campaign", "run", "series", "node", "activity", "target"),
    *("cluster", "schedule", "template", "channel", "alert", "standing"),
)
STREAM_SECONDS: Final = 600.0
_RETRY_MILLISECONDS: Final = 500
_GATHER_SECONDS: Final = 0.2
"""After news were written, so that what comes meanwhile is written at once; the first ones never wait."""
_SILENCE_SECONDS: Final = 15.0
"""After so long without news a comment is written: proxies end what is silent, and a client that went is noticed."""
_EVENT: Final = {
    "type": "object",
    "properties": {
        "data": {"type": "string"},
        "event": {"type": "string"},
        "id": {"type": "string"},
        "retry": {"type": "integer", "minimum": 0},
    },
}
_EXAMPLE: Final = 'id: 42\nevent: change\ndata: {"kind":"run","id":7,"version":42,"cluster_id":1}\n\n'


def wanted_topics(
    topics: Annotated[
        str,
        Query(
            max_length=200,
            description="Kinds of rows, separated by commas; `activity` is of a node: a run began on it or left it;"
            " `standing` of a cluster: what its board says may have changed",
        ),
    ] = ",".join(TOPICS),
) -> frozenset[str]:
    """The kinds of rows that a stream tells of."""
    wanted = frozenset(topics.split(","))
    for topic in sorted(wanted.difference(TOPICS)):
        raise InvalidInputError(
            f"there is no topic {topic}", field="topics", value=topics, remedy=choose_from(topic, TOPICS)
        )
    return wanted


async def _refuse_known(request: Request) -> None:
    """Refuse whom an earlier request made known before the database is asked: hundreds of streams may come at once."""
    known = PAGE_HOLDERS.of(request.app.state).known_holder_of(request)
    if known is not None:
        _require_place(request, known)


async def _expect_place(principal: Reader, request: Request) -> None:
    """Refuses before the stream opens, when a status can still be sent."""
    _require_place(request, holder(principal))


def _require_place(request: Request, whose: Holder) -> None:
    feed = FEED.of(request.app.state)
    if not feed.has_place(whose):
        raise TOO_MANY_STREAMS()


@router.get(
    "/events",
    summary="Stream changes",
    response_class=StreamingResponse,  # by FastAPI's own way each event costs every stream as much as a request
    dependencies=[Depends(_refuse_known), Depends(_expect_place, scope="function")],
    responses={
        **errors(429),
        200: {
            "description": "`change` names a row to fetch again, by the id 0 all of its kind; after `reset` any may be"
            " stale",
            "content": {"text/event-stream": {"itemSchema": _EVENT, "example": _EXAMPLE}},
        },
    },
)
async def stream_events(
    principal: Reader,
    request: Request,
    topics: Annotated[frozenset[str], Depends(wanted_topics)],
    last_event_id: Annotated[str, Header(max_length=20, description="The stream goes on after this event")] = "",
) -> StreamingResponse:
    """What changes in the clusters that you may see.

    The stream ends after ten minutes; an EventSource comes back by itself, proves who it is again and goes on. One
    person has at most 20 of them open at once.
    """
    visible = principal.visible_clusters()

    def is_for_caller(news: ChangeNotice) -> bool:
        return news.kind in topics and (visible is None or news.cluster_id is None or news.cluster_id in visible)

    # nginx holds back what it was not told to let pass.
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    written = _written(request, holder(principal), is_for_caller, last_event_id)
    return StreamingResponse(written, headers=headers, media_type="text/event-stream")


async def _written(
    request: Request, whose: Holder, is_wanted: Callable[[ChangeNotice], bool], last_event_id: str
) -> AsyncIterator[bytes]:
    """The stream as it is sent."""
    feed = FEED.of(request.app.state)
    if not feed.has_place(whose):  # others of the same holder came in between
        return
    with EVENT_STREAMS.track_inprogress(), feed.subscribe(whose) as subscription:
        # One by one, in no thread that the holders of connections need.
        state = request.app.state
        latest, missed = await to_thread.run_sync(
            _catch_up, DATABASE.of(state), last_event_id, limiter=CATCH_UPS.of(state)
        )
        # A stream that begins here can be resumed before its first news.
        begun_at = None if last_event_id else str(latest)
        yield format_sse_event(comment="open", id=begun_at, retry=_RETRY_MILLISECONDS)
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + STREAM_SECONDS
        while True:
            if missed is None:
                yield format_sse_event(event="reset", data_str="{}", id=str(latest))
            told = list(filter(is_wanted, missed or ()))
            if told:
                yield b"".join(map(_change, told))
                latest = max(latest, *(news.id for news in told))
                await asyncio.sleep(_GATHER_SECONDS)
            try:
                async with asyncio.timeout_at(min(ends_at, loop.time() + _SILENCE_SECONDS)):
                    missed = await subscription.take()
            except TimeoutError:
                if loop.time() >= ends_at:
                    return
                missed = []
                yield format_sse_event(comment="ping")


@lru_cache(maxsize=1024)  # each is told to many
def _change(news: ChangeNotice) -> bytes:
    data = {"kind": news.kind, "id": news.subject_id, "version": news.id, "cluster_id": news.cluster_id}
    return format_sse_event(event="change", data_str=json.dumps(data, separators=(",", ":")), id=str(news.id))


def _catch_up(database: Database, last_event_id: str) -> tuple[int, list[ChangeNotice] | None]:
    """The id of the latest news, and what a reader missed since its last; None when that cannot be told."""
    with database.transaction() as session:
        latest = repository.latest_id(session)
        if not last_event_id:
            return latest, []
        if not last_event_id.isdecimal() or int(last_event_id) > LARGEST_ID:
            return latest, None
        missed = repository.missed_since(session, int(last_event_id))
        return latest, None if missed is None else [ChangeNotice.model_validate(change) for change in missed]
