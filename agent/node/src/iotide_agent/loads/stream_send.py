"""Sends a stream of datagrams at a constant rate and prints how well it kept to it; a process like any other load.

Each datagram is due at its own time after the start, so that a delay is made up for and the rate holds; how far behind
the sender ever was is in its report. Prints one line of JSON on stdout, `sent N of M` once a second on stderr. Ends
with status 1 and a message when no receiver answers or it goes away, with status 130 when a signal ended it. Needs the
standard library alone, so it runs with `python -I -S`.
"""

import argparse
import json
import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import Any, Final

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from iotide_agent.loads import stream_wire as wire

_POOL_BYTES: Final = 16 * 1024**2
# Prime, so that the same payload comes again only after as many datagrams as the pool has bytes.
_STRIDE: Final = 4099
_MOST_AT_ONCE: Final = 16
_BURST_SECONDS: Final = 250e-6
_HELLO_SECONDS: Final = 0.05
_LAST_TIMES: Final = 20
_LAST_SECONDS: Final = 0.01
_SEND_BUFFER_BYTES: Final = 4 * 1024**2


class Sender:
    """One stream towards one receiver; `largest_lag_seconds` is how late a datagram was sent at worst."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self._asked = asked
        self._id = bytes.fromhex(asked.stream_id)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        self.planned = asked.datagrams
        self.sent = 0
        self.seconds = 0.0
        self.largest_lag_seconds = 0.0
        self.sent_by_second: list[int] = []
        self.lag_by_second: list[float] = []
        self.stopped = False

    def is_wanted(self) -> bool:
        """Wait for the receiver and return whether it wants the stream; raise TimeoutError where nobody answers."""
        self._socket.connect((self._asked.address, self._asked.port))
        answers = {wire.prefix(wire.READY, self._id): True, wire.prefix(wire.STOP, self._id): False}
        self._socket.settimeout(_HELLO_SECONDS)
        until = time.monotonic() + self._asked.patience_seconds
        while time.monotonic() < until and not self.stopped:
            try:
                self._socket.send(wire.HEADER.pack(wire.prefix(wire.HELLO, self._id), 0, time.time_ns()))
                answer = self._socket.recv(wire.HEADER.size)
            except TimeoutError:
                continue
            except ConnectionRefusedError:
                time.sleep(_HELLO_SECONDS)  # its process runs, but its socket is not there yet
                continue
            if answer[:16] in answers:
                return answers[answer[:16]]
        if self.stopped:
            return False
        raise TimeoutError(_nobody_answers(self._asked))

    def send(self) -> None:
        """Sends every datagram at its time."""
        self._socket.settimeout(None)
        interval_seconds = self._asked.datagram_bytes / self._asked.rate
        at_once = max(1, min(_MOST_AT_ONCE, int(_BURST_SECONDS / interval_seconds)))
        pool = memoryview(os.urandom(_POOL_BYTES))
        began = time.monotonic()
        while self.sent < self.planned and not self.stopped:
            due = began + self.sent * interval_seconds
            now = time.monotonic()
            if now < due:
                time.sleep(due - now)  # this is the pacing: the next datagram's own time
                now = time.monotonic()
            self._note(int(now - began), now - due)
            self._send_some(min(at_once, self.planned - self.sent), pool)
        self.seconds = time.monotonic() - began

    def finish(self) -> None:
        """Says how many there were and how long they took, often enough that one of them arrives."""
        last = wire.HEADER.pack(wire.prefix(wire.LAST, self._id), self.sent, int(self.seconds * 1e9))
        for _ in range(_LAST_TIMES):
            try:
                self._socket.send(last)
            except ConnectionRefusedError:
                return  # the receiver has all and is gone
            time.sleep(_LAST_SECONDS)  # a burst of them could be lost as one

    def _send_some(self, count: int, pool: memoryview) -> None:
        payload_bytes = self._asked.datagram_bytes - wire.HEADER.size
        data, offsets = wire.prefix(wire.DATA, self._id), len(pool) - payload_bytes
        header, sendmsg, clock = bytearray(wire.HEADER.size), self._socket.sendmsg, time.time_ns
        for number in range(self.sent, self.sent + count):
            offset = number * _STRIDE % offsets
            wire.HEADER.pack_into(header, 0, data, number, clock())
            sendmsg((header, pool[offset : offset + payload_bytes]))
        self.sent += count
        self.sent_by_second[-1] += count

    def _note(self, second: int, lag_seconds: float) -> None:
        while len(self.sent_by_second) <= second:
            self.sent_by_second.append(0)
            sys.stderr.write(f"sent {self.sent} of {self.planned}\n")
            self.lag_by_second.append(0.0)
        self.lag_by_second[-1] = max(self.lag_by_second[-1], round(lag_seconds, 6))
        self.largest_lag_seconds = max(self.largest_lag_seconds, lag_seconds)


def main(arguments: list[str]) -> int:
    """Sends one stream; the exit status is 0, 1 for a stream that failed, 2 for a wrong call, 130 for a signal."""
    try:
        asked = wire.parsed(_parser(), arguments)
    except OSError as error:
        sys.stderr.write(f"stream_send: where to send to is not known: {error}\n")
        return 1
    sender = Sender(asked)

    def stop(_number: int, _frame: object) -> None:
        sender.stopped = True

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    try:
        wanted = sender.is_wanted()
        if wanted:
            sender.send()
            sender.finish()
    except ConnectionRefusedError:
        sys.stderr.write(f"stream_send: the receiver went away after {sender.sent} datagrams\n")
        return 1
    except TimeoutError as error:
        sys.stderr.write(f"stream_send: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(f"stream_send: {error}, sending to {asked.address} port {asked.port}\n")
        return 1
    sys.stdout.write(json.dumps(_report(sender, asked) if wanted else {"role": "sender", "skipped": True}) + "\n")
    return wire.INTERRUPTED_STATUS if sender.stopped else 0


def _nobody_answers(asked: argparse.Namespace) -> str:
    where = f"no receiver answers at {asked.address} port {asked.port} within {asked.patience_seconds:g} s"
    if not asked.endpoint_file:
        return where
    return (
        f"{where}: let UDP from this node to it through the firewalls between, or name an address of the receiving "
        "node that is reached from here as data_address in its agent.toml"
    )


def _report(sender: Sender, asked: argparse.Namespace) -> dict[str, Any]:
    return {
        "role": "sender",
        "datagram_bytes": asked.datagram_bytes,
        "planned": sender.planned,
        "sent": sender.sent,
        "seconds": sender.seconds,
        "largest_lag_seconds": sender.largest_lag_seconds,
        "by_second": {"sent": sender.sent_by_second, "largest_lag_seconds": sender.lag_by_second},
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, prog="stream_send.py")
    wire.add_arguments(parser, "of the receiver")
    parser.add_argument(
        "--patience-seconds", type=float, default=wire.START_SECONDS, help="how long to wait for the receiver"
    )
    parser.add_argument("--datagram-bytes", type=int, required=True)
    parser.add_argument("--rate", type=int, required=True, help="bytes a second, headers of UDP and IP not counted")
    parser.add_argument("--datagrams", type=int, required=True, help="how many")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
