"""Route of the status board."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.web import Now, Tx
from iotide_server.overview import service
from iotide_server.overview.schemas import Board

router = APIRouter(tags=["board"])


@router.get("/board", summary="Show what is not as it was")
def get_board(
    principal: Viewer,
    session: Tx,
    now: Now,
    days: Annotated[int, Query(ge=1, le=3650, description="How long ago the period begins")] = 90,
) -> Board:
    """By cluster and workload: slower, faster, noisier or without data, since when, and what needs attention.

    A series is compared with its last healthy level: the best one since a person expected a change. The period decides
    which series are listed and which recoveries are reported, never a state. Series without new data are listed always.
    """
    return service.board(session, principal, now - timedelta(days=days), now)
