"""Commands for sample data and published results."""

from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from iotide_server.commands.opening import open_database, settings_of
from iotide_server.commands.options import StateOption
from iotide_server.demo_history.forgetting import forget_history, sample_clusters
from iotide_server.kit.clock import system_clock
from iotide_server.published.sources import read_edition


def load_demo_history(
    *,
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the random numbers; the same seed generates the same data.")
    ],
    days: Annotated[int, typer.Option(help="Length of the history in days; 730 days take some minutes.")] = 730,
    cluster: Annotated[list[str] | None, typer.Option(help="Load only this cluster; may be repeated.")] = None,
    workload: Annotated[list[str] | None, typer.Option(help="Load only this workload; may be repeated.")] = None,
    state: StateOption = None,
) -> None:
    """Load sample data, marked as such: clusters with years of campaigns, known changes and events."""
    # Imported here, because numpy takes a second and 80 MB.
    from iotide_server.demo_history.loading import HistoryPlan, load_history  # noqa: PLC0415
    from iotide_server.demo_history.sites import narrowed  # noqa: PLC0415 - as above

    sites = narrowed(cluster or (), workload or ())
    settings = settings_of(state)
    with (
        open_database(settings, pool_size=4) as database,
        Progress(console=Console(stderr=True), transient=True) as progress,
    ):
        task = progress.add_task("loading", total=1.0)
        loaded = load_history(
            database,
            HistoryPlan(seed, days, sites),
            system_clock,
            lambda done: progress.update(task, completed=done),
        )
    typer.echo(
        f"{loaded.campaign_count} campaigns and {loaded.series_count} series of sample data since"
        f" {loaded.began_at:%Y-%m-%d}; `iotide-server forget-demo-history` removes them."
    )


def forget_demo_history(
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    state: StateOption = None,
) -> None:
    """Remove the sample data of load-demo-history."""
    settings = settings_of(state)
    with open_database(settings) as database:
        with database.transaction() as session:
            names = ", ".join(cluster.name for cluster in sample_clusters(session))
        if not yes:
            typer.confirm(f"Remove the clusters {names} with all their campaigns and results?", abort=True)
        count = forget_history(database, system_clock())
    typer.echo(f"{names}: {count} rows removed")


def load_published(state: StateOption = None) -> None:
    """Load published storage results as read-only clusters with their sources, for comparison with your own."""
    from iotide_server.published.loading import load_published as load  # noqa: PLC0415 - for that

    settings = settings_of(state)
    with open_database(settings) as database:
        loaded = load(database, *read_edition(), system_clock)
    what = f"{loaded.runs} published results of {loaded.sources} sources in {loaded.clusters} clusters"
    if not loaded.is_new:
        typer.echo(f"{what} are already loaded; nothing changed.")
        return
    typer.echo(
        f"{what}{', replacing another edition' if loaded.had_other else ''}: see {settings.public_url}/published;"
        " `iotide-server forget-published` removes them."
    )


def forget_published(
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    state: StateOption = None,
) -> None:
    """Remove the published results of load-published."""
    from iotide_server.published.loading import forget_published as forget  # noqa: PLC0415 - as above

    settings = settings_of(state)
    if not yes:
        typer.confirm("Remove all published results?", abort=True)
    with open_database(settings) as database:
        count = forget(database, system_clock())
    typer.echo(f"{count} rows removed")
