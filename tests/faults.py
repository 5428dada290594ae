"""Kills a part of a running iotide at a chosen moment of a run, and checks the rules that must hold afterwards."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from bring_up import StackError, wait_for
from redis import Redis
from rig import Rig
from watched_loads import LoadStart

RUN_SECONDS: Final = 3.0
_LATE_SECONDS: Final = 0.8 * RUN_SECONDS
_MOMENT_SECONDS: Final = 60.0
"""The server delays the restart of a part that died often, by at most 30 s."""
_GLANCE_SECONDS: Final = 0.001
LOADS: Final[dict[str, dict[str, Any]]] = {
    "fio": {
        "rw": "write",
        "block_size_bytes": 4096,
        "file_size_bytes": 4 * 1024**2,
        "runtime_seconds": RUN_SECONDS,
    },
    "dd": {"operations": ["write"], "file_size_bytes": 2 * 1024**2, "block_size_bytes": 512, "flush": "dsync"},
}
"""Loads of one step each; fio runs for its fixed time on any machine, dd for about as long."""


class Victim(StrEnum):
    """Part that is killed with -9; `REDIS_EMPTIED` restarts without its data."""

    AGENT = "agent"
    RUNNER = "runner"
    API = "api"
    SCHEDULER = "scheduler"
    WORKER = "worker"
    REDIS = "redis"
    REDIS_EMPTIED = "redis emptied"


class Moment(StrEnum):
    """Moment of the kill in the run, by the files on the node's disk and its loads."""

    OFFERED = "offered"
    CLAIMED = "claimed"
    PREPARING = "preparing"
    RUNNING_EARLY = "running early"
    RUNNING_LATE = "running late"
    SETTLING = "settling"
    UPLOADING = "uploading"


@dataclass(frozen=True)
class Aftermath:
    """A run that survived a fault.

    Attributes:
        run: in detail.
        load_starts: how often its load was started.
    """

    run: dict[str, Any]
    load_starts: int


def live_through(
    rig: Rig, victim: Victim, moment: Moment, *, workload: str = "fio", delay_seconds: float = 0.0
) -> Aftermath:
    """Submit a run, kill the victim at the moment, recover as an operator would, and check every rule.

    Args:
        workload: one of `LOADS`.
        delay_seconds: added to the moment.
    """
    run_id = rig.submit_one(workload, LOADS[workload], attempts_allowed=2)
    _wait_moment(rig, moment, run_id)
    time.sleep(delay_seconds)
    strike(rig, victim)
    rig.stack.wait_ready()
    run = rig.wait_ended(run_id)
    rig.wait_clean()
    starts = _starts_of(rig, run_id)
    assert all(start.is_alone for start in starts), f"a load ran at the same time as another: {starts}"
    assert len(starts) <= run["attempts_made"], f"{run['attempts_made']} attempts, loads {starts}"
    if run["state"] == "finished":
        _assert_kept(rig, run)
    else:
        assert run["state"] == "failed", run["state"]
        assert run["reason"], "a failed run needs a reason"
    return Aftermath(run, len(starts))


def strike(rig: Rig, victim: Victim) -> None:
    """Kill the victim. Restart the agent, as systemd would; the server restarts its own parts."""
    match victim:
        case Victim.AGENT:
            rig.agent.process.kill()
            rig.stack.restart_agent(rig.agent)
        case Victim.RUNNER:
            for pid in _runner_pids(rig):
                os.kill(pid, signal.SIGKILL)
        case Victim.REDIS_EMPTIED:
            with Redis.from_url(rig.stack.settings["IOTIDE_REDIS_ADMIN_URL"]) as redis:
                redis.flushall()
        case _:
            pid = wait_for(f"the {victim}", lambda: _pid_of(rig, victim))
            whole = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
            os.kill(pid, signal.SIGKILL)
            # The API's child processes end a moment later, and may answer until then.
            wait_for(f"the end of the {victim}", lambda: None if any(map(_lives, whole)) else True)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _pid_of(rig: Rig, victim: Victim) -> int | None:
    """Return the process id of a part of the server; None while the server restarts it after an earlier kill."""
    try:
        return rig.stack.part_pid(victim.value)
    except StackError:
        return None


def _starts_of(rig: Rig, run_id: int) -> list[LoadStart]:
    """Return the loads that worked in the run's directory, which has its name."""
    place = f"={rig.target}/iotide-run-{run_id}-"
    return [start for start in rig.loads.starts() if any(place in word for word in start.arguments)]


def _wait_moment(rig: Rig, moment: Moment, run_id: int) -> None:
    """Wait for the moment of the run. A moment of a millisecond may be missed; then a later one is used."""

    def load_has_run(seconds: float) -> bool:
        starts = _starts_of(rig, run_id)
        return bool(starts) and time.time() - starts[0].epoch_seconds >= seconds

    conditions: dict[Moment, Callable[[], bool]] = {
        Moment.OFFERED: lambda: True,
        Moment.CLAIMED: lambda: bool(_order_directories(rig)),
        Moment.PREPARING: lambda: bool(_phases(rig) & {"preparing", "ready"}) or load_has_run(0),
        Moment.RUNNING_EARLY: lambda: load_has_run(0),
        Moment.RUNNING_LATE: lambda: load_has_run(_LATE_SECONDS),
        Moment.SETTLING: lambda: load_has_run(RUN_SECONDS) and "running" not in _phases(rig),
        Moment.UPLOADING: lambda: load_has_run(RUN_SECONDS) and not _phases(rig) & {"running", "settling"},
    }
    reached = conditions[moment]
    wait_for(moment.value, lambda: reached() or None, seconds=_MOMENT_SECONDS, pause_seconds=_GLANCE_SECONDS)


def _order_directories(rig: Rig) -> list[Path]:
    return list((rig.agent.directory / "state/orders").glob("*"))


def _notes(rig: Rig) -> Iterator[dict[str, Any]]:
    """Return the last notes of the runners of orders that have not ended."""
    for directory in _order_directories(rig):
        file = directory / "phase.json"
        if file.exists() and not (directory / "exit.json").exists():
            yield json.loads(file.read_text())


def _phases(rig: Rig) -> set[str]:
    return {note["phase"] for note in _notes(rig) if "phase" in note}


def _runner_pids(rig: Rig) -> list[int]:
    return [note["pid"] for note in _notes(rig) if "pid" in note and Path(f"/proc/{note['pid']}").exists()]


def _assert_kept(rig: Rig, run: dict[str, Any]) -> None:
    """Check that a finished run has its numbers, its raw output and its points."""
    assert rig.stack.get("/samples", run_id=run["id"])["items"], "no numbers"
    assert rig.stack.get(f"/runs/{run['id']}/artefacts")["items"], "no raw output"

    def drawn() -> bool | None:
        samples = rig.stack.get("/samples", run_id=run["id"])["items"]
        wanted = {sample["series_id"] for sample in samples}
        points = [rig.stack.get(f"/series/{series_id}/points") for series_id in wanted]
        return True if all(run["cell_id"] in found["cell_id"] for found in points) else None

    wait_for(f"the points of run {run['id']}", drawn, seconds=45)
