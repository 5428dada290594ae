"""Receives a stream of datagrams, records it in files and counts what is missing.

Datagrams go straight into a ring of memory, from which one writer per directory takes chunks. The receiver accepts
only the sender that knows the stream's id. With an endpoint file, stdin is its socket, already bound. Prints one line
of JSON. Exits with 1 if no sender appears or a write fails, with 130 after a signal. Runs with `python -I -S`.
"""

import argparse
import json
import signal
import socket
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from iotide_agent.loads import stream_wire as wire
from iotide_agent.loads.stream_files import Chunk, FileRule, Ring, Writer

_SILENCE_SECONDS: Final = 5.0
"""Without a datagram for this long the stream is over, even without the sender's announcement."""
_STRAGGLER_SECONDS: Final = 0.3
"""Longest wait for missing datagrams after the sender's end."""
_LOOK_SECONDS: Final = 0.1
_LOOK_DATAGRAMS: Final = 16
_SO_RCVBUFFORCE: Final = 33
_SO_MEMINFO: Final = 55
_MEMINFO: Final = struct.Struct("@9I")
_MEMINFO_DROPS: Final = 8


class Receiver:
    """Receives one stream and counts its datagrams.

    Attributes:
        total, sent_seconds: as the sender announces; None if that did not arrive.
        foreign: datagrams of other streams.
        full_drops: drops of the kernel while the ring was full.
        began_at, last_at: CLOCK_MONOTONIC of the first and the last new datagram.
        ended: complete, stragglers, silence, signal or write_error.
    """

    def __init__(self, asked: argparse.Namespace) -> None:
        self._asked = asked
        self._id = bytes.fromhex(asked.stream_id)
        self.socket, self.socket_buffer_bytes = _open_socket(asked)
        # A socket that was already open may have dropped calls of senders, but no data.
        self._drops_before = 0
        self._drops_before = self.kernel_drops()
        self.window = wire.Window()
        self.total: int | None = None
        self.sent_seconds: float | None = None
        self.foreign = 0
        self.full_drops = 0
        self.full_seconds = 0.0
        self.began_at = self.last_at = 0.0
        self.ended: str | None = None
        self.stopped = False
        self.seconds = BySecond(self)

    def meet(self, *, wanted: bool) -> bool:
        """Accept or decline the sender; return false after a signal. Raise TimeoutError if none appears."""
        hello = wire.prefix(wire.HELLO, self._id)
        until = time.monotonic() + wire.START_SECONDS
        while not self.stopped:
            if time.monotonic() > until:
                raise TimeoutError(_no_sender(self._asked))
            with suppress(BlockingIOError):
                said, sender = self.socket.recvfrom(wire.HEADER.size)
                if said[:16] == hello:
                    self.socket.connect(sender)
                    self.answer(wire.READY if wanted else wire.STOP)
                    return True
                self.foreign += 1  # no answer, so strangers cannot find this receiver
        return False

    def receive(self, ring: Ring, writers: list[Writer]) -> None:
        self._received_at = time.monotonic()
        while self.ended is None:
            before = self.kernel_drops()
            memory, waited_seconds = _wait_for_memory(ring, writers)
            if memory is None:
                self._end("write_error")
                return
            used_bytes = self._fill(memory)
            if waited_seconds:
                # The kernel drops datagrams until the socket buffer that overflowed has been emptied.
                self.full_drops += self.kernel_drops() - before
                self.full_seconds += waited_seconds
            if used_bytes:
                ring.filled.put(Chunk(memory, used_bytes))
            self.seconds.note_ring(ring.in_use() * len(memory))

    def kernel_drops(self) -> int:
        meminfo = self.socket.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        return int(_MEMINFO.unpack(meminfo)[_MEMINFO_DROPS]) - self._drops_before

    def _fill(self, memory: memoryview) -> int:
        size, data = self._asked.datagram_bytes, wire.prefix(wire.DATA, self._id)
        recv_into, unpack_from, take = self.socket.recv_into, wire.HEADER.unpack_from, self.window.take
        offset, looks_in = 0, 1
        while offset < len(memory) and self.ended is None:
            try:
                received = recv_into(memory[offset : offset + size])
            except (BlockingIOError, ConnectionRefusedError):
                self._look(has_received=False)
                continue
            said, number, nanoseconds = unpack_from(memory, offset)
            if received == size and said == data:
                if take(number):
                    offset += size
            else:
                self._read_control(said if received >= wire.HEADER.size else b"", number, nanoseconds)
            looks_in -= 1
            if not looks_in:
                looks_in = _LOOK_DATAGRAMS
                self._look(has_received=True)
        return offset

    def _read_control(self, said: bytes, number: int, nanoseconds: int) -> None:
        self._received_at = time.monotonic()
        if said == wire.prefix(wire.HELLO, self._id):
            self.answer(wire.READY)  # the first answer was lost
        elif said == wire.prefix(wire.LAST, self._id):
            self.total, self.sent_seconds = number, nanoseconds / 1e9
            if self.window.unique >= number:
                self._end("complete")
        else:
            self.foreign += 1

    def _look(self, *, has_received: bool) -> None:
        now = time.monotonic()
        if self.window.unique and not self.began_at:
            self.began_at = now
        if has_received:
            self._received_at = now
        if self.began_at:
            self.seconds.note(now - self.began_at)
        silent_seconds = now - self._received_at
        if self.stopped:
            self._end("signal")
        elif self.total is not None and silent_seconds > _STRAGGLER_SECONDS:
            self._end("stragglers")
        elif silent_seconds > _SILENCE_SECONDS:
            self._end("silence")

    def _end(self, why: str) -> None:
        self.ended = why
        self.last_at = time.monotonic() if why == "complete" else self._received_at

    def answer(self, kind: bytes) -> None:
        self.socket.send(wire.HEADER.pack(wire.prefix(kind, self._id), 0, time.time_ns()))


class BySecond:
    NAMES: Final = ("received", "missing", "duplicates", "reordered", "late", "kernel_drops", "ring_bytes")

    def __init__(self, receiver: Receiver) -> None:
        self._receiver = receiver
        self._before = self._counts()
        self._ring_bytes = 0
        self.columns: dict[str, list[int]] = {name: [] for name in self.NAMES}

    def note_ring(self, used_bytes: int) -> None:
        self._ring_bytes = max(self._ring_bytes, used_bytes)

    def note(self, elapsed_seconds: float) -> None:
        while len(self.columns["received"]) < int(elapsed_seconds):
            self.close()

    def close(self) -> None:
        counts = self._counts()
        values = [now - before for now, before in zip(counts, self._before, strict=True)]
        for name, value in zip(self.NAMES, (*values, self._ring_bytes), strict=True):
            self.columns[name].append(value)
        self._before, self._ring_bytes = counts, 0

    def _counts(self) -> tuple[int, ...]:
        window = self._receiver.window
        missing = window.highest + 1 - window.unique
        drops = self._receiver.kernel_drops()
        return window.unique, missing, window.duplicates, window.reordered, window.late, drops


def _open_socket(asked: argparse.Namespace) -> tuple[socket.socket, int]:
    inherited = 0 if asked.endpoint_file else None
    opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, fileno=inherited)
    try:
        opened.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, asked.socket_buffer_bytes)
    except PermissionError:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, asked.socket_buffer_bytes)
    # The kernel's own timeout: Python's would poll before each datagram.
    timeval = struct.pack("@ll", 0, int(_LOOK_SECONDS * 1e6))
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, timeval)
    if inherited is None:
        opened.bind((asked.address, asked.port))
    # The kernel doubles the requested size for its own bookkeeping; socket(7).
    return opened, opened.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2


def _no_sender(asked: argparse.Namespace) -> str:
    where = f"no sender appears at {asked.address} port {asked.port} within {wire.START_SECONDS:g} s"
    if not asked.endpoint_file:
        return where
    return (
        f"{where}: allow UDP from the sending node to {asked.address} in the firewalls, or set another address of "
        "this node as data_address in its agent.toml"
    )


def _wait_for_memory(ring: Ring, writers: list[Writer]) -> tuple[memoryview | None, float]:
    """Return a chunk's memory and how long the ring was full; None if a writer failed."""
    if _write_error(writers):
        return None, 0.0
    memory = ring.take(0)
    if memory is not None:
        return memory, 0.0
    began = time.monotonic()
    while memory is None and not _write_error(writers):
        memory = ring.take(_LOOK_SECONDS)
    return memory, time.monotonic() - began


def _write_error(writers: list[Writer]) -> str | None:
    return next((str(writer.error) for writer in writers if writer.error), None)


def main(arguments: list[str]) -> int:
    try:
        asked = wire.parsed(_parser(), arguments)
        receiver = Receiver(asked)

        def stop(_number: int, _frame: object) -> None:
            receiver.stopped = True

        signal.signal(signal.SIGINT, stop)
        signal.signal(signal.SIGTERM, stop)
        report = _decline(receiver) if asked.stop_file and asked.stop_file.exists() else _record(receiver, asked)
    except OSError as error:
        sys.stderr.write(f"stream_receive: {error}\n")
        return 1
    sys.stdout.write(json.dumps(report) + "\n")
    if report.get("error"):
        sys.stderr.write(f"stream_receive: {report['error']}\n")
        return 1
    return wire.INTERRUPTED_STATUS if receiver.stopped else 0


def _decline(receiver: Receiver) -> dict[str, Any]:
    receiver.meet(wanted=False)
    with suppress(BlockingIOError, ConnectionRefusedError):
        while receiver.socket.recv(wire.HEADER.size):
            receiver.answer(wire.STOP)
    return {"role": "receiver", "skipped": True}


def _record(receiver: Receiver, asked: argparse.Namespace) -> dict[str, Any]:
    chunk_bytes = wire.chunk_bytes(asked.datagram_bytes)
    ring = Ring(asked.ring_bytes, chunk_bytes)
    rule = FileRule(
        wire.file_bytes(asked.datagram_bytes, asked.file_bytes), asked.single, asked.kept_files, asked.direct
    )
    writers = [Writer(ring, directory, rule, asked.most_bytes) for directory in asked.directory]
    for writer in writers:
        writer.start()
    if receiver.meet(wanted=True):
        receiver.receive(ring, writers)
    for _ in writers:
        ring.filled.put(None)
    for writer in writers:
        writer.join()
    receiver.seconds.close()
    report = _report(receiver, ring, writers) | {"datagram_bytes": asked.datagram_bytes, "chunk_bytes": chunk_bytes}
    if not asked.keep:
        for writer in writers:
            writer.files.remove()
    if asked.stop_file and receiver.total != receiver.window.unique:
        asked.stop_file.touch()
    return report


def _report(receiver: Receiver, ring: Ring, writers: list[Writer]) -> dict[str, Any]:
    window, drops = receiver.window, receiver.kernel_drops()
    began_at = receiver.began_at or receiver.last_at
    return {
        "role": "receiver",
        "ended": receiver.ended or "signal",
        "error": _write_error(writers),
        "total": receiver.total,
        "sent_seconds": receiver.sent_seconds,
        "received": window.unique,
        "duplicates": window.duplicates,
        "reordered": window.reordered,
        "late": window.late,
        "foreign": receiver.foreign,
        "kernel_drops": drops,
        "kernel_drops_while_full": receiver.full_drops,
        "full_seconds": receiver.full_seconds,
        "socket_buffer_bytes": receiver.socket_buffer_bytes,
        "ring_high_water": ring.high_water,
        "longest_write_seconds": max(writer.longest_seconds for writer in writers),
        "receive_seconds": receiver.last_at - began_at,
        "record_seconds": max(writer.ended_at for writer in writers) - began_at,
        "written_bytes": [writer.written_bytes for writer in writers],
        "kept_bytes": [writer.files.kept_bytes() for writer in writers],
        "by_second": receiver.seconds.columns,
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, prog="stream_receive.py")
    wire.add_arguments(parser, "address to listen at")
    parser.add_argument("--datagram-bytes", type=int, required=True)
    parser.add_argument("--socket-buffer-bytes", type=int, required=True)
    parser.add_argument("--ring-bytes", type=int, required=True)
    parser.add_argument("--file-bytes", type=int, required=True)
    parser.add_argument("--single", action="store_true", help="one file per directory instead of many")
    parser.add_argument("--kept-files", type=int, default=0, help="files per directory; 0 keeps all until the end")
    parser.add_argument("--most-bytes", type=int, default=0, help="limit per directory; 0 is no limit")
    parser.add_argument("--direct", action="store_true", help="O_DIRECT")
    parser.add_argument("--keep", action="store_true", help="leave the files for stream_verify.py")
    parser.add_argument("--stop-file", type=Path, help="created after a loss; a stream that finds it is declined")
    parser.add_argument("directory", nargs="+")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
