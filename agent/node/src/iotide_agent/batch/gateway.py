"""The gateway's loop: says what the batch system does, and submits and cancels what the server answers.

It keeps nothing: a job is found again by its name, so that whoever dies between a submission and its report submits
nothing twice; and if ever something is, only one of the two can claim its order.
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
from iotide_wire import WIRE_VERSION
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

MOST_REFUSALS: Final = 3
"""So often a job is submitted that the batch system will not take, before its run hears of it."""
UNLISTED_SECONDS: Final = 60.0
"""So long a batch system may take to list what it has accepted."""
_AGAIN_SECONDS: Final = 1.0
_SUPERSEDED: Final = "agent_superseded"
_logger = logging.getLogger(__name__)


class Gateway:
    """One gateway process."""

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
        self._is_told_to_stop = False
        self._is_hello_wanted = True
        self._submitted: dict[JobKey, float] = {}
        self._refusals: defaultdict[JobKey, int] = defaultdict(int)
        self._refused: dict[JobKey, str] = {}
        self._cancelled: frozenset[str] = frozenset()

    def run(self) -> AgentEnding:
        """Works until it is told to stop, or another gateway with this identity took over."""
        self._loop.watch(self._bell.fileno(), self._bell.quiet)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hear_signal)
        try:
            while not self._is_told_to_stop:
                self._loop.turn(boottime() + self._work())
        except Refusal as error:
            return AgentEnding(error.code, error.sentence)
        finally:
            self._listener.stop()
        return AgentEnding(None, "stopped; jobs that were submitted go on")

    def _work(self) -> float:
        """Do one round; return the seconds until the next. Raise Refusal where this gateway must not go on."""
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
        """Look, report and do what the server wants; return true where the server should soon hear of it."""
        jobs: list[SeenJob] = []
        hosts: list[SeenHost] = []
        problem = None
        try:
            jobs, hosts = self._client.jobs(), self._client.hosts()
        except BatchProblemError as error:
            _logger.warning("batch_unanswered error=%s", error)
            problem = str(error)
        reply = self._report(jobs, hosts, problem)
        # Again in each round, as long as they are listed; but a job that cannot end makes no round come sooner.
        is_news = not self._cancelled.issuperset(reply.cancel)
        self._cancelled = frozenset(reply.cancel)
        for job_id in reply.cancel:
            self._cancel(job_id)
        submitted = [self._submit(wanted) for wanted in reply.submit]
        return any(submitted) or is_news

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
        for told in refused:
            del self._refused[JobKey(told.run_id, told.fence)]
        self._is_hello_wanted = reply.hello_wanted
        if reply.rotation_wanted:
            self._rotation.try_to_rotate(self._instance)
        if self._rotation.take_news():
            self._listener.start()
        self._forget(jobs)
        return reply

    def _forget(self, jobs: list[SeenJob]) -> None:
        """What is listed, or should have been, is no longer remembered."""
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
            # It may have been taken all the same: the next round looks for its name before it is submitted again.
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
            _logger.warning("cancel_failed job_id=%s error=%s", job_id, error)  # as if it had ended by itself
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
        # A wake-up only saves time, so a worker that died is started again with the next hello.
        _logger.warning("worker_ended")
        self._is_hello_wanted = True

    def _hear_signal(self, _number: int, _frame: object) -> None:
        self._is_told_to_stop = True
        self._bell.ring_self()
