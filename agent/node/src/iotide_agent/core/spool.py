"""The agent's state directory: offers that came, orders that it holds, results until they are acknowledged.

Every file is replaced atomically; what is here is the truth about the node, whichever of its processes dies.
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
    """Another agent works on the same state directory, or on the one of which this is a copy."""

    def __init__(self, state_directory: Path, pids: list[int], copy: Path | None = None) -> None:
        named = f" (pid {', '.join(map(str, pids))})" if pids else ""
        found = (
            f"another agent{named} runs on {state_directory}"
            if copy is None
            else f"{copy} is a copy of {state_directory}, which is in use{named}"
        )
        super().__init__(f"{found}; stop it first, or give this one a state_directory and an identity of its own")


class NodeBusyError(Exception):
    """A load of this or another agent holds the node; it may have outlived its agent."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A wake-up: which order, under which fence. It carries no authority; the claim decides."""

    order_id: int
    fence: int


class OrderFiles:
    """The files of the order in a directory, whether they exist or not."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        # Of the supervisor: what the server said, and the places and steps that were made of it.
        self.order, self.plan = directory / "order.json", directory / "plan.json"
        # Before the load: the condition of the storage below the targets, and what others used of the node.
        self.condition, self.foreign = directory / "condition.json", directory / "foreign.json"
        # Where the run's receiving node listens, on that node and on the one that sends.
        self.endpoint = directory / "endpoint.json"
        # For the runner: what it is to do, its leave to start, and what wakes it.
        self.card, self.go, self.bell = directory / "card.json", directory / "go.json", directory / "bell"
        # Of the runner: how far it is, its last word, what it saw, and what was printed, its end on a slate.
        self.phase, self.exit, self.curve = directory / "phase.json", directory / "exit.json", directory / "curve.jsonl"
        self.output, self.scratch, self.tail = directory / "out", directory / "scratch", directory / "tail"
        # What the server must acknowledge, and the raw output that goes with it.
        self.result, self.artefacts = directory / "result.json", directory / "artefacts"


class Spool:
    """A state directory: `wake_bell` wakes the supervisor, `held` has orders, `strays` what none of them names."""

    def __init__(self, state_directory: Path) -> None:
        self.state_directory = state_directory
        self.wake_bell = state_directory / "wake"
        self.strays = state_directory / "strays"
        self._offers = state_directory / "spool" / "offers"
        self.held = state_directory / "orders"
        self._node_lock = state_directory / _NODE_LOCK
        self._leftovers = state_directory / "leftovers"
        self._unkept: dict[int, FinishRequest] = {}

    def prepare(self) -> None:
        """Makes the directories, for the agent's own user alone."""
        for directory in (self._offers, self.held, self._leftovers, self.strays):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def lock_agent(self) -> int:
        """Take the agent's lock until this process ends.

        Raise AgentRunsError where another process has it, or that of the directory of which this one is a copy.
        """
        file = self.state_directory / _AGENT_LOCK
        descriptor = _open_lock(file)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise AgentRunsError(self.state_directory, processes.holders(file)) from error
        origin = self._origin()
        # The orders of a copy, and what they left on targets, are the original's, of which an agent or a load may live.
        if origin is not None and origin.is_copied_to(self.state_directory):
            pids = sorted(
                {pid for lock in (_AGENT_LOCK, _NODE_LOCK) for pid in processes.holders(Path(origin.path) / lock)}
            )
            if pids:
                os.close(descriptor)
                raise AgentRunsError(Path(origin.path), pids, self.state_directory)
        return descriptor

    def _origin(self) -> Origin | None:
        """Return where the directory was; None where that was never recorded, or the record is damaged."""
        try:
            found = read_json(self.state_directory / _ORIGIN)
            return None if found is None else Origin(str(found["path"]), int(found["device"]), int(found["inode"]))
        except (ValueError, LookupError, TypeError) as error:
            _logger.warning("origin_unreadable error=%r", error)
            return None

    def lock_node(self, mode: Literal["shared", "exclusive"]) -> int:
        """Take the node's lock for all who inherit the descriptor; raise NodeBusyError, which names who holds it."""
        descriptor = _open_lock(self._node_lock)
        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if mode == "shared" else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            names = ", ".join(f"{stat.name} (pid {stat.pid})" for stat in self._lock_holders())
            raise NodeBusyError(f"this node is held by {names or 'a process that just ended'}") from error
        with ExitStack() as undo:
            undo.callback(os.close, descriptor)
            self._require_none_unkilled()
            undo.pop_all()
        return descriptor

    def _require_none_unkilled(self) -> None:
        names = ", ".join(f"{stat.name} (pid {stat.pid}) of order {order_id}" for order_id, stat in self.unkilled())
        if names:
            raise NodeBusyError(f"this node is held by what could not be killed: {names}")

    def unkilled(self) -> list[tuple[int, processes.Stat]]:
        """Return the processes that ended orders left alive, by order: of these, some have closed the node's lock."""
        named = [path for kept in (self.held, self._leftovers) for path in kept.glob("[0-9]*")]
        ids = ((path, path.name.partition("-")[0]) for path in named)
        return [(int(number), stat) for path, number in ids if number.isdecimal() for stat in unkilled(path)]

    def node_holders(self) -> list[processes.Stat] | None:
        """Return the processes that hold the node's lock, none where one just ended; None: the node is free."""
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
        """Return the agent process of this very directory that the server accepted last.

        A copy has none: the server then refuses it while the original's agent may be alive.
        """
        origin = self._origin()
        if origin is not None and not origin.is_at(self.state_directory):
            return None
        instance: str | None = read_json(self.state_directory / "instance")
        return instance

    def keep_instance(self, instance: str) -> bool:
        """Record that the server accepted this agent process; return false where a full disk prevents it."""
        origin = Origin.of(self.state_directory)
        try:
            if origin != self._origin():
                # In a file of its own: agents of 0.2 read `instance` as a text.
                replace_file(self.state_directory / _ORIGIN, json.dumps(asdict(origin)), durable=True)
            replace_file(self.state_directory / "instance", json.dumps(instance), durable=True)
        except OSError as error:
            _logger.warning("instance_not_kept error=%s", error)
            return False
        return True

    def write_offer(self, offer: Offer) -> None:
        """Keeps an offer and wakes the supervisor; a second copy replaces the first."""
        # Not durable: after a power cut the server offers again.
        replace_file(self._offers / f"{offer.order_id}-{offer.fence}.json", "{}", durable=False)
        ring(self.wake_bell)

    def offers(self) -> list[Offer]:
        """The offers that nobody has dealt with yet."""
        matches = (_OFFER.match(name) for name in sorted(path.name for path in self._offers.iterdir()))
        found = (Offer(int(match["order"]), int(match["fence"])) for match in matches if match)
        return [offer for offer in found if offer.order_id <= _MAX_ID and 1 <= offer.fence <= _MAX_ID]

    def drop_offer(self, offer: Offer) -> None:
        """Forgets an offer that was claimed, refused or is stale."""
        (self._offers / f"{offer.order_id}-{offer.fence}.json").unlink(missing_ok=True)

    def files(self, order_id: int) -> OrderFiles:
        """The files of an order, whether they exist or not."""
        return OrderFiles(self.held / str(order_id))

    def keep_order(self, order: Order) -> None:
        """Keeps a claimed order, durably: from now on the agent answers for it."""
        files = self.files(order.order_id)
        files.directory.mkdir(mode=0o700, exist_ok=True)
        replace_file(files.order, order.model_dump_json(), durable=True)

    def orders(self) -> Iterator[Order]:
        """The orders that are held, lowest number first; what is no order any more is removed or set aside."""
        for directory in sorted(self.held.iterdir(), key=lambda path: (len(path.name), path.name)):
            files = OrderFiles(directory)
            if directory.suffix == _FORGOTTEN:
                shutil.rmtree(directory, ignore_errors=True)
            elif files.order.exists() and (order := _read_order(files)):
                yield order
            elif files.card.exists():
                self._set_aside(directory)
            else:
                # Without a card no runner was started, so nothing on a target can depend on this directory.
                shutil.rmtree(directory, ignore_errors=True)

    def order(self, order_id: int) -> Order:
        """Return a held order; raise LookupError where not even its number and fence can be read."""
        order = _read_order(self.files(order_id))
        if order is None:
            raise LookupError(f"order {order_id} is not held")
        return order

    def keep_result(self, order_id: int, result: FinishRequest) -> None:
        """Keeps a result until the server acknowledges it: durably, or in memory where the disk has no room."""
        try:
            replace_file(self.files(order_id).result, result.model_dump_json(), durable=True)
        except OSError:
            _logger.exception("result_in_memory_only order_id=%d", order_id)
            self._unkept[order_id] = result
        else:
            self._unkept.pop(order_id, None)

    def result(self, order_id: int) -> FinishRequest:
        """The result of an order."""
        unkept = self._unkept.get(order_id)
        if unkept is not None:
            return unkept
        return FinishRequest.model_validate_json(self.files(order_id).result.read_bytes())

    def forget(self, order_id: int) -> None:
        """Removes all that is kept of an order, its name first.

        So a half-removed one is never taken for held, and a thread that still looks at its storage cannot write to it.
        """
        self._unkept.pop(order_id, None)
        directory = self.files(order_id).directory
        forgotten = directory.with_suffix(_FORGOTTEN)
        with suppress(FileNotFoundError):
            directory.rename(forgotten)
        shutil.rmtree(forgotten, ignore_errors=True)

    def set_aside(self, order_id: int) -> None:
        """Keeps what is needed to remove an order's files from its target later, and forgets the rest."""
        self._set_aside(self.files(order_id).directory)

    def _set_aside(self, directory: Path) -> None:
        directory.rename(self._leftovers / directory.name)

    def aside(self, order_id: int) -> Path:
        """Where an order that was set aside is kept."""
        return self._leftovers / str(order_id)

    def aside_stray(self, order_id: int, fence: int) -> Path:
        """Where an order is kept that only its directory's mark told of; its number may be another server's."""
        return self._leftovers / f"{order_id}-{fence}"

    def knows(self, order_id: int, fence: int) -> bool:
        """Whether anything is kept of an order, so that its directories on targets are no strays."""
        # In this order, since an order that is set aside moves from the first to the second.
        kept = (self.files(order_id).directory, self.aside(order_id), self.aside_stray(order_id, fence))
        return any(directory.exists() for directory in kept)

    def drop_aside(self, directory: Path) -> None:
        """Forgets an order that was set aside, its files being gone from the target."""
        shutil.rmtree(directory, ignore_errors=True)

    def leftovers(self) -> list[Path]:
        """Directories of orders whose files could not be removed from their target."""
        return sorted(self._leftovers.iterdir())

    def used_bytes(self) -> int:
        """What orders and unsent results take on the agent's disk."""
        files = (Path(parent) / name for parent, _, names in os.walk(self.held) for name in names if name != NAME)
        return sum(map(_size_bytes, files))


def _read_order(files: OrderFiles) -> Order | None:
    """The order; of one that another version of the agent wrote at least what the server knows it by.

    A load may be running for it, and an order that hello does not name counts as lost, its node as free.
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
        return 0  # a runner replaces its files, and a result may be acknowledged meanwhile


def _open_lock(file: Path) -> int:
    return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
