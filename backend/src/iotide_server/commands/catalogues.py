"""Commands for workloads that nodes announced."""

from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from sqlalchemy.orm import Session

from iotide_server.accounts.repository import cluster_names
from iotide_server.accounts.sessions import service as sessions
from iotide_server.commands.opening import transaction_of
from iotide_server.commands.options import StateOption
from iotide_server.kit.clock import system_clock, written
from iotide_server.trends.points import rejoining
from iotide_server.workloads import service
from iotide_server.workloads.models import Workload
from iotide_server.workloads.repository import REJECTED

_Entries = Annotated[
    list[int] | None, typer.Argument(metavar="[ID]...", help="Ids of entries, as listed by `catalogue`.")
]
_Cluster = Annotated[
    str | None, typer.Option(help="Undo entries of this cluster, selected by --node or --since, instead of ids.")
]
_Node = Annotated[str | None, typer.Option(help="Only entries first announced by this node.")]
_Since = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
        help="Only entries first announced at this time (UTC) or later.",
    ),
]


def catalogue(state: StateOption = None) -> None:
    """List the clusters' own workloads, their first node and date."""
    with transaction_of(state) as session:
        entries = service.own_entries(session)
        clusters = cluster_names(session)
    table = Table("id", "cluster", "workload", "revision", "announced by", "since", "nodes", box=None, pad_edge=False)
    for own, count in entries:
        of_cluster = "none" if own.cluster_id is None else clusters[own.cluster_id]
        since = written(own.first_seen_at)
        table.add_row(
            str(own.id), of_cluster, own.name, _revision(own), own.announced_by or "unknown", since, str(count)
        )
    Console(width=None if Console().is_terminal else 1000, markup=False, highlight=False).print(table)


def undo_workload(
    entries: _Entries = None,
    cluster: _Cluster = None,
    node: _Node = None,
    since: _Since = None,
    state: StateOption = None,
) -> None:
    """Remove catalogue entries that no node announces any more, and rejoin the series that they split.

    All or nothing.
    """
    if bool(entries) == bool(cluster) or (cluster is None and (node or since)):
        raise typer.BadParameter("give ids, or --cluster with --node, --since or both")
    if cluster and not (node or since):
        raise typer.BadParameter("--cluster requires --node, --since or both")
    with transaction_of(state) as session:
        now = system_clock()
        chosen = entries or _announced(session, cluster, node, since)
        for undone in rejoining.undo(session, sessions.console_principal(session, now), chosen, now):
            typer.echo(_outcome(undone))


def _announced(session: Session, cluster: str | None, node: str | None, since: datetime | None) -> list[int]:
    clusters = cluster_names(session)
    found = [
        own.id
        for own, _ in service.own_entries(session)
        if own.cluster_id is not None
        and clusters[own.cluster_id] == cluster
        and node in {None, own.announced_by}
        and (since is None or own.first_seen_at >= since.replace(tzinfo=UTC))
    ]
    if not found:
        raise typer.BadParameter("no entry matches; `iotide-server catalogue` lists all entries")
    return found


def _outcome(undone: rejoining.Undone) -> str:
    of_revision = "(rejected)" if undone.revision == REJECTED else f"revision {undone.revision}"
    what = f"{undone.workload} {of_revision}"
    kept = "kept because campaigns used it; it no longer breaks series" if undone.is_kept else "removed"
    defaults = f"; defaults reverted: {', '.join(undone.defaults)}" if undone.defaults else ""
    return f"{what}: {kept}; {undone.series_count} series rejoined{defaults}"


def _revision(own: Workload) -> str:
    if own.revision == REJECTED:
        return "rejected"
    return f"{own.revision} (breaks series)" if own.breaks_series else str(own.revision)
