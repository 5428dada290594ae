"""Authorization of gateways of a batch system, and the choice of the active one."""

from factories.batch_site import INSTANCE, BatchSite, why
from factories.raised import raised
from factories.site import Site

from iotide_server.agent_api import batch
from iotide_server.agent_api.errors import LAUNCHER_DIFFERS, NOT_A_GATEWAY
from iotide_server.clusters.errors import AGENT_SUPERSEDED
from iotide_server.clusters.models import Node
from iotide_server.clusters.views import SILENT_AFTER
from iotide_server.scheduling.service import Scheduler
from iotide_wire.batch import BatchReport, BatchSystem, JobState


def test_only_a_gateway_to_the_cluster_s_own_batch_system_may_report(site: Site, slurm: BatchSite) -> None:
    request = BatchReport(agent_instance=INSTANCE, system=BatchSystem.LSF, problem=None, jobs=(), hosts=(), refused=())
    with site.database.transaction() as session, raised(LAUNCHER_DIFFERS, match="slurm"):
        batch.report(session, slurm.gateway_id, request, site.clock())
    with site.database.transaction() as session, raised(NOT_A_GATEWAY):
        batch.report(session, site.node_ids[0], request, site.clock())


def test_a_second_gateway_with_the_same_identity_is_rejected(site: Site, slurm: BatchSite) -> None:
    request = BatchReport(
        agent_instance="instance-copy", system=BatchSystem.SLURM, problem=None, jobs=(), hosts=(), refused=()
    )
    with site.database.transaction() as session, raised(AGENT_SUPERSEDED):
        batch.report(session, slurm.gateway_id, request, site.clock())


def test_a_second_gateway_is_on_standby_until_the_first_is_silent(
    site: Site, slurm: BatchSite, scheduler: Scheduler
) -> None:
    (run_id,) = site.add_runs([1])
    scheduler.step({"run"})
    job = slurm.wanted()
    slurm.list_job(job, JobState.PENDING, "Priority")
    second = slurm.add_gateway("login2")
    listed, slurm.jobs = slurm.jobs, []  # of another user: it lists none of the first one's jobs
    assert slurm.report(gateway_id=second).submit == ()
    assert slurm.row(job).state == "pending"
    assert why(site, run_id) == "Slurm job 12 waits: Priority"
    with site.database.transaction() as session:
        assert session.get_one(Node, second).problem == "stands by until login1 is silent or retired"
    slurm.jobs = listed
    site.clock.move(SILENT_AFTER.total_seconds() + 1)
    slurm.report(gateway_id=second)
    with site.database.transaction() as session:
        assert session.get_one(Node, second).problem is None
