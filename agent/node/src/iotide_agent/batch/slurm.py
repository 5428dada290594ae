"""Slurm, by squeue, sinfo, sbatch and scancel; `man squeue` and `man sinfo` of Slurm 22.05 define what they print."""

import os
import re
from typing import Final

from iotide_agent.batch.system import (
    BatchClient,
    BatchProblemError,
    JobCommand,
    JobKey,
    is_job_id,
    is_node_name,
    key_of,
)
from iotide_wire.batch import MOST_WORDS, BatchSystem, JobEnd, JobState, SeenHost, SeenJob, WantedJob

_ENDS: Final = {
    "COMPLETED": JobEnd.DONE,
    "CANCELLED": JobEnd.CANCELLED,
    "PREEMPTED": JobEnd.FAILED,
    "FAILED": JobEnd.FAILED,
    "OUT_OF_MEMORY": JobEnd.FAILED,
    "BOOT_FAIL": JobEnd.FAILED,
    "TIMEOUT": JobEnd.TIME_LIMIT,
    "DEADLINE": JobEnd.TIME_LIMIT,
    "NODE_FAIL": JobEnd.NODE_FAILED,
}
_WAITING: Final = frozenset(
    {"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_FED", "REQUEUE_HOLD", "RESV_DEL_HOLD", "SPECIAL_EXIT"}
)
_NO_REASON: Final = frozenset({"", "None", "(null)"})
_STARTS_JOBS: Final = frozenset({"idle", "allocated", "mixed", "completing", "reserved", "planned"})
_NODE_STATE: Final = re.compile(r"(?P<base>[a-z_]+)(?P<marks>[^a-z]*)", re.IGNORECASE)
_JOB_ID: Final = re.compile(r"(?P<id>[0-9]+)(;.*)?")


class Slurm(BatchClient):
    """Slurm of a recent release."""

    system = BatchSystem.SLURM

    def jobs(self) -> list[SeenJob]:
        """One that ended is listed for as long as slurmctld remembers it (MinJobAge, five minutes by default)."""
        listing = ("--noheader", "--states=all", f"--user={os.geteuid()}", "--format=%i|%j|%T|%r")
        return parse_jobs(self.said("squeue", *listing))

    def hosts(self) -> list[SeenHost]:
        """Every node of any partition that this user sees."""
        return parse_hosts(self.said("sinfo", "--noheader", "--Node", "--format=%N|%T"))

    def submit(self, job: WantedJob) -> str:
        """Alone on its nodes, with all their memory, and never started again by Slurm itself."""
        command = JobCommand(self.config, "slurm-job.sh")
        printed = self.said(
            *("sbatch", "--parsable", "--exclusive", "--mem=0", "--no-requeue"),
            *(f"--nodes={len(job.nodes)}", "--ntasks-per-node=1"),
            f"--nodelist={','.join(node.name for node in job.nodes)}",
            f"--time={command.minutes(job)}",
            f"--job-name={JobKey(job.run_id, job.fence).job_name}",
            *(f"--output={command.log('%x.log')}", "--open-mode=append", "--chdir=/"),
            *self.config.submit_arguments,
            *command.argv(job),
        )
        found = _JOB_ID.fullmatch(printed.strip())
        if found is None:
            raise BatchProblemError(f"sbatch printed no job number: {printed!r}")
        return found["id"]

    def cancel(self, job_id: str) -> None:
        """SIGTERM to all its processes, SIGKILL after KillWait (half a minute by default)."""
        self.said("scancel", job_id)


def parse_jobs(printed: str) -> list[SeenJob]:
    """Our jobs among those that squeue printed as `%i|%j|%T|%r`.

    Raises:
        BatchProblemError: a line is not of that form.
    """
    jobs = []
    for line in filter(None, printed.splitlines()):
        parts = line.split("|", 3)
        if len(parts) != len(("id", "name", "state", "reason")):
            raise BatchProblemError(f"squeue printed a line that is not understood: {line!r}")
        job_id, name, state, reason = parts
        key = key_of(name)
        if key is not None:
            jobs.append(_seen(key, job_id, state.strip().upper(), reason.strip()))
    return jobs


def _seen(key: JobKey, job_id: str, state: str, reason: str) -> SeenJob:
    if not is_job_id(job_id):
        raise BatchProblemError(f"squeue calls the job {key.job_name} {job_id!r}, which is no job's number")
    reason = "" if reason in _NO_REASON else reason
    end = _ENDS.get(state)
    if end is not None:
        words = f"{state}, {reason}" if reason else state
        return _job(key, job_id, JobState.ENDED, words, end)
    if state in _WAITING:
        return _job(key, job_id, JobState.PENDING, reason or ("" if state == "PENDING" else state))
    # Completing, suspended, or a word of a later Slurm: as long as it is not said to have ended, its nodes have it.
    return _job(key, job_id, JobState.RUNNING, "" if state == "RUNNING" else state)


def _job(key: JobKey, job_id: str, state: JobState, words: str, end: JobEnd | None = None) -> SeenJob:
    return SeenJob(run_id=key.run_id, fence=key.fence, job_id=job_id, state=state, end=end, words=words[:MOST_WORDS])


def parse_hosts(printed: str) -> list[SeenHost]:
    """The nodes that sinfo printed as `%N|%T`, each once, however many partitions it is in.

    Raises:
        BatchProblemError: a line is not of that form.
    """
    hosts: dict[str, SeenHost] = {}
    for line in filter(None, printed.splitlines()):
        name, divider, state = line.strip().partition("|")
        found = _NODE_STATE.fullmatch(state)
        if not divider or found is None:
            raise BatchProblemError(f"sinfo printed a line that is not understood: {line!r}")
        # A star says that the node does not answer slurmctld.
        is_up = found["base"].lower() in _STARTS_JOBS and "*" not in found["marks"]
        if is_node_name(name):
            hosts[name] = SeenHost(name=name, is_up=is_up, words=state[:MOST_WORDS])
    return list(hosts.values())
