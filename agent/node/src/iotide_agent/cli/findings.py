"""The commands `iotide trends` and `iotide incidents`."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

import typer
from rich.table import Table

from iotide_agent.cli.api import Api, Document
from iotide_agent.cli.clusters import OnlyCluster, chosen_clusters
from iotide_agent.cli.display import minute_of, table_of
from iotide_agent.cli.names import Catalogue, read_catalogue
from iotide_agent.cli.server import AsJson, Limit, opened, show

_OPEN_ALERTS: Final = ("untriaged", "acknowledged", "investigating")

Days = Annotated[int, typer.Option(min=1, max=3650, help="Length of the period that selects series.")]
Workload = Annotated[str | None, typer.Option(help="Only this workload.")]


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
        catalogue = Catalogue() if as_json else read_catalogue(api)
    answers = [
        cell | {"cluster_name": clusters[cell["cluster_id"]]}
        for cell in board["cells"]
        if cell["cluster_id"] in clusters and workload in {None, cell["workload"]}
    ]
    show(answers, lambda: _trend_table(answers, catalogue), as_json=as_json)


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


def list_incidents(
    context: typer.Context, *, cluster: OnlyCluster = None, limit: Limit = 20, as_json: AsJson = False
) -> None:
    """List changes for the worse and open alerts, newest first."""
    with opened(context) as api:
        clusters = chosen_clusters(api, cluster)
        only = None if cluster is None else next(iter(clusters))
        answers = [
            incident | {"cluster_name": clusters.get(incident["cluster_id"], "")}
            for incident in read_incidents(api, only, limit)
        ]
        catalogue = Catalogue() if as_json else read_catalogue(api)
    show(answers, lambda: _incident_table(answers, catalogue), as_json=as_json)


def read_incidents(api: Api, cluster_id: int | None, limit: int) -> list[Document]:
    """Return incidents of one cluster or all, newest first.

    The server lists changes and alerts separately: an incident is a change for the worse with its alert, or an open
    alert without a change.
    """
    only: dict[str, str | int] = {} if cluster_id is None else {"cluster_id": cluster_id}
    alerts = list(api.items("/alerts", only, limit))
    by_change = {alert["change"]["id"]: alert for alert in alerts if alert["change"] is not None}
    changes = list(api.items("/changes", {**only, "direction": "worse"}, limit))
    found = [*(_of_change(named, by_change) for named in changes), *_without_change(alerts)]
    return sorted(found, key=lambda incident: str(incident["began_at"]), reverse=True)[:limit]


def _of_change(named: Document, alerts: dict[int, Document]) -> Document:
    change, series = named["change"], named["series"]
    alert = alerts.get(change["id"])
    state = "ended" if change["ended_at"] else "open"
    return {
        "cluster_id": series["cluster_id"],
        "series": series,
        "began_at": change["at"],
        "ended_at": change["ended_at"],
        "words": change["words"],
        "causes": [event["text"] for event in named["events"]],
        "state": state if alert is None else alert["state"],
        "owner": None if alert is None else alert["owner"],
        "change_id": change["id"],
        "alert_id": None if alert is None else alert["id"],
    }


def _without_change(alerts: Sequence[Document]) -> Iterator[Document]:
    for alert in alerts:
        if alert["change"] is None and alert["state"] in _OPEN_ALERTS:
            yield {
                "cluster_id": alert["cluster_id"],
                "series": alert["series"],
                "began_at": alert["at"],
                "ended_at": None,
                "words": alert["words"],
                "causes": [],
                "state": alert["state"],
                "owner": alert["owner"],
                "change_id": None,
                "alert_id": alert["id"],
            }


def _incident_table(incidents: Sequence[Document], catalogue: Catalogue) -> Table:
    table = table_of("began", "ended", "cluster", "series", "change", "near events", "state", "owner")
    for incident in incidents:
        table.add_row(
            minute_of(incident["began_at"]),
            minute_of(incident["ended_at"], ""),
            incident["cluster_name"],
            _series_words(incident["series"], catalogue),
            incident["words"],
            "; ".join(incident["causes"]),
            incident["state"].replace("_", " "),
            incident["owner"] or "",
        )
    return table


def _series_words(series: Document, catalogue: Catalogue) -> str:
    name = catalogue.named(series["workload"], series["title"] or series["metric"], series["labels"])
    targets = f" on {', '.join(series['target_names'])}" if series["target_names"] else ""
    return f"{series['workload']} {name}{targets}"
