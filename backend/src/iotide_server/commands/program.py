"""The command line of the server. A call loads only the modules of its command, which halves the time of a start."""

import sys
from collections.abc import Collection, Mapping
from importlib import import_module
from typing import Annotated, Final

import typer

from iotide_server.bundled import StartError
from iotide_server.bundled.privileges import leave_closed_directory
from iotide_server.kit.errors import IotideError
from iotide_server.kit.loading import uncollected
from iotide_server.kit.logs import LogFormat, configure_logs
from iotide_wire.program import PRINT_VERSION, version_printer
from iotide_wire.setup.changes import SetupError

COMMANDS: Final[Mapping[str, str]] = {
    "setup": "setup",
    "up": "up",
    "migrate": "services",
    "api": "api",
    "scheduler": "services",
    "worker": "services",
    "doctor": "doctor",
    "openapi": "services",
    "admin-link": "joining",
    "join-token": "joining",
    "load-demo-history": "histories",
    "forget-demo-history": "histories",
    "load-published": "histories",
    "forget-published": "histories",
    "backup": "backups",
    "restore": "backups",
    "retention": "retention",
    "catalogue": "catalogues",
    "undo-workload": "catalogues",
    "reanalysis": "reanalysis",
    "users": "people",
    "user-link": "people",
    "revoke-tokens": "people",
}
"""Modules by command, in the order of the help."""

_BAD_INPUT = 2


def program_of(names: Collection[str]) -> typer.Typer:
    """Return the program with these commands; load their modules."""
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback()(log_plainly)
    with uncollected():
        for name in names:
            module = import_module(f"iotide_server.commands.{COMMANDS[name]}")
            app.command(name)(getattr(module, name.replace("-", "_")))
    return app


def log_plainly(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=version_printer("iotide-server", "iotide-server"), is_eager=True, help=PRINT_VERSION
        ),
    ] = False,
) -> None:
    """Server of iotide: schedules storage benchmarks on the nodes of clusters and stores their results."""
    # No usual log lines, because programs read the output.
    configure_logs("command", LogFormat.PLAIN, sys.stderr, talkative=())


def main() -> None:
    """Expected errors are printed with a remedy and exit with status 2."""
    leave_closed_directory()
    asked = [name for name in sys.argv[1:2] if name in COMMANDS]
    try:
        program_of(asked or COMMANDS)()
    except (StartError, SetupError) as error:
        _refuse(str(error))
    except IotideError as error:
        _refuse("\n".join(filter(None, (error.message, error.remedy))))
    except Exception as error:
        reason = _unreachable(error)
        if reason is None:
            raise
        _refuse(f"The database cannot be reached: {reason}")


def _unreachable(error: Exception) -> BaseException | None:
    """Return the reason if the error says that the database cannot be reached."""
    # Not for commands without a database: loading these takes as long as the rest of them.
    from psycopg import OperationalError as DriverError  # noqa: PLC0415
    from sqlalchemy.exc import OperationalError  # noqa: PLC0415

    if isinstance(error, OperationalError):
        return error.orig
    return error if isinstance(error, DriverError) else None


def _refuse(text: str) -> None:
    typer.echo(text, err=True)
    sys.exit(_BAD_INPUT)
