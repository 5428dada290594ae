"""Builds the API: the slices' routes, the middlewares around them and the browser application beside them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import SecretStr

from iotide_server.clusters.routes import router as clusters
from iotide_server.kit.clock import Clock, system_clock
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.web import ERRORS, install_error_handlers
from iotide_server.settings import Settings

API = "/api/v1"
SLICES: tuple[APIRouter, ...] = (clusters,)


def create_app(settings: Settings, clock: Clock = system_clock) -> FastAPI:
    """The ASGI application; it opens its connections when it starts and closes them when it stops."""
    database = Database(open_engine(settings.database_url.get_secret_value()))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        database.engine.dispose()

    app = FastAPI(
        title="iotide",
        version="0.1.0",
        summary="Distributed benchmark service for storage on clusters",
        lifespan=lifespan,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_operation_id,
    )
    app.state.database = database
    app.state.clock = clock
    app.state.settings = settings
    install_error_handlers(app)
    for router in SLICES:
        app.include_router(router, prefix=API, responses=ERRORS)
    return app


def openapi_document() -> dict[str, Any]:
    """The API's description; needs neither database nor broker."""
    nowhere = SecretStr("postgresql://nowhere/none")
    return create_app(Settings(database_url=nowhere, redis_url=nowhere)).openapi()


def _operation_id(route: APIRoute) -> str:
    """The function's name: the generated clients call the operation by it."""
    return route.name
