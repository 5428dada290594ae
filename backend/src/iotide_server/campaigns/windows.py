"""Campaign windows: runs are queued only while their window is open."""

from datetime import datetime, timedelta

from sqlalchemy.orm import Session

from iotide_server.campaigns import repository
from iotide_server.campaigns.models import CampaignWindow
from iotide_server.campaigns.openings import Opening, opening_at
from iotide_server.change_feed import service as live
from iotide_server.clusters.maintenance import START_TAKES
from iotide_server.runs import line_repository as lines
from iotide_wire.window import Window


def add_window(
    session: Session, campaign_id: int, window: Window | None, time_limit_seconds: float, now: datetime
) -> None:
    """Store the window. Call it before runs join queues."""
    if window is None:
        return
    row = CampaignWindow(campaign_id=campaign_id)
    _set(row, _opening(window, time_limit_seconds, now), now)
    session.add(row)
    session.flush()


def turn(session: Session, now: datetime) -> None:
    """Open due windows; close those too short for any run to end."""
    for row, campaign in repository.lock_windows_due(session, now):
        if not repository.has_open_runs(session, campaign.id):
            row.is_open, row.turns_at = False, None
            continue
        window = Window.model_validate(campaign.plan["window"])
        was_open = row.is_open
        _set(row, _opening(window, campaign.plan["time_limit_seconds"], now), now)
        session.flush()
        if row.is_open and not was_open:
            lines.open_queues(session, campaign.id)
        elif was_open and not row.is_open:
            lines.leave_queues(session, campaign.id)
        live.publish(session, "campaign", campaign.id, campaign.cluster_id)


def _opening(window: Window, time_limit_seconds: float, now: datetime) -> Opening:
    return opening_at(window, START_TAKES + timedelta(seconds=time_limit_seconds), now)


def _set(row: CampaignWindow, opening: Opening, now: datetime) -> None:
    row.opens_at, row.start_by = opening.opens_at, opening.start_by
    row.is_open = opening.opens_at <= now
    row.turns_at = opening.start_by if row.is_open else opening.opens_at
