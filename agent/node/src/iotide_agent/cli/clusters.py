"""Commands about clusters: who starts their runs."""

from enum import StrEnum
from typing import Annotated

import typer

from iotide_agent.cli.problems import Problem, RefusedError
from iotide_agent.cli.server import AsJson, opened, show

cluster_app = typer.Typer(no_args_is_help=True, help="Look at clusters and decide who starts their runs.")


class Launcher(StrEnum):
    """Who starts the runs of a cluster."""

    DIRECT = "direct"
    SLURM = "slurm"
    LSF = "lsf"


Name = Annotated[str, typer.Argument(metavar="NAME", help="Of the cluster.")]
Wanted = Annotated[
    Launcher | None,
    typer.Argument(metavar="[LAUNCHER]", help="direct: the agents of its nodes; slurm, lsf: jobs of that system."),
]


@cluster_app.command("list")
def list_clusters(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List clusters with who starts their runs."""
    with opened(context) as api:
        answers = list(api.items("/clusters", {}))
    lines = (f"{answer['id']:>5}  {answer['name']}  {answer['launcher']}" for answer in answers)
    show(answers, lambda: lines, as_json=as_json)


@cluster_app.command("launcher")
def change_launcher(context: typer.Context, name: Name, launcher: Wanted = None, *, as_json: AsJson = False) -> None:
    """Say who starts a cluster's runs, or have another start them; refused while one is active."""
    with opened(context) as api:
        found = next((item for item in api.items("/clusters", {}) if item["name"] == name), None)
        if found is None:
            remedy = "`iotide cluster list` shows those that you may see"
            raise RefusedError([Problem("cluster_not_found", "there is no cluster of that name", "name", name, remedy)])
        if launcher is not None:
            found = api.patch(f"/clusters/{found['id']}", {"launcher": launcher.value})
    show(
        found,
        lambda: f"the runs of the cluster {name} are started by {_words(Launcher(found['launcher']))}",
        as_json=as_json,
    )


def _words(launcher: Launcher) -> str:
    return {
        Launcher.DIRECT: "the agents of its nodes",
        Launcher.SLURM: "jobs of Slurm, which its gateway submits",
        Launcher.LSF: "jobs of LSF, which its gateway submits",
    }[launcher]
