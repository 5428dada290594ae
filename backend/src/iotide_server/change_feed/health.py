"""Health routes."""

from datetime import datetime, timedelta
from typing import Annotated, Final, Literal

from anyio import CapacityLimiter, Lock, to_thread
from fastapi import APIRouter, Depends, FastAPI, Request
from pydantic import Field
from redis import Redis, RedisError
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.rules import Anyone
from iotide_server.kit.app_values import AppValue
from iotide_server.kit.clock import CLOCK
from iotide_server.kit.db import DATABASE, Database, StorageFailure, storage_failure
from iotide_server.kit.errors import ErrorKind
from iotide_server.kit.migrations import RevisionState, schema_state
from iotide_server.kit.pulse import WORKER_LATE_AFTER, pulse_lateness
from iotide_server.kit.wake import is_scheduled
from iotide_server.kit.web import Output, errors, storage_failed_lately, transaction

REDIS: Final[AppValue["Redis"]] = AppValue("redis")
HEALTH: Final[AppValue["KeptHealth"]] = AppValue("health")


router = APIRouter(tags=["health"])

PartState = Literal["ok", "down", "full", "unknown"]
_FRESH_FOR: Final = timedelta(seconds=1)
_ReadyTx = Annotated[Session, Depends(transaction, scope="function", max_concurrency=1)]
"""One at a time, so that anonymous readers block neither pages nor supervisors."""
_DISK_FULL: Final = "No space left on device"

SCHEMA_NOT_READY = ErrorKind(503, "schema_not_ready", shows="found").says(
    "{words}", "run `iotide-server migrate` of this release, or start the release that created the schema"
)


class Health(Output):
    status: Annotated[Literal["ok", "degraded"], Field(description="`degraded` if any part is not `ok`")]
    database: Annotated[
        PartState, Field(description="`full` if this process met a full database disk within the last minute")
    ]
    redis: Annotated[PartState, Field(description="`full` if the disk of its append-only file is full")]
    scheduler: Annotated[PartState, Field(description="`unknown` while the database is down")]
    worker: Annotated[
        PartState,
        Field(description="`down` if its work is overdue by a minute; `unknown` without a scheduler"),
    ]
    version: Annotated[str, Field(examples=["0.1.0"])]


class Alive(Output):
    status: Literal["alive"]


class Ready(Output):
    status: Literal["ready"]


class KeptHealth:
    """Caches the public route's health for a second."""

    def __init__(self) -> None:
        self._turn = Lock()
        self._thread = CapacityLimiter(1)
        self._looks = 0
        self._kept: Health | None = None
        self._fresh_until: datetime | None = None

    async def of(self, app: FastAPI) -> Health:
        clock = CLOCK.of(app.state)
        looks = self._looks
        async with self._turn:
            now = clock()
            is_fresh = self._fresh_until is not None and now < self._fresh_until <= now + _FRESH_FOR
            # Requests that waited for a check use its result.
            if self._kept is None or not (is_fresh or looks != self._looks):
                self._kept = await to_thread.run_sync(_look, app, limiter=self._thread)
                self._looks += 1
                self._fresh_until = clock() + _FRESH_FOR
            return self._kept


@router.get("/health", summary="Show the service's health")
async def get_health(_: Anyone, request: Request) -> Health:
    """The status is 200 even if a part is down. The response is cached for a second."""
    kept = HEALTH.of(request.app.state)
    return await kept.of(request.app)


def _look(app: FastAPI) -> Health:
    # Uses the heartbeats' connections, which pages cannot occupy.
    database, scheduler, worker = _look_at_database(DATABASE.of(app.state).heartbeats)
    failed = storage_failed_lately(app.state)
    if database == "ok" and failed is not None:
        database = "full" if failed is StorageFailure.FULL else "down"
    redis = _look_at_redis(REDIS.of(app.state))
    is_well = {database, scheduler, worker, redis} == {"ok"}
    return Health(
        status="ok" if is_well else "degraded",
        database=database,
        redis=redis,
        scheduler=scheduler,
        worker=worker,
        version=app.version,
    )


@router.get("/alive", summary="Check that the process responds")
async def get_alive(_: Anyone) -> Alive:
    """Checks only the process itself, so that a supervisor does not restart it when the database is down."""
    return Alive(status="alive")


@router.get("/ready", summary="Check that requests can be served", responses=errors(503))
def get_ready(_: Anyone, session: _ReadyTx) -> Ready:
    """Status 503 while the database is unavailable, or its schema is older than this release.

    A newer schema is accepted: each release works on the next release's schema.
    """
    schema = schema_state(session)
    if schema.standing in {RevisionState.BEHIND, RevisionState.EMPTY}:
        raise SCHEMA_NOT_READY(words=schema.words, found=schema.found)
    return Ready(status="ready")


def _look_at_database(database: Database) -> tuple[PartState, PartState, PartState]:
    try:
        with database.transaction() as session:
            is_there = is_scheduled(session)
            worker = _worker(pulse_lateness(session), has_scheduler=is_there)
    except SQLAlchemyError as error:
        return "full" if storage_failure(error) is StorageFailure.FULL else "down", "unknown", "unknown"
    return "ok", "ok" if is_there else "down", worker


def _worker(lateness: timedelta | None, *, has_scheduler: bool) -> PartState:
    if lateness is None or not has_scheduler:
        return "unknown"
    return "ok" if lateness < WORKER_LATE_AFTER else "down"


def _look_at_redis(redis: Redis) -> PartState:
    try:
        redis.ping()
    except RedisError as error:  # a Redis that cannot write its file answers PING with an error
        return "full" if _DISK_FULL in str(error) else "down"
    return "ok"
