"""Route of the status board."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.web import Now, Tx
from iotide_server.overview import service
from iotide_server.overview.schemas import Board

router = APIRouter(tags=["board"])


@router.get("/board", summary="Show the status board")
def get_board(
    principal: Viewer,
    session: Tx,
    now: Now,
    days: Annotated[int, Query(ge=1, le=3650, description="Length of the period")] = 90,
) -> Board:
    """Return what is slower, faster, noisier or stale by cluster and workload, and what needs attention.

    A series is compared with its last healthy level: the best one since an expected change. The period selects series
    and recoveries, but does not affect states. Stale series are always listed.
    """
    return service.board(session, principal, now - timedelta(days=days), now)
