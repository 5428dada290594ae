"""All tables in one place, for Alembic and for whoever needs every relation resolved."""

from iotide_server.accounts import models as accounts
from iotide_server.alerts import models as alerts
from iotide_server.campaigns import models as campaigns
from iotide_server.change_feed import models as live
from iotide_server.clusters import models as clusters
from iotide_server.explorer import models as explorer
from iotide_server.kit import migrations, work
from iotide_server.kit.db import Base
from iotide_server.notifications import models as notifications
from iotide_server.results import models as results
from iotide_server.retention import models as retention
from iotide_server.runs import models as runs
from iotide_server.schedules import models as schedules
from iotide_server.targets import models as targets
from iotide_server.templates import models as templates
from iotide_server.trends import models as trends
from iotide_server.workloads import models as workloads

metadata = Base.metadata
"""The schema that migrations lead to; `alembic check` compares the two."""

__all__ = [
    "accounts",
    "alerts",
    "campaigns",
    "clusters",
    "explorer",
    "live",
    "metadata",
    "migrations",
    "notifications",
    "results",
    "retention",
    "runs",
    "schedules",
    "targets",
    "templates",
    "trends",
    "work",
    "workloads",
]
