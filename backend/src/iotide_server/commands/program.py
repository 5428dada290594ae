"""The command line of the server."""

import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Final

import psycopg
import typer
from sqlalchemy.exc import OperationalError

from iotide_server.bundled import StartError
from iotide_server.bundled.privileges import leave_closed_directory
from iotide_server.commands.opening import settings_of, transaction_of
from iotide_server.kit.errors import IotideError
from iotide_server.kit.logs import LogFormat, configure_logs
from iotide_wire.setup.changes import SetupError

_BAD_INPUT = 2
_COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "commands.setup": ("setup",),
    "commands.services": ("up", "migrate", "api", "scheduler", "worker", "openapi"),
    "commands.doctor": ("doctor",),
    "commands.joining": ("admin_link", "join_token"),
    "commands.histories": ("load_demo_history", "forget_demo_history", "load_published", "forget_published"),
    "backup.commands": ("backup", "restore"),
    "retention.commands": ("retention",),
    "commands.catalogues": ("catalogue", "undo_workload"),
    "commands.reanalysis": ("reanalysis",),
    "commands.people": ("users", "user_link", "revoke_tokens"),
}
"""Functions of the commands by module, in the order of the help."""
_OPENED: Final = {"backup.commands": settings_of, "retention.commands": transaction_of}
"""Functions that open the database, for modules of lower slices."""


def program(called: str = "") -> typer.Typer:
    """Return the command line; if a known command is called, only with its module, because all take half a second."""
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback()(_log_plainly)
    needed = [module for module, names in _COMMANDS.items() if called.replace("-", "_") in names]
    for module in needed or _COMMANDS:
        loaded = import_module(f"iotide_server.{module}")
        if module in _OPENED:
            loaded.add_commands(app, _OPENED[module])
            continue
        for name in _COMMANDS[module]:
            app.command()(getattr(loaded, name))
    return app


def _log_plainly() -> None:
    """Server of iotide: schedules storage benchmarks on the nodes of clusters and stores their results."""
    # No usual log lines, because programs read the output.
    configure_logs("command", LogFormat.PLAIN, sys.stderr, talkative=())


def main() -> None:
    """Expected errors are printed with a remedy and exit with status 2."""
    leave_closed_directory()
    try:
        program(*sys.argv[1:2])()
    except (StartError, SetupError) as error:
        _refuse(str(error))
    except IotideError as error:
        _refuse("\n".join(filter(None, (error.message, error.remedy))))
    except OperationalError as error:
        _refuse(f"The database cannot be reached: {error.orig}")
    except psycopg.OperationalError as error:
        _refuse(f"The database cannot be reached: {error}")


def _refuse(text: str) -> None:
    typer.echo(text, err=True)
    sys.exit(_BAD_INPUT)
