"""What the gateway needs of a batch system; everything that talks to one stands behind this, one file each."""

import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from importlib.resources import files
from math import ceil
from pathlib import Path
from typing import ClassVar, Final, NamedTuple

from iotide_agent.node.config import BatchConfig
from iotide_wire.batch import MOST_WORDS, BatchSystem, JobEnd, JobState, SeenHost, SeenJob, WantedJob
from iotide_wire.units import format_seconds

_ANSWER_SECONDS: Final = 60.0
_JOB_ID: Final = re.compile(r"[0-9]{1,19}")
_OUR_NAME: Final = re.compile(r"iotide-(?P<run>[1-9][0-9]{0,18})-(?P<fence>[1-9][0-9]{0,18})")
_NODE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_MOST_WORDS: Final = 1000


class BatchProblemError(Exception):
    """The batch system does not answer, or not in words that are understood; the text shows what it said, in short."""

    def __init__(self, words: str) -> None:
        """Keeps as much of the words as a message to the server may have."""
        super().__init__(words[:_MOST_WORDS])


class CommandOutput(NamedTuple):
    """What a command said."""

    status: int
    stdout: str
    stderr: str

    @property
    def words(self) -> str:
        return " ".join(f"{self.stderr} {self.stdout}".split())[:_MOST_WORDS] or f"exit status {self.status}"


Ask = Callable[[Sequence[str]], CommandOutput]
"""Runs a command to its end."""


class JobKey(NamedTuple):
    """Whose a job is: it stands in the job's name, so that it is found again whatever happened to who submitted it."""

    run_id: int
    fence: int

    @property
    def job_name(self) -> str:
        return f"iotide-{self.run_id}-{self.fence}"


def key_of(job_name: str) -> JobKey | None:
    """Whose a job of that name is; None where it is nobody's of ours."""
    found = _OUR_NAME.fullmatch(job_name)
    return None if found is None else JobKey(int(found["run"]), int(found["fence"]))


def ask(argv: Sequence[str]) -> CommandOutput:
    """Run a command of the batch system; raise BatchProblemError where it does not start or come to an end."""
    try:
        done = subprocess.run(
            list(argv), stdin=subprocess.DEVNULL, capture_output=True, timeout=_ANSWER_SECONDS, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise BatchProblemError(f"{argv[0]} gave no answer within {format_seconds(_ANSWER_SECONDS)}") from error
    except OSError as error:
        raise BatchProblemError(f"{argv[0]}: {error}") from error
    return CommandOutput(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


class BatchClient(ABC):
    """A batch system, by its commands; each method raises BatchProblemError where it does not answer."""

    system: ClassVar[BatchSystem]
    number_pattern: ClassVar[re.Pattern[str]]
    """Finds a new job's number, its group `id`, in what the command of `submission` prints."""

    def __init__(self, config: BatchConfig, ask: Ask = ask) -> None:
        self.config = config
        self._ask = ask

    @abstractmethod
    def jobs(self) -> list[SeenJob]:
        """The jobs of this user whose names say that they are ours, with those that ended lately."""

    @abstractmethod
    def hosts(self) -> list[SeenHost]:
        """The hosts that jobs may run on, and whether one would start there now."""

    @abstractmethod
    def submission(self, job: WantedJob) -> list[str]:
        """Return the command that submits a job, up to the arguments of the site and what the job runs."""

    def submit(self, job: WantedJob) -> str:
        """Submit the script that starts an agent on each node, with the agent's command; return the job's number."""
        agent = self.config.agent_command or (str(Path(sys.argv[0]).resolve().parent / "iotide-agent"),)
        where = ("--config", self.config.agent_config) if self.config.agent_config else ()
        orders = [f"{node.name}={node.order_id}" for node in job.nodes]
        script = str(files("iotide_agent") / "batch" / f"{self.system}-job.sh")
        runs = (script, str(len(job.nodes)), *agent, "batch-run", *where, str(job.fence), *orders)
        command = self.submission(job)
        printed = self.said(*command, *self.config.submit_arguments, *runs)
        found = self.number_pattern.search(printed)
        if found is None:
            raise BatchProblemError(f"{command[0]} printed no job number: {printed!r}")
        return found["id"]

    @abstractmethod
    def cancel(self, job_id: str) -> None:
        """Ends a job, wherever it is."""

    def minutes(self, job: WantedJob) -> int:
        """Return the job's time limit: the load's, and what comes before and after it."""
        return ceil((job.time_limit_seconds + self.config.margin_seconds) / 60)

    def log(self, pattern: str) -> str:
        return f"{self.config.log_directory}/{pattern}" if self.config.log_directory else "/dev/null"

    def said(self, *argv: str) -> str:
        """Return what a command printed; raise BatchProblemError where it failed."""
        answer = self._ask(argv)
        if answer.status != 0:
            raise BatchProblemError(f"{argv[0]}: {answer.words}")
        return answer.stdout


def parts_of(command: str, printed: str, divider: str, count: int) -> Iterator[list[str]]:
    """Yield the parts of each line; raise BatchProblemError for a line with fewer than `count`."""
    for line in filter(None, map(str.strip, printed.splitlines())):
        parts = line.split(divider, count - 1)
        if len(parts) != count:
            raise BatchProblemError(f"{command} printed a line that is not understood: {line!r}")
        yield parts


def seen_job(command: str, key: JobKey, job_id: str, state: tuple[JobState, JobEnd | None], words: str) -> SeenJob:
    """Return a job of ours as the server hears of it; raise BatchProblemError where `job_id` is no number."""
    if _JOB_ID.fullmatch(job_id) is None:
        raise BatchProblemError(f"{command} calls the job {key.job_name} {job_id!r}, which is no job's number")
    now, end = state
    return SeenJob(run_id=key.run_id, fence=key.fence, job_id=job_id, state=now, end=end, words=words[:MOST_WORDS])


def is_node_name(name: str) -> bool:
    """Whether a node could be called so."""
    return _NODE_NAME.fullmatch(name) is not None
