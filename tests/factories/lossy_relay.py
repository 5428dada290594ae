"""A network that loses, doubles and swaps exactly the chosen datagrams."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from iotide_agent.loads import stream_wire
from iotide_agent.workloads.base import Step


@dataclass(frozen=True)
class Faults:
    """Sequence numbers of datagrams that are lost, doubled, or swapped with the next one."""

    drops: frozenset[int] = frozenset()
    duplicates: frozenset[int] = frozenset()
    swaps: frozenset[int] = frozenset()


@dataclass
class Relay:
    """A relay between a sender and a receiver on this machine.

    Attributes:
        applied: how often each fault was applied.
    """

    receiver: tuple[str, int]
    faults: Faults
    applied: dict[str, int] = field(default_factory=lambda: {"drops": 0, "duplicates": 0, "swaps": 0})

    def __post_init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * 1024**2)
        self.socket.bind(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]

    def run(self) -> None:
        """Relay datagrams until an empty one comes."""
        sender = None
        held: list[bytes] = []
        while True:
            try:
                data, origin = self.socket.recvfrom(65_536)
            except ConnectionRefusedError:
                continue  # one of the ends has not started or has ended
            if not data:
                return
            if origin == self.receiver:
                self.socket.sendto(data, sender or self.receiver)
                continue
            sender = origin
            for passed_on in self._through_network(data, held):
                self.socket.sendto(passed_on, self.receiver)

    def _through_network(self, data: bytes, held: list[bytes]) -> list[bytes]:
        said, number, _ = stream_wire.HEADER.unpack_from(data)
        if said[4:8] != stream_wire.DATA:
            return [data]
        if number in self.faults.swaps:
            held.append(data)
            self.applied["swaps"] += 1
            return []
        if number in self.faults.drops:
            self.applied["drops"] += 1
            return []
        found = [data, *held]
        held.clear()
        if number in self.faults.duplicates:
            self.applied["duplicates"] += 1
            found.append(data)
        return found


@contextmanager
def through_relay(send: Step, faults: Faults) -> Iterator[tuple[Step, Relay]]:
    """Yield the step with its datagrams through the relay, while the relay runs."""
    port = next(argument for argument in send.argv if argument.startswith("--port="))
    relay = Relay(("127.0.0.1", int(port.removeprefix("--port="))), faults)
    thread = threading.Thread(target=relay.run)
    thread.start()
    try:
        argv = tuple(f"--port={relay.port}" if argument == port else argument for argument in send.argv)
        yield replace(send, argv=argv), relay
    finally:
        relay.socket.sendto(b"", ("127.0.0.1", relay.port))
        thread.join()
        relay.socket.close()
