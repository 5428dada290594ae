"""Commands that give administrators and nodes access."""

import os
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from iotide_server.accounts.models import Role
from iotide_server.accounts.sessions import service as sessions
from iotide_server.agent_access import agent_access, agent_shelf
from iotide_server.clusters import service as clusters
from iotide_server.clusters.enrolment import service as enrolment
from iotide_server.commands.opening import settings_of, transaction
from iotide_server.commands.options import StateOption
from iotide_server.kit.clock import system_clock


def admin_link(state: StateOption = None) -> None:
    """Print a link that signs in the first administrator once, within a day."""
    settings = settings_of(state)
    with transaction(settings) as session:
        link = sessions.admin_link(session, settings.public_url, system_clock())
    typer.echo(link)


def join_token(  # noqa: PLR0913 - each is an option of the command
    cluster: Annotated[str, typer.Argument(help="Name of the cluster.")],
    *,
    state: StateOption = None,
    uses: Annotated[int, typer.Option(min=1, max=10_000, help="How many nodes may enroll with it.")] = 1,
    hours: Annotated[float, typer.Option(min=0.01, max=24 * 365, help="Lifetime of the token in hours.")] = 1,
    approval: Annotated[
        bool | None,
        typer.Option(help="Whether an administrator must approve the nodes; default: if --uses is more than 1."),
    ] = None,
    create: Annotated[bool, typer.Option("--create", help="Create the cluster if it does not exist.")] = False,
    token_file: Annotated[
        Path | None, typer.Option(help="Write only the token to this file, for `iotide-agent enroll < FILE`.")
    ] = None,
) -> None:
    """Print the command that enrolls a new node in a cluster.

    If this server hands out its agent, a second line installs it as well; append the directories for runs.
    """
    settings = settings_of(state)
    access = agent_access(settings, agent_shelf(settings))
    now = system_clock()
    with transaction(settings) as session:
        console = sessions.console_principal(session, now)
        if create:
            clusters.ensure_cluster(session, console, cluster)
        found = clusters.cluster_named(session, console, cluster, Role.ADMIN, field="cluster")
        expires_at = now + timedelta(hours=hours)
        made = enrolment.create_join_token(session, console, found.id, uses, expires_at, needs_approval=approval)
    token = access.join_token(made.secret)
    if token_file is not None:
        write_private(token_file, token)
        return
    typer.echo(access.enroll_command(token))
    install = access.install_command(token)
    if install is not None:
        typer.echo(f"{install} /scratch/iotide")


def write_private(path: Path, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w") as file:
        os.fchmod(descriptor, 0o600)
        file.write(text)
