"""Slurm, by squeue, sinfo, sbatch and scancel. `man squeue` and `man sinfo` of Slurm 22.05 define their output."""

import os
import re
from typing import Final

from iotide_agent.batch.system import BatchClient, JobKey, hosts_of, is_node_name, jobs_of, seen_job
from iotide_agent.probes.rows import lines_of
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


class Slurm(BatchClient):
    system = BatchSystem.SLURM
    number_pattern = re.compile(r"\A\s*(?P<id>[0-9]+)(;.*)?\s*\Z")

    def jobs(self) -> list[SeenJob]:
        """Ended jobs are listed while slurmctld remembers them (MinJobAge, five minutes by default)."""
        listing = ("--noheader", "--states=all", f"--user={os.geteuid()}", "--format=%i|%j|%T|%r")
        return parse_jobs(self.said("squeue", *listing))

    def hosts(self) -> list[SeenHost]:
        return parse_hosts(self.said("sinfo", "--noheader", "--Node", "--format=%N|%T"))

    def submission(self, job: WantedJob) -> list[str]:
        """Exclusive on its nodes, with all their memory, never requeued by Slurm."""
        return [
            *("sbatch", "--parsable", "--exclusive", "--mem=0", "--no-requeue"),
            *(f"--nodes={len(job.nodes)}", "--ntasks-per-node=1"),
            f"--nodelist={','.join(node.name for node in job.nodes)}",
            f"--time={self.minutes(job)}",
            f"--job-name={JobKey(job.run_id, job.fence).job_name}",
            *(f"--output={self.log('%x.log')}", "--open-mode=append", "--chdir=/"),
        ]

    def cancel(self, job_id: str) -> None:
        """SIGTERM to all its processes, SIGKILL after KillWait (half a minute by default)."""
        self.said("scancel", job_id)


def parse_jobs(printed: str) -> list[SeenJob]:
    """Return iotide's jobs in squeue's lines `%i|%j|%T|%r`; raise BatchProblemError."""
    return jobs_of("squeue", printed, "|", ("number", "name", "state", "reason"), _job)


def _job(key: JobKey, parts: list[str]) -> SeenJob:
    job_id, _, state, reason = parts
    return seen_job("squeue", key, job_id, *_seen(state.upper(), reason))


def _seen(state: str, reason: str) -> tuple[tuple[JobState, JobEnd | None], str]:
    reason = "" if reason in _NO_REASON else reason
    end = _ENDS.get(state)
    if end is not None:
        return (JobState.ENDED, end), f"{state}, {reason}" if reason else state
    if state in _WAITING:
        return (JobState.PENDING, None), reason or ("" if state == "PENDING" else state)
    # Completing, suspended or unknown: the job occupies its nodes until it has ended.
    return (JobState.RUNNING, None), "" if state == "RUNNING" else state


def parse_hosts(printed: str) -> list[SeenHost]:
    """Return the nodes in sinfo's lines `%N|%T`, each once; raise BatchProblemError."""
    return hosts_of("sinfo", lines_of(printed), _hosts)


def _hosts(line: str) -> list[SeenHost]:
    name, divider, state = line.strip().partition("|")
    found = _NODE_STATE.fullmatch(state)
    if not divider or found is None:
        raise ValueError(line)
    # A star means that the node does not answer slurmctld.
    is_up = found["base"].lower() in _STARTS_JOBS and "*" not in found["marks"]
    return [SeenHost(name=name, is_up=is_up, words=state[:MOST_WORDS])] if is_node_name(name) else []
