"""Files from the agent to the runner: `card.json` at the claim, `go.json` to start the load."""

import json
import signal
from pathlib import Path
from typing import Any, Final, NamedTuple

from iotide_agent.runner.files import read_json, replace_file

ATTEMPT: Final = "IOTIDE_ATTEMPT"
"""Environment variable of loads. The aftermath also finds processes by it, after they left session and lock."""
_SAFE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


class TargetCard(NamedTuple):
    """Target with the mount that the run expects.

    Attributes:
        bytes_needed: Peak space that the workload uses, in bytes.
        reserve_bytes: Additional space that must stay free, in bytes.
        writes: True if the run creates a directory there; a run that only reads works in the target's own.
        remount_command: Unmounts and mounts the target; empty if that is not allowed.
        mount_point, root: Mount point of the file system and the mounted directory of it; None if unknown.
        files_needed: Maximum number of files and directories created; 0 for few.
        shared: The head of a gang makes, marks and removes the run's directory there. This node only uses it.
    """

    target_id: int
    path: str
    fstype: str
    source: str
    reserve_bytes: int
    bytes_needed: int
    writes: bool = True
    remount_command: tuple[str, ...] = ()
    mount_point: str | None = None
    root: str | None = None
    files_needed: int = 0
    shared: bool = False


class GangCard(NamedTuple):
    """Node's part in one program over several nodes.

    Attributes:
        order_id: Order of the head, whose mark the run's directories have.
        nodes: Name and address of each node in the order of the ranks, the head first.
        address: This node's own.
        kind, launcher, interface, ports: How a head starts its launcher; `ports` are the first and last.
        programs: Remote parts that a member starts.
        heads: Networks from which a head may connect; empty for any.
        tasks_per_node: None for a program that starts its parts on the other nodes itself, through RSH.
    """

    order_id: int
    nodes: tuple[tuple[str, str], ...]
    address: str
    kind: str
    launcher: tuple[str, ...]
    interface: str
    ports: tuple[int, int]
    programs: tuple[str, ...]
    tasks_per_node: int | None
    heads: tuple[str, ...] = ()

    @property
    def is_head(self) -> bool:
        return self.address == self.nodes[0][1]


class Card(NamedTuple):
    """Order, as far as the runner needs it.

    Attributes:
        directory_name: Name of the run's own directory on each target.
        approved: Directories below which it may be created.
        agent_bell: Doorbell to ring after each change of phase.
        environment: Environment of the load, without its scratch directory; the agent's own does not leak into it.
        drop_caches: True if the node's page cache may be emptied.
        drop_command: The site's helper for that, or empty.
        time_limit_seconds: From the load's start, on CLOCK_BOOTTIME; also the minimum wait for the start signal.
        output_limit_bytes: Output kept per stream and step.
        patience_seconds: Time for a killed process to disappear before it counts as stuck.
        agent: Name of the agent in its marks; empty in cards of older agents.
        observes: The node is only sampled, until it is cancelled or for `time_limit_seconds`.
        others_wait_seconds: Extra time to wait for the start signal, while another node is held back or the server is
            unreachable.
        listen_address, sockets: Address for another node of the run to connect to, and number of UDP sockets.
        run_as: User, group and all groups for targets and loads; empty for the agent's user.
        attempt: For one program over several nodes: `ID-FENCE`, the same on all of them, in the environment of loads.
        memory_limit_bytes: Memory limit of each process of a load, from the node's memory; 0 in cards of older agents.
        gang: None unless one program runs over several nodes.
    """

    order_id: int
    fence: int
    directory_name: str
    targets: tuple[TargetCard, ...]
    approved: tuple[str, ...]
    agent_bell: str
    environment: dict[str, str]
    drop_caches: bool
    drop_command: tuple[str, ...]
    time_limit_seconds: float
    output_limit_bytes: int
    patience_seconds: float
    agent: str = ""
    observes: bool = False
    others_wait_seconds: float = 0.0
    listen_address: str = ""
    sockets: int = 0
    memory_limit_bytes: int = 0
    run_as: tuple[int, ...] = ()
    attempt: str = ""
    gang: GangCard | None = None


class StepCard(NamedTuple):
    """Command of a step; `before` is none, sync, drop, remount or larger_than_memory.

    The runner ends a step without data and output for `stall_seconds`, or for `complained_stall_seconds` after output
    on stderr. `socket` is the index of the socket for its standard input. `direct_files` are files, or directories of
    files, that it opens with O_DIRECT. Output with `end_mark`, on stdout or in `end_file`, is whole.
    """

    name: str
    argv: tuple[str, ...]
    before: str
    declared_files: tuple[str, ...]
    stop_signal: int = signal.SIGTERM
    stall_seconds: float | None = None
    complained_stall_seconds: float | None = None
    socket: int | None = None
    direct_files: tuple[str, ...] = ()
    end_mark: str = ""
    end_file: str | None = None


class Go(NamedTuple):
    """Start signal: a time on this node's CLOCK_BOOTTIME (None: now) and the groups of steps."""

    at_boottime_seconds: float | None
    groups: tuple[tuple[StepCard, ...], ...]


def output_name(ordinal: int, name: str) -> str:
    """Return the file name of a step's output, safe for any name that a plug-in chose."""
    return f"{ordinal:03}-" + "".join(letter if letter in _SAFE else "_" for letter in name[:80])


def write_card(directory: Path, card: Card) -> None:
    parts = {"targets": [target._asdict() for target in card.targets], "gang": card.gang and card.gang._asdict()}
    replace_file(directory / "card.json", json.dumps(card._asdict() | parts), durable=True)


def read_card(directory: Path) -> Card:
    values = _with_tuples(json.loads((directory / "card.json").read_bytes()))
    values["targets"] = tuple(TargetCard(**_with_tuples(target)) for target in values["targets"])
    if gang := values.get("gang"):
        nodes = tuple((name, address) for name, address in gang["nodes"])
        values["gang"] = GangCard(**_with_tuples(gang) | {"nodes": nodes})
    return Card(**values)


def write_go(directory: Path, go: Go) -> None:
    """Not durable, because the agent can write it again."""
    groups = [[step._asdict() for step in group] for group in go.groups]
    replace_file(directory / "go.json", json.dumps(go._asdict() | {"groups": groups}), durable=False)


def write_cancel(directory: Path, outcome: str, code: str, reason: str) -> None:
    replace_file(
        directory / "cancel.json", json.dumps({"outcome": outcome, "code": code, "reason": reason}), durable=False
    )


def read_go(directory: Path) -> Go | None:
    values = read_json(directory / "go.json")
    if values is None:
        return None
    groups = tuple(tuple(StepCard(**_with_tuples(step)) for step in group) for group in values["groups"])
    return Go(values["at_boottime_seconds"], groups)


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
