"""Routes of trends."""

from typing import Annotated

from fastapi import APIRouter, Query

from iotide_server.accounts.rules import Viewer
from iotide_server.kit.web import Id, Tx, errors
from iotide_server.trends import service
from iotide_server.trends.schemas import Points

router = APIRouter(tags=["trends"])


@router.get("/series/{series_id}/points", summary="Show the trend of a series", responses=errors(404))
def get_series_points(
    principal: Viewer,
    session: Tx,
    series_id: Id,
    limit: Annotated[int, Query(ge=1, le=10_000, description="The newest points, at most so many")] = 2000,
) -> Points:
    """One point a campaign cell: the median of its valid runs with their range, oldest first."""
    return service.series_points(session, principal, series_id, limit)
