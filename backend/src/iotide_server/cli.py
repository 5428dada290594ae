"""The commands of the server: one that brings everything up, one for each part, and what an administrator needs."""

import contextlib
import json
import logging
import os
import sys
from pathlib import Path
from typing import Annotated

import typer
import uvicorn
from pydantic import ValidationError
from sqlalchemy.exc import OperationalError

from iotide_server.accounts import sessions
from iotide_server.embedded.problems import StartError
from iotide_server.embedded.state import default_state_directory
from iotide_server.embedded.up import UpOptions, read_environment, run_services
from iotide_server.kit.clock import system_clock
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.migrations import migrate as migrate_database
from iotide_server.main import create_app, openapi_document
from iotide_server.settings import Settings

_BAD_INPUT = 2
_API_PORT = 8470
_OPEN_REQUESTS_SECONDS = 5

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        envvar="IOTIDE_STATE",
        help="Directory of the private services; by default ~/.local/share/iotide, for root /var/lib/iotide.",
    ),
]
PortOption = Annotated[int, typer.Option(min=1, max=65533, help="Port of the API and the browser pages.")]


@app.command()
def up(  # noqa: PLR0913 - each is an option of the command
    *,
    state: StateOption = None,
    listen: Annotated[
        str | None, typer.Option(help="Address that other hosts may reach, by TLS (0.0.0.0: all); else loopback only.")
    ] = None,
    public_name: Annotated[
        str | None, typer.Option(help="Host name by which they reach it; by default the address, or this host's name.")
    ] = None,
    port: PortOption = _API_PORT,
    redis_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of the private Redis on loopback; by default PORT + 1.")
    ] = None,
    redis_tls_port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of Redis for other hosts; by default PORT + 2.")
    ] = None,
    database_url: Annotated[
        str | None, typer.Option(envvar="IOTIDE_DATABASE_URL", help="Use this PostgreSQL instead of a private one.")
    ] = None,
    redis_url: Annotated[
        str | None, typer.Option(envvar="IOTIDE_REDIS_URL", help="Use this Redis instead of a private one.")
    ] = None,
) -> None:
    """Bring up everything in the foreground: PostgreSQL, Redis, API, scheduler and worker. Ctrl-C stops it."""
    options = UpOptions(
        state=state or default_state_directory(),
        listen=listen,
        public_name=public_name,
        port=port,
        redis_port=redis_port or port + 1,
        redis_tls_port=redis_tls_port or port + 2,
        database_url=database_url,
        redis_url=redis_url,
    )
    run_services(options, _say)


@app.command()
def migrate() -> None:
    """Bring the database to the schema of this release."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    engine = open_engine(_settings().database_url.get_secret_value())
    migrate_database(engine)
    engine.dispose()


@app.command()
def api(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: PortOption = _API_PORT,
    tls_chain: Annotated[Path | None, typer.Option(help="Certificate and its issuers, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's private key, PEM.")] = None,
) -> None:
    """Serve the API and the browser pages."""
    uvicorn.run(
        create_app(_settings()),
        host=host,
        port=port,
        ssl_certfile=tls_chain,
        ssl_keyfile=tls_key,
        access_log=False,
        # A news stream never ends by itself.
        timeout_graceful_shutdown=_OPEN_REQUESTS_SECONDS,
    )


@app.command()
def openapi() -> None:
    """Print the API's description."""
    typer.echo(json.dumps(openapi_document(), indent=2))


@app.command()
def admin_link(state: StateOption = None) -> None:
    """Print a link that signs the first administrator in, once and within a day."""
    settings = _settings_of(state)
    engine = open_engine(settings.database_url.get_secret_value())
    with Database(engine).transaction() as session:
        link = sessions.admin_link(session, settings.public_url, system_clock())
    engine.dispose()
    typer.echo(link)


def main() -> None:
    """Run the command line; what cannot be done as asked ends with status 2 and says what to do instead."""
    try:
        app()
    except StartError as error:
        _refuse(str(error))
    except OperationalError as error:
        _refuse(f"The database cannot be reached: {error.orig}")


def _settings() -> Settings:
    """From the environment.

    Raises:
        StartError: naming the variables that are missing or wrong.
    """
    try:
        return Settings()
    except ValidationError as error:
        wrong = "; ".join(f"IOTIDE_{detail['loc'][0]}".upper() + f": {detail['msg']}" for detail in error.errors())
        raise StartError(
            f"The settings are not complete: {wrong}.", remedy="Set these environment variables."
        ) from error


def _settings_of(state: Path | None) -> Settings:
    """Of the services that `up` runs on the state directory; when none is named, of the environment if it has them."""
    if state is None:
        with contextlib.suppress(StartError):
            return _settings()
    os.environ.update(read_environment(state or default_state_directory()))
    return _settings()


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # a terminal that was closed stops nothing
        typer.echo(line)


def _refuse(text: str) -> None:
    typer.echo(text, err=True)
    sys.exit(_BAD_INPUT)


if __name__ == "__main__":
    main()
