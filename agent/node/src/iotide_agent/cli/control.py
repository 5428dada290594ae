"""Commands of operators: drain and resume, call a silent node dead, free a stuck one, change a campaign's priority."""

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

node_app = typer.Typer(no_args_is_help=True, help="Decide about nodes.")


class DrainKind(StrEnum):
    """What can be drained."""

    NODE = "node"
    TARGET = "target"
    CLUSTER = "cluster"
    ALL = "all"


Kind = Annotated[DrainKind, typer.Argument(metavar="KIND", help="node, target, cluster or all.")]
Subject = Annotated[str | None, typer.Argument(metavar="[NAME]", help="Its name; none for all.")]
Until = Annotated[
    datetime | None,
    typer.Option(
        formats=["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"],
        help="It is resumed by itself then; by the clock of this machine where no zone is given.",
    ),
]
InCluster = Annotated[str | None, typer.Option("--cluster", help="Where the name is in several clusters.")]


def add_to(app: typer.Typer, campaign_app: typer.Typer) -> None:
    """Make these commands part of `iotide`."""
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
    reason: Annotated[str, typer.Option(help="For everybody whose run waits for it.")],
    until: Until = None,
    cluster: InCluster = None,
    as_json: AsJson = False,
) -> None:
    """Let nothing new start on a node, a target, a cluster or all; what runs goes on."""
    end = None if until is None else until.astimezone().isoformat()
    with opened(context) as api:
        answer = api.put(_path(api, kind, name, cluster), {"reason": reason, "until": end})
    if as_json:
        print_json(answer)
    else:
        drained = Drain.of(answer)
        say(f"{_what(kind, name)} is drained {display.until(drained.until)}: {drained.reason}")


def resume(context: typer.Context, kind: Kind, name: Subject = None, *, cluster: InCluster = None) -> None:
    """Let runs start there again."""
    with opened(context) as api:
        api.delete(_path(api, kind, name, cluster))
    say(f"{_what(kind, name)} is not drained; what it is part of may be, see `iotide drains`")


def list_drains(context: typer.Context, *, as_json: AsJson = False) -> None:
    """List what is drained, with reason, by whom and until when."""
    with opened(context) as api:
        answers = api.get_list("/drains")
    show(answers, lambda: display.drain_table(Drain.of(answer) for answer in answers), as_json=as_json)


@node_app.command("dead")
def declare_node_dead(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a node that is silent.")],
    *,
    cluster: InCluster = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without being asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Say that a silent node is dead: shows what that frees and ends, and after your word does just that."""
    with opened(context) as api:
        path = f"/nodes/{_id_of(api, DrainKind.NODE, name, cluster)}/dead"
        statement = DeathStatement.of(api.get(path))
        say("\n".join(display.death_lines(statement)), err=as_json)
        question = f"Is {statement.node_name} really dead, and not only cut off?"
        if not (yes or is_confirmed(question, remedy="read what it frees, then give --yes")):
            raise typer.Exit(NOT_CONFIRMED)
        answer = api.post(path, {"statement_sha256": statement.statement_sha256})
    show(answer, lambda: f"{statement.node_name}: {answer['problem']}", as_json=as_json)


@node_app.command("free")
def free_stuck_node(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of a node that is stuck.")],
    *,
    cluster: InCluster = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without being asked.")] = False,
    as_json: AsJson = False,
) -> None:
    """Free what the loads of a stuck node hold: shows what may follow, and after your word frees just that."""
    with opened(context) as api:
        path = f"/nodes/{_id_of(api, DrainKind.NODE, name, cluster)}/stuck"
        statement = StuckStatement.of(api.get(path))
        say("\n".join(statement.lines()), err=as_json)
        question = f"Free what {statement.node_name} holds, although its loads may still run?"
        if not (yes or is_confirmed(question, remedy="read what may follow, then give --yes")):
            raise typer.Exit(NOT_CONFIRMED)
        answer = api.post(path, {"statement_sha256": statement.statement_sha256})
    show(answer, lambda: f"{statement.node_name}: freed. {statement.afterwards}", as_json=as_json)


def change_priority(
    context: typer.Context,
    campaign: Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the campaign.")],
    priority: Annotated[int, typer.Argument(metavar="N", min=0, max=9, help="A step counts as an hour of waiting.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Give a campaign that waits another priority, 0 to 9."""
    with opened(context) as api:
        answer = api.patch(f"/campaigns/{campaign}", {"priority": priority})
    if as_json:
        print_json(answer)
    else:
        shown = Campaign.of(answer)
        say(f"campaign {shown.id} ({shown.name}) has priority {priority}; {shown.counts.waiting} runs wait")


def _path(api: Api, kind: DrainKind, name: str | None, cluster: str | None) -> str:
    if (name is None) != (kind is DrainKind.ALL):
        remedy = "write `all` alone, or for instance `node node07`"
        raise RefusedError([Problem("invalid_input", "a name belongs to everything but all", "name", name, remedy)])
    return "/drain" if name is None else f"/{kind}s/{_id_of(api, kind, name, cluster)}/drain"


def _id_of(api: Api, kind: DrainKind, name: str, cluster: str | None) -> int:
    """Return the id of the living thing of that name; raise RefusedError unless there is exactly one."""
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
        remedy = f"give --cluster, one of {', '.join(sorted(found.values()))}"
        raise RefusedError([Problem("ambiguous", f"several clusters have a {kind} of that name", "name", name, remedy)])
    remedy = "write it as in the dashboard"
    raise RefusedError([Problem(f"{kind}_not_found", f"there is no {kind} of that name", "name", name, remedy)])


def _is_retired(item: dict[str, object]) -> bool:
    return item.get("state") == "retired" or item.get("retired_at") is not None


def _what(kind: DrainKind, name: str | None) -> str:
    return "everything" if name is None else f"{kind} {name}"
