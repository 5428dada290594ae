"""Commands of `iotide-server` about people: who there is, a link for who cannot sign in, an end to tokens."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from sqlalchemy.orm import Session

from iotide_server.accounts import console
from iotide_server.accounts.service import UserWithGrants
from iotide_server.kit.clock import system_clock, written

StateOption = Annotated[
    Path | None,
    typer.Option(
        "--state",
        envvar="IOTIDE_STATE",
        help="Directory of the private services; by default ~/.local/share/iotide, for root /var/lib/iotide.",
    ),
]
_Name = Annotated[str, typer.Argument(help="Name with which the person signs in.")]


@dataclass(frozen=True, slots=True)
class OpenServer:
    """A transaction on the server's database, and where its pages are."""

    session: Session
    public_url: str


OpenState = Callable[[Path | None], AbstractContextManager[OpenServer]]


def add_people_commands(app: typer.Typer, open_state: OpenState) -> None:
    """Give `app` these commands.

    Args:
        open_state: opens the server that a state directory, or the environment, describes.
    """

    @app.command()
    def users(state: StateOption = None) -> None:
        """List the people with their roles, when they were last seen, and what of theirs is open."""
        with open_state(state) as server:
            everybody = console.all_users(server.session, system_clock())
            clusters = console.cluster_names(server.session)
        table = Table("name", "roles", "last seen", "sessions", "tokens", "schedules", box=None, pad_edge=False)
        for one in everybody:
            table.add_row(*_cells(one, clusters))
        # A terminal breaks lines where it must; a file or a pipe has one line a person.
        Console(width=None if Console().is_terminal else 1000, markup=False, highlight=False).print(table)

    @app.command()
    def user_link(name: _Name, state: StateOption = None) -> None:
        """Print a link that signs a person in, once and within a day."""
        with open_state(state) as server:
            link = console.user_link(server.session, name, server.public_url, system_clock())
        typer.echo(link)

    @app.command()
    def revoke_tokens(name: _Name, state: StateOption = None) -> None:
        """Revoke all API tokens of a person: programs that use them are refused from now on."""
        with open_state(state) as server:
            revoked = console.revoke_tokens(server.session, name, system_clock())
        typer.echo(f"revoked: {', '.join(revoked)}" if revoked else f"{name} has no token")


def _cells(one: UserWithGrants, clusters: Mapping[int, str]) -> list[str]:
    roles = (
        f"{grant.role} of {'all clusters' if grant.cluster_id is None else clusters[grant.cluster_id]}"
        for grant in one.grants
    )
    seen = written(one.standing.last_seen_at) if one.standing.last_seen_at else "never"
    name = f"{one.user.name} (disabled)" if one.user.disabled_at else one.user.name
    counts = (one.standing.session_count, one.standing.token_count, one.standing.schedule_count)
    return [name, ", ".join(roles) or "none", seen, *map(str, counts)]
