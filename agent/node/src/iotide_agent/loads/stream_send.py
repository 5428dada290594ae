"""Sends a stream of datagrams at a constant rate and prints how well it held the rate.

Each datagram has its own time after the start, so the sender catches up after a delay. Prints one line of JSON on
stdout, and `sent N of M` once a second on stderr. Exits with 1 if no receiver answers or it goes away, with 130 after
a signal. Runs with `python -I -S`.
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
# A prime, so that the same payload repeats only after as many datagrams as the pool has bytes. It exceeds any payload:
# otherwise each datagram would repeat a part of the one before, and storage could compress the stream.
_STRIDE: Final = 65_537
_MOST_AT_ONCE: Final = 16
_BURST_SECONDS: Final = 250e-6
_HELLO_SECONDS: Final = 0.05
_LAST_TIMES: Final = 20
_LAST_SECONDS: Final = 0.01
_SEND_BUFFER_BYTES: Final = 4 * 1024**2


class Sender:
    """`largest_lag_seconds` is the maximum delay of a datagram."""

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
        """Wait for the receiver and return whether it accepts the stream; raise TimeoutError if no answer comes."""
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
                time.sleep(_HELLO_SECONDS)  # its process runs, but its socket does not exist yet
                continue
            if answer[:16] in answers:
                return answers[answer[:16]]
        if self.stopped:
            return False
        raise TimeoutError(_no_receiver(self._asked))

    def send(self) -> None:
        self._socket.settimeout(None)
        interval_seconds = self._asked.datagram_bytes / self._asked.rate
        at_once = max(1, min(_MOST_AT_ONCE, int(_BURST_SECONDS / interval_seconds)))
        pool = memoryview(os.urandom(_POOL_BYTES))
        began = time.monotonic()
        while self.sent < self.planned and not self.stopped:
            due = began + self.sent * interval_seconds
            now = time.monotonic()
            if now < due:
                time.sleep(due - now)
                now = time.monotonic()
            self._note(int(now - began), now - due)
            self._send_some(min(at_once, self.planned - self.sent), pool)
        self.seconds = time.monotonic() - began

    def finish(self) -> None:
        """Announce count and duration, often enough that one announcement arrives."""
        last = wire.HEADER.pack(wire.prefix(wire.LAST, self._id), self.sent, int(self.seconds * 1e9))
        for _ in range(_LAST_TIMES):
            try:
                self._socket.send(last)
            except ConnectionRefusedError:
                return  # the receiver has everything and has ended
            time.sleep(_LAST_SECONDS)  # a burst could be lost as a whole

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
    try:
        asked = wire.parsed(_parser(), arguments)
    except OSError as error:
        sys.stderr.write(f"stream_send: the address of the receiver cannot be read: {error}\n")
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


def _no_receiver(asked: argparse.Namespace) -> str:
    where = f"no receiver answers at {asked.address} port {asked.port} within {asked.patience_seconds:g} s"
    if not asked.endpoint_file:
        return where
    return (
        f"{where}: allow UDP from this node to it in the firewalls, or set data_address in the receiving node's "
        "agent.toml to an address that this node reaches"
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
    wire.add_arguments(parser, "address of the receiver")
    parser.add_argument(
        "--patience-seconds", type=float, default=wire.START_SECONDS, help="how long to wait for the receiver"
    )
    parser.add_argument("--datagram-bytes", type=int, required=True)
    parser.add_argument("--rate", type=int, required=True, help="bytes per second, without the headers of UDP and IP")
    parser.add_argument("--datagrams", type=int, required=True, help="number of datagrams to send")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
