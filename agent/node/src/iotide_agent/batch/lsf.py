"""IBM Spectrum LSF 10.1, by bjobs, bhosts, bsub and bkill.

Their output is defined in "bjobs -o", "Host status", "Termination reasons displayed by bacct, bhist, and bjobs",
"bkill" and "blaunch" of IBM's LSF command reference and administration guide.
"""

import re
from typing import Final

from iotide_agent.batch.system import (
    BatchClient,
    BatchProblemError,
    JobKey,
    hosts_of,
    is_node_name,
    jobs_of,
    seen_job,
)
from iotide_agent.probes.rows import lines_of
from iotide_wire.batch import MOST_WORDS, BatchSystem, JobEnd, JobState, SeenHost, SeenJob, WantedJob

_FIELDS: Final = "jobid stat job_name exit_reason pend_reason delimiter='^'"
_WAITING: Final = frozenset({"PEND", "PSUSP", "WAIT"})
_BY_USER: Final = frozenset({"TERM_OWNER", "TERM_ADMIN", "TERM_FORCE_OWNER", "TERM_FORCE_ADMIN", "TERM_BUCKET_KILL"})
_BY_TIME: Final = frozenset({"TERM_RUNLIMIT", "TERM_DEADLINE", "TERM_WINDOW"})
_STARTS_JOBS: Final = frozenset({"ok", "closed", "closed_Full", "closed_Excl", "closed_cu_Excl", "closed_Busy"})
"""A closed host may only be full or run an exclusive job, and accepts jobs again afterwards."""
_NONE: Final = "-"
_NO_JOB: Final = re.compile(r"No (unfinished |matching )?job found")
_TERMINATION: Final = re.compile(r"TERM_[A-Z_]+")


class Lsf(BatchClient):
    system = BatchSystem.LSF
    number_pattern = re.compile(r"Job <(?P<id>[0-9]+)> is submitted to ")

    def jobs(self) -> list[SeenJob]:
        """Ended jobs are listed while mbatchd remembers them (CLEAN_PERIOD, an hour by default)."""
        argv = ("bjobs", "-a", "-noheader", "-o", _FIELDS)
        answer = self._ask(argv)
        if _NO_JOB.search(answer.words):
            return []
        if answer.status != 0:
            raise BatchProblemError(f"bjobs: {answer.words}")
        return parse_jobs(answer.stdout)

    def hosts(self) -> list[SeenHost]:
        return parse_hosts(self.said("bhosts", "-w"))

    def submission(self, job: WantedJob) -> list[str]:
        """Exclusive on its hosts (the queue needs EXCLUSIVE=Y), one slot on each, never requeued by LSF."""
        return [
            *("bsub", "-x", "-rn", "-n", str(len(job.nodes)), "-R", "span[ptile=1]"),
            *("-m", " ".join(node.name for node in job.nodes)),
            *("-W", str(self.minutes(job)), "-J", JobKey(job.run_id, job.fence).job_name),
            *("-o", self.log("iotide-%J.log"), "-cwd", "/"),
        ]

    def cancel(self, job_id: str) -> None:
        """SIGINT and SIGTERM, then SIGKILL after the site's JOB_TERMINATE_INTERVAL."""
        self.said("bkill", job_id)


def parse_jobs(printed: str) -> list[SeenJob]:
    return jobs_of("bjobs", printed, "^", ("number", "stat", "name", "exit_reason", "pend_reason"), _job)


def _job(key: JobKey, parts: list[str]) -> SeenJob:
    job_id, stat, _, exit_reason, pend_reason = parts
    state = _state(stat, exit_reason)
    return seen_job("bjobs", key, job_id, state, _words(stat, state[0], exit_reason, pend_reason))


def _state(stat: str, exit_reason: str) -> tuple[JobState, JobEnd | None]:
    if stat == "DONE":
        return JobState.ENDED, JobEnd.DONE
    if stat == "EXIT":
        found = _TERMINATION.search(exit_reason)
        reason = found[0] if found else ""
        if reason in _BY_USER:
            return JobState.ENDED, JobEnd.CANCELLED
        return JobState.ENDED, JobEnd.TIME_LIMIT if reason in _BY_TIME else JobEnd.FAILED
    # UNKWN and ZOMBI too: LSF has lost contact with the host, where the job's processes may still run.
    return (JobState.PENDING if stat in _WAITING else JobState.RUNNING), None


def _words(stat: str, state: JobState, exit_reason: str, pend_reason: str) -> str:
    if state is JobState.PENDING:
        return stat if pend_reason in {"", _NONE} else pend_reason.rstrip(";")
    if state is JobState.ENDED and exit_reason not in {"", _NONE}:
        return f"{stat}, {exit_reason}"
    return "" if stat == "RUN" else stat


def parse_hosts(printed: str) -> list[SeenHost]:
    lines = lines_of(printed)
    if not lines or lines[0].split()[:2] != ["HOST_NAME", "STATUS"]:
        raise BatchProblemError(f"bhosts printed no table of hosts: {printed[:200]!r}")
    return hosts_of("bhosts", lines[1:], _hosts)


def _hosts(line: str) -> list[SeenHost]:
    name, status, *_ = line.split()
    is_up = status in _STARTS_JOBS
    return [SeenHost(name=name, is_up=is_up, words=status[:MOST_WORDS])] if is_node_name(name) else []
