"""Finds the node's own name, and checks that the disk of its agent has room."""

import os
from pathlib import Path
from typing import Final

from iotide_agent.runner.headroom import HEADROOM_BYTES, free_bytes, set_aside
from iotide_wire.units import format_bytes

_NODE_VARIABLES: Final = ("SLURMD_NODENAME",)
"""Where a batch system says on which of its nodes a process is; outside its jobs it says nothing."""


def node_name() -> str:
    """What the node's batch system calls it, or else the host's own short name."""
    named = next((os.environ[name] for name in _NODE_VARIABLES if os.environ.get(name)), None)
    return named or os.uname().nodename.split(".")[0]


def disk_problem(state_directory: Path) -> str | None:
    """Return what keeps the agent's disk from taking one more run, in words; None where there is room."""
    try:
        free = free_bytes(state_directory)
    except OSError as error:
        return f"{state_directory} cannot be looked at: {error.strerror}"
    if free >= HEADROOM_BYTES:
        return None
    return (
        f"the disk of {state_directory} has {format_bytes(free)} free, and the records of a run need "
        f"{format_bytes(HEADROOM_BYTES)}; make room there"
    )


def set_aside_room(state_directory: Path, order_directory: Path) -> str | None:
    """Take the room on the agent's disk that the records of a run need, or return why there is none, in words."""
    try:
        set_aside(order_directory)
    except OSError as error:
        return disk_problem(state_directory) or f"no room can be set aside for the run's records: {error}"
    return None
