"""Maintenance windows of clusters; the scheduler plans around them."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository, service
from iotide_server.clusters.errors import WINDOW_NOT_FOUND, WINDOW_OVER
from iotide_server.clusters.models import Blackout
from iotide_server.kit.clock import written
from iotide_server.kit.db import Json, fields_of
from iotide_server.kit.errors import InvalidInputError
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.kit.wake import wake_scheduler

_SHOWN: Final = ("starts_at", "ends_at", "reason")
START_TAKES: Final = timedelta(minutes=2)
"""Longest time from the scheduler's decision to the start of the load: an offer may be repeated, and a gang waits for
its last node. A run with a latest end needs its time limit plus this.
"""


def list_maintenance_windows(
    session: Session, principal: Principal, cluster_id: int, paging: PageRequest, now: datetime
) -> Slice[Blackout]:
    service.cluster(session, principal, cluster_id)
    return repository.blackouts(session, cluster_id, now, paging)


def create_maintenance_window(
    session: Session, principal: Principal, cluster_id: int, wanted: Blackout, now: datetime
) -> Blackout:
    service.cluster(session, principal, cluster_id, Role.OPERATOR)
    if wanted.ends_at <= wanted.starts_at:
        raise InvalidInputError(
            "ends_at: the maintenance window ends before it starts",
            field="ends_at",
            value=wanted.ends_at.isoformat(),
            remedy=f"give a time after {written(wanted.starts_at)}",
        )
    if wanted.ends_at <= now:
        raise WINDOW_OVER(ends_at=wanted.ends_at)
    wanted.cluster_id, wanted.owner_id, wanted.created_at = cluster_id, principal.user_id, now
    session.add(wanted)
    session.flush()
    _announce(session, principal, wanted, "blackout_created", after=fields_of(wanted, *_SHOWN))
    return wanted


def remove_maintenance_window(session: Session, principal: Principal, blackout_id: int) -> None:
    row = session.get(Blackout, blackout_id)
    found = principal.require_row(Role.OPERATOR, row, WINDOW_NOT_FOUND(blackout_id=blackout_id))
    session.delete(found)
    session.flush()
    _announce(session, principal, found, "blackout_removed", before=fields_of(found, *_SHOWN))


def _announce(session: Session, principal: Principal, blackout: Blackout, name: str, **changes: Json) -> None:
    audit.record(session, principal, Action.on(name, blackout, **changes))
    live.publish(session, "cluster", blackout.cluster_id, blackout.cluster_id)
    wake_scheduler(session, "blackout")
