"""Builds the API application."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from anyio import CapacityLimiter
from fastapi import APIRouter, FastAPI
from fastapi.routing import APIRoute
from pydantic import SecretStr
from redis import Redis
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import PlainTextResponse

from iotide_server.accounts.audit.routes import router as audit
from iotide_server.accounts.oidc.provider import PROVIDER, Provider
from iotide_server.accounts.oidc.routes import CALLBACK
from iotide_server.accounts.oidc.routes import router as oidc
from iotide_server.accounts.roles.known_callers import KNOCKS
from iotide_server.accounts.roles.page_holders import INTRODUCTIONS, PageHolders, network_holder
from iotide_server.accounts.roles.rules import PAGE_HOLDERS
from iotide_server.accounts.routes import router as accounts
from iotide_server.accounts.service import ENDS_WITH_USER
from iotide_server.accounts.sessions.rotation import SESSION_TERMS
from iotide_server.accounts.sessions.routes import HASH_TURNS
from iotide_server.accounts.sessions.routes import router as sessions
from iotide_server.advice.routes import router as advice
from iotide_server.agent_access import REDIS_SECONDS, agent_access, agent_shelf
from iotide_server.agent_api.heartbeats_first import HeartbeatsFirst
from iotide_server.agent_api.idle_heartbeats import IDLE_HEARTBEATS, IdleHeartbeats
from iotide_server.agent_api.routes import router as agent_api
from iotide_server.agent_api.routes import take_heartbeat
from iotide_server.agent_files.routes import (
    FETCH_RATE,
    FETCHES,
    FETCHES_A_MINUTE,
    MOST_WAITING_FETCHES,
    fetching_holder,
)
from iotide_server.agent_files.routes import router as agent_files
from iotide_server.agent_files.shelf import AGENT_SHELF, AgentShelf
from iotide_server.alerts.incidents.routes import router as incidents
from iotide_server.alerts.routes import router as alerts
from iotide_server.campaigns.routes import router as campaigns
from iotide_server.change_feed.feed import FEED, Feed
from iotide_server.change_feed.health import HEALTH, REDIS, KeptHealth
from iotide_server.change_feed.health import router as health
from iotide_server.change_feed.routes import CATCH_UPS
from iotide_server.change_feed.routes import router as change_feed
from iotide_server.clusters.agents.access import AGENT_ACCESS
from iotide_server.clusters.agents.rules import HELLO_RATE, HelloRate, node_holder
from iotide_server.clusters.routes import router as clusters
from iotide_server.explorer.routes import router as explorer
from iotide_server.kit.assets import serve_assets, serve_docs
from iotide_server.kit.bodies import BODIES, Bodies, BodyLimit
from iotide_server.kit.clock import CLOCK, Clock, system_clock
from iotide_server.kit.db import CALLER_CONNECTIONS, CONNECTIONS, DATABASE, HEARTBEAT_CONNECTIONS, Database, open_engine
from iotide_server.kit.guard import Guard
from iotide_server.kit.metering import Metering
from iotide_server.kit.one_each import ONE_EACH, ONE_NODE_EACH, OneEach
from iotide_server.kit.openapi import DescribedApi
from iotide_server.kit.proxies import behind_proxies
from iotide_server.kit.quotas import IN_SESSION
from iotide_server.kit.rates import Rate
from iotide_server.kit.turns import TURNS, Turns
from iotide_server.kit.vault import VAULT
from iotide_server.kit.web import PUBLIC_READ, PUBLIC_URL, install_error_handlers
from iotide_server.monitoring.exposition import (
    API_OFFSET,
    ProcessMetrics,
    count_connections,
    registry_of,
    serve_metrics,
)
from iotide_server.monitoring.processes import shared_directory
from iotide_server.monitoring.routes import METRICS, METRICS_OF_NODES
from iotide_server.monitoring.routes import router as monitoring
from iotide_server.monitoring.site import SiteMetrics, node_metrics, site_metrics
from iotide_server.notifications.addresses import REACH
from iotide_server.notifications.deliveries import OFFICE, Office
from iotide_server.notifications.routes import CHANNEL_TESTS, ONE_CHANNEL_TEST_EACH
from iotide_server.notifications.routes import router as notifications
from iotide_server.notifications.sending import Courier
from iotide_server.overview.routes import router as overview
from iotide_server.printing.printer import PRINTER, Printer, find_chromium
from iotide_server.printing.routes import router as printing
from iotide_server.published.routes import router as published
from iotide_server.results.campaign_routes import UNKNOWN_EXPORTS
from iotide_server.results.campaign_routes import router as campaign_results
from iotide_server.results.ingest.limits import REPORT_LIMITS
from iotide_server.results.routes import RAW_OUTPUT
from iotide_server.results.routes import router as results
from iotide_server.results.surfaces.routes import router as surfaces
from iotide_server.runs.routes import router as runs
from iotide_server.schedules.routes import router as schedules
from iotide_server.schedules.service import pause_all_of
from iotide_server.scratch.routes import router as scratch
from iotide_server.settings import Settings
from iotide_server.targets.routes import router as targets
from iotide_server.templates.routes import router as templates
from iotide_server.trends.routes import router as trends
from iotide_server.workloads.routes import router as workloads
from iotide_wire.units import KIB, MIB

API: Final = "/api/v1"
SLICES: Final[tuple[APIRouter, ...]] = (
    agent_api,  # first: routes are matched in order, and agents send most requests
    *(health, sessions, oidc, accounts, audit, clusters, targets, scratch, workloads),
    *(campaigns, campaign_results, schedules, templates, runs, results, surfaces, printing),
    *(trends, advice, alerts, incidents, explorer, overview, notifications, published, change_feed),
)
HEARTBEAT_ROUTE: Final = next(
    route for route in agent_api.routes if isinstance(route, APIRoute) and route.endpoint is take_heartbeat
)
RAW_PATHS: Final = re.compile(rf"{API}/agent/orders/\d+/artefacts/[^/]+")
BODY_LIMITS: Final = {
    re.compile(rf"{API}/session(/link)?"): BodyLimit(size_bytes=16 * KIB),  # no authentication
    # the same, with the facts of a host
    re.compile(rf"{API}/agent/enroll"): BodyLimit(size_bytes=64 * KIB),
    re.compile(rf"{API}/agent/(rotation(/confirm)?|orders/\d+/claim)"): BodyLimit(size_bytes=64 * KIB),
    # Four orders, each with ten minutes of curves of every counter, or hours after a server outage.
    re.compile(rf"{API}/agent/beat"): BodyLimit(size_bytes=8 * MIB, values=500_000, queue="-beats"),
    re.compile(rf"{API}/agent/batch"): BodyLimit(size_bytes=8 * MIB),  # ten thousand jobs and as many hosts
    re.compile(rf"{API}/agent/hello"): BodyLimit(size_bytes=8 * MIB),  # a thousand mounts with the longest options
    re.compile(rf"{API}/agent/orders/\d+/finish"): BodyLimit(
        size_bytes=16 * MIB, lists=120_000, names=400_000, values=1_500_000
    ),
    RAW_PATHS: BodyLimit(size_bytes=16 * MIB),
}


MOST_OF_A_NODE: Final = 8
"""Concurrent requests of a node in a process. The agent retries rejected ones."""

MOST_CHANNEL_TESTS: Final = 4
"""Concurrent test messages per process. Each may take 30 seconds."""


def create_app(settings: Settings, clock: Clock = system_clock) -> FastAPI:
    """Return the ASGI application. It connects on first use and disconnects on shutdown."""
    database_url = settings.database_url.get_secret_value()
    database = Database(
        open_engine(database_url, pool_size=CONNECTIONS, statement_seconds=settings.statement_seconds),
        for_heartbeats=open_engine(
            database_url,
            pool_size=HEARTBEAT_CONNECTIONS + CALLER_CONNECTIONS,
            statement_seconds=settings.statement_seconds,
        ),
        info={IN_SESSION: settings.quotas},
    )
    redis = Redis.from_url(
        settings.redis_url.get_secret_value(), socket_timeout=REDIS_SECONDS, socket_connect_timeout=REDIS_SECONDS
    )
    shelf = agent_shelf(settings)
    access = agent_access(settings, shelf)
    feed = Feed(database_url)
    turns = Turns(database_url)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        serve_metrics(METRICS.of(app.state), settings.metrics_address, API_OFFSET)
        listening = asyncio.create_task(feed.run())
        try:
            yield
        finally:
            with ExitStack() as closing:
                for close in (
                    redis.close,
                    access.redis_admin.close,
                    database.engine.dispose,
                    database.heartbeats.engine.dispose,
                    turns.close,
                ):
                    closing.callback(close)
                listening.cancel()
                with suppress(asyncio.CancelledError):
                    await listening

    app = DescribedApi(
        title="iotide",
        version=version("iotide-server"),
        summary="Distributed benchmark service for storage on clusters",
        lifespan=lifespan,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,
        redoc_url=None,
        generate_unique_id_function=_operation_id,
        # kit/meters.py counts. FastAPI would search for OpenTelemetry exporters on each request.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
    )
    DATABASE.put(app.state, database)
    REDIS.put(app.state, redis)
    CLOCK.put(app.state, clock)
    BODIES.put(app.state, Bodies(shared_directory()))
    IDLE_HEARTBEATS.put(app.state, IdleHeartbeats(app.state))
    FEED.put(app.state, feed)
    TURNS.put(app.state, turns)
    AGENT_ACCESS.put(app.state, access)
    PUBLIC_URL.put(app.state, settings.public_url)
    PUBLIC_READ.put(app.state, settings.public_read)
    SESSION_TERMS.put(app.state, settings.session_terms)
    PROVIDER.put(app.state, _provider(settings))
    ENDS_WITH_USER.put(app.state, pause_all_of)
    VAULT.put(app.state, settings.vault)
    REACH.put(app.state, settings.reach)
    PRINTER.put(app.state, Printer(find_chromium(settings.chromium)))
    OFFICE.put(app.state, Office(settings.vault, Courier(REACH.of(app.state)), settings.public_url, clock))
    _bound_pages(app)
    measure(app)
    install_error_handlers(app)
    for router in SLICES:
        app.include_router(router, prefix=API)
    app.include_router(monitoring)
    _serve_agents(app, settings, shelf)
    _serve_built(app, settings)
    app.add_middleware(GZipMiddleware, minimum_size=1024, compresslevel=5)
    app.add_middleware(HeartbeatsFirst, path=f"{API}{HEARTBEAT_ROUTE.path}", route=HEARTBEAT_ROUTE)
    app.add_middleware(Guard, body_limits=BODY_LIMITS, raw_paths=RAW_PATHS)
    app.add_middleware(behind_proxies, trusted=settings.trusted_proxies)
    app.add_middleware(Metering, api=API)
    return app


def _serve_built(app: FastAPI, settings: Settings) -> None:
    """Serve documentation and dashboard."""
    serve_docs(app, settings.docs_directory or _built("docs", "docs/site/dist/html"))
    _serve_frontend(app, settings.frontend_directory or _built("frontend", "frontend/dist"))


def _bound_pages(app: FastAPI) -> None:
    PAGE_HOLDERS.put(app.state, PageHolders())
    ONE_EACH.put(app.state, OneEach(PAGE_HOLDERS.of(app.state).holder_of))
    ONE_NODE_EACH.put(app.state, OneEach(node_holder, MOST_OF_A_NODE))
    HASH_TURNS.put(app.state, OneEach(network_holder))
    KNOCKS.put(app.state, CapacityLimiter(1))
    INTRODUCTIONS.put(app.state, CapacityLimiter(1))
    CATCH_UPS.put(app.state, CapacityLimiter(1))
    RAW_OUTPUT.put(app.state, CapacityLimiter(1))
    UNKNOWN_EXPORTS.put(app.state, CapacityLimiter(1))
    CHANNEL_TESTS.put(app.state, CapacityLimiter(MOST_CHANNEL_TESTS))
    ONE_CHANNEL_TEST_EACH.put(app.state, OneEach(PAGE_HOLDERS.of(app.state).known_holder_of))


def _serve_agents(app: FastAPI, settings: Settings, shelf: AgentShelf) -> None:
    REPORT_LIMITS.put(app.state, settings.report_limits)
    HELLO_RATE.put(app.state, HelloRate(settings.report_limits.hellos_a_minute))
    AGENT_SHELF.put(app.state, shelf)
    FETCHES.put(app.state, OneEach(fetching_holder, MOST_WAITING_FETCHES))
    FETCH_RATE.put(app.state, Rate(FETCHES_A_MINUTE))
    app.include_router(agent_files)


def _provider(settings: Settings) -> Provider | None:
    redirect_uri = f"{settings.public_url.rstrip('/')}{API}{CALLBACK}"
    return None if settings.oidc is None else Provider(settings.oidc, redirect_uri)


def openapi_document() -> dict[str, Any]:
    app = create_app(
        Settings(database_url=SecretStr("postgresql://nowhere/none"), redis_url=SecretStr("redis://nowhere"))
    )
    return app.openapi()


def measure(app: FastAPI) -> None:
    HEALTH.put(app.state, KeptHealth())
    database, redis, clock = DATABASE.of(app.state), REDIS.of(app.state), CLOCK.of(app.state)
    process = ProcessMetrics("api", database.engine)
    if database.heartbeats is not database:
        count_connections(database.heartbeats.engine)
    METRICS.put(app.state, registry_of(process, SiteMetrics(database, redis, clock, site_metrics)))
    with_nodes = SiteMetrics(database, redis, clock, site_metrics, node_metrics)
    METRICS_OF_NODES.put(app.state, registry_of(process, with_nodes))


def _operation_id(route: APIRoute) -> str:
    """Generated clients name the operation like the function."""
    return route.name


def _built(name: str, in_repository: str) -> Path:
    package = Path(str(files("iotide_server")))
    bundled = package / name
    return bundled if bundled.is_dir() else package.parents[2] / in_repository


def _serve_frontend(app: FastAPI, directory: Path) -> None:
    if (directory / "index.html").is_file():
        serve_assets(app, directory / "assets")
        app.frontend("/", directory=directory, fallback="index.html")
        return

    async def say_what_is_missing(*_: object) -> PlainTextResponse:
        return PlainTextResponse("The dashboard is not built: run `npm run build` in frontend/.\n", 503)

    app.add_route("/", say_what_is_missing, include_in_schema=False)
