"""The commands `iotide campaign wait`, `retry` and `report`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Final

import typer

from iotide_agent.cli import display
from iotide_agent.cli.answers import Campaign, Cell
from iotide_agent.cli.api import Api, Document, UnreachableError
from iotide_agent.cli.compare import lines, read_sides, side_lines
from iotide_agent.cli.following import ended_line, exit_as, wait
from iotide_agent.cli.names import Catalogue, read_catalogue
from iotide_agent.cli.problems import Problem, RefusedError, writing
from iotide_agent.cli.server import AsJson, console, opened, print_json
from iotide_agent.cli.speaking import say

PRINT_SECONDS: Final = 90.0
"""The server may print for a minute."""
CampaignId = Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the campaign.")]


def add_to(campaign_app: typer.Typer) -> None:
    campaign_app.command("wait")(wait_for_campaign)
    campaign_app.command("retry")(retry_campaign)
    campaign_app.command("report")(report_campaign)


def wait_for_campaign(context: typer.Context, campaign: CampaignId, *, as_json: AsJson = False) -> None:
    """Wait until a campaign has ended. Exit status 1 if a run failed or was cancelled.

    Ctrl+C ends the wait; the campaign continues.
    """
    with opened(context) as api:
        ended = wait(api, campaign, on_stderr=as_json)
        if as_json:
            print_json(api.get(f"/campaigns/{campaign}"))
        else:
            say(ended_line(ended))
    exit_as(ended)


def retry_campaign(context: typer.Context, campaign: CampaignId, *, as_json: AsJson = False) -> None:
    """Queue the failed runs of a campaign for one more attempt each."""
    with opened(context) as api:
        shown = Campaign.of(api.get(f"/campaigns/{campaign}"))
        failed = list(api.items("/runs", {"campaign_id": campaign, "state": "failed"}))
        queued, problems = _retried(api, failed)
    if as_json:
        print_json(queued)
    elif failed:
        say(f"campaign {shown.id} ({shown.name}): {len(queued)} of {len(failed)} failed runs queued again")
    else:
        say(f"campaign {shown.id} ({shown.name}) has no failed runs")
    if problems:
        raise RefusedError(problems)


def _retried(api: Api, failed: list[Document]) -> tuple[list[Document], list[Problem]]:
    """Return the queued runs and the refusals. A refusal does not stop the others; a missing answer does."""
    queued: list[Document] = []
    problems: list[Problem] = []
    for run in failed:
        try:
            queued.append(api.post(f"/runs/{run['id']}/retry"))
        except UnreachableError:
            raise
        except RefusedError as refused:
            problems += refused.problems
    return queued, problems


def report_campaign(
    context: typer.Context,
    campaign: CampaignId,
    *,
    pdf: Annotated[
        Path | None,
        typer.Option(
            "--pdf", metavar="FILE", dir_okay=False, help="Write the report page as PDF, printed by the server."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a campaign found: its answer, then all results.

    The answer compares its targets, nodes or options. If it has only one configuration, it compares with the previous
    campaign of its schedule.
    """
    if pdf is not None:
        with opened(context) as api:
            printed = api.get_bytes(f"/campaigns/{campaign}/report.pdf", PRINT_SECONDS)
        with writing(pdf):
            pdf.write_bytes(printed)
        say(f"wrote {pdf}")
        return
    with opened(context) as api:
        answer = api.get(f"/campaigns/{campaign}")
        cells = list(api.items(f"/campaigns/{campaign}/cells", {}))
        sides = read_sides(api, [campaign], None)
        previous = None if sides["by"] is not None else _with_previous(api, answer)
        catalogue = Catalogue() if as_json else read_catalogue(api)
    if as_json:
        print_json({"campaign": answer, "sides": sides, "previous": previous, "cells": cells})
        return
    shown = Campaign.of(answer)
    say("\n".join([ended_line(shown), *display.stage_lines(shown), ""]))
    answered = side_lines(sides, catalogue, only_primary=True) if previous is None else lines(previous, catalogue)
    say("\n".join(_answer(answered)))
    display.show_results(console(), list(map(Cell.of, cells)), catalogue)


def _answer(found: Iterator[str]) -> Iterator[str]:
    yield "answer"
    yield from found
    yield ""
    yield "results"


def _with_previous(api: Api, campaign: Document) -> Document | None:
    """Return the comparison with the previous finished campaign of the schedule, as B relative to A."""
    if campaign.get("schedule_id") is None:
        return None
    wanted = {"schedule_id": campaign["schedule_id"], "state": "finished"}
    before = (one["id"] for one in api.items("/campaigns", wanted) if one["id"] < campaign["id"])
    previous = next(before, None)
    return None if previous is None else api.get("/comparison", {"a": previous, "b": campaign["id"]})
