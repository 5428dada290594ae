"""API of the change feed stream."""

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
"""Time after sending to collect further changes. The first ones are sent at once."""
_SILENCE_SECONDS: Final = 15.0
"""Then a comment is sent: proxies close silent connections, and writing detects lost clients."""
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
            description="Comma-separated kinds of rows. `activity`: a run began or ended on a node."
            " `standing`: the status board of a cluster may have changed.",
        ),
    ] = ",".join(TOPICS),
) -> frozenset[str]:
    wanted = frozenset(topics.split(","))
    for topic in sorted(wanted.difference(TOPICS)):
        raise InvalidInputError(
            f"there is no topic {topic}", field="topics", value=topics, remedy=choose_from(topic, TOPICS)
        )
    return wanted


async def _refuse_known(request: Request) -> None:
    """Reject known callers before any query: hundreds of streams may arrive at once."""
    known = PAGE_HOLDERS.of(request.app.state).known_holder_of(request)
    if known is not None:
        _require_place(request, known)


async def _expect_place(principal: Reader, request: Request) -> None:
    """Reject while a status can still be sent."""
    _require_place(request, holder(principal))


def _require_place(request: Request, owner: Holder) -> None:
    feed = FEED.of(request.app.state)
    if not feed.has_place(owner):
        raise TOO_MANY_STREAMS()


@router.get(
    "/events",
    summary="Stream changes",
    response_class=StreamingResponse,  # FastAPI's own streaming costs as much per event as a request
    dependencies=[Depends(_refuse_known), Depends(_expect_place, scope="function")],
    responses={
        **errors(429),
        200: {
            "description": "`change` names a row to fetch again (id 0: all of the kind). After `reset`, any row may"
            " be stale",
            "content": {"text/event-stream": {"itemSchema": _EVENT, "example": _EXAMPLE}},
        },
    },
)
async def stream_events(
    principal: Reader,
    request: Request,
    topics: Annotated[frozenset[str], Depends(wanted_topics)],
    last_event_id: Annotated[str, Header(max_length=20, description="Resume the stream after this event")] = "",
) -> StreamingResponse:
    """Changes in the clusters that you may see.

    The stream ends after ten minutes. An EventSource reconnects automatically, authenticates again and resumes. Each
    person may have 20 streams open at once.
    """
    visible = principal.visible_clusters()

    def is_for_caller(notice: ChangeNotice) -> bool:
        return notice.kind in topics and (visible is None or notice.cluster_id is None or notice.cluster_id in visible)

    # nginx would buffer the response.
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    written = _written(request, holder(principal), is_for_caller, last_event_id)
    return StreamingResponse(written, headers=headers, media_type="text/event-stream")


async def _written(
    request: Request, owner: Holder, is_wanted: Callable[[ChangeNotice], bool], last_event_id: str
) -> AsyncIterator[bytes]:
    feed = FEED.of(request.app.state)
    if not feed.has_place(owner):
        return
    with EVENT_STREAMS.track_inprogress(), feed.subscribe(owner) as subscription:
        # One at a time, outside the shared threads.
        state = request.app.state
        latest, missed = await to_thread.run_sync(
            _catch_up, DATABASE.of(state), last_event_id, limiter=CATCH_UPS.of(state)
        )
        # The id lets a new stream resume.
        begun_at = None if last_event_id else str(latest)
        yield format_sse_event(comment="open", id=begun_at, retry=_RETRY_MILLISECONDS)
        loop = asyncio.get_running_loop()
        ends_at = loop.time() + STREAM_SECONDS
        while True:
            if missed is None:
                yield format_sse_event(event="reset", data_str="{}", id=str(latest))
            wanted_changes = list(filter(is_wanted, missed or ()))
            if wanted_changes:
                yield b"".join(map(_change, wanted_changes))
                latest = max(latest, *(notice.id for notice in wanted_changes))
                await asyncio.sleep(_GATHER_SECONDS)
            try:
                async with asyncio.timeout_at(min(ends_at, loop.time() + _SILENCE_SECONDS)):
                    missed = await subscription.take()
            except TimeoutError:
                if loop.time() >= ends_at:
                    return
                missed = []
                yield format_sse_event(comment="ping")


@lru_cache(maxsize=1024)
def _change(notice: ChangeNotice) -> bytes:
    data = {"kind": notice.kind, "id": notice.subject_id, "version": notice.id, "cluster_id": notice.cluster_id}
    return format_sse_event(event="change", data_str=json.dumps(data, separators=(",", ":")), id=str(notice.id))


def _catch_up(database: Database, last_event_id: str) -> tuple[int, list[ChangeNotice] | None]:
    """Return the latest change's id, and the missed changes; None if unknown."""
    with database.transaction() as session:
        latest = repository.latest_id(session)
        if not last_event_id:
            return latest, []
        if not last_event_id.isdecimal() or int(last_event_id) > LARGEST_ID:
            return latest, None
        missed = repository.missed_since(session, int(last_event_id))
        return latest, None if missed is None else [ChangeNotice.model_validate(change) for change in missed]
