"""Follow a campaign to its end on the terminal."""

import time
from typing import Final

import typer
from rich.live import Live

from iotide_agent.cli import display
from iotide_agent.cli.answers import Campaign
from iotide_agent.cli.api import Api
from iotide_agent.cli.live_progress import LiveProgress
from iotide_agent.cli.names import read_catalogue
from iotide_agent.cli.preparations import has_failed_preparation, preparation_words
from iotide_agent.cli.server import PlainConsole, console, print_json
from iotide_agent.cli.speaking import say
from iotide_agent.cli.watch import ended_cells, watch

SOME_RUN_FAILED: Final = 1
INTERRUPTED: Final = 130


def follow_to_end(api: Api, campaign_id: int, *, as_json: bool) -> None:
    """Wait for the end of a campaign, then show its results; raise typer.Exit as `wait`."""
    campaign = wait(api, campaign_id, on_stderr=as_json)
    if as_json:
        print_json(api.get(f"/campaigns/{campaign_id}"))
    else:
        cells = ended_cells(api, campaign_id, time.sleep)
        display.show_results(console(), cells, read_catalogue(api))
        if not all(cell.is_computed for cell in cells):
            say(f"these results do not include all runs yet; see `iotide campaign show {campaign_id}`", err=True)
        say(ended_line(campaign))
    exit_as(campaign)


def wait(api: Api, campaign_id: int, *, on_stderr: bool) -> Campaign:
    """Show the progress of a campaign until it has ended; raise typer.Exit if interrupted."""
    progress_console = PlainConsole(stderr=on_stderr)
    progress = LiveProgress(progress_console)
    try:
        with Live(progress.renderable, console=progress_console, transient=True):
            return watch(api, campaign_id, progress.update, time.sleep)
    except KeyboardInterrupt:
        say(f"campaign {campaign_id} continues; follow it with `iotide campaign wait {campaign_id}`", err=True)
        raise typer.Exit(INTERRUPTED) from None


def ended_line(campaign: Campaign) -> str:
    counts = campaign.counts
    ended = f"{counts.finished} runs finished, {counts.failed} failed, {counts.cancelled} cancelled"
    words = "; ".join([ended, *filter(None, [", ".join(preparation_words(campaign))])])
    return f"campaign {campaign.id} ({campaign.name}): {words}"


def exit_as(campaign: Campaign) -> None:
    """Raise typer.Exit with status 1 if a run, or work on scratch disks, failed or was cancelled."""
    if campaign.counts.failed or campaign.counts.cancelled or has_failed_preparation(campaign):
        raise typer.Exit(SOME_RUN_FAILED)
