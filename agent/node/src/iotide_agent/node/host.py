"""Finds the node's own name, and checks that the disk of its agent has room."""

import os
from pathlib import Path
from typing import Final

from iotide_agent.runner.headroom import HEADROOM_BYTES, free_bytes, give_back, is_full, set_aside
from iotide_wire.units import format_bytes

_NODE_VARIABLES: Final = ("SLURMD_NODENAME",)
"""Where a batch system says on which of its nodes a process is; outside its jobs it says nothing."""


def node_name() -> str:
    """What the node's batch system calls it, or else the host's own short name."""
    named = next((os.environ[name] for name in _NODE_VARIABLES if os.environ.get(name)), None)
    return named or os.uname().nodename.split(".")[0]


def disk_problem(state_directory: Path, *, tries: bool = False) -> str | None:
    """Return why the agent's disk takes no run, or None; with `tries` take the room, as free space shows no quota."""
    try:
        free = free_bytes(state_directory)
    except OSError as error:
        return f"{state_directory} cannot be looked at: {error.strerror}"
    if free >= HEADROOM_BYTES:
        return _set_aside_problem(state_directory) if tries else None
    return (
        f"the disk of {state_directory} has {format_bytes(free)} free, and the records of a run need "
        f"{format_bytes(HEADROOM_BYTES)}; make room there"
    )


def set_aside_room(state_directory: Path, order_directory: Path) -> str | None:
    """Take the room on the agent's disk that the records of a run need, or return why there is none, in words."""
    try:
        set_aside(order_directory)
    except OSError as error:
        return disk_problem(state_directory) or _words(state_directory, error)
    return None


def _set_aside_problem(state_directory: Path) -> str | None:
    problem = set_aside_room(state_directory, state_directory)
    if problem is None:
        give_back(state_directory)
    return problem


def _words(state_directory: Path, error: OSError) -> str:
    sentence = f"{state_directory} does not take the {format_bytes(HEADROOM_BYTES)} that the records of a run need"
    remedy = "; make room there or raise the quota of the agent's user" if is_full(error) else ""
    return f"{sentence}: {error.strerror}{remedy}"
