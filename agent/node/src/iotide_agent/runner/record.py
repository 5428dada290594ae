"""Records of an order's run: `phase.json` with the runner's progress, and `exit.json` with the result."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from iotide_agent.runner import processes
from iotide_agent.runner.files import read_json, replace_file
from iotide_agent.runner.headroom import is_full

ROOM_SECONDS: Final = 1.0
_TORN: Final = {"boot_id": "of a boot that ended in a power cut", "is_torn": True}


class Ending(NamedTuple):
    outcome: str
    code: str | None
    reason: str | None


class Settled(NamedTuple):
    mount_problems: list[str]
    leftovers: list[str]
    removed: Sequence[str] = ()


class Measured(NamedTuple):
    steps: list[dict[str, Any]]
    escaped_processes: int = 0
    longest_still_seconds: float = 0.0
    sampler_cpu_seconds: float = 0.0
    runner_cpu_seconds: float = 0.0


def read_phase(directory: Path) -> dict[str, Any]:
    """Return the runner's last phase; empty before its start, and with another boot's id if the file is torn.

    It is written without fsync, which would disturb the measurement; no process of the run survives a power failure.
    """
    try:
        phase = read_json(directory / "phase.json") or {}
    except ValueError:
        return dict(_TORN)
    return phase if isinstance(phase, dict) else dict(_TORN)


def as_unkilled(stats: Iterable[processes.Stat]) -> list[dict[str, int]]:
    return [{"pid": stat.pid, "start_ticks": stat.start_ticks} for stat in stats]


def unkilled(directory: Path) -> list[processes.Stat]:
    """Return the processes that an ended order left alive and that still live; none after a reboot."""
    phase = read_phase(directory)
    if phase.get("boot_id") != processes.boot_id():
        return []
    left = [one["pid"] for one in phase.get("unkilled", ()) if processes.is_alive(one["pid"], one["start_ticks"])]
    return [stat for stat in map(processes.stat_of, left) if stat is not None]


def write_places(directory: Path, target_ids: Iterable[int]) -> None:
    """Write a `phase.json` for an order that lost its own, with the targets of its directory."""
    places = [{"target_id": target_id} for target_id in target_ids]
    replace_file(directory / "phase.json", json.dumps({"places": places}), durable=True)


def exit_record(phase: dict[str, Any], ending: Ending, settled: Settled, measured: Measured) -> dict[str, Any]:
    record = {
        "started_at_epoch_seconds": phase.get("started_at_epoch_seconds"),
        "started_at_boottime_seconds": phase.get("started_at_boottime_seconds"),
        "ended_at_epoch_seconds": time.time(),
        "ended_at_boottime_seconds": processes.boottime(),
        "places": phase.get("places", []),
    }
    for part in (ending, settled, measured):
        record |= part._asdict()
    return record


def write_exit(directory: Path, record: dict[str, Any]) -> None:
    replace_file(directory / "exit.json", json.dumps(record), durable=True)


def await_room(work: Callable[[], bool]) -> None:
    """Repeat `work` until it returns true while the agent's disk is full; raise any other OSError."""
    while True:
        try:
            if work():
                return
        except OSError as error:
            if not is_full(error):
                raise
        time.sleep(ROOM_SECONDS)
