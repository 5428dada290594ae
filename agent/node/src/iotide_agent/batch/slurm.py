"""Slurm, by squeue, sinfo, sbatch and scancel; `man squeue` and `man sinfo` of Slurm 22.05 define what they print."""

import os
import re
from typing import Final

from iotide_agent.batch.system import BatchClient, BatchProblemError, JobKey, is_node_name, key_of, parts_of, seen_job
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
    """Slurm of a recent release."""

    system = BatchSystem.SLURM
    number_pattern = re.compile(r"\A\s*(?P<id>[0-9]+)(;.*)?\s*\Z")

    def jobs(self) -> list[SeenJob]:
        """One that ended is listed for as long as slurmctld remembers it (MinJobAge, five minutes by default)."""
        listing = ("--noheader", "--states=all", f"--user={os.geteuid()}", "--format=%i|%j|%T|%r")
        return parse_jobs(self.said("squeue", *listing))

    def hosts(self) -> list[SeenHost]:
        """Every node of any partition that this user sees."""
        return parse_hosts(self.said("sinfo", "--noheader", "--Node", "--format=%N|%T"))

    def submission(self, job: WantedJob) -> list[str]:
        """Alone on its nodes, with all their memory, and never started again by Slurm itself."""
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
    """Return our jobs of squeue's lines `%i|%j|%T|%r`; raise BatchProblemError for any other line."""
    jobs = []
    for job_id, name, state, reason in parts_of("squeue", printed, "|", 4):
        key = key_of(name)
        if key is not None:
            jobs.append(seen_job("squeue", key, job_id, *_seen(state.strip().upper(), reason.strip())))
    return jobs


def _seen(state: str, reason: str) -> tuple[tuple[JobState, JobEnd | None], str]:
    reason = "" if reason in _NO_REASON else reason
    end = _ENDS.get(state)
    if end is not None:
        return (JobState.ENDED, end), f"{state}, {reason}" if reason else state
    if state in _WAITING:
        return (JobState.PENDING, None), reason or ("" if state == "PENDING" else state)
    # Completing, suspended, or a word of a later Slurm: as long as it is not said to have ended, its nodes have it.
    return (JobState.RUNNING, None), "" if state == "RUNNING" else state


def parse_hosts(printed: str) -> list[SeenHost]:
    """Return the nodes of sinfo's lines `%N|%T`, each once; raise BatchProblemError for any other line."""
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
