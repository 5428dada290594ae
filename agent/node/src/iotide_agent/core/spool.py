"""The agent's state directory: offers, held orders, and results until they are acknowledged.

Every file is replaced atomically; the directory is the only truth about the node.
"""

import fcntl
import json
import logging
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from iotide_agent.core.origin import Origin
from iotide_agent.runner import processes
from iotide_agent.runner.doorbell import ring
from iotide_agent.runner.files import read_json, replace_file
from iotide_agent.runner.headroom import NAME
from iotide_agent.runner.record import unkilled
from iotide_wire.messages import FinishRequest, HeldOrder, Order

_OFFER: Final = re.compile(r"^(?P<order>[0-9]{1,19})-(?P<fence>[0-9]{1,19})\.json$")
_MAX_ID: Final = 2**63 - 1
_FORGOTTEN: Final = ".forgotten"
_AGENT_LOCK: Final = "agent.lock"
_NODE_LOCK: Final = "node.lock"
_ORIGIN: Final = "origin.json"
_logger = logging.getLogger(__name__)


class AgentRunsError(Exception):
    def __init__(self, state_directory: Path, pids: list[int], copy: Path | None = None) -> None:
        named = f" (pid {', '.join(map(str, pids))})" if pids else ""
        found = (
            f"another agent{named} runs on {state_directory}"
            if copy is None
            else f"{copy} is a copy of {state_directory}, which is in use{named}"
        )
        super().__init__(f"{found}; stop it first, or give this agent its own `state_directory` and identity")


class NodeBusyError(Exception):
    """The load may belong to another agent, or have outlived its own."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Wake-up for an order and its fence. It has no authority: the claim decides."""

    order_id: int
    fence: int


class OrderFiles:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        # From the agent: the server's order, and the directories and steps planned from it.
        self.order, self.plan = directory / "order.json", directory / "plan.json"
        # Before the load: storage condition and load of the node.
        self.condition, self.foreign = directory / "condition.json", directory / "foreign.json"
        # Address of the run's receiving node, also stored on the sender.
        self.endpoint = directory / "endpoint.json"
        # For the runner: its card, start signal and doorbell.
        self.card, self.go, self.bell = directory / "card.json", directory / "go.json", directory / "bell"
        # From the runner: phase, exit record, samples and output; the end of the output is a slate.
        self.phase, self.exit, self.curve = directory / "phase.json", directory / "exit.json", directory / "curve.jsonl"
        self.output, self.scratch, self.tail = directory / "out", directory / "scratch", directory / "tail"
        # For the server to acknowledge, with the raw output.
        self.result, self.artefacts = directory / "result.json", directory / "artefacts"


class Spool:
    """`wake_bell` wakes the agent. `held` has orders, `orphans` the search for orphaned directories."""

    def __init__(self, state_directory: Path) -> None:
        self.state_directory = state_directory
        self.wake_bell = state_directory / "wake"
        self.orphans = state_directory / "orphans"
        self._offers = state_directory / "spool" / "offers"
        self.held = state_directory / "orders"
        self._node_lock = state_directory / _NODE_LOCK
        self._leftovers = state_directory / "leftovers"
        self._unkept: dict[int, FinishRequest] = {}

    def prepare(self) -> None:
        for directory in (self._offers, self.held, self._leftovers, self.orphans):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def lock_agent(self) -> int:
        """Take the agent's lock until this process ends.

        Raise AgentRunsError if another process holds it, or the lock of the directory that this one was copied from.
        """
        file = self.state_directory / _AGENT_LOCK
        descriptor = _open_lock(file)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise AgentRunsError(self.state_directory, processes.holders(file)) from error
        origin = self._origin()
        # A copy's orders and their files belong to the original, whose agent or loads may be alive.
        if origin is not None and origin.is_copied_to(self.state_directory):
            pids = sorted(
                {pid for lock in (_AGENT_LOCK, _NODE_LOCK) for pid in processes.holders(Path(origin.path) / lock)}
            )
            if pids:
                os.close(descriptor)
                raise AgentRunsError(Path(origin.path), pids, self.state_directory)
        return descriptor

    def _origin(self) -> Origin | None:
        try:
            found = read_json(self.state_directory / _ORIGIN)
            return None if found is None else Origin(str(found["path"]), int(found["device"]), int(found["inode"]))
        except (ValueError, LookupError, TypeError) as error:
            _logger.warning("origin_unreadable error=%r", error)
            return None

    def lock_node(self, mode: Literal["shared", "exclusive"]) -> int:
        """Take the node's lock, inherited with the descriptor; raise NodeBusyError with the holders."""
        descriptor = _open_lock(self._node_lock)
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if mode == "shared" else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            names = ", ".join(f"{stat.name} (pid {stat.pid})" for stat in self._lock_holders())
            raise NodeBusyError(f"this node is occupied by {names or 'a process that just ended'}") from error
        with ExitStack() as undo:
            undo.callback(os.close, descriptor)
            self._require_none_unkilled()
            undo.pop_all()
        return descriptor

    def _require_none_unkilled(self) -> None:
        names = ", ".join(f"{stat.name} (pid {stat.pid}) of order {order_id}" for order_id, stat in self.unkilled())
        if names:
            raise NodeBusyError(f"this node is occupied by processes that cannot be killed: {names}")

    def unkilled(self) -> list[tuple[int, processes.Stat]]:
        """Return the processes that ended orders left alive, including those that closed the node's lock."""
        named = [path for kept in (self.held, self._leftovers) for path in kept.glob("[0-9]*")]
        ids = ((path, path.name.partition("-")[0]) for path in named)
        return [(int(number), stat) for path, number in ids if number.isdecimal() for stat in unkilled(path)]

    def node_holders(self) -> list[processes.Stat] | None:
        """Return the holders of the node's lock, possibly none if one just ended; None if the node is free."""
        descriptor = _open_lock(self._node_lock)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return self._lock_holders()
        finally:
            os.close(descriptor)
        return None

    def _lock_holders(self) -> list[processes.Stat]:
        found = map(processes.stat_of, processes.holders(self._node_lock))
        return [stat for stat in found if stat is not None]

    def last_instance(self) -> str | None:
        """Return the agent process of this directory that the server accepted last.

        A copy has none: the server refuses it while the original's agent may be alive.
        """
        origin = self._origin()
        if origin is not None and not origin.is_at(self.state_directory):
            return None
        instance: str | None = read_json(self.state_directory / "instance")
        return instance

    def keep_instance(self, instance: str) -> bool:
        origin = Origin.of(self.state_directory)
        try:
            if origin != self._origin():
                # In its own file: agents of 0.2 read `instance` as text.
                replace_file(self.state_directory / _ORIGIN, json.dumps(asdict(origin)), durable=True)
            replace_file(self.state_directory / "instance", json.dumps(instance), durable=True)
        except OSError as error:
            _logger.warning("instance_not_kept error=%s", error)
            return False
        return True

    def write_offer(self, offer: Offer) -> None:
        """A copy of an offer replaces it."""
        # Not durable: after a power failure the server offers again.
        replace_file(self._offers / f"{offer.order_id}-{offer.fence}.json", "{}", durable=False)
        ring(self.wake_bell)

    def offers(self) -> list[Offer]:
        matches = (_OFFER.match(name) for name in sorted(path.name for path in self._offers.iterdir()))
        found = (Offer(int(match["order"]), int(match["fence"])) for match in matches if match)
        return [offer for offer in found if offer.order_id <= _MAX_ID and 1 <= offer.fence <= _MAX_ID]

    def drop_offer(self, offer: Offer) -> None:
        (self._offers / f"{offer.order_id}-{offer.fence}.json").unlink(missing_ok=True)

    def files(self, order_id: int) -> OrderFiles:
        return OrderFiles(self.held / str(order_id))

    def keep_order(self, order: Order) -> None:
        """Store a claimed order durably. From then on the agent is responsible for it."""
        files = self.files(order.order_id)
        files.directory.mkdir(mode=0o700, exist_ok=True)
        replace_file(files.order, order.model_dump_json(), durable=True)

    def orders(self) -> Iterator[Order]:
        """Yield the held orders by number; remove incomplete ones or set them aside."""
        for directory in sorted(self.held.iterdir(), key=lambda path: (len(path.name), path.name)):
            files = OrderFiles(directory)
            if directory.suffix == _FORGOTTEN:
                shutil.rmtree(directory, ignore_errors=True)
            elif files.order.exists() and (order := _read_order(files)):
                yield order
            elif files.card.exists():
                self._set_aside(directory)
            else:
                # Without a card no runner was started, so nothing on a target depends on this directory.
                shutil.rmtree(directory, ignore_errors=True)

    def order(self, order_id: int) -> Order:
        """Raise LookupError if not even number and fence are readable."""
        order = _read_order(self.files(order_id))
        if order is None:
            raise LookupError(f"order {order_id} is not held")
        return order

    def keep_result(self, order_id: int, result: FinishRequest) -> None:
        """Store a result until it is acknowledged, in memory if the disk is full."""
        try:
            replace_file(self.files(order_id).result, result.model_dump_json(), durable=True)
        except OSError:
            _logger.exception("result_in_memory_only order_id=%d", order_id)
            self._unkept[order_id] = result
        else:
            self._unkept.pop(order_id, None)

    def result(self, order_id: int) -> FinishRequest:
        unkept = self._unkept.get(order_id)
        if unkept is not None:
            return unkept
        return FinishRequest.model_validate_json(self.files(order_id).result.read_bytes())

    def forget(self, order_id: int) -> None:
        """Remove an order's data, its name first, so that a half-removed order never counts as held."""
        self._unkept.pop(order_id, None)
        directory = self.files(order_id).directory
        forgotten = directory.with_suffix(_FORGOTTEN)
        with suppress(FileNotFoundError):
            directory.rename(forgotten)
        shutil.rmtree(forgotten, ignore_errors=True)

    def set_aside(self, order_id: int) -> None:
        """Keep only what is needed to remove an order's files later."""
        self._set_aside(self.files(order_id).directory)

    def _set_aside(self, directory: Path) -> None:
        directory.rename(self._leftovers / directory.name)

    def aside(self, order_id: int) -> Path:
        return self._leftovers / str(order_id)

    def aside_orphan(self, order_id: int, fence: int) -> Path:
        return self._leftovers / f"{order_id}-{fence}"

    def knows(self, order_id: int, fence: int) -> bool:
        """Check if data of an order exist, so that its directories on targets are not orphaned."""
        # In this sequence: set_aside moves an order from the first to the second.
        kept = (self.files(order_id).directory, self.aside(order_id), self.aside_orphan(order_id, fence))
        return any(directory.exists() for directory in kept)

    def drop_aside(self, directory: Path) -> None:
        shutil.rmtree(directory, ignore_errors=True)

    def leftovers(self) -> list[Path]:
        return sorted(self._leftovers.iterdir())

    def used_bytes(self) -> int:
        files = (Path(parent) / name for parent, _, names in os.walk(self.held) for name in names if name != NAME)
        return sum(map(_size_bytes, files))


def _read_order(files: OrderFiles) -> Order | None:
    """Return the order; if another agent version wrote it, at least the fields that identify it.

    Its load may be running; if hello did not name it, the server would count it as lost and the node as free.
    """
    try:
        return Order.model_validate_json(files.order.read_bytes())
    except ValidationError as error:
        _logger.warning("order_unreadable directory=%s error=%s", files.directory, error)
    try:
        card = json.loads(files.card.read_bytes())
        known = HeldOrder(order_id=card["order_id"], fence=card["fence"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        _logger.warning("card_unreadable directory=%s error=%s", files.directory, error)
        return None
    values: dict[str, Any] = dict.fromkeys(Order.model_fields) | {"run_id": 0, "workload": "of-another-version"}
    return Order.model_construct(**(values | known.model_dump()))


def _size_bytes(file: Path) -> int:
    try:
        return file.lstat().st_size
    except FileNotFoundError:
        return 0  # a runner replaces its files, and a result may be acknowledged at the same time


def _open_lock(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
