"""The command line of the server."""

import sys
from collections.abc import Callable
from typing import Annotated

import psycopg
import typer
from sqlalchemy.exc import OperationalError

from iotide_server.backup.commands import add_commands as add_keeping
from iotide_server.bundled import StartError
from iotide_server.bundled.privileges import leave_closed_directory
from iotide_server.commands import catalogues, doctor, histories, joining, people, reanalysis, services, setup
from iotide_server.commands.opening import settings_of, transaction_of
from iotide_server.kit.errors import IotideError
from iotide_server.kit.logs import LogFormat, configure_logs
from iotide_server.retention.commands import add_commands as add_retention
from iotide_wire.program import PRINT_VERSION, version_printer
from iotide_wire.setup.changes import SetupError

_BAD_INPUT = 2

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)


def _add(*commands: Callable[..., None]) -> None:
    for command in commands:
        app.command()(command)


_add(setup.setup, services.up, services.migrate, services.api, services.scheduler, services.worker)
_add(doctor.doctor, services.openapi, joining.admin_link, joining.join_token)
_add(histories.load_demo_history, histories.forget_demo_history, histories.load_published, histories.forget_published)
add_keeping(app, settings_of)
add_retention(app, transaction_of)
_add(catalogues.catalogue, catalogues.undo_workload, reanalysis.reanalysis)
_add(people.users, people.user_link, people.revoke_tokens)


@app.callback()
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
    try:
        app()
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
