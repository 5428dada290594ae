"""Who else is on the node: people who are logged in, and jobs of a batch system, where its tools are installed.

`squeue` and `bjobs` ask their masters, which thousands of nodes share: they are asked when a run comes, not on and on.
See https://slurm.schedmd.com/squeue.html, and the bjobs command in IBM's LSF command reference.
"""

import os
import re
from collections.abc import Collection, Mapping
from typing import Final

from iotide_agent.judging.quiet import Neighbours
from iotide_agent.probes.reader import CommandWant, Reader, Unavailable
from iotide_agent.runner import processes

COMMAND_SECONDS: Final = 5.0
"""A batch system that takes longer counts as one that does not answer."""
_OWN_JOB: Final = ("SLURM_JOB_ID", "LSB_JOBID")
"""Where a batch system tells an agent that it started as which job it runs."""
_WHO: Final = CommandWant(("who", "-u"), "coreutils")
_PID: Final = re.compile(r"\s(\d+)(?:\s+\(.*\))?\s*$")
"""What `who -u` ends a line with: the process that keeps the session, and from where it came."""
_NO_JOB: Final = ("No unfinished job found", "No matching job found")
_ON_NODE: Final = frozenset({"RUN", "USUSP", "SSUSP", "PSUSP"})
"""States of LSF in which a job has processes on its host."""
_MOST_JOBS: Final = 100


def look_around(reader: Reader, host: str, environment: Mapping[str, str], own_pids: Collection[int]) -> Neighbours:
    """Ask the node, and its batch system for `host`; each command that is stuck takes COMMAND_SECONDS.

    What the agent's own job and processes keep is left out: `environment` names the job, `own_pids` the processes.
    """
    own_jobs = {environment[name] for name in _OWN_JOB if name in environment}
    return Neighbours(_sessions(reader, own_pids), _jobs(reader, host, own_jobs))


def own_ancestors() -> frozenset[int]:
    """This process and those that started it, up to the session's first."""
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
    told = [found for found in (_slurm(reader, host), _lsf(reader, host)) if found is not None]
    if not told:
        return None
    foreign = (job for jobs in told for job in jobs if job not in own_jobs)
    return tuple(dict.fromkeys(foreign))[:_MOST_JOBS]


def _slurm(reader: Reader, host: str) -> list[str] | None:
    """The numbers of jobs that Slurm has on the host; None where it has no such host, or is not here."""
    text = reader.read(CommandWant(("squeue", "-h", "-w", host, "-o", "%A"), "slurm-client"))
    return None if isinstance(text, Unavailable) else text.split()


def _lsf(reader: Reader, host: str) -> list[str] | None:
    """As `_slurm`; bjobs has a status of its own for "none", which it says on stderr."""
    text = reader.read(CommandWant(("bjobs", "-u", "all", "-m", host), "IBM Spectrum LSF", any_status=True))
    if isinstance(text, Unavailable):
        return None
    rows = [line.split() for line in text.splitlines()]
    jobs = [row[0] for row in rows if len(row) > 2 and row[0].isdecimal() and row[2] in _ON_NODE]  # noqa: PLR2004 - JOBID USER STAT
    has_answered = any(row[:1] == ["JOBID"] for row in rows) or any(words in text for words in _NO_JOB)
    return jobs if has_answered else None
