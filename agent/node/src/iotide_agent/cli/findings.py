"""The commands `iotide trends` and `iotide incidents`."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Annotated

import typer
from rich.table import Table

from iotide_agent.cli.api import Document
from iotide_agent.cli.clusters import OnlyCluster, chosen_clusters, named_cluster
from iotide_agent.cli.display import minute_of, table_of
from iotide_agent.cli.names import Catalogue, read_catalogue
from iotide_agent.cli.problems import Problem, RefusedError, did_you_mean
from iotide_agent.cli.server import AsJson, Limit, opened, show


class IncidentState(StrEnum):
    OPEN = "open"
    ACKNOWLEDGED = "acknowledged"
    EXPECTED = "expected"
    IGNORED = "ignored"
    ENDED = "ended"


Days = Annotated[int, typer.Option(min=1, max=3650, help="Length of the period that selects series.")]
Workload = Annotated[str | None, typer.Option(help="Only this workload.")]
State = Annotated[list[IncidentState] | None, typer.Option(help="Only incidents in this state; may be repeated.")]


def add_to(app: typer.Typer) -> None:
    app.command("trends")(list_trends)
    app.command("incidents")(list_incidents)


def list_trends(
    context: typer.Context,
    *,
    cluster: OnlyCluster = None,
    workload: Workload = None,
    days: Days = 90,
    as_json: AsJson = False,
) -> None:
    """List the state of each workload on each cluster, with its worst series."""
    with opened(context) as api:
        clusters = chosen_clusters(api, cluster)
        board = api.get("/board", {"days": days})
        _check_workload(workload, board["workloads"])
        catalogue = Catalogue() if as_json else read_catalogue(api)
    answers = [
        cell | {"cluster_name": clusters[cell["cluster_id"]]}
        for cell in board["cells"]
        if cell["cluster_id"] in clusters and workload in {None, cell["workload"]}
    ]
    show(answers, lambda: _trend_table(answers, catalogue), as_json=as_json)


def _check_workload(workload: str | None, known: Sequence[str]) -> None:
    if workload is not None and workload not in known:
        remedy = f"{did_you_mean(workload, known)}measured: {', '.join(known) or 'none'}"
        raise RefusedError([Problem("workload_not_found", "no series in this period", "workload", workload, remedy)])


def _trend_table(cells: Sequence[Document], catalogue: Catalogue) -> Table:
    table = table_of("cluster", "workload", "state", "since", "change", "worst series", "last point")
    for cell in cells:
        table.add_row(
            cell["cluster_name"],
            cell["workload"],
            cell["state"].replace("_", " "),
            minute_of(cell["since"], ""),
            cell["words"],
            _series_words(cell["worst"], catalogue),
            minute_of(cell["last_at"]),
        )
    return table


def list_incidents(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    cluster: OnlyCluster = None,
    state: State = None,
    owner: Annotated[str | None, typer.Option(help="Only incidents that this user acknowledged.")] = None,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List incidents, those that are open or acknowledged first, each newest first."""
    filters: dict[str, str | int | list[str]] = {}
    if state:
        filters["state"] = [one.value for one in state]
    if owner is not None:
        filters["owner"] = owner
    with opened(context) as api:
        if cluster is not None:
            filters["cluster_id"] = int(named_cluster(api, cluster)["id"])
        answers = list(api.items("/incidents", filters, limit))
    show(answers, lambda: _incident_table(answers), as_json=as_json)


def _incident_table(incidents: Sequence[Document]) -> Table:
    table = table_of("id", "cluster", "incident", "state", "owner")
    for incident in incidents:
        is_improvement = incident["kind"] == "better" and incident["state"] == "ended"
        table.add_row(
            str(incident["id"]),
            incident["cluster_name"],
            incident["words"],
            "better" if is_improvement else incident["state"],
            incident["owner"] or "",
        )
    return table


def _series_words(series: Document, catalogue: Catalogue) -> str:
    name = catalogue.named(series["workload"], series["title"] or series["metric"], series["labels"])
    targets = f" on {', '.join(series['target_names'])}" if series["target_names"] else ""
    return f"{series['workload']} {name}{targets}"
