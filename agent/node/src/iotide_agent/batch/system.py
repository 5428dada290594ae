"""Interface of batch systems; each has its own file."""

import re
import subprocess
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib.resources import files
from itertools import chain
from math import ceil
from pathlib import Path
from typing import ClassVar, Final, NamedTuple, TypeVar

from iotide_agent.node.config import BatchConfig
from iotide_agent.probes.rows import lines_of, read_rows
from iotide_wire.batch import MOST_WORDS, BatchSystem, JobEnd, JobState, SeenHost, SeenJob, WantedJob
from iotide_wire.units import format_seconds

_ANSWER_SECONDS: Final = 60.0
_JOB_ID: Final = re.compile(r"[0-9]{1,19}")
_OUR_NAME: Final = re.compile(r"iotide-(?P<run>[1-9][0-9]{0,18})-(?P<fence>[1-9][0-9]{0,18})")
_NODE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}")
_MOST_WORDS: Final = 1000


class BatchProblemError(Exception):
    def __init__(self, words: str) -> None:
        super().__init__(words[:_MOST_WORDS])


class CommandOutput(NamedTuple):
    status: int
    stdout: str
    stderr: str

    @property
    def words(self) -> str:
        return " ".join(f"{self.stderr} {self.stdout}".split())[:_MOST_WORDS] or f"exit status {self.status}"


Row = TypeVar("Row")
Ask = Callable[[Sequence[str]], CommandOutput]


class JobKey(NamedTuple):
    """Identity of a job, part of its name, so that any gateway finds it again."""

    run_id: int
    fence: int

    @property
    def job_name(self) -> str:
        return f"iotide-{self.run_id}-{self.fence}"


def key_of(job_name: str) -> JobKey | None:
    found = _OUR_NAME.fullmatch(job_name)
    return None if found is None else JobKey(int(found["run"]), int(found["fence"]))


def ask(argv: Sequence[str]) -> CommandOutput:
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
    """Every method raises BatchProblemError if the batch system does not answer."""

    system: ClassVar[BatchSystem]
    number_pattern: ClassVar[re.Pattern[str]]
    """Pattern that finds a new job's number, as group `id`, in the output of the command of `submission`."""

    def __init__(self, config: BatchConfig, ask: Ask = ask) -> None:
        self.config = config
        self._ask = ask

    @abstractmethod
    def jobs(self) -> list[SeenJob]:
        """Include jobs that ended lately."""

    @abstractmethod
    def hosts(self) -> list[SeenHost]:
        """Return the hosts for jobs, and if a job would start there now."""

    @abstractmethod
    def submission(self, job: WantedJob) -> list[str]:
        """Return the command that submits a job, without the site's arguments and what the job runs."""

    def submit(self, job: WantedJob) -> str:
        agent = self.config.agent_command or (str(Path(sys.argv[0]).resolve().parent / "iotide-agent"),)
        where = ("--config", self.config.agent_config) if self.config.agent_config else ()
        orders = [f"{node.name}={node.order_id}" for node in job.nodes]
        script = str(files("iotide_agent") / "batch" / f"{self.system}-job.sh")
        runs = (script, str(len(job.nodes)), *agent, "batch-run", *where, str(job.fence), *orders)
        command = self.submission(job)
        printed = self.said(*command, *self.config.submit_arguments, *self.command(runs))
        found = self.number_pattern.search(printed)
        if found is None:
            raise BatchProblemError(f"{command[0]} printed no job number: {printed!r}")
        return found["id"]

    def command(self, runs: tuple[str, ...]) -> tuple[str, ...]:
        """Return what the job runs as the submitting command expects it."""
        return runs

    @abstractmethod
    def cancel(self, job_id: str) -> None:
        """End a job in any state."""

    def minutes(self, job: WantedJob) -> int:
        """Return the job's time limit: that of the load, plus margins."""
        return ceil((job.time_limit_seconds + self.config.margin_seconds) / 60)

    def log(self, pattern: str) -> str:
        return f"{self.config.log_directory}/{pattern}" if self.config.log_directory else "/dev/null"

    def said(self, *argv: str) -> str:
        answer = self._ask(argv)
        if answer.status != 0:
            raise BatchProblemError(f"{argv[0]}: {answer.words}")
        return answer.stdout


def jobs_of(
    command: str, printed: str, divider: str, fields: Sequence[str], read: Callable[[JobKey, list[str]], SeenJob]
) -> list[SeenJob]:
    """Return iotide's jobs in rows of these fields; the field `name` has the job's name.

    Skip rows of other jobs that cannot be read: a user may have named a job with a line break. Raise BatchProblemError
    if the row of iotide's own job cannot be read, because the job would seem to have vanished, or if no line is a row.
    """

    def read_row(line: str) -> SeenJob | None:
        parts = [part.strip() for part in line.split(divider, len(fields) - 1)]
        if len(parts) != len(fields):
            raise BatchProblemError(_odd(command, line)) if any(map(key_of, parts)) else ValueError(line)
        key = key_of(parts[fields.index("name")])
        return None if key is None else read(key, parts)

    rows = lines_of(printed)
    if rows and not any(divider in row for row in rows):
        raise BatchProblemError(_odd(command, rows[0]))
    return read_rows(command, rows, read_row)


def _odd(command: str, line: str) -> str:
    return f"{command} printed a line that is not understood: {line[:_MOST_WORDS]!r}"


def seen_job(command: str, key: JobKey, job_id: str, state: tuple[JobState, JobEnd | None], words: str) -> SeenJob:
    if _JOB_ID.fullmatch(job_id) is None:
        raise BatchProblemError(f"{command} calls the job {key.job_name} {job_id!r}, which is not a job number")
    now, end = state
    return SeenJob(run_id=key.run_id, fence=key.fence, job_id=job_id, state=now, end=end, words=words[:MOST_WORDS])


def hosts_of(command: str, rows: Sequence[Row], read: Callable[[Row], list[SeenHost]]) -> list[SeenHost]:
    """Return the hosts in rows, each once, without rows that cannot be read. A host is up if it is so in any row.

    Raise BatchProblemError if no row can be read.
    """
    each = read_rows(command, rows, read)
    if rows and not each:
        raise BatchProblemError(_odd(command, str(rows[0])))
    hosts: dict[str, SeenHost] = {}
    for host in chain.from_iterable(each):
        if host.is_up or host.name not in hosts:
            hosts[host.name] = host
    return list(hosts.values())


def is_node_name(name: str) -> bool:
    return _NODE_NAME.fullmatch(name) is not None
