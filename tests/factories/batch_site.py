"""A site with runs as Slurm jobs, and a simulated gateway."""

from dataclasses import dataclass, field

from factories.site import Offered, Site

from iotide_server.agent_api import batch
from iotide_server.clusters.agents import records as agents
from iotide_server.clusters.models import Node
from iotide_server.runs import queries, reading
from iotide_server.runs.models import Attempt, BatchJob
from iotide_wire.batch import (
    BatchReply,
    BatchReport,
    BatchSystem,
    JobEnd,
    JobState,
    RefusedJob,
    SeenHost,
    SeenJob,
    WantedJob,
)
from iotide_wire.messages import HelloRequest
from iotide_wire.versions import WIRE_VERSION

INSTANCE = "instance-gateway"


@dataclass
class BatchSite:
    """A simulated batch system; it lists what the test adds."""

    site: Site
    gateway_id: int = field(init=False)
    jobs: list[SeenJob] = field(default_factory=list)
    hosts: list[SeenHost] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.hosts = [SeenHost(name=f"n{number}", is_up=True, words="idle") for number in (1, 2)]
        self.gateway_id = self.add_gateway("login1")
        self.site.change("UPDATE cluster SET launcher = 'slurm' WHERE id = :id", id=self.site.cluster_id)

    def add_gateway(self, name: str) -> int:
        """Add a gateway that has said hello; return its id."""
        with self.site.database.transaction() as session:
            gateway = Node(
                cluster_id=self.site.cluster_id,
                name=name,
                role="gateway",
                token_sha256=name,
                redis_password_sha256="f" * 64,
            )
            session.add(gateway)
            session.flush()
            hello = HelloRequest(
                agent_instance=INSTANCE,
                previous_instance=None,
                boot_id="boot-1234",
                agent_version="1",
                wire_version=WIRE_VERSION,
                sent_at=self.site.clock(),
                facts={},
                mounts=(),
                approved_directories=(),
                workloads=(),
                holds=(),
            )
            agents.hello(session, gateway.id, hello, self.site.clock())
            return gateway.id

    def report(
        self, *refused: tuple[WantedJob, str], problem: str | None = None, gateway_id: int | None = None
    ) -> BatchReply:
        """Report the listed jobs, as the site's gateway or another one."""
        request = BatchReport(
            agent_instance=INSTANCE,
            system=BatchSystem.SLURM,
            problem=problem,
            jobs=() if problem else tuple(self.jobs),
            hosts=() if problem else tuple(self.hosts),
            refused=tuple(RefusedJob(run_id=job.run_id, fence=job.fence, words=words) for job, words in refused),
        )
        with self.site.database.transaction() as session:
            return batch.report(session, gateway_id or self.gateway_id, request, self.site.clock())

    def wanted(self) -> WantedJob:
        """Return the one job to submit."""
        (job,) = self.report().submit
        return job

    def list_job(
        self, job: WantedJob, state: JobState, words: str = "", *, end: JobEnd | None = None, job_id: str = "12"
    ) -> BatchReply:
        """List the job in this state from now on, and report it."""
        seen = SeenJob(run_id=job.run_id, fence=job.fence, job_id=job_id, state=state, end=end, words=words)
        self.jobs = [other for other in self.jobs if other.job_id != job_id] + [seen]
        return self.report()

    def offer(self, job: WantedJob, number: int = 1) -> Offered:
        """Return the order as the job's agent on that node knows it."""
        order_id = next(node.order_id for node in job.nodes if node.name == f"n{number}")
        return Offered(order_id, job.fence, job.run_id)

    def row(self, job: WantedJob) -> BatchJob:
        """Return the job's row."""
        with self.site.database.transaction() as session:
            attempts = session.query(Attempt.id).filter_by(fence=job.fence)
            return session.get_one(BatchJob, attempts.scalar())


def why(site: Site, run_id: int) -> str | None:
    """Return the reason why the run waits; None if it does not wait."""
    with site.database.transaction() as session:
        found = queries.described_run(session, run_id)
        assert found is not None
        return reading.why_waiting(session, found, site.clock())
