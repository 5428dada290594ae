"""Routes of the overview."""

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from iotide_server.accounts.roles.rules import Viewer
from iotide_server.kit.web import Now, Tx
from iotide_server.overview import metric_states, service
from iotide_server.overview.metric_states import MetricChoice
from iotide_server.overview.schemas import Board, MetricBoard, Throughput
from iotide_server.overview.throughput import ThroughputChoice, throughput

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


@router.get("/board/throughput", summary="Show a metric of all clusters over time")
def get_throughput(
    principal: Viewer, session: Tx, now: Now, wanted: Annotated[ThroughputChoice, Depends()]
) -> Throughput:
    """Return the medians of one metric by cluster and day. Omitted parameters mean the most widespread metric.

    Each series counts relative to its own median in the period, so that a day with fewer series makes no step.
    """
    return throughput(session, principal, wanted, now)


@router.get("/board/series", summary="Show the states of a metric's series")
def get_metric_board(
    principal: Viewer, session: Tx, now: Now, wanted: Annotated[MetricChoice, Depends()]
) -> MetricBoard:
    """Return the state of each series of a metric, worst first, and which workloads and metrics were measured."""
    return metric_states.metric_board(session, principal, wanted, now)
