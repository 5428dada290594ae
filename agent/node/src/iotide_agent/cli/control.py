"""Commands for operators: drains, dead and stuck nodes, priorities."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final

import typer

from iotide_agent.cli import display
from iotide_agent.cli.answers import Campaign, DeathStatement, Drain, StuckStatement
from iotide_agent.cli.api import Api
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_agent.cli.server import AsJson, is_confirmed, opened, print_json, show
from iotide_agent.cli.speaking import say

NOT_CONFIRMED: Final = 2

node_app = typer.Typer(no_args_is_help=True, help="Manage nodes.")


class DrainKind(StrEnum):
    NODE = "node"
    TARGET = "target"
    CLUSTER = "cluster"
    ALL = "all"


Kind = Annotated[DrainKind, typer.Argument(metavar="KIND", help="node, target, cluster or all.")]
Subject = Annotated[
    str | None, typer.Argument(metavar="[NAME]", help="Name of the node, target or cluster; omit it for all.")
]
Until = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"],
        help="End of the drain; local time unless a zone is given.",
    ),
]
InCluster = Annotated[
    str | None,
    typer.Option("--cluster", help="Cluster of the node or target; needed if several clusters have that name."),
]


def add_to(app: typer.Typer, campaign_app: typer.Typer) -> None:
    app.command("drain")(drain)
    app.command("resume")(resume)
    app.command("drains")(list_drains)
    app.add_typer(node_app, name="node")
    campaign_app.command("priority")(change_priority)


def drain(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    kind: Kind,
    name: Subject = None,
    *,
    reason: Annotated[str, typer.Option(help="Reason, shown with every run that waits for it.")],
    until: Until = None,
    cluster: InCluster = None,
    as_json: AsJson = False,
) -> None:
    """Drain a node, a target, a cluster or everything: no new runs start, active runs continue."""
    end = None if until is None else until.astimezone().isoformat()
    with opened(context) as api:
        answer = api.put(_path(api, kind, name, cluster), {"reason": reason, "until": end})
    if as_json:
        print_json(answer)
    else:
        drained = Drain.of(answer)
        say(f"{_what(kind, name)} is drained {display.until(drained.until)}: {drained.reason}")


def resume(context: typer.Context, kind: Kind, name: Subject = None, *, cluster: InCluster = None) -> None:
    """End a drain; runs start there again."""
    with opened(context) as api:
        api.delete(_path(api, kind, name, cluster))
    say(f"{_what(kind, name)} is not drained; for drains of its cluster or of everything see `iotide drains`")


def list_drains(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List drains with their reason, author and end."""
    with opened(context) as api:
        answers = api.get_list("/drains")
    show(answers, lambda: display.drain_table(Drain.of(answer) for answer in answers), as_json=as_json)


@node_app.command("dead")
def declare_node_dead(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the unreachable node.")],
    *,
    cluster: InCluster = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without being asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Mark an unreachable node as dead and release its runs (asks first)."""
    with opened(context) as api:
        path = f"/nodes/{_id_of(api, DrainKind.NODE, name, cluster)}/dead"
        statement = DeathStatement.of(api.get(path))
        say("\n".join(display.death_lines(statement)), err=as_json)
        question = f"Is {statement.node_name} really dead, and not only disconnected?"
        if not (yes or is_confirmed(question, remedy="read the effects above, then use --yes")):
            raise typer.Exit(NOT_CONFIRMED)
        answer = api.post(path, {"statement_sha256": statement.statement_sha256})
    show(answer, lambda: f"{statement.node_name}: {answer['problem']}", as_json=as_json)


@node_app.command("free")
def free_stuck_node(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the stuck node.")],
    *,
    cluster: InCluster = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without being asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Release what the runs of a stuck node hold (asks first)."""
    with opened(context) as api:
        path = f"/nodes/{_id_of(api, DrainKind.NODE, name, cluster)}/stuck"
        statement = StuckStatement.of(api.get(path))
        say("\n".join(statement.lines()), err=as_json)
        question = f"Release what {statement.node_name} holds, although its benchmarks may still run?"
        if not (yes or is_confirmed(question, remedy="read the risks above, then use --yes")):
            raise typer.Exit(NOT_CONFIRMED)
        answer = api.post(path, {"statement_sha256": statement.statement_sha256})
    show(answer, lambda: f"{statement.node_name}: freed. {statement.afterwards}", as_json=as_json)


def change_priority(
    context: typer.Context,
    campaign: Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the campaign.")],
    priority: Annotated[
        int,
        typer.Argument(
            metavar="N", min=0, max=9, help="0 (default) to 9 (highest); each step is worth one hour of queue time."
        ),
    ],
    *,
    as_json: AsJson = False,
) -> None:
    """Change the priority of a waiting campaign."""
    with opened(context) as api:
        answer = api.patch(f"/campaigns/{campaign}", {"priority": priority})
    if as_json:
        print_json(answer)
    else:
        shown = Campaign.of(answer)
        say(f"campaign {shown.id} ({shown.name}) has priority {priority}; {shown.counts.waiting} runs are waiting")


def _path(api: Api, kind: DrainKind, name: str | None, cluster: str | None) -> str:
    if (name is None) != (kind is DrainKind.ALL):
        remedy = "use `all` without a name, or for example `node node07`"
        raise RefusedError([Problem("invalid_input", "every kind except `all` needs a name", "name", name, remedy)])
    return "/drain" if name is None else f"/{kind}s/{_id_of(api, kind, name, cluster)}/drain"


def _id_of(api: Api, kind: DrainKind, name: str, cluster: str | None) -> int:
    """Return the id of the only object of that name that is not retired; raise RefusedError."""
    clusters = {int(found["id"]): str(found["name"]) for found in api.items("/clusters", {})}
    if kind is DrainKind.CLUSTER:
        found = {cluster_id: known for cluster_id, known in clusters.items() if known == name}
    else:
        items = (item for item in api.items(f"/{kind}s", {}) if item["name"] == name and not _is_retired(item))
        found = {int(item["id"]): clusters.get(int(item["cluster_id"]), "") for item in items}
    if cluster is not None and kind is not DrainKind.CLUSTER:
        found = {subject_id: known for subject_id, known in found.items() if known == cluster}
    if len(found) == 1:
        return next(iter(found))
    if found:
        remedy = f"use --cluster with one of {', '.join(sorted(found.values()))}"
        raise RefusedError([Problem("ambiguous", f"several clusters have this {kind}", "name", name, remedy)])
    remedy = "check its spelling in the dashboard"
    raise RefusedError([Problem(f"{kind}_not_found", f"no such {kind}", "name", name, remedy)])


def _is_retired(item: dict[str, object]) -> bool:
    return item.get("state") == "retired" or item.get("retired_at") is not None


def _what(kind: DrainKind, name: str | None) -> str:
    return "everything" if name is None else f"{kind} {name}"
