"""Plans and schedules for a site."""

from datetime import datetime
from typing import Any

from factories.people import person
from factories.site import Site
from sqlalchemy import text

from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters import maintenance
from iotide_server.clusters.models import Blackout
from iotide_server.kit.db import Database
from iotide_server.schedules import service
from iotide_server.schedules.models import Firing, Schedule
from iotide_wire.schedule import SchedulePlan


def plan(**changes: object) -> dict[str, Any]:
    """Return a plan of one dd on the first node of a site."""
    written = {"workload": "dd", "options": {"file_size_bytes": "1 GiB"}}
    made = {"name": "nightly", "cluster": "blade", "nodes": ["n1"], "targets": ["scratch"], "workloads": [written]}
    return {**made, "repeats": 1, **changes}


def operator(database: Database, now: datetime, name: str = "grace") -> Principal:
    """Make a person who may submit campaigns."""
    with database.transaction() as session:
        return person(session, name, Role.OPERATOR, now=now).principal


def add_schedule(site: Site, owner: Principal, **changes: object) -> int:
    """Add a schedule that fires daily at 02:30 in Zurich, with these changes; return its id."""
    given = {"name": "every-night", "plan": plan(), "cron": "30 2 * * *", "time_zone": "Europe/Zurich", **changes}
    with site.database.transaction() as session:
        return service.create(session, owner, SchedulePlan.model_validate(given), site.clock())


def add_maintenance_window(site: Site, owner: Principal, starts_at: datetime, ends_at: datetime) -> int:
    """Add a maintenance window of the site's cluster; return its id."""
    wanted = Blackout(starts_at=starts_at, ends_at=ends_at, reason="new firmware")
    with site.database.transaction() as session:
        return maintenance.create_maintenance_window(session, owner, site.cluster_id, wanted, site.clock()).id


def stored(site: Site, schedule_id: int) -> Schedule:
    with site.database.transaction() as session:
        return session.get_one(Schedule, schedule_id)


def firings(site: Site) -> list[Firing]:
    """Return all firings, oldest first."""
    with site.database.transaction() as session:
        return session.query(Firing).order_by(Firing.id).all()


def run_ids(site: Site, campaign_id: int) -> list[int]:
    with site.database.transaction() as session:
        statement = text("SELECT id FROM run WHERE campaign_id = :id ORDER BY id")
        return list(session.scalars(statement, {"id": campaign_id}))
