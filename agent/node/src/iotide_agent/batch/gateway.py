"""Main loop of the gateway: reports the batch system's jobs, submits and cancels.

It stores nothing: jobs are found by their names, so a restarted gateway does not submit again. If a job is submitted
twice, only one can claim its order.
"""

import logging
import signal
from collections import defaultdict
from datetime import UTC, datetime
from itertools import islice
from typing import Final

from iotide_agent.batch.system import BatchClient, BatchProblemError, JobKey
from iotide_agent.core.driver import AgentEnding
from iotide_agent.core.listener import Listener
from iotide_agent.core.spool import Spool
from iotide_agent.core.transport import Refusal, Transport, Unreachable
from iotide_agent.node.inventory import AGENT_VERSION
from iotide_agent.node.rotation import Rotation
from iotide_agent.runner.doorbell import Doorbell
from iotide_agent.runner.loop import Loop
from iotide_agent.runner.processes import boottime
from iotide_wire.batch import (
    MOST_LISTED,
    MOST_REFUSED,
    BatchReply,
    BatchReport,
    JobState,
    RefusedJob,
    SeenHost,
    SeenJob,
    WantedJob,
)
from iotide_wire.messages import HelloRequest
from iotide_wire.versions import WIRE_VERSION

MOST_REFUSALS: Final = 3
"""Rejected submissions of a job after which its run fails."""
UNLISTED_SECONDS: Final = 60.0
"""Longest time until a batch system lists an accepted job."""
_AGAIN_SECONDS: Final = 1.0
_SUPERSEDED: Final = "agent_superseded"
_logger = logging.getLogger(__name__)


class Gateway:
    def __init__(  # noqa: PLR0913, PLR0917 - each is a part of what the process is
        self,
        client: BatchClient,
        transport: Transport,
        spool: Spool,
        instance: str,
        boot_id: str,
        broker_address: str | None = None,
    ) -> None:
        self._client = client
        self._transport = transport
        self._spool = spool
        self._instance = instance
        self._boot_id = boot_id
        self._loop = Loop()
        self._bell = Doorbell(spool.wake_bell)
        self._rotation = Rotation(spool.state_directory, transport)
        self._listener = Listener(spool.state_directory, broker_address, self._loop, self._renew_worker)
        self._is_stopping = False
        self._is_hello_wanted = True
        self._submitted: dict[JobKey, float] = {}
        self._refusals: defaultdict[JobKey, int] = defaultdict(int)
        self._refused: dict[JobKey, str] = {}
        self._cancelled: frozenset[str] = frozenset()

    def run(self) -> AgentEnding:
        self._loop.watch(self._bell.fileno(), self._bell.quiet)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._on_signal)
        try:
            while not self._is_stopping:
                self._loop.turn(boottime() + self._work())
        except Refusal as error:
            return AgentEnding(error.code, error.sentence)
        finally:
            self._listener.stop()
        return AgentEnding(None, "stopped; submitted jobs continue")

    def _work(self) -> float:
        """Do one round; return the seconds until the next. Raise Refusal if this gateway must stop."""
        for offer in self._spool.offers():
            self._spool.drop_offer(offer)
        try:
            self._rotation.settle()
            if self._is_hello_wanted:
                self._greet()
            return _AGAIN_SECONDS if self.round() else self._client.config.poll_seconds
        except Unreachable as error:
            _logger.warning("server_unanswered error=%s", error)
        except Refusal as error:
            if error.code == _SUPERSEDED:
                raise
            _logger.warning("refused code=%s error=%s", error.code, error)
        return self._client.config.poll_seconds

    def round(self) -> bool:
        """Report, and do what the server asks for. Return true if the next report should come soon."""
        jobs: list[SeenJob] = []
        hosts: list[SeenHost] = []
        problem = None
        try:
            jobs, hosts = self._client.jobs(), self._client.hosts()
        except BatchProblemError as error:
            _logger.warning("batch_unanswered error=%s", error)
            problem = str(error)
        reply = self._report(jobs, hosts, problem)
        # Cancelled in each round while they are listed. A job that cannot end does not shorten the interval.
        is_new = not self._cancelled.issuperset(reply.cancel)
        self._cancelled = frozenset(reply.cancel)
        for job_id in reply.cancel:
            self._cancel(job_id)
        submitted = [self._submit(wanted) for wanted in reply.submit]
        return any(submitted) or is_new

    def _report(self, jobs: list[SeenJob], hosts: list[SeenHost], problem: str | None) -> BatchReply:
        refused = tuple(
            RefusedJob(run_id=key.run_id, fence=key.fence, words=words)
            for key, words in islice(self._refused.items(), MOST_REFUSED)
        )
        report = BatchReport(
            agent_instance=self._instance,
            system=self._client.system,
            problem=problem,
            jobs=tuple(sorted(jobs, key=lambda job: job.state is JobState.ENDED)[:MOST_LISTED]),
            hosts=tuple(hosts[:MOST_LISTED]),
            refused=refused,
        )
        reply = self._transport.report_batch(report)
        for refusal in refused:
            del self._refused[JobKey(refusal.run_id, refusal.fence)]
        self._is_hello_wanted = reply.hello_wanted
        if reply.rotation_wanted:
            self._rotation.try_to_rotate(self._instance)
        if self._rotation.take_change():
            self._listener.start()
        self._forget(jobs)
        return reply

    def _forget(self, jobs: list[SeenJob]) -> None:
        listed = {JobKey(job.run_id, job.fence) for job in jobs}
        oldest = boottime() - UNLISTED_SECONDS
        self._submitted = {key: at for key, at in self._submitted.items() if key not in listed and at > oldest}

    def _submit(self, wanted: WantedJob) -> bool:
        key = JobKey(wanted.run_id, wanted.fence)
        if key in self._submitted:
            return False
        try:
            job_id = self._client.submit(wanted)
        except BatchProblemError as error:
            # The batch system may have accepted it: the next round looks for its name before it submits again.
            _logger.warning("submit_failed run_id=%d error=%s", wanted.run_id, error)
            self._refusals[key] += 1
            if self._refusals[key] >= MOST_REFUSALS:
                self._refused[key] = str(error)
                del self._refusals[key]
        else:
            _logger.info("submitted run_id=%d job_id=%s", wanted.run_id, job_id)
            self._submitted[key] = boottime()
            self._refusals.pop(key, None)
        return True

    def _cancel(self, job_id: str) -> None:
        try:
            self._client.cancel(job_id)
        except BatchProblemError as error:
            _logger.warning("cancel_failed job_id=%s error=%s", job_id, error)  # treated as if it had ended
        else:
            _logger.info("cancelled job_id=%s", job_id)

    def _greet(self) -> None:
        request = HelloRequest(
            agent_instance=self._instance,
            previous_instance=self._spool.last_instance(),
            boot_id=self._boot_id,
            agent_version=AGENT_VERSION,
            wire_version=WIRE_VERSION,
            sent_at=datetime.now(UTC),
            facts={"batch.system": self._client.system.value},
            mounts=(),
            approved_directories=(),
            workloads=(),
            holds=(),
        )
        reply = self._transport.hello(request)
        self._spool.keep_instance(self._instance)
        self._is_hello_wanted = False
        _logger.info("greeted node_id=%d node=%s", reply.node_id, reply.node_name)
        self._listener.start()

    def _renew_worker(self) -> None:
        # A wake-up only saves time, so a dead worker may wait for the next hello to be started again.
        _logger.warning("worker_ended")
        self._is_hello_wanted = True

    def _on_signal(self, _number: int, _frame: object) -> None:
        self._is_stopping = True
        self._bell.ring_self()
