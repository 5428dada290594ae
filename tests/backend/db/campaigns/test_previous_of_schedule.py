from datetime import timedelta

from factories.announced import NOW
from factories.measured import Measured
from factories.schedules import add_schedule
from sqlalchemy.orm import Session

from iotide_server.campaigns.repository import previous_of_schedule
from iotide_server.schedules.models import Firing


def fired(measured: Measured, schedule_id: int, *states: str) -> int:
    """Fire the schedule; return its campaign, with a run in each state."""
    cell = measured.cell()
    for state in states:
        measured.run(cell).state = state
    at = NOW + timedelta(days=cell.campaign_id)
    measured.session.add(Firing(schedule_id=schedule_id, planned_at=at, fired_at=at, campaign_id=cell.campaign_id))
    measured.session.flush()
    return cell.campaign_id


def test_the_previous_campaign_is_the_newest_earlier_one_that_ended_with_a_result(session: Session) -> None:
    measured = Measured(session, NOW)
    nightly = add_schedule(session, measured.cluster.id, NOW, name="nightly").id
    weekly = add_schedule(session, measured.cluster.id, NOW, name="weekly").id
    first = fired(measured, nightly, "finished", "failed")
    fired(measured, weekly, "finished")
    fired(measured, nightly, "failed")
    fired(measured, nightly, "finished", "waiting")
    last = fired(measured, nightly, "finished")
    assert previous_of_schedule(session, last) == first


def test_a_first_or_manual_campaign_has_no_previous_one(session: Session) -> None:
    measured = Measured(session, NOW)
    nightly = add_schedule(session, measured.cluster.id, NOW, name="nightly").id
    first = fired(measured, nightly, "finished")
    fired(measured, nightly, "finished")
    assert previous_of_schedule(session, first) is None
    assert previous_of_schedule(session, measured.campaign().id) is None
