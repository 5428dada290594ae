"""Follows a campaign until it ended, through restarts of the server and broken connections."""

from collections.abc import Callable
from typing import Final

from iotide_agent.cli.answers import Campaign
from iotide_agent.cli.api import Api, UnreachableError

PERIOD_SECONDS: Final = 1.0
PATIENCE_SECONDS: Final = 300.0
"""A server that is away for longer than this has the watcher give up; the campaign goes on without it."""
ENDED: Final = frozenset({"finished", "failed", "cancelled"})


def watch(api: Api, campaign_id: int, show: Callable[[Campaign], None], sleep: Callable[[float], None]) -> Campaign:
    """Shows the campaign once a second and returns it as it ended.

    Raises:
        UnreachableError: the server was away for too long.
        RefusedError: the campaign is not there, or not for this token.
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
