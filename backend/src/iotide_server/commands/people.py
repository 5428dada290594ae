"""Commands for users."""

from collections.abc import Mapping
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from iotide_server.accounts.repository import cluster_names
from iotide_server.accounts.schemas import UserOutput
from iotide_server.accounts.sessions import console
from iotide_server.commands.opening import settings_of, transaction, transaction_of
from iotide_server.commands.options import StateOption
from iotide_server.kit.clock import system_clock, written

_Name = Annotated[str, typer.Argument(help="User name.")]


def users(state: StateOption = None) -> None:
    """List users with their roles, last activity, and number of sessions, tokens and schedules."""
    with transaction_of(state) as session:
        everybody = console.all_users(session, system_clock())
        clusters = cluster_names(session)
    table = Table("name", "roles", "last seen", "sessions", "tokens", "schedules", box=None, pad_edge=False)
    for one in everybody:
        table.add_row(*_cells(one, clusters))
    Console(width=None if Console().is_terminal else 1000, markup=False, highlight=False).print(table)


def user_link(name: _Name, state: StateOption = None) -> None:
    """Print a link that signs a user in once, within a day."""
    settings = settings_of(state)
    with transaction(settings) as session:
        link = console.user_link(session, name, settings.public_url, system_clock())
    typer.echo(link)


def revoke_tokens(name: _Name, state: StateOption = None) -> None:
    """Revoke all API tokens of a user. Programs that use them are rejected at once."""
    with transaction_of(state) as session:
        revoked = console.revoke_tokens(session, name, system_clock())
    typer.echo(f"revoked: {', '.join(revoked)}" if revoked else f"{name} has no API tokens")


def _cells(one: UserOutput, clusters: Mapping[int, str]) -> list[str]:
    roles = (
        f"{grant.role} of {'all clusters' if grant.cluster_id is None else clusters[grant.cluster_id]}"
        for grant in sorted([*one.roles, *one.provider_roles], key=lambda grant: grant.cluster_id or 0)
    )
    seen = written(one.last_seen_at) if one.last_seen_at else "never"
    name = f"{one.name} (disabled)" if one.disabled_at else one.name
    counts = (one.session_count, one.token_count, one.schedule_count)
    return [name, ", ".join(roles) or "none", seen, *map(str, counts)]
