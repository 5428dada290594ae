"""Route of the status board."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.rules import Viewer
from iotide_server.board import service
from iotide_server.board.schemas import Board
from iotide_server.kit.web import Now, Tx

router = APIRouter(tags=["board"])


@router.get("/board", summary="Show what is not as it was")
def get_board(
    principal: Viewer,
    session: Tx,
    now: Now,
    days: Annotated[int, Query(ge=1, le=3650, description="How long ago the period begins")] = 90,
) -> Board:
    """By cluster and workload: slower, faster, noisier or stopped, and since when, beside the beginning of the period.

    A change that goes back within 3 % of where it came from counts no more, and one that somebody expected makes the
    level after it the normal one. A change whose alert is still open counts also where it is older than the period.
    """
    return service.board(session, principal, now - timedelta(days=days), now)
