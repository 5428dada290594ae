"""Run storage benchmarks on clusters: submit campaigns, follow them and get their results."""

import csv
import json
import sys
import time
import uuid
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final, TextIO

import typer

from iotide_agent.cli import control, display, findings, inventory, outcomes, run_display
from iotide_agent.cli.answers import Artefact, Campaign, Cell, Event, Headline, Preview, Run, RunDetail, SampleAnswer
from iotide_agent.cli.api import Api, Document
from iotide_agent.cli.campaign_lists import CampaignSort, campaign_headlines, campaign_list
from iotide_agent.cli.clusters import cluster_app
from iotide_agent.cli.compare import compare_campaigns
from iotide_agent.cli.following import SOME_RUN_FAILED, ended_line, exit_as, follow_to_end, wait
from iotide_agent.cli.login import log_in
from iotide_agent.cli.names import Catalogue, read_catalogue
from iotide_agent.cli.plan_file import read_plan
from iotide_agent.cli.power import show_power
from iotide_agent.cli.preparations import preparation_words
from iotide_agent.cli.problems import Problem, RefusedError, writing
from iotide_agent.cli.raw_output import save_output
from iotide_agent.cli.reparse import chosen_runs, read_run_again, send
from iotide_agent.cli.schedules import schedule_app
from iotide_agent.cli.server import (
    AsJson,
    Limit,
    PlainConsole,
    chosen_server,
    console,
    is_confirmed,
    opened,
    print_json,
    show,
)
from iotide_agent.cli.speaking import ask, say
from iotide_agent.cli.stripe import show_stripe
from iotide_agent.cli.watch import look
from iotide_wire.program import PRINT_VERSION, version_printer

REFUSED: Final = 2
_MOST_BY_ID: Final = 50
"""Limit of the server."""

app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False, help=__doc__)
campaign_app = typer.Typer(no_args_is_help=True, help="Submit, follow and cancel campaigns.")
run_app = typer.Typer(no_args_is_help=True, help="Inspect runs.")
app.add_typer(campaign_app, name="campaign")
app.add_typer(run_app, name="run")
control.add_to(app, campaign_app)
outcomes.add_to(campaign_app)
inventory.add_to(app)
findings.add_to(app)
app.add_typer(schedule_app, name="schedule")
app.add_typer(cluster_app, name="cluster")
app.command("login")(log_in)
app.command("compare")(compare_campaigns)
app.command("power")(show_power)
app.command("stripe")(show_stripe)
run_app.command("output")(save_output)

CampaignId = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the campaign.")]
RunId = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the run.")]
PlanFile = Annotated[Path, typer.Argument(metavar="FILE.yaml", help="Campaign file; see examples/.")]
Watch = Annotated[bool, typer.Option("--watch", help="Follow the campaign to its end; exit status 1 if a run failed.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Write to this file instead of stdout.")]


class ExportFormat(StrEnum):
    CSV = "csv"
    JSON = "json"


@app.callback()
def connect(
    context: typer.Context,
    *,
    url: Annotated[
        str | None,
        typer.Option(envvar="IOTIDE_URL", help="Address of the server. Default: of `iotide login`, or this machine."),
    ] = None,
    token: Annotated[str | None, typer.Option(envvar="IOTIDE_TOKEN", help="API token.", show_default=False)] = None,
    ca: Annotated[
        Path | None, typer.Option(envvar="IOTIDE_CA", help="CA certificate file (PEM) of the server.")
    ] = None,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=version_printer("iotide", "iotide-agent"), is_eager=True, help=PRINT_VERSION
        ),
    ] = False,
) -> None:
    context.obj = chosen_server(url, token, ca)


@campaign_app.command("submit")
def submit_campaign(
    context: typer.Context,
    file: PlanFile,
    *,
    times: Annotated[
        int, typer.Option(min=1, max=100, help="Submit it that many times, each after the end of the previous one.")
    ] = 1,
    follow: Watch = False,
    as_json: AsJson = False,
) -> None:
    """Submit a campaign. With --watch, follow it to its end and show its results.

    --times waits for each campaign, and stops after one in which a run failed: a trend needs several.
    """
    plan = read_plan(file)
    with opened(context) as api:
        for number in range(1, times + 1):
            answer = api.post("/campaigns", plan.model_dump(mode="json"), idempotency_key=str(uuid.uuid4()))
            campaign = Campaign.of(answer)
            if not as_json and (times > 1 or not follow):
                words = [f"{sum(dict(campaign.counts).values())} runs", *preparation_words(campaign)]
                of_times = f", {number} of {times}" if times > 1 else ""
                say(f"campaign {campaign.id} ({campaign.name}) accepted: {', '.join(words)}{of_times}")
            if follow:
                follow_to_end(api, campaign.id, as_json=as_json)
            elif as_json:
                print_json(answer)
            if times > 1 and not follow:
                ended = wait(api, campaign.id, on_stderr=as_json)
                say(ended_line(ended), err=as_json)
                exit_as(ended)


@campaign_app.command("preview")
def preview_campaign(context: typer.Context, file: PlanFile, *, as_json: AsJson = False) -> None:
    """Show what a campaign would do, without submitting it."""
    plan = read_plan(file)
    with opened(context) as api:
        answer = api.post("/campaigns/preview", plan.model_dump(mode="json"))
    show(answer, lambda: display.preview_lines(Preview.of(answer)), as_json=as_json)


@campaign_app.command("list")
def list_campaigns(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    *,
    state: Annotated[str | None, typer.Option(help="waiting, active, paused, finished, failed or cancelled.")] = None,
    cluster_id: Annotated[int | None, typer.Option(min=1, help="Only this cluster.")] = None,
    name: Annotated[str | None, typer.Option(help="Only campaigns with this text in their name.")] = None,
    schedule: Annotated[int | None, typer.Option(min=1, help="Only campaigns of this schedule.")] = None,
    owner: Annotated[str | None, typer.Option(help="Only campaigns that this user submitted.")] = None,
    sort: Annotated[CampaignSort, typer.Option(help="newest, oldest or name.")] = CampaignSort.NEWEST,
    limit: Limit = 20,
    as_json: AsJson = False,
) -> None:
    """List campaigns with their main result."""
    filters = _given(state=state, cluster_id=cluster_id, text=name, schedule_id=schedule, owner=owner)
    order: dict[str, str | int] = {} if sort is CampaignSort.NEWEST else {"sort": sort.value}
    with opened(context) as api:
        answers = list(api.items("/campaigns", filters | order, limit))
        results = {} if as_json else campaign_headlines(api, answers)
    show(answers, lambda: campaign_list(map(Campaign.of, answers), results), as_json=as_json)


@campaign_app.command("show")
def show_campaign(
    context: typer.Context, campaign: CampaignId, *, follow: Watch = False, as_json: AsJson = False
) -> None:
    """Show a campaign and its results."""
    with opened(context) as api:
        if follow:
            follow_to_end(api, campaign, as_json=as_json)
            return
        answer = api.get(f"/campaigns/{campaign}")
        cells = list(api.items(f"/campaigns/{campaign}/cells", {}))
        catalogue = Catalogue() if as_json else read_catalogue(api)
    if as_json:
        print_json(answer | {"cells": cells})
        return
    shown = Campaign.of(answer)
    console().print(display.campaign_table([shown]))
    display.show_lines(console(), display.stage_lines(shown))
    display.show_results(console(), list(map(Cell.of, cells)), catalogue)


@campaign_app.command("cancel")
def cancel_campaign(context: typer.Context, campaign: CampaignId, *, as_json: AsJson = False) -> None:
    """Cancel the unfinished runs of a campaign; running benchmarks are stopped and their files removed."""
    with opened(context) as api:
        answer = api.post(f"/campaigns/{campaign}/cancel")
    show(answer, lambda: display.campaign_table([Campaign.of(answer)]), as_json=as_json)


@campaign_app.command("confirm")
def confirm_campaign(
    context: typer.Context,
    campaign: CampaignId,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Accept the mounts without confirmation.")] = False,
    as_json: AsJson = False,
) -> None:
    """Confirm that the next stage of a paused campaign is prepared, and start it (asks first)."""
    with opened(context) as api:
        pause = look(api, campaign, time.sleep)
        say("\n".join(display.pause_lines(pause)), err=as_json)
        if not yes and not ask("Use these mounts for all campaigns and start the stage?", err=as_json):
            raise typer.Exit(REFUSED)
        answer = api.post(f"/campaigns/{campaign}/confirm", {"found_sha256": pause.found_sha256})
    show(answer, lambda: display.campaign_table([Campaign.of(answer)]), as_json=as_json)


@campaign_app.command("export")
def export_campaign(context: typer.Context, campaign: CampaignId, *, output: Output = None) -> None:
    """Export all samples of a campaign as CSV."""
    with opened(context) as api:
        _write(api.get_text(f"/campaigns/{campaign}/samples.csv"), output)


@run_app.command("list")
def list_runs(
    context: typer.Context,
    *,
    campaign: Annotated[int | None, typer.Option(min=1, help="Only this campaign.")] = None,
    state: Annotated[str | None, typer.Option(help="waiting, active, finished, failed or cancelled.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List runs, newest first."""
    filters = _given(campaign_id=campaign, state=state)
    with opened(context) as api:
        answers = list(api.items("/runs", filters, limit))
        headlines = {} if as_json else _headlines(api, [run["id"] for run in answers if run["state"] == "finished"])
    show(answers, lambda: run_display.run_table(map(Run.of, answers), headlines), as_json=as_json)


def _headlines(api: Api, run_ids: Sequence[int]) -> dict[int, Headline]:
    found: dict[int, Headline] = {}
    for first in range(0, len(run_ids), _MOST_BY_ID):
        some = run_ids[first : first + _MOST_BY_ID]
        rows = api.get("/explorer/runs", {"id": some, "limit": len(some)})["items"]
        found |= {row["id"]: Headline.of(row["headline"]) for row in rows if row["headline"]}
    return found


@run_app.command("show")
def show_run(context: typer.Context, run: RunId, *, as_json: AsJson = False) -> None:
    """Show a run: commands, samples, flags, and why it waits."""
    with opened(context) as api:
        answer = api.get(f"/runs/{run}")
        catalogue = Catalogue() if as_json else read_catalogue(api)
    if as_json:
        print_json(answer)
    else:
        run_display.show_run(console(), RunDetail.of(answer), catalogue)


@run_app.command("log")
def show_log(
    context: typer.Context,
    run: RunId,
    *,
    raw: Annotated[bool, typer.Option(help="Also print the tools' output.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the log of a run, oldest first; with --raw also the tools' output."""
    with opened(context) as api:
        events = sorted(api.items(f"/runs/{run}/events", {}), key=lambda event: str(event["at"]))
        artefacts = list(api.items(f"/runs/{run}/artefacts", {})) if raw else []
        texts = {int(found["id"]): api.get_text(f"/artefacts/{found['id']}") for found in artefacts}
    if as_json:
        print_json({"events": events, "artefacts": [found | {"text": texts[int(found["id"])]} for found in artefacts]})
        return
    for event in map(Event.of, events):
        say(f"{event.at:%Y-%m-%d %H:%M:%S} UTC  {event.kind}  {event.text}")
    for artefact in map(Artefact.of, artefacts):
        say(f"\n== {artefact.name}, {artefact.size_bytes} bytes\n{texts[artefact.id]}")


@run_app.command("reparse")
def reparse_runs(  # noqa: PLR0913 - each is an option of the command
    context: typer.Context,
    runs: Annotated[list[int] | None, typer.Argument(metavar="[RUN]...", help="Numbers of runs.")] = None,
    *,
    campaign: Annotated[int | None, typer.Option(min=1, help="All runs of this campaign instead.")] = None,
    workload: Annotated[str | None, typer.Option(help="With --campaign: only runs of this workload.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change without changing it.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
) -> None:
    """Parse the kept raw output of finished runs again, with the parsers of this version.

    Changes are shown before they are sent. The former values stay with the run. Exit status 1 if a run cannot be
    parsed.
    """
    if bool(runs) == (campaign is not None):
        remedy = "use either run numbers or --campaign"
        raise RefusedError([Problem("invalid_input", "runs and --campaign given, or neither", "runs", runs, remedy)])
    if workload is not None and campaign is None:
        remedy = "add --campaign, or remove --workload"
        raise RefusedError([Problem("invalid_input", "--workload needs --campaign", "workload", workload, remedy)])
    with opened(context) as api:
        found = [read_run_again(api, run_id) for run_id in chosen_runs(api, runs or [], campaign, workload)]
        for reread in found:
            run_display.show_reread(console(), reread)
        changing = [reread for reread in found if reread.changes]
        refused = sum(reread.reading is None for reread in found)
        say(f"{len(changing)} of {len(found)} runs would change; {refused} cannot be parsed again")
        if changing and not dry_run:
            question = "Replace the current values by these?"
            if not (yes or is_confirmed(question, remedy="check with --dry-run, then use --yes")):
                raise typer.Exit(REFUSED)
            for reread in changing:
                send(api, reread)
            say(f"{len(changing)} runs updated; trends follow, and the former values stay with each run")
    if refused:
        raise typer.Exit(SOME_RUN_FAILED)


@run_app.command("export")
def export_run(
    context: typer.Context,
    run: RunId,
    *,
    export_format: Annotated[ExportFormat, typer.Option("--format", help="csv or json.")] = ExportFormat.CSV,
    output: Output = None,
) -> None:
    """Export the samples of a run, in base units."""
    with opened(context) as api:
        answers = list(api.items("/samples", {"run_id": run}))
    if export_format is ExportFormat.JSON:
        _write(json.dumps(answers, indent=2) + "\n", output)
    elif output is None:
        _write_csv(answers, sys.stdout)
    else:
        with writing(output), output.open("w", encoding="utf-8", newline="") as file:
            _write_csv(answers, file)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command. Exit status: 0 done, 1 a run failed, 2 refused, 130 interrupted."""
    try:
        app(args=arguments)
    except RefusedError as refused:
        if "--json" in (sys.argv if arguments is None else arguments):
            errors = [problem.as_json() for problem in refused.problems]
            say(json.dumps({"error": errors[0], "errors": errors}, indent=2, default=str), err=True)
        else:
            display.show_problems(PlainConsole(stderr=True), refused.problems)
        sys.exit(REFUSED)


def _given(**filters: str | int | None) -> dict[str, str | int]:
    return {name: value for name, value in filters.items() if value is not None}


def _write(text: str, output: Path | None) -> None:
    if output is None:
        sys.stdout.write(text)
    else:
        with writing(output):
            output.write_text(text, encoding="utf-8")


def _write_csv(answers: Sequence[Document], file: TextIO) -> None:
    """Labels are one JSON column, because they differ between workloads."""
    writer = csv.writer(file)
    samples = map(SampleAnswer.of, answers)
    rows = ((sample.metric, json.dumps(sample.labels, sort_keys=True), sample.value, sample.unit) for sample in samples)
    writer.writerow(("metric", "labels", "value", "unit"))
    writer.writerows(sorted(rows))


if __name__ == "__main__":
    main()
