"""Flux, by `flux jobs`, `flux resource list`, `flux submit` and `flux cancel`. Untested on a real one.

Their options and output are defined in the man pages flux-jobs(1), flux-resource(1), flux-submit(1) and
flux-cancel(1) of flux-core.
"""

import re
from typing import Final

from iotide_agent.batch.system import BatchClient, JobKey, hosts_of, is_node_name, jobs_of, seen_job
from iotide_agent.probes.rows import lines_of
from iotide_wire.batch import MOST_WORDS, BatchSystem, JobEnd, JobState, SeenHost, SeenJob, WantedJob
from iotide_wire.host_lists import expand

_FIELDS: Final = ("id.dec", "name", "status", "exception.type", "exception.note")
_FORMAT: Final = "|".join(f"{{{name}}}" for name in _FIELDS)
_WAITING: Final = frozenset({"PENDING", "NEW", "DEPEND", "PRIORITY", "SCHED"})
_ENDS: Final = {
    "COMPLETED": JobEnd.DONE,
    "CANCELED": JobEnd.CANCELLED,
    "TIMEOUT": JobEnd.TIME_LIMIT,
    "FAILED": JobEnd.FAILED,
}
_LOST_NODE: Final = re.compile(r"node-failure|lost contact")
_DOWN: Final = "down"
"""State of nodes that are drained, offline or do not answer; allocated ones start jobs afterwards."""


class Flux(BatchClient):
    system = BatchSystem.FLUX
    number_pattern = re.compile(r"^\s*(?P<id>\u0192?[0-9A-Za-z]+)\s*$")

    def jobs(self) -> list[SeenJob]:
        """Only the own user's; ended jobs are listed while Flux keeps them (`inactive-age-limit`)."""
        return parse_jobs(self.said("flux", "jobs", "-a", "-n", "--count=0", f"--format={_FORMAT}"))

    def hosts(self) -> list[SeenHost]:
        return parse_hosts(self.said("flux", "resource", "list", "-n", "--format={state}|{nodelist}"))

    def submission(self, job: WantedJob) -> list[str]:
        """Exclusive on its nodes, with one task on each."""
        count = len(job.nodes)
        return [
            *("flux", "submit", f"--nodes={count}", f"--ntasks={count}", "--exclusive"),
            f"--requires=host:{','.join(node.name for node in job.nodes)}",
            f"--time-limit={self.minutes(job)}m",
            f"--job-name={JobKey(job.run_id, job.fence).job_name}",
            f"--output={self.log('iotide-{{id}}.log')}",
        ]

    def cancel(self, job_id: str) -> None:
        """SIGTERM, then SIGKILL after `kill-timeout` (5 seconds by default)."""
        self.said("flux", "cancel", job_id)


def parse_jobs(printed: str) -> list[SeenJob]:
    return jobs_of("flux jobs", printed, "|", _FIELDS, _job)


def _job(key: JobKey, parts: list[str]) -> SeenJob:
    job_id, _, status, kind, note = parts
    return seen_job("flux jobs", key, job_id, _state(status, f"{kind} {note}"), _words(status, kind, note))


def _state(status: str, why: str) -> tuple[JobState, JobEnd | None]:
    end = _ENDS.get(status)
    if end is JobEnd.FAILED and _LOST_NODE.search(why):
        end = JobEnd.NODE_FAILED
    if end is not None:
        return JobState.ENDED, end
    return (JobState.PENDING if status in _WAITING else JobState.RUNNING), None


def _words(status: str, kind: str, note: str) -> str:
    said = ": ".join(filter(None, (kind, note)))
    if said:
        return f"{status}, {said}"
    return "" if status in {"RUN", "RUNNING", "PENDING", "SCHED"} else status


def parse_hosts(printed: str) -> list[SeenHost]:
    """Return the nodes in rows `state|nodelist`, each once. One with free and allocated cores is in two rows."""
    return hosts_of("flux resource list", lines_of(printed), _hosts)


def _hosts(line: str) -> list[SeenHost]:
    state, divider, nodes = line.strip().partition("|")
    if not divider:
        raise ValueError(line)
    is_up = state != _DOWN
    return [SeenHost(name=name, is_up=is_up, words=state[:MOST_WORDS]) for name in filter(is_node_name, expand(nodes))]
