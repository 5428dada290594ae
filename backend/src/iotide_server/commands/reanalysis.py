"""The `reanalysis` command."""

import typer
from rich.console import Console
from rich.table import Table

from iotide_server.alerts.reanalysis import ChangedFinding, last_reanalysis
from iotide_server.commands.opening import transaction_of
from iotide_server.commands.options import StateOption
from iotide_server.kit.clock import written


def reanalysis(state: StateOption = None) -> None:
    """List the changes that a new detector found or withdrew after an upgrade."""
    with transaction_of(state) as session:
        found = last_reanalysis(session)
    typer.echo(f"{found.series_count} series analysed by a new detector, {found.waiting_count} still waiting")
    if not found.findings:
        typer.echo("no change appeared, is over or was withdrawn")
        return
    table = Table("difference", "cluster", "series", "since", "change", "alert", box=None, pad_edge=False)
    for one in found.findings:
        table.add_row(*_cells(one))
    Console(width=None if Console().is_terminal else 1000, markup=False, highlight=False).print(table)


def _cells(one: ChangedFinding) -> list[str]:
    alert = "none" if one.alert_id is None else f"{one.alert_id} ({one.alert_state})"
    return [
        one.difference,
        one.cluster,
        f"{one.series_id} {one.workload}: {one.title}",
        written(one.at),
        one.words,
        alert,
    ]
