"""Whether the parts of the service answer, for supervisors, load balancers and the person who wonders."""

from typing import Annotated, Literal

from fastapi import APIRouter, Request
from pydantic import Field
from redis import Redis, RedisError
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from iotide_server.accounts.rules import Anyone
from iotide_server.kit.db import Database
from iotide_server.kit.wake import SCHEDULER_LOCK
from iotide_server.kit.web import Output, Tx

router = APIRouter(tags=["health"])

PartState = Literal["ok", "down", "unknown"]


class Health(Output):
    """How the parts are."""

    status: Annotated[Literal["ok", "degraded"], Field(description="`degraded` when any part is not `ok`")]
    database: PartState
    redis: PartState
    scheduler: Annotated[PartState, Field(description="`unknown` while the database is down")]
    version: Annotated[str, Field(examples=["0.1.0"])]


class Ready(Output):
    """The service takes requests."""

    status: Literal["ready"]


@router.get("/health", summary="Show the service's health")
def get_health(_: Anyone, request: Request) -> Health:
    """Always answers with status 200; what is down stands in the body."""
    database, scheduler = _look_at_database(request.app.state.database)
    redis = _look_at_redis(request.app.state.redis)
    is_well = (database, scheduler, redis) == ("ok", "ok", "ok")
    return Health(
        status="ok" if is_well else "degraded",
        database=database,
        redis=redis,
        scheduler=scheduler,
        version=request.app.version,
    )


@router.get("/ready", summary="Ask whether requests can be served")
def get_ready(_: Anyone, session: Tx) -> Ready:
    """Status 503 while the database does not answer."""
    session.execute(text("SELECT 1"))
    return Ready(status="ready")


def _look_at_database(database: Database) -> tuple[PartState, PartState]:
    try:
        with database.transaction() as session:
            schedulers = session.scalars(
                text(
                    "SELECT count(*) FROM pg_locks JOIN pg_database d ON d.oid = pg_locks.database"
                    " WHERE locktype = 'advisory' AND granted AND d.datname = current_database()"
                    " AND (CAST(classid AS bigint) << 32 | CAST(objid AS bigint)) = :lock"
                ),
                {"lock": SCHEDULER_LOCK},
            ).one()
    except SQLAlchemyError:
        return "down", "unknown"
    return "ok", "ok" if schedulers else "down"


def _look_at_redis(redis: Redis) -> PartState:
    try:
        redis.ping()
    except RedisError:
        return "down"
    return "ok"
