"""The commands `iotide schedule`."""

from pathlib import Path
from typing import Annotated, Final

import typer

from iotide_agent.cli import display
from iotide_agent.cli.answers import Firing, Schedule
from iotide_agent.cli.plan_file import read_schedule
from iotide_agent.cli.server import AsJson, Limit, console, is_confirmed, opened, print_json, show
from iotide_agent.cli.speaking import say

NOT_DONE: Final = 2

schedule_app = typer.Typer(no_args_is_help=True, help="Manage recurring campaigns.")

ScheduleId = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the schedule.")]
ScheduleFile = Annotated[Path, typer.Argument(metavar="FILE.yaml", help="Schedule file; see examples/.")]


@schedule_app.command("submit")
def submit_schedule(context: typer.Context, file: ScheduleFile, *, as_json: AsJson = False) -> None:
    """Create a schedule from a file and show its next campaigns."""
    schedule = read_schedule(file)
    with opened(context) as api:
        answer = api.post("/schedules", schedule.model_dump(mode="json"))
    show(answer, lambda: _made(Schedule.of(answer)), as_json=as_json)


@schedule_app.command("list")
def list_schedules(
    context: typer.Context,
    *,
    cluster_id: Annotated[int | None, typer.Option(min=1, help="Only this cluster.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List schedules, newest first."""
    filters = {} if cluster_id is None else {"cluster_id": cluster_id}
    with opened(context) as api:
        answers = list(api.items("/schedules", filters, limit))
    show(answers, lambda: display.schedule_table(map(Schedule.of, answers)), as_json=as_json)


@schedule_app.command("show")
def show_schedule(context: typer.Context, schedule: ScheduleId, *, as_json: AsJson = False) -> None:
    """Show a schedule with its next and latest campaigns."""
    with opened(context) as api:
        answer = api.get(f"/schedules/{schedule}")
        firings = list(api.items(f"/schedules/{schedule}/firings", {}, 20))
    if as_json:
        print_json(answer | {"firings": firings})
        return
    shown = Schedule.of(answer)
    console().print(display.schedule_table([shown]))
    say("\n".join([*display.firing_lines(shown), *map(display.fired_line, map(Firing.of, firings))]))


@schedule_app.command("pause")
def pause_schedule(context: typer.Context, schedule: ScheduleId, *, as_json: AsJson = False) -> None:
    """Pause a schedule; missed campaigns are not caught up."""
    _step(context, schedule, "pause", as_json=as_json)


@schedule_app.command("resume")
def resume_schedule(context: typer.Context, schedule: ScheduleId, *, as_json: AsJson = False) -> None:
    """Resume a schedule."""
    _step(context, schedule, "resume", as_json=as_json)


@schedule_app.command("run")
def run_schedule(context: typer.Context, schedule: ScheduleId, *, as_json: AsJson = False) -> None:
    """Submit the schedule's campaign now, as you; its calendar does not change."""
    with opened(context) as api:
        answer = api.post(f"/schedules/{schedule}/run")
    show(answer, lambda: f"campaign {Firing.of(answer).campaign_id} accepted", as_json=as_json)


@schedule_app.command("remove")
def remove_schedule(
    context: typer.Context,
    schedule: ScheduleId,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove a schedule; its campaigns stay and continue."""
    with opened(context) as api:
        found = Schedule.of(api.get(f"/schedules/{schedule}"))
        if not (yes or is_confirmed(f"Remove schedule {found.id} ({found.name})?", remedy="use --yes")):
            raise typer.Exit(NOT_DONE)
        api.delete(f"/schedules/{schedule}")
    say(f"schedule {found.id} ({found.name}) removed")


def _made(schedule: Schedule) -> list[str]:
    return [f"schedule {schedule.id} ({schedule.name}) created", *display.firing_lines(schedule)]


def _step(context: typer.Context, schedule: int, step: str, *, as_json: bool) -> None:
    with opened(context) as api:
        answer = api.post(f"/schedules/{schedule}/{step}")
    show(answer, lambda: display.schedule_table([Schedule.of(answer)]), as_json=as_json)
