"""Commands of `iotide-server` about the workloads that nodes announced beyond those that iotide ships."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from iotide_server.accounts import console, sessions
from iotide_server.commands.opening import StateOption, transaction_of
from iotide_server.kit.clock import system_clock, written
from iotide_server.trends import rejoining
from iotide_server.workloads import service
from iotide_server.workloads.models import Workload
from iotide_server.workloads.repository import REJECTED

_Entry = Annotated[int, typer.Argument(help="Its id, as `catalogue` lists it.")]


def catalogue(state: StateOption = None) -> None:
    """List the workloads that clusters have of their own, who announced them first, and since when."""
    with transaction_of(state) as session:
        entries = service.own_entries(session)
        clusters = console.cluster_names(session)
    table = Table("id", "cluster", "workload", "revision", "announced by", "since", "nodes", box=None, pad_edge=False)
    for entry in entries:
        own = entry.workload
        of_cluster = "none" if own.cluster_id is None else clusters[own.cluster_id]
        count = sum(len(alike.node_ids) for alike in entry.nodes)
        since = written(own.first_seen_at)
        table.add_row(
            str(own.id), of_cluster, own.name, _revision(own), own.announced_by or "unknown", since, str(count)
        )
    Console(width=None if Console().is_terminal else 1000, markup=False, highlight=False).print(table)


def undo_workload(entry: _Entry, state: StateOption = None) -> None:
    """Remove an entry of a cluster's catalogue that no node has any more, and rejoin the series that it split."""
    with transaction_of(state) as session:
        now = system_clock()
        undone = rejoining.undo(session, sessions.console_principal(session, now), entry, now)
    what = f"{undone.workload} revision {undone.revision}"
    kept = "kept, since campaigns measured with it; it breaks no series any more" if undone.is_kept else "removed"
    typer.echo(f"{what}: {kept}; {undone.series_count} series rejoined")


def _revision(own: Workload) -> str:
    if own.revision == REJECTED:
        return "rejected"
    return f"{own.revision} (breaks series)" if own.breaks_series else str(own.revision)
