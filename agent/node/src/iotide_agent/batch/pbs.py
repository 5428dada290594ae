"""PBS Professional and OpenPBS, by qstat, pbsnodes, qsub and qdel. Untested on a real one.

Their output is defined in the man pages qstat(1B), pbsnodes(8B), qsub(1B), pbsdsh(1B), pbs_job_attributes(7B) and
pbs_node_attributes(7B). The exit codes of jobs are in the administrator's guide, "Job Exit Status Codes".
"""

import json
import os
import pwd
import re
from typing import Any, Final, NamedTuple

from iotide_agent.batch.system import BatchClient, BatchProblemError, JobKey, hosts_of, is_node_name, key_of, seen_job
from iotide_agent.probes.rows import read_rows
from iotide_wire.batch import MOST_WORDS, BatchSystem, JobEnd, JobState, SeenHost, SeenJob, WantedJob

_WAITING: Final = frozenset("QHWT")
_ENDED: Final = frozenset("FMX")
_DELETED: Final = 91
"""Substate of a job that qdel ended."""
_WALLTIME: Final = -29
_LOST_NODE: Final = -18
_DOWN: Final = frozenset(
    {"down", "offline", "stale", "state-unknown", "unresolvable", "initializing", "maintenance", "unknown"}
)
"""A node is down with any one of these among its states. Other states only delay a job."""
_FIRST_ENTRY: Final = re.compile(r'^([ \t]+)"[^"\n]+":[ \t]*\{', re.MULTILINE)
_JSON: Final = json.JSONDecoder(strict=False)


class _Entry(NamedTuple):
    """Job or node as printed, from its opening brace up to the next one's name."""

    name: str
    text: str

    @property
    def attributes(self) -> dict[str, Any]:
        """Raise ValueError if it is no object."""
        try:
            found, _ = _JSON.raw_decode(self.text)
        except RecursionError as error:
            raise ValueError(self.name) from error
        return dict(found)


class Pbs(BatchClient):
    system = BatchSystem.PBS
    number_pattern = re.compile(r"\A\s*(?P<id>[0-9]+)(\.\S+)?\s*\Z")

    def jobs(self) -> list[SeenJob]:
        """Ended jobs are listed while the server remembers them, which needs job_history_enable."""
        user = pwd.getpwuid(os.geteuid()).pw_name
        return parse_jobs(self.said("qstat", "-x", "-f", "-F", "json"), user)

    def hosts(self) -> list[SeenHost]:
        return parse_hosts(self.said("pbsnodes", "-a", "-F", "json"))

    def submission(self, job: WantedJob) -> list[str]:
        """Exclusive on its hosts, one chunk on each, never requeued by PBS."""
        chunks = "+".join(f"1:ncpus=1:host={node.name}" for node in job.nodes)
        return [
            *("qsub", "-N", JobKey(job.run_id, job.fence).job_name, "-r", "n", "-j", "oe", "-o", self.log("")),
            *("-l", f"select={chunks}", "-l", "place=scatter:exclhost", "-l", f"walltime={self.minutes(job)}:00"),
        ]

    def command(self, runs: tuple[str, ...]) -> tuple[str, ...]:
        """`--` makes qsub run an installed program; it would otherwise copy a script and pass no arguments."""
        return ("--", *runs)

    def cancel(self, job_id: str) -> None:
        """SIGTERM, then SIGKILL after the queue's kill_delay (10 seconds by default)."""
        self.said("qdel", job_id)


def parse_jobs(printed: str, user: str) -> list[SeenJob]:
    """Return iotide's jobs of the user: qstat lists those of all users. Raise BatchProblemError."""

    def read(entry: _Entry) -> SeenJob | None:
        try:
            found = entry.attributes
        except ValueError as error:
            if _is_own(entry.text, user):
                raise BatchProblemError(f"qstat printed a job that is not understood: {entry.name!r}") from error
            raise
        key = key_of(str(found["Job_Name"]))
        if key is None or str(found["Job_Owner"]).partition("@")[0] != user:
            return None
        # Nothing of an own job may make it unreadable: left out, it would seem to have ended.
        state, words = str(found.get("job_state")), str(found.get("comment", ""))
        return seen_job("qstat", key, entry.name.partition(".")[0], _state(state, found), words or _default(state))

    return read_rows("qstat", _entries("qstat", printed, "Jobs"), read)


def parse_hosts(printed: str) -> list[SeenHost]:
    """Return the nodes with their states; raise BatchProblemError."""
    return hosts_of("pbsnodes", _entries("pbsnodes", printed, "nodes"), _hosts)


def _hosts(entry: _Entry) -> list[SeenHost]:
    state = entry.attributes["state"]
    is_up = _DOWN.isdisjoint(re.split(r"[, ]+", state))
    return [SeenHost(name=entry.name, is_up=is_up, words=state[:MOST_WORDS])] if is_node_name(entry.name) else []


def _entries(command: str, printed: str, section: str) -> list[_Entry]:
    """Split the JSON of PBS by its indentation: a single value that PBS does not escape makes all of it invalid.

    Without jobs there is no section.
    """
    if not printed.lstrip().startswith("{"):
        raise BatchProblemError(f"{command} printed no JSON: {printed[:200]!r}")
    _, heading, below = printed.partition(f'"{section}":')
    first = _FIRST_ENTRY.search(below)
    if not heading or first is None:
        return []
    names = list(re.finditer(rf'^{first[1]}"([^"\n]+)":[ \t]*(?=\{{)', below, re.MULTILINE))
    ends = [*(name.start() for name in names[1:]), len(below)]
    return [_Entry(name[1], below[name.end() : end]) for name, end in zip(names, ends, strict=True)]


def _is_own(text: str, user: str) -> bool:
    owner = re.search(r'"Job_Owner":\s*"([^"@]*)', text)
    name = re.search(r'"Job_Name":\s*"([^"]*)"', text)
    return owner is not None and name is not None and owner[1] == user and key_of(name[1]) is not None


def _state(state: str, found: dict[str, Any]) -> tuple[JobState, JobEnd | None]:
    if state in _ENDED:
        return JobState.ENDED, _end(found)
    # Exiting, suspended or unknown: the job occupies its nodes until it has ended.
    return (JobState.PENDING if state in _WAITING else JobState.RUNNING), None


def _end(found: dict[str, Any]) -> JobEnd:
    status = found.get("Exit_status")
    if found.get("substate") == _DELETED:
        return JobEnd.CANCELLED
    ends = {0: JobEnd.DONE, _WALLTIME: JobEnd.TIME_LIMIT, _LOST_NODE: JobEnd.NODE_FAILED}
    return ends.get(status, JobEnd.FAILED) if isinstance(status, int) else JobEnd.FAILED


def _default(state: str) -> str:
    return "" if state in {"Q", "R"} else f"state {state}"
