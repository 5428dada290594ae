"""`exit.json`: the last word on an order's run, by its runner or by whoever cleaned up after it."""

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

from iotide_agent.runner.files import replace_file


class Ending(NamedTuple):
    """Why a run is over: finished, failed, cancelled or declined, with a stable code and a sentence."""

    outcome: str
    code: str | None
    reason: str | None


class Settled(NamedTuple):
    """What became of the targets.

    Attributes:
        mount_problems: what is wrong with the mounts after the run.
        leftovers: paths that could not be removed.
    """

    mount_problems: list[str]
    leftovers: list[str]


class Measured(NamedTuple):
    """What was seen of the loads besides their output."""

    steps: list[dict[str, Any]]
    escaped_processes: int = 0
    longest_still_seconds: float = 0.0
    sampler_cpu_seconds: float = 0.0
    runner_cpu_seconds: float = 0.0


def write_exit(directory: Path, phase: dict[str, Any], ending: Ending, settled: Settled, measured: Measured) -> None:
    """Writes `exit.json`, durably; `phase` is what the runner noted last."""
    record = {
        "started_at_epoch_seconds": phase.get("started_at_epoch_seconds"),
        "ended_at_epoch_seconds": time.time(),
        "places": phase.get("places", []),
    }
    for part in (ending, settled, measured):
        record |= part._asdict()
    replace_file(directory / "exit.json", json.dumps(record), durable=True)
