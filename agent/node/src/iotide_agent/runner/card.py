"""What the supervisor writes for the runner: `card.json` at the claim, `go.json` when the load may start."""

import json
import signal
from pathlib import Path
from typing import Any, Final, NamedTuple

from iotide_agent.runner.files import read_json, replace_file

_SAFE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


class TargetCard(NamedTuple):
    """A target as the run must find it.

    Attributes:
        bytes_needed: peak space that the workload takes, in bytes.
        reserve_bytes: space that must stay free besides, in bytes.
        writes: whether a directory is made there; a run that only reads works in the target's own.
        remount_command: unmounts it and mounts it again, or nothing where that is not allowed.
        mount_point, root: where the file system is mounted, and which of its directories; None where nobody said.
        files_needed: how many files and directories it makes at most; 0 for few.
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


class Card(NamedTuple):
    """The order, as far as the runner is concerned.

    Attributes:
        directory_name: what the run's own directory is called on each target.
        approved: directories below which it may lie.
        agent_bell: rung whenever the phase changed.
        environment: what the load gets besides its scratch directory; nothing of the agent's own leaks into it.
        drop_caches: whether the page cache of the node may be emptied.
        drop_command: a site's own helper for that, or nothing.
        time_limit_seconds: from the load's start, on CLOCK_BOOTTIME; so long the start is waited for at least.
        output_limit_bytes: what is kept of each output stream of each step.
        patience_seconds: how long a killed process may take to disappear before it counts as stuck.
        agent: what the agent is called in the marks that it leaves; empty in cards of before marks said so.
        observes: the node is only sampled, from now until the word that ends it, or for `time_limit_seconds`.
        others_wait_seconds: so much longer may the wait for the start be, since another node of its gang is held
            back or the server is out of reach.
        listen_address, sockets: where to listen for another node of the run, with how many UDP sockets.
        run_as: user, group and all groups of who touches the targets and runs the loads; empty for the agent's user.
        memory_limit_bytes: what each process of a load may take, the node's memory; 0 in cards of before it was said.
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


class StepCard(NamedTuple):
    """One command; `before` is none, sync, drop, remount or larger_than_memory.

    It is ended when it moved no byte and printed nothing for `stall_seconds`, or for `complained_stall_seconds` once it
    printed on stderr; `socket` is which of the run's sockets is its standard input.
    """

    name: str
    argv: tuple[str, ...]
    before: str
    declared_files: tuple[str, ...]
    stop_signal: int = signal.SIGTERM
    stall_seconds: float | None = None
    complained_stall_seconds: float | None = None
    socket: int | None = None


class Go(NamedTuple):
    """Allows a start at a moment of this node's CLOCK_BOOTTIME (None: at once), with the groups of steps."""

    at_boottime_seconds: float | None
    groups: tuple[tuple[StepCard, ...], ...]


def output_name(ordinal: int, name: str) -> str:
    """What a step's output is called: in the order of the steps, and safe whatever a plug-in named them."""
    return f"{ordinal:03}-" + "".join(letter if letter in _SAFE else "_" for letter in name[:80])


def write_card(directory: Path, card: Card) -> None:
    """Writes `card.json`, durably."""
    targets = [target._asdict() for target in card.targets]
    replace_file(directory / "card.json", json.dumps(card._asdict() | {"targets": targets}), durable=True)


def read_card(directory: Path) -> Card:
    """The card in the order's directory."""
    values = _with_tuples(json.loads((directory / "card.json").read_bytes()))
    values["targets"] = tuple(TargetCard(**_with_tuples(target)) for target in values["targets"])
    return Card(**values)


def write_go(directory: Path, go: Go) -> None:
    """Writes `go.json`; its loss costs nothing, since the supervisor is asked again."""
    groups = [[step._asdict() for step in group] for group in go.groups]
    replace_file(directory / "go.json", json.dumps(go._asdict() | {"groups": groups}), durable=False)


def write_cancel(directory: Path, outcome: str, code: str, reason: str) -> None:
    """Writes `cancel.json`: the run must end with this outcome."""
    replace_file(
        directory / "cancel.json", json.dumps({"outcome": outcome, "code": code, "reason": reason}), durable=False
    )


def read_go(directory: Path) -> Go | None:
    """Leave to start, or None while it was not given."""
    values = read_json(directory / "go.json")
    if values is None:
        return None
    groups = tuple(tuple(StepCard(**_with_tuples(step)) for step in group) for group in values["groups"])
    return Go(values["at_boottime_seconds"], groups)


def _with_tuples(values: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
