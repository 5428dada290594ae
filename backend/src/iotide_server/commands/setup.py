"""The `setup` command."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from iotide_server.bundled import StartError
from iotide_server.bundled.ports import MOST_PORT
from iotide_server.commands.options import ListenOption, PublicNameOption
from iotide_server.kit.clock import system_clock
from iotide_server.setup.service import ServerDemand, set_up, starting_command
from iotide_server.setup.texts import STATE, ServerOptions
from iotide_wire.setup.changes import Changes
from iotide_wire.setup.services import systemd_runs


def setup(
    *,
    listen: ListenOption = None,
    public_name: PublicNameOption = None,
    port: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_PORT, help="Port of the API and the dashboard; Redis uses the next two."),
    ] = None,
    database_url: Annotated[
        str | None,
        typer.Option(help="Use this database of a running PostgreSQL instead of a private one; it is not created."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print files and commands; change nothing.")] = False,
) -> None:
    """Install the server as a service that starts at boot: `iotide-server up` on /var/lib/iotide.

    Creates the user iotide, the state directory, /etc/iotide/server.env and the systemd unit, starts it, and waits
    until the page answers. A repeated setup continues an interrupted one, keeps server.env, and restarts the server
    after an upgrade.
    """
    if not dry_run and os.geteuid() != 0:
        raise StartError("setup creates a user and a service.", remedy="Run it as root, or with --dry-run.")
    demand = ServerDemand(ServerOptions(listen, public_name, port, database_url), Path(sys.argv[0]).absolute())
    changes = Changes(typer.echo, is_dry=dry_run)
    try:
        set_up(demand, changes)
    except OSError as error:
        reason = f"{error.filename or 'this machine'}: {error.strerror or error}"
        remedy = "Run it as root." if os.geteuid() != 0 else "Correct this, then run setup again: it continues."
        raise StartError(reason, remedy=remedy) from error
    if dry_run:
        return
    if systemd_runs():
        _welcome(has_changed=changes.count > 0)
    else:
        typer.echo(f"systemd does not run here; start the server with: {starting_command(demand.program)}")


def _welcome(*, has_changed: bool) -> None:
    # Setup needs no database before this.
    from iotide_server.accounts.sessions import service as sessions  # noqa: PLC0415
    from iotide_server.bundled.tls import fingerprint  # noqa: PLC0415
    from iotide_server.commands.opening import settings_of, transaction  # noqa: PLC0415

    settings = settings_of(STATE)
    typer.echo(f"iotide is ready: {settings.public_url}")
    if settings.ca_certificate is not None:
        typer.echo(
            f"fingerprint of its authority, for `iotide login`: {fingerprint(settings.ca_certificate.read_text())}"
        )
    link = None
    if has_changed:
        with transaction(settings) as session:
            link = sessions.first_admin_link(session, settings.public_url, system_clock())
    if link is None:
        typer.echo("print a link that signs an administrator in once, within a day: iotide-server admin-link")
    else:
        typer.echo(f"link to sign in once, within a day: {link}")
