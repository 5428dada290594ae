"""The commands `iotide cluster`."""

from enum import StrEnum
from typing import Annotated

import typer

from iotide_agent.cli.api import Api, Document
from iotide_agent.cli.problems import Problem, RefusedError, did_you_mean
from iotide_agent.cli.server import AsJson, opened, show

cluster_app = typer.Typer(no_args_is_help=True, help="List clusters and choose their run launcher.")


class Launcher(StrEnum):
    DIRECT = "direct"
    SLURM = "slurm"
    LSF = "lsf"
    PBS = "pbs"
    FLUX = "flux"


Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the cluster.")]
Wanted = Annotated[
    Launcher | None,
    typer.Argument(metavar="[LAUNCHER]", help="direct: the nodes' agents; otherwise jobs of that batch system."),
]


OnlyCluster = Annotated[str | None, typer.Option("--cluster", metavar="NAME", help="Only this cluster.")]


def named_cluster(api: Api, name: str) -> Document:
    """Raise RefusedError if there is no cluster of that name."""
    known = {str(item["name"]): item for item in api.items("/clusters", {})}
    if name not in known:
        remedy = f"{did_you_mean(name, known)}see `iotide cluster list`"
        raise RefusedError([Problem("cluster_not_found", "no such cluster", "cluster", name, remedy)])
    return known[name]


def chosen_clusters(api: Api, name: str | None) -> dict[int, str]:
    """Return the names by id of all clusters but published ones, or only that one; raise RefusedError."""
    listed = (cluster for cluster in api.items("/clusters", {}) if cluster.get("origin") != "published")
    found = listed if name is None else [named_cluster(api, name)]
    return {int(cluster["id"]): str(cluster["name"]) for cluster in found}


@cluster_app.command("list")
def list_clusters(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List clusters and their run launchers."""
    with opened(context) as api:
        answers = list(api.items("/clusters", {}))
    lines = (f"{answer['id']:>5}  {answer['name']}  {answer['launcher']}" for answer in answers)
    show(answers, lambda: lines, as_json=as_json)


@cluster_app.command("launcher")
def change_launcher(context: typer.Context, name: Name, launcher: Wanted = None, *, as_json: AsJson = False) -> None:
    """Show a cluster's run launcher, or change it. A change is refused while a run is active."""
    with opened(context) as api:
        found = named_cluster(api, name)
        if launcher is not None:
            found = api.patch(f"/clusters/{found['id']}", {"launcher": launcher.value})
    show(
        found,
        lambda: f"run launcher of cluster {name}: {_words(Launcher(found['launcher']))}",
        as_json=as_json,
    )


def _words(launcher: Launcher) -> str:
    return {
        Launcher.DIRECT: "agents of its nodes",
        Launcher.SLURM: "Slurm jobs, submitted by its gateway",
        Launcher.LSF: "LSF jobs, submitted by its gateway",
        Launcher.PBS: "PBS jobs, submitted by its gateway",
        Launcher.FLUX: "Flux jobs, submitted by its gateway",
    }[launcher]
