"""What is kept of an order's run: `phase.json`, how far its runner is, and `exit.json`, the last word on it."""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from iotide_agent.runner import processes
from iotide_agent.runner.files import read_json, replace_file
from iotide_agent.runner.headroom import is_full

ROOM_SECONDS: Final = 1.0
"""Between two looks whether a full disk has room again."""
_TORN: Final = {"boot_id": "of a boot that ended in a power cut", "is_torn": True}


class Ending(NamedTuple):
    """Why a run is over: finished, failed, cancelled or declined, with a stable code and a sentence."""

    outcome: str
    code: str | None
    reason: str | None


class Settled(NamedTuple):
    """What is wrong with the mounts after the run, and which directories could not be removed and which were."""

    mount_problems: list[str]
    leftovers: list[str]
    removed: Sequence[str] = ()


class Measured(NamedTuple):
    """What was seen of the loads besides their output."""

    steps: list[dict[str, Any]]
    escaped_processes: int = 0
    longest_still_seconds: float = 0.0
    sampler_cpu_seconds: float = 0.0
    runner_cpu_seconds: float = 0.0


def read_phase(directory: Path) -> dict[str, Any]:
    """What the runner noted last; nothing where it has not begun, and another boot's id where the file is torn.

    The runner replaces the file without waiting for the disk, which would disturb what it measures; so only a power cut
    can tear it, and after one nothing of what the file said still runs.
    """
    try:
        phase = read_json(directory / "phase.json") or {}
    except ValueError:
        return dict(_TORN)
    return phase if isinstance(phase, dict) else dict(_TORN)


def as_unkilled(stats: Iterable[processes.Stat]) -> list[dict[str, int]]:
    """Return what `phase.json` keeps of processes that no signal ended, under `unkilled`."""
    return [{"pid": stat.pid, "start_ticks": stat.start_ticks} for stat in stats]


def unkilled(directory: Path) -> list[processes.Stat]:
    """Return the processes that an ended order left alive, as long as they live; none after a reboot."""
    phase = read_phase(directory)
    if phase.get("boot_id") != processes.boot_id():
        return []
    left = [one["pid"] for one in phase.get("unkilled", ()) if processes.is_alive(one["pid"], one["start_ticks"])]
    return [stat for stat in map(processes.stat_of, left) if stat is not None]


def write_places(directory: Path, target_ids: Iterable[int]) -> None:
    """Writes a `phase.json` for an order whose own was lost: on these targets its directory was made."""
    places = [{"target_id": target_id} for target_id in target_ids]
    replace_file(directory / "phase.json", json.dumps({"places": places}), durable=True)


def exit_record(phase: dict[str, Any], ending: Ending, settled: Settled, measured: Measured) -> dict[str, Any]:
    """Return the last word on a run that ends now; `phase` is what its runner noted last."""
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
    """Write the last word as `exit.json`, durably."""
    replace_file(directory / "exit.json", json.dumps(record), durable=True)


def await_room(work: Callable[[], bool]) -> None:
    """Do `work` until it returns true, again and again while the agent's disk is full; raise any other OSError."""
    while True:
        try:
            if work():
                return
        except OSError as error:
            if not is_full(error):
                raise
        time.sleep(ROOM_SECONDS)
