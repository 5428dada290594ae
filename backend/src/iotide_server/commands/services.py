"""Commands that run a part of the service."""

import json
from typing import Annotated

import typer

from iotide_server.commands.opening import require_served_schema, settings_of_environment
from iotide_server.kit.db import await_server, brief_engine
from iotide_server.kit.loading import uncollected
from iotide_server.kit.logs import configure_logs
from iotide_server.kit.migrations import migrate as migrate_database


def migrate(
    *,
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait until PostgreSQL is available, for instance at boot.")
    ] = False,
) -> None:
    """Migrate the database to the schema of this release."""
    settings = settings_of_environment()
    configure_logs("migrate", settings.log_format)
    if wait:
        await_server(settings.database_url.get_secret_value())
    with brief_engine(settings.database_url.get_secret_value()) as engine:
        migrate_database(engine)


def scheduler() -> None:
    """Run the scheduler. If several run, one is active and the others stand by."""
    with uncollected():
        from iotide_server.scheduler import run as run_scheduler  # noqa: PLC0415 - other commands do not load it

    settings = settings_of_environment()
    configure_logs("scheduler", settings.log_format)
    require_served_schema(settings)
    run_scheduler(settings)


def worker() -> None:
    """Run the Celery worker for background tasks of the server."""
    with uncollected():
        from iotide_server.worker import run as run_worker  # noqa: PLC0415 - other commands do not load it

    settings = settings_of_environment()
    configure_logs("worker", settings.log_format)
    require_served_schema(settings)
    run_worker(settings)


def openapi() -> None:
    """Print the OpenAPI document of the API."""
    with uncollected():
        from iotide_server.main import openapi_document  # noqa: PLC0415 - other commands do not load it

    typer.echo(json.dumps(openapi_document(), indent=2))
