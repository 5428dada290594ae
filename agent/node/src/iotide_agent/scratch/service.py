"""Socket of `iotide-scratch`: answers packets of the agent's user, and runs one operation at a time."""

import json
import os
import selectors
import socket
import struct
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TextIO

from iotide_agent.scratch.lacking import lacking
from iotide_agent.scratch.listing import head_of, page_of_sets
from iotide_agent.scratch.record import Records
from iotide_agent.scratch.refusals import ScratchRefusedError
from iotide_agent.scratch.requests import MOST_ANSWER_BYTES, MOST_PACKET_BYTES, ScratchRequest, Verb, parse_request
from iotide_agent.scratch.sets import read_config
from iotide_agent.scratch.site import Site
from iotide_agent.scratch.worker import Worker

IDLE_SECONDS: Final = 60.0
_MOST_CONNECTIONS: Final = 16
_CREDENTIALS: Final = struct.Struct("3i")
_SHOWN_COMMANDS: Final = 40
_SHOWN_BYTES: Final = 64 * 1024
_ROOT: Final = 0


class Service:
    """Answers packets until nothing was asked for a while; systemd starts the program again at the next one."""

    def __init__(
        self, listening: socket.socket, site: Site, stream: TextIO, idle_seconds: float = IDLE_SECONDS
    ) -> None:
        self._listening = listening
        self._site = site
        self._stream = stream
        self._idle_seconds = idle_seconds
        self._selector = selectors.DefaultSelector()
        self._selector.register(listening, selectors.EVENT_READ, self._accept)
        self._connections: set[socket.socket] = set()
        self._worker: Worker | None = None

    def serve(self) -> None:
        last = time.monotonic()
        while self._worker is not None or time.monotonic() - last < self._idle_seconds:
            for key, _ in self._selector.select(timeout=1.0):
                key.data(key.fileobj)
                last = time.monotonic()

    def answer(self, packet: bytes) -> Mapping[str, Any]:
        """Return the answer to one packet, with `refused` for one that is not accepted."""
        try:
            return self._answer(parse_request(packet), packet)
        except ScratchRefusedError as error:
            return {"refused": str(error)}
        except Exception as error:  # noqa: BLE001 - the end of the program would end the operation that runs
            self._stream.write(f"request_broken because={error!r}\n")
            return {"refused": f"the program failed to answer: {error!r}; its journal has more"}

    def _answer(self, request: ScratchRequest, packet: bytes) -> Mapping[str, Any]:
        config = read_config(self._site.config_file)
        if request.verb is Verb.STATUS and not request.set:
            return self._status(config.sets, head_of)
        if request.verb is Verb.LIST:
            return {**page_of_sets(self._site, config, request.first), "lacks": lacking()}
        if request.set not in config.sets:
            raise ScratchRefusedError(f"scratch.toml of this node has no set {request.set!r}")
        if request.verb is Verb.STATUS:
            return self._status([request.set], _cut)
        if self._worker is not None:
            if self._worker.request == request:
                return {"accepted": True}
            raise ScratchRefusedError("another operation on scratch devices is running; `status` shows it")
        self._worker = Worker(self._site, request, packet, self._stream)
        self._selector.register(self._worker, selectors.EVENT_READ, self._follow)
        return {"accepted": True}

    def _status(self, sets: Iterable[str], shorten: Callable[[Mapping[str, Any]], Mapping[str, Any]]) -> dict[str, Any]:
        """Return what runs, and the last operation of each set, shortened so that one packet holds them."""
        last = {name: Records(self._site.state, name).last() for name in sets}
        running = None if self._worker is None else {**self._worker.shown(), "progress": self._progress(self._worker)}
        return {"running": running, "last": {name: shorten(record) for name, record in last.items() if record}}

    def _progress(self, worker: Worker) -> str | None:
        """Return how far an array has synchronised, such as `1200 / 4800`; None for other steps."""
        step = worker.step or {}
        if step.get("event") != "sync_started":
            return None
        return self._site.sysfs.text(step["device"], "md/sync_completed") or None

    def _follow(self, worker: Worker) -> None:
        if worker.read():
            self._selector.unregister(worker)
            self._worker = None
            if worker.status != 0:
                reason = f"its process ended with status {worker.status}; recover the set"
                record = {
                    **worker.shown(),
                    "began_s": worker.since_s,
                    "outcome": "killed",
                    "reason": reason,
                    "answer": {},
                }
                try:
                    Records(self._site.state, worker.request.set).write_last({**record, "commands": worker.commands})
                except OSError as error:
                    self._stream.write(f"not_recorded because={error}\n")

    def _accept(self, listening: socket.socket) -> None:
        connection, _ = listening.accept()
        _, user_id, _ = _CREDENTIALS.unpack(
            connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        )
        if user_id not in {_ROOT, self._site.owner_ids()[0]} or len(self._connections) >= _MOST_CONNECTIONS:
            connection.close()
            return
        connection.setblocking(False)
        self._connections.add(connection)
        self._selector.register(connection, selectors.EVENT_READ, self._receive)

    def _receive(self, connection: socket.socket) -> None:
        try:
            packet = connection.recv(MOST_PACKET_BYTES + 1)
            if packet:
                said = self.answer(packet) if len(packet) <= MOST_PACKET_BYTES else {"refused": "request: too long"}
                connection.send(_encoded(said))
                return
        except OSError as error:
            self._stream.write(f"connection_lost because={error}\n")
        self._selector.unregister(connection)
        self._connections.discard(connection)
        connection.close()


def _encoded(said: Mapping[str, Any]) -> bytes:
    answer = json.dumps(said).encode()
    if len(answer) <= MOST_ANSWER_BYTES:
        return answer
    refused = f"the answer has {len(answer)} bytes; at most {MOST_ANSWER_BYTES} can be sent"
    return json.dumps({"refused": refused}).encode()


def _cut(record: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record with its last commands only, as many as a packet holds."""
    commands, left = [], _SHOWN_BYTES
    for command in record["commands"][: -_SHOWN_COMMANDS - 1 : -1]:
        left -= len(json.dumps(command))
        if left < 0:
            break
        commands.append(command)
    return {**record, "commands": commands[::-1]}


def activated_socket() -> socket.socket:
    """Return the socket that systemd passes, sd_listen_fds(3); raise ScratchRefusedError without one."""
    first = 3
    if os.environ.get("LISTEN_PID") != str(os.getpid()) or os.environ.get("LISTEN_FDS") != "1":
        raise ScratchRefusedError("iotide-scratch is started by iotide-scratch.socket only")
    return socket.socket(fileno=first)
