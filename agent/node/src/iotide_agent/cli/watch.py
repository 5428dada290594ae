"""Follow a campaign to its end, through server restarts and broken connections."""

from collections.abc import Callable
from typing import Final

from iotide_agent.cli.answers import Campaign, Cell, Pause
from iotide_agent.cli.api import Api, UnreachableError
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_wire.units import format_seconds

PERIOD_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 300.0
"""Give up if the server was away for this long. The campaign continues."""
LOOK_SECONDS: Final = 120.0
"""Long enough for nodes that are busy with other runs: they answer when they are idle again."""
RESULTS_SECONDS: Final = 30.0
"""Show incomplete results after this time."""
ENDED: Final = frozenset({"finished", "failed", "cancelled"})


def watch(api: Api, campaign_id: int, show: Callable[[Campaign], None], sleep: Callable[[float], None]) -> Campaign:
    """Show the campaign every second and return it when it has ended.

    Raise UnreachableError if the server is away too long.
    """
    silent_seconds = 0.0
    while True:
        try:
            campaign = Campaign.of(api.get(f"/campaigns/{campaign_id}"))
        except UnreachableError:
            if silent_seconds >= PATIENCE_SECONDS:
                raise
            silent_seconds += PERIOD_SECONDS
        else:
            silent_seconds = 0.0
            show(campaign)
            if campaign.state in ENDED:
                return campaign
        sleep(PERIOD_SECONDS)


def ended_cells(api: Api, campaign_id: int, sleep: Callable[[float], None]) -> list[Cell]:
    """Return all results, or those available after RESULTS_SECONDS."""
    waited_seconds = 0.0
    while True:
        cells = [Cell.of(item) for item in api.items(f"/campaigns/{campaign_id}/cells", {})]
        if all(cell.is_computed for cell in cells) or waited_seconds >= RESULTS_SECONDS:
            return cells
        sleep(PERIOD_SECONDS)
        waited_seconds += PERIOD_SECONDS


def look(api: Api, campaign_id: int, sleep: Callable[[float], None]) -> Pause:
    """Return the mounts that all nodes of a paused campaign report.

    Raise RefusedError if the campaign is not paused or a node does not answer.
    """
    pause = Pause.of(api.post(f"/campaigns/{campaign_id}/pause/look"))
    waited_seconds = 0.0
    while pause.waiting_for:
        if waited_seconds >= LOOK_SECONDS:
            message = f"no mounts reported within {format_seconds(LOOK_SECONDS)} by {', '.join(pause.waiting_for)}"
            remedy = "check that the agent there runs and is idle, then confirm again"
            raise RefusedError([Problem("facts_not_read", message, remedy=remedy)])
        sleep(PERIOD_SECONDS)
        waited_seconds += PERIOD_SECONDS
        pause = Pause.of(api.get(f"/campaigns/{campaign_id}/pause"))
    return pause
