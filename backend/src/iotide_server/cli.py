"""The commands of the server: one that brings everything up, one for each part, and what an administrator needs."""

import contextlib
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import asdict
from datetime import timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import psycopg
import typer
import uvicorn
from pydantic import ValidationError
from rich.console import Console
from rich.progress import Progress
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from iotide_server.accounts import sessions
from iotide_server.accounts.models import Role
from iotide_server.clusters import enrolment
from iotide_server.clusters import service as clusters
from iotide_server.demo_history.forgetting import forget_history, made_up_clusters
from iotide_server.embedded.problems import StartError
from iotide_server.embedded.state import default_state_directory
from iotide_server.embedded.up import UpOptions, read_environment, run_services
from iotide_server.keeping.commands import add_commands
from iotide_server.kit.clock import system_clock
from iotide_server.kit.connections import BoundedProtocol
from iotide_server.kit.db import Database, open_engine
from iotide_server.kit.errors import IotideError
from iotide_server.kit.logs import LogFormat, configure_logs
from iotide_server.kit.migrations import migrate as migrate_database
from iotide_server.kit.migrations import require_schema
from iotide_server.main import agent_access, create_app, openapi_document
from iotide_server.operations.doctor.examination import Installation, examine
from iotide_server.operations.doctor.findings import Standing, in_lines
from iotide_server.people_commands import OpenServer, StateOption, add_people_commands
from iotide_server.published.sources import read_edition
from iotide_server.retention.commands import add_commands as add_retention
from iotide_server.scheduler import run as run_scheduler
from iotide_server.settings import API_PORT, Settings

_SOMETHING_WRONG = 1
_BAD_INPUT = 2
_OPEN_REQUESTS_SECONDS = 5

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)

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
    port: PortOption = API_PORT,
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
    log_format: Annotated[
        LogFormat, typer.Option(envvar="IOTIDE_LOG_FORMAT", help="Of the log files; json: an object a line.")
    ] = LogFormat.PLAIN,
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
        log_format=log_format,
    )
    run_services(options, _say, welcome=_welcome)


@app.command()
def migrate() -> None:
    """Bring the database to the schema of this release."""
    settings = _settings()
    configure_logs("migrate", settings.log_format)
    engine = open_engine(settings.database_url.get_secret_value())
    migrate_database(engine)
    engine.dispose()


@app.command()
def api(
    *,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: PortOption = API_PORT,
    tls_chain: Annotated[Path | None, typer.Option(help="Certificate and its issuers, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="The certificate's private key, PEM.")] = None,
) -> None:
    """Serve the API and the browser pages."""
    settings = _settings()
    configure_logs("api", settings.log_format)
    _require_schema(settings)
    uvicorn.run(
        create_app(settings),
        host=host,
        port=port,
        ssl_certfile=tls_chain,
        ssl_keyfile=tls_key,
        access_log=False,
        proxy_headers=False,  # kit/proxies.py does it: uvicorn would believe whatever comes from this machine
        log_config=None,  # its lines go where ours go
        http=BoundedProtocol,
        # A news stream never ends by itself.
        timeout_graceful_shutdown=_OPEN_REQUESTS_SECONDS,
    )


@app.command()
def scheduler() -> None:
    """Run the scheduler; of several, one works and the others wait."""
    settings = _settings()
    configure_logs("scheduler", settings.log_format)
    _require_schema(settings)
    run_scheduler(settings)


@app.command()
def worker() -> None:
    """Run the Celery worker that does the server's own work."""
    # What it computes with is a second and 80 MB more, which no other command needs.
    from iotide_server.worker import run as run_worker  # noqa: PLC0415

    settings = _settings()
    configure_logs("worker", settings.log_format)
    _require_schema(settings)
    run_worker(settings)


@app.command()
def doctor(
    *,
    state: StateOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program instead of lines.")] = False,
) -> None:
    """Say what is wrong with the service and how to mend it; status 1 where something is."""
    settings = _settings_of(state)
    directory = state or default_state_directory()
    installation = Installation(
        database_url=settings.database_url.get_secret_value(),
        redis_url=settings.redis_url.get_secret_value(),
        redis_admin_url=settings.redis_acl_url,
        public_url=settings.public_url,
        broker_url=agent_access(settings).broker_url,
        ca_certificate=settings.ca_certificate,
        metrics_host=settings.metrics_address and settings.metrics_address.host,
        vault=settings.vault,
        directories=(directory,) if directory.is_dir() else (),
        version=version("iotide-server"),
        is_public=settings.public_read,
    )
    findings = examine(installation, system_clock)
    typer.echo(json.dumps([asdict(finding) for finding in findings], indent=1) if as_json else in_lines(findings))
    if any(finding.standing is Standing.WRONG for finding in findings):
        raise typer.Exit(_SOMETHING_WRONG)


@app.command()
def openapi() -> None:
    """Print the API's description."""
    typer.echo(json.dumps(openapi_document(), indent=2))


@app.command()
def admin_link(state: StateOption = None) -> None:
    """Print a link that signs the first administrator in, once and within a day."""
    settings = _settings_of(state)
    with _transaction(settings.database_url.get_secret_value()) as session:
        link = sessions.admin_link(session, settings.public_url, system_clock())
    typer.echo(link)


@app.command()
def join_token(  # noqa: PLR0913 - each is an option of the command
    cluster: Annotated[str, typer.Argument(help="Name of the cluster.")],
    *,
    state: StateOption = None,
    uses: Annotated[int, typer.Option(min=1, max=10_000, help="How many nodes it lets in.")] = 1,
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 365, help="How long it is good for.")] = 1,
    approval: Annotated[
        bool | None,
        typer.Option(help="Who enrolls with it waits until somebody lets them in; by default if it is for several."),
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Make the cluster when there is none of the name.")] = False,
    token_file: Annotated[
        Path | None, typer.Option(help="Write the token alone to this file, for `iotide-agent enroll` in a script.")
    ] = None,
) -> None:
    """Print the command that lets a new node into a cluster."""
    settings = _settings_of(state)
    access = agent_access(settings)
    now = system_clock()
    with _transaction(settings.database_url.get_secret_value()) as session:
        console = sessions.console_principal(session, now)
        if create:
            clusters.ensure_cluster(session, console, cluster)
        found = clusters.cluster_named(session, console, cluster, Role.ADMIN, field="cluster")
        expires_at = now + timedelta(hours=hours)
        made = enrolment.create_join_token(session, console, found.id, uses, expires_at, needs_approval=approval)
    token = access.join_token(made.secret)
    if token_file is not None:
        _write_private(token_file, token)
        return
    typer.echo(access.enroll_command(token))


@app.command()
def load_demo_history(
    *,
    seed: Annotated[int, typer.Option(min=0, help="Of all that is random; the same seed makes the same numbers.")],
    days: Annotated[int, typer.Option(help="How long the history is; 730 days take some minutes.")] = 730,
    cluster: Annotated[
        list[str] | None, typer.Option(help="Only this one of the made-up clusters; may be repeated.")
    ] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Only this workload; may be repeated.")] = None,
    state: StateOption = None,
) -> None:
    """Make up clusters with years of campaigns, known changes and events, marked as such, to look at and to try out."""
    # Its analysis needs numpy, a second and 80 MB more, which no other command needs.
    from iotide_server.demo_history.loading import HistoryPlan, load_history  # noqa: PLC0415
    from iotide_server.demo_history.narrowing import narrowed  # noqa: PLC0415 - as above

    sites = narrowed(cluster or (), workload or ())
    settings = _settings_of(state)
    database = Database(open_engine(settings.database_url.get_secret_value(), pool_size=4))
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("loading", total=1.0)
        loaded = load_history(
            database,
            HistoryPlan(seed, days, sites),
            system_clock,
            lambda done: progress.update(task, completed=done),
        )
    database.engine.dispose()
    typer.echo(
        f"{loaded.campaign_count} campaigns and {loaded.series_count} series since {loaded.began_at:%Y-%m-%d}, made up"
        " and marked as such; `iotide-server forget-demo-history` removes them."
    )


@app.command()
def forget_demo_history(
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    state: StateOption = None,
) -> None:
    """Remove what load-demo-history made up, and nothing else."""
    settings = _settings_of(state)
    database = Database(open_engine(settings.database_url.get_secret_value(), pool_size=1))
    with database.transaction() as session:
        names = ", ".join(cluster.name for cluster in made_up_clusters(session))
    if not yes:
        typer.confirm(f"Remove the clusters {names} with all their campaigns and results?", abort=True)
    count = forget_history(database, system_clock())
    database.engine.dispose()
    typer.echo(f"{names}: {count} rows removed")


@app.command()
def load_published(state: StateOption = None) -> None:
    """Load storage results that others published, as read-only clusters with their sources, to lay one's own beside."""
    # Its ingest needs numpy too, see load_demo_history.
    from iotide_server.published.loading import load_published as load  # noqa: PLC0415 - for that

    settings = _settings_of(state)
    database = Database(open_engine(settings.database_url.get_secret_value(), pool_size=1))
    loaded = load(database, *read_edition(), system_clock)
    database.engine.dispose()
    what = f"{loaded.runs} published results of {loaded.sources} sources in {loaded.clusters} clusters"
    if not loaded.is_new:
        typer.echo(f"{what} are there already; nothing was changed.")
        return
    typer.echo(
        f"{what}{', in place of another edition' if loaded.had_other else ''}: see {settings.public_url}/published;"
        " `iotide-server forget-published` removes them."
    )


@app.command()
def forget_published(
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    state: StateOption = None,
) -> None:
    """Remove what load-published loaded, and nothing else."""
    from iotide_server.published.loading import forget_published as forget  # noqa: PLC0415 - as above

    settings = _settings_of(state)
    if not yes:
        typer.confirm("Remove all published results?", abort=True)
    database = Database(open_engine(settings.database_url.get_secret_value(), pool_size=1))
    count = forget(database, system_clock())
    database.engine.dispose()
    typer.echo(f"{count} rows removed")


@app.callback()
def log_plainly() -> None:
    """The server of iotide: schedules storage benchmarks on the nodes of clusters and keeps their results."""
    # What is printed is for programs too, and a person wants no more than that.
    configure_logs("command", LogFormat.PLAIN, sys.stderr, talkative=())


def main() -> None:
    """Run the command line; what cannot be done as asked ends with status 2 and says what to do instead."""
    try:
        app()
    except StartError as error:
        _refuse(str(error))
    except IotideError as error:
        _refuse("\n".join(filter(None, (error.message, error.remedy))))
    except OperationalError as error:
        _refuse(f"The database cannot be reached: {error.orig}")
    except psycopg.OperationalError as error:
        _refuse(f"The database cannot be reached: {error}")


def _settings() -> Settings:
    """From the environment, and from files in the directory that IOTIDE_SECRETS names, such as `iotide_database_url`.

    Raises:
        StartError: naming the variables that are missing or wrong.
    """
    try:
        return Settings(_secrets_dir=os.environ.get("IOTIDE_SECRETS"))
    except ValidationError as error:
        wrong = "; ".join(
            ": ".join([*(f"IOTIDE_{name}".upper() for name in detail["loc"][:1]), detail["msg"]])
            for detail in error.errors()
        )
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


def _require_schema(settings: Settings) -> None:
    """Start on no schema that this release cannot serve; a database that is away now is waited for as ever."""
    engine = open_engine(settings.database_url.get_secret_value(), pool_size=1)
    with contextlib.suppress(OperationalError):
        require_schema(engine)
    engine.dispose()


@contextlib.contextmanager
def _opened(state: Path | None) -> Iterator[OpenServer]:
    settings = _settings_of(state)
    with _transaction(settings.database_url.get_secret_value()) as session:
        yield OpenServer(session, settings.public_url)


@contextlib.contextmanager
def _transaction(database_url: str) -> Iterator[Session]:
    engine = open_engine(database_url, pool_size=1)
    with Database(engine).transaction() as session:
        yield session
    engine.dispose()


def _welcome(database_url: str, public_url: str) -> None:
    with _transaction(database_url) as session:
        link = sessions.first_admin_link(session, public_url, system_clock())
    if link is not None:
        _say(f"sign in once, within a day: {link}")


def _write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read; one that others may read is closed to them first."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(descriptor, 0o600)
        file.write(text)


def _say(line: str) -> None:
    with contextlib.suppress(OSError):  # a terminal that was closed stops nothing
        typer.echo(line)


def _refuse(text: str) -> None:
    typer.echo(text, err=True)
    sys.exit(_BAD_INPUT)


add_commands(app, _settings_of)
add_retention(app, lambda state: _transaction(_settings_of(state).database_url.get_secret_value()))

add_people_commands(app, _opened)

if __name__ == "__main__":
    main()
