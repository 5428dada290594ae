"""The `up` command."""

import contextlib
from importlib import import_module
from typing import Annotated

import typer

from iotide_server.bundled.options import UpOptions
from iotide_server.bundled.ports import API_PORT, MOST_PORT
from iotide_server.bundled.state import default_state_directory
from iotide_server.bundled.up import run_services
from iotide_server.commands.options import ListenOption, PublicNameOption, StateOption
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database, brief_engine
from iotide_server.kit.logs import LogFormat


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


def _welcome(database_url: str, public_url: str) -> None:
    # Loaded once all parts run, which it would delay by a fifth of a second.
    from iotide_server.accounts.sessions import service as sessions  # noqa: PLC0415

    import_module("iotide_server.clusters.models")  # the tables of accounts refer to its tables

    with brief_engine(database_url) as engine, Database(engine).transaction() as session:
        link = sessions.first_admin_link(session, public_url, system_clock())
    if link is not None:
        _say(f"link to sign in once, within a day: {link}")


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # if the terminal is closed
        typer.echo(line)
