from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from iotide_server.accounts.sessions import service as sessions
from iotide_server.clusters.models import Cluster
from iotide_server.clusters.views import Origin
from iotide_server.demo_history.errors import DEMO_HISTORY_ABSENT
from iotide_server.forgetting import forget_clusters
from iotide_server.kit.db import Database


def sample_clusters(session: Session) -> Sequence[Cluster]:
    """Return the sample clusters by name, or raise DEMO_HISTORY_ABSENT."""
    found = session.scalars(select(Cluster).where(Cluster.origin == Origin.SAMPLE_DATA).order_by(Cluster.name)).all()
    if not found:
        raise DEMO_HISTORY_ABSENT()
    return found


def forget_history(database: Database, now: datetime) -> int:
    """Keep audit entries; return the number of removed rows."""
    with database.transaction() as session:
        clusters = sample_clusters(session)
        principal = sessions.console_principal(session, now)
        return forget_clusters(session, principal, clusters, "demo_history_forgotten")
