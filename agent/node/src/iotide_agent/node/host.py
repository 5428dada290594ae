"""The node's name, and disk space of its agent."""

import os
from pathlib import Path
from typing import Final

from iotide_agent.runner.headroom import HEADROOM_BYTES, free_bytes, give_back, is_full, set_aside
from iotide_wire.units import format_bytes

_NODE_VARIABLES: Final = ("SLURMD_NODENAME",)
"""Set by batch systems in their jobs."""


def node_name() -> str:
    """Return the batch system's name of the node, or the host's short name."""
    named = next((os.environ[name] for name in _NODE_VARIABLES if os.environ.get(name)), None)
    return named or os.uname().nodename.split(".")[0]


def disk_problem(state_directory: Path, *, tries: bool = False) -> str | None:
    """Return why the agent's disk cannot take a run, or None; `tries` allocates space, which also checks quotas."""
    try:
        free = free_bytes(state_directory)
    except OSError as error:
        return f"{state_directory} cannot be read: {error.strerror}"
    if free >= HEADROOM_BYTES:
        return _set_aside_problem(state_directory) if tries else None
    return (
        f"the disk of {state_directory} has {format_bytes(free)} free, but the records of a run need "
        f"{format_bytes(HEADROOM_BYTES)}; free some space there"
    )


def set_aside_room(state_directory: Path, order_directory: Path) -> str | None:
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
    sentence = f"{state_directory} has no room for the {format_bytes(HEADROOM_BYTES)} that the records of a run need"
    remedy = "; free some space there or raise the quota of the agent's user" if is_full(error) else ""
    return f"{sentence}: {error.strerror}{remedy}"
