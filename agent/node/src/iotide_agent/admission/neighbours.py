"""Sessions, and jobs of a batch system if its tools are installed.

`squeue` and `bjobs` ask masters that thousands of nodes share, so they are called only when a run comes. See
https://slurm.schedmd.com/squeue.html and the bjobs command in IBM's LSF command reference.
"""

import os
import re
from collections.abc import Collection, Mapping
from typing import Final

from iotide_agent.judging.quiet import Neighbours
from iotide_agent.probes.reader import CommandWant, Reader, Unavailable
from iotide_agent.probes.rows import lines_of, read_rows
from iotide_agent.runner import processes

COMMAND_SECONDS: Final = 5.0
"""A batch system that takes longer counts as unanswered."""
_OWN_JOB: Final = ("SLURM_JOB_ID", "LSB_JOBID")
"""Variables in which a batch system passes the number of the job that started this agent."""
_WHO: Final = CommandWant(("who", "-u"), "coreutils")
_PID: Final = re.compile(r"\s(\d+)(?:\s+\(.*\))?\s*$")
"""End of a line of `who -u`: the session's process, and its origin."""
_NO_JOB: Final = ("No unfinished job found", "No matching job found")
_ON_NODE: Final = frozenset({"RUN", "USUSP", "SSUSP", "PSUSP"})
"""States of LSF in which a job has processes on its host."""
_MOST_JOBS: Final = 100


def look_around(reader: Reader, host: str, environment: Mapping[str, str], own_pids: Collection[int]) -> Neighbours:
    """Ignore the agent's own job and processes."""
    own_jobs = {environment[name] for name in _OWN_JOB if name in environment}
    return Neighbours(_sessions(reader, own_pids), _jobs(reader, host, own_jobs))


def own_ancestors() -> frozenset[int]:
    pids: set[int] = set()
    stat = processes.stat_of(os.getpid())
    while stat is not None and stat.pid not in pids:
        pids.add(stat.pid)
        stat = processes.stat_of(stat.parent) if stat.parent > 1 else None
    return frozenset(pids)


def _sessions(reader: Reader, own_pids: Collection[int]) -> int | None:
    text = reader.read(_WHO)
    if isinstance(text, Unavailable):
        return None
    matches = ((_PID.search(line), line) for line in text.splitlines())
    return sum(bool(line.strip()) and not (match and int(match[1]) in own_pids) for match, line in matches)


def _jobs(reader: Reader, host: str, own_jobs: Collection[str]) -> tuple[str, ...] | None:
    answers = [found for found in (_slurm(reader, host), _lsf(reader, host)) if found is not None]
    if not answers:
        return None
    foreign = (job for jobs in answers for job in jobs if job not in own_jobs)
    return tuple(dict.fromkeys(foreign))[:_MOST_JOBS]


def _slurm(reader: Reader, host: str) -> list[str] | None:
    """Return the numbers of Slurm's jobs on the host; None if it is not installed or has no such host."""
    text = reader.read(CommandWant(("squeue", "-h", "-w", host, "-o", "%A"), "slurm-client"))
    return None if isinstance(text, Unavailable) else read_rows("squeue", lines_of(text), _slurm_number)


def _slurm_number(line: str) -> str:
    if not line.strip().isdecimal():
        raise ValueError(line)
    return line.strip()


def _lsf(reader: Reader, host: str) -> list[str] | None:
    """Return the numbers of LSF's jobs on the host.

    For no jobs, bjobs has its own exit status and a message on stderr.
    """
    text = reader.read(CommandWant(("bjobs", "-u", "all", "-m", host), "IBM Spectrum LSF", any_status=True))
    if isinstance(text, Unavailable):
        return None
    lines = lines_of(text)
    has_answered = any(line.startswith("JOBID") for line in lines) or any(words in text for words in _NO_JOB)
    return read_rows("bjobs", lines, _lsf_number) if has_answered else None


def _lsf_number(line: str) -> str | None:
    """A job on several hosts has a line for each further one, which begins with a blank."""
    if line.startswith(("JOBID", " ", *_NO_JOB)):
        return None
    job, _, state, *_ = line.split()
    if not job.isdecimal():
        raise ValueError(line)
    return job if state in _ON_NODE else None
