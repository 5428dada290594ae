"""Follows a campaign until it ended, through restarts of the server and broken connections."""

from collections.abc import Callable
from typing import Final

from iotide_agent.cli.answers import Campaign, Cell, Pause
from iotide_agent.cli.api import Api, UnreachableError
from iotide_agent.cli.problems import Problem, RefusedError
from iotide_wire.units import format_seconds

PERIOD_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 300.0
"""A server that is away for longer than this has the watcher give up; the campaign goes on without it."""
LOOK_SECONDS: Final = 120.0
"""Nodes that other runs keep busy answer when they are idle again."""
RESULTS_SECONDS: Final = 30.0
"""Results that are not computed by then are shown as they are."""
ENDED: Final = frozenset({"finished", "failed", "cancelled"})


def watch(api: Api, campaign_id: int, show: Callable[[Campaign], None], sleep: Callable[[float], None]) -> Campaign:
    """Show the campaign each second; return it as it ended.

    Raise UnreachableError where the server was away for too long, RefusedError where this token may not see it.
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
    """The cells of a campaign that ended, once their results are of all its runs, or as far as they are."""
    waited_seconds = 0.0
    while True:
        cells = [Cell.of(item) for item in api.items(f"/campaigns/{campaign_id}/cells", {})]
        if all(cell.is_computed for cell in cells) or waited_seconds >= RESULTS_SECONDS:
            return cells
        sleep(PERIOD_SECONDS)
        waited_seconds += PERIOD_SECONDS


def look(api: Api, campaign_id: int, sleep: Callable[[float], None]) -> Pause:
    """Ask the nodes of a paused campaign what they have mounted, and wait until all have answered.

    Raise RefusedError where the campaign is not paused, or a node does not answer.
    """
    pause = Pause.of(api.post(f"/campaigns/{campaign_id}/pause/look"))
    waited_seconds = 0.0
    while pause.waiting_for:
        if waited_seconds >= LOOK_SECONDS:
            message = (
                f"{', '.join(pause.waiting_for)} did not say what is mounted within {format_seconds(LOOK_SECONDS)}"
            )
            remedy = "look whether its agent runs and is idle, then confirm again"
            raise RefusedError([Problem("facts_not_read", message, remedy=remedy)])
        sleep(PERIOD_SECONDS)
        waited_seconds += PERIOD_SECONDS
        pause = Pause.of(api.get(f"/campaigns/{campaign_id}/pause"))
    return pause
