import pytest
from factories.clock import MovedClock
from factories.people import ADMIN
from factories.raised import raised
from factories.site import Site
from sqlalchemy import select

from iotide_server.accounts.models import AuditEntry
from iotide_server.clusters import service as clusters
from iotide_server.clusters.errors import CLUSTER_BUSY
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import Database


@pytest.fixture
def site(database: Database, clock: MovedClock) -> Site:
    return Site(database, clock)


def test_the_launcher_is_not_taken_from_runs_that_are_active(site: Site) -> None:
    (run_id,) = site.add_runs([1])
    site.start()
    with site.database.transaction() as session, raised(CLUSTER_BUSY, match=r"has active runs \(1\)"):
        clusters.change_cluster(session, ADMIN, site.cluster_id, {"launcher": "slurm"})
    agent = site.agent(1)
    agent.finish(agent.claim_offer())
    with site.database.transaction() as session:
        clusters.change_cluster(session, ADMIN, site.cluster_id, {"launcher": "slurm"})
        entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "cluster_changed")).one()
        assert (entry.before, entry.after) == ({"launcher": "direct"}, {"launcher": "slurm"})
        assert session.get_one(Cluster, site.cluster_id).launcher == "slurm"
    assert site.run(run_id).state == "finished"


def test_a_cluster_with_active_runs_keeps_its_launcher_and_takes_another_name(site: Site) -> None:
    site.add_runs([1])
    site.start()
    with site.database.transaction() as session:
        changed = clusters.change_cluster(session, ADMIN, site.cluster_id, {"name": "rack", "launcher": "direct"})
        assert (changed.name, changed.launcher) == ("rack", "direct")
