"""Quotas for waiting runs in a cluster and for runs added in a day."""

from sqlalchemy import text
from sqlalchemy.orm import Session

from iotide_server.kit.quotas import QUOTA_REACHED, Addition, check_day, count_day, quotas_of

_WAITING = text(
    """
    SELECT count(*) AS of_cluster,
           count(*) FILTER (WHERE coalesce(run.asked_by, campaign.owner_id) = :user_id) AS of_person
    FROM run JOIN campaign ON campaign.id = run.campaign_id
    WHERE run.state = 'waiting' AND run.cluster_id = :cluster_id
    """
)


def require_room(session: Session, addition: Addition) -> None:
    """Raise QUOTA_REACHED early, before work is spent."""
    check_day(session, addition)
    _check_waiting(session, addition, addition.number)


def take_room(session: Session, addition: Addition) -> None:
    """Count the added runs; raise QUOTA_REACHED if others used up the quota."""
    count_day(session, addition)
    _check_waiting(session, addition, 0)


def _check_waiting(session: Session, addition: Addition, further: int) -> None:
    quotas = quotas_of(session)
    waiting = session.execute(_WAITING, {"cluster_id": addition.cluster_id, "user_id": addition.user_id}).one()
    for count, most, owner, setting in (
        (waiting.of_person + further, quotas.waiting_runs_of_person, "of one user ", "WAITING_RUNS_OF_PERSON"),
        (waiting.of_cluster + further, quotas.waiting_runs, "", "WAITING_RUNS"),
    ):
        if count > most:
            remedy = f"wait, cancel campaigns, or ask an admin to raise IOTIDE_QUOTA_{setting}"
            what = f"waiting runs {owner}in the cluster"
            raise QUOTA_REACHED(what=what, count=count, most=most, field=addition.field, remedy=remedy)
