"""Commands that run the service or a part."""

import contextlib
import json
from pathlib import Path
from typing import Annotated

import typer

from iotide_server.accounts.sessions import service as sessions
from iotide_server.bundled.state import default_state_directory
from iotide_server.bundled.up import UpOptions, run_services
from iotide_server.commands.opening import StateOption, require_served_schema, settings_of_environment
from iotide_server.commands.serving import MOST_PROCESSES, Listen, serve, usual_processes
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database, await_server, brief_engine
from iotide_server.kit.loading import uncollected
from iotide_server.kit.logs import LogFormat, configure_logs
from iotide_server.kit.migrations import migrate as migrate_database
from iotide_server.settings import API_PORT, MOST_PORT

PortOption = Annotated[int, typer.Option(min=1, max=MOST_PORT, help="Port of the API and the dashboard.")]
ListenOption = Annotated[
    str | None,
    typer.Option(
        envvar="IOTIDE_LISTEN",
        help="Address for other hosts, with TLS (0.0.0.0: all interfaces); default loopback only.",
    ),
]
PublicNameOption = Annotated[
    str | None,
    typer.Option(
        envvar="IOTIDE_PUBLIC_NAME",
        help="Host name that other hosts use; default the address, or this host's name.",
    ),
]


def up(  # noqa: PLR0913 - each is an option of the command
    *,
    state: StateOption = None,
    listen: ListenOption = None,
    public_name: PublicNameOption = None,
    port: Annotated[
        int, typer.Option(envvar="IOTIDE_PORT", min=1, max=MOST_PORT, help="Port of the API and the dashboard.")
    ] = API_PORT,
    redis_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the private Redis on loopback; default PORT + 1.")
    ] = None,
    redis_tls_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of Redis for other hosts; default PORT + 2.")
    ] = None,
    database_url: Annotated[
        str | None, typer.Option(envvar="IOTIDE_DATABASE_URL", help="Use this PostgreSQL instead of a private one.")
    ] = None,
    redis_url: Annotated[
        str | None, typer.Option(envvar="IOTIDE_REDIS_URL", help="Use this Redis instead of a private one.")
    ] = None,
    log_format: Annotated[
        LogFormat, typer.Option(envvar="IOTIDE_LOG_FORMAT", help="Format of the log files; json: one object per line.")
    ] = LogFormat.PLAIN,
) -> None:
    """Run everything in the foreground: PostgreSQL, Redis, API, scheduler and worker. Ctrl-C stops it.

    `iotide-server setup` makes it a service that starts at boot.
    """
    options = UpOptions(
        state=state or default_state_directory(),
        listen=listen,
        public_name=public_name,
        port=port,
        redis_port=redis_port or port + 1,
        redis_tls_port=redis_tls_port or port + 2,
        database_url=database_url,
        redis_url=redis_url,
        log_format=log_format,
    )
    run_services(options, _say, welcome=_welcome)


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


def api(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: PortOption = API_PORT,
    tls_chain: Annotated[Path | None, typer.Option(help="Certificate chain, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Private key of the certificate, PEM.")] = None,
    processes: Annotated[
        int | None,
        typer.Option(
            envvar="IOTIDE_API_PROCESSES",
            min=1,
            max=MOST_PROCESSES,
            help="Number of API processes; default one per CPU, 2 to 4.",
        ),
    ] = None,
) -> None:
    """Run the API server, which also serves the dashboard."""
    settings = settings_of_environment()
    configure_logs("api", settings.log_format)
    require_served_schema(settings)
    serve(Listen(host, port, tls_chain, tls_key), processes or usual_processes())


def scheduler() -> None:
    """Run the scheduler. If several run, one is active and the others stand by."""
    with uncollected():
        from iotide_server.scheduler import run as run_scheduler  # noqa: PLC0415 - as the comment above says

    settings = settings_of_environment()
    configure_logs("scheduler", settings.log_format)
    require_served_schema(settings)
    run_scheduler(settings)


def worker() -> None:
    """Run the Celery worker for background tasks of the server."""
    with uncollected():
        from iotide_server.worker import run as run_worker  # noqa: PLC0415 - as the comment above says

    settings = settings_of_environment()
    configure_logs("worker", settings.log_format)
    require_served_schema(settings)
    run_worker(settings)


def openapi() -> None:
    """Print the OpenAPI document of the API."""
    with uncollected():
        from iotide_server.main import openapi_document  # noqa: PLC0415 - as the comment above says

    typer.echo(json.dumps(openapi_document(), indent=2))


def _welcome(database_url: str, public_url: str) -> None:
    with brief_engine(database_url) as engine, Database(engine).transaction() as session:
        link = sessions.first_admin_link(session, public_url, system_clock())
    if link is not None:
        _say(f"link to sign in once, within a day: {link}")


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # if the terminal is closed
        typer.echo(line)
