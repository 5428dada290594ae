"""The highest rate that the stream workload records without loss on this machine, beside what loopback carries at all.

The workload's own plan is run as an agent would run it, sender and receiver side by side on this machine, a ramp of
rates until something is lost; the files lie in `--directory`. Raw is the plainest pair of Python loops over the same
datagrams and the same socket buffer: sent unpaced, received into one buffer, neither counted nor written.

Ends with status 1, and a sentence for each reason, where less than 4096 Mbit/s was recorded without loss, and where
that would prove nothing: without O_DIRECT, or with a smaller socket buffer than was asked for. Rates of less than 30 s
may be lower: such a run is a quick look.
"""

import argparse
import multiprocessing
import os
import shutil
import socket
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from factories.outcomes import make_place, run_groups
from rich.console import Console
from rich.table import Table

from iotide_agent.workloads.base import Parsed, Place
from iotide_agent.workloads.stream import StreamWorkload
from iotide_agent.workloads.stream_options import MEGABIT, StreamOptions
from iotide_wire.measured import FlagCode
from iotide_wire.units import format_bytes

LEAST_MBIT_S: Final = 4096
LEAST_SECONDS: Final = 30.0
"""Of each rate."""
RAW_SECONDS: Final = 3.0
_SO_RCVBUFFORCE: Final = 33
_SILENCE_SECONDS: Final = 1

console = Console()


def main() -> int:
    """Run the bench."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, default=Path(tempfile.gettempdir()), help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=LEAST_SECONDS, help="of each rate; default: %(default)s")
    parser.add_argument("--first-mbit-s", type=int, default=2048, help="lowest rate; default: %(default)s")
    parser.add_argument("--step-mbit-s", type=int, default=1024, help="step of the ramp; default: %(default)s")
    parser.add_argument("--rates", type=int, default=7, help="most rates; default: %(default)s")
    asked = parser.parse_args()
    options = StreamOptions(
        rate_bytes_per_second=asked.first_mbit_s * MEGABIT,
        ramp_step_bytes_per_second=asked.step_mbit_s * MEGABIT,
        ramp_rates=asked.rates,
        duration_seconds=asked.seconds,
    )
    directory = Path(tempfile.mkdtemp(prefix="iotide-stream-", dir=asked.directory))
    try:
        parsed = record(options, make_place(directory))
    finally:
        shutil.rmtree(directory)
    raw = raw_rate(options.datagram_bytes, options.socket_buffer_bytes)
    problems = shortfalls(parsed, options)
    console.print(table(parsed, options, asked.directory))
    for flag in parsed.flags:
        print(f"{flag.code}: {flag.measured} (limit: {flag.limit})")
    for problem in problems:
        print(f"short of the mark: {problem}", file=sys.stderr)
    print(f"stream: lossless_mbit_s={lossless_mbit_s(parsed):.0f} raw_mbit_s={raw / MEGABIT:.0f}")
    return 1 if problems else 0


def shortfalls(parsed: Parsed, options: StreamOptions) -> list[str]:
    """Why the numbers do not show that this machine records 4 Gbit/s; nothing where they do."""
    problems = []
    reached = lossless_mbit_s(parsed)
    least = LEAST_MBIT_S if options.duration_seconds >= LEAST_SECONDS else 1
    if reached < least:
        problems.append(f"{reached:.0f} Mbit/s were recorded without loss, {least} Mbit/s or more are needed")
    if any(flag.code is FlagCode.NO_DIRECT for flag in parsed.flags):
        problems.append("the directory refuses O_DIRECT: name one on a disk with --directory")
    granted_bytes = min(sample.value for sample in parsed.samples if sample.metric == "socket_buffer")
    if granted_bytes < options.socket_buffer_bytes:
        problems.append(
            f"the kernel granted a socket buffer of {format_bytes(int(granted_bytes))} instead of "
            f"{format_bytes(options.socket_buffer_bytes)}: raise net.core.rmem_max, or run it as root"
        )
    return problems


def lossless_mbit_s(parsed: Parsed) -> float:
    """The highest rate without loss."""
    [rate] = [sample.value for sample in parsed.samples if sample.metric == "lossless_rate"]
    return rate / MEGABIT


def record(options: StreamOptions, place: Place) -> Parsed:
    """What the workload says of the ramp."""
    workload = StreamWorkload()
    outcomes = run_groups(workload.plan(options, [place]), place)
    failures = [failure for outcome in outcomes if (failure := workload.failure(outcome))]
    if failures:
        raise SystemExit("\n".join(failures))
    reads = [workload.read(options, place, outcome) for outcome in outcomes]
    return Parsed.of_all([*reads, workload.conclude(options, [place], outcomes)])


def table(parsed: Parsed, options: StreamOptions, directory: Path) -> Table:
    """A row for each rate that was tried."""
    size, seconds = format_bytes(options.datagram_bytes), options.duration_seconds
    shown = Table(title=f"Datagrams of {size} for {seconds:g} s each, recorded below {directory}")
    columns = {
        "lost": ("datagrams_lost", 1.0, ".0f"),
        "late ms": ("sender_lag", 1e-3, ".1f"),
        "ring MiB": ("ring_high_water", 1024**2, ".0f"),
        "stall ms": ("writer_stall", 1e-3, ".0f"),
    }
    for heading in ("Mbit/s", "sent", "recorded", *columns):
        shown.add_column(heading, justify="right")
    rates = dict.fromkeys(sample.labels.get("rate_bytes_per_second") for sample in parsed.samples)
    for rate in (rate for rate in rates if isinstance(rate, int)):
        found = {
            (sample.metric, sample.labels.get("operation")): sample.value
            for sample in parsed.samples
            if sample.labels.get("rate_bytes_per_second") == rate and "cause" not in sample.labels
        }
        speeds = [f"{found['throughput', operation] / MEGABIT:.0f}" for operation in ("send", "record")]
        others = [format(found[metric, None] / scale, form) for metric, scale, form in columns.values()]
        shown.add_row(f"{rate / MEGABIT:.0f}", *speeds, *others)
    return shown


def raw_rate(datagram_bytes: int, socket_buffer_bytes: int) -> float:
    """Bytes a second that arrive when nothing is done but send and receive."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        receiver.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, socket_buffer_bytes)
    except PermissionError:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, socket_buffer_bytes)
    receiver.bind(("127.0.0.1", 0))
    # The kernel's own timeout: Python's would poll before each datagram.
    receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", _SILENCE_SECONDS, 0))
    sender = multiprocessing.Process(target=_blast, args=(receiver.getsockname(), datagram_bytes))
    sender.start()
    buffer = bytearray(datagram_bytes)
    received_bytes = receiver.recv_into(buffer)
    began = ended = time.monotonic()
    try:
        while True:
            received_bytes += receiver.recv_into(buffer)
            ended = time.monotonic()
    except BlockingIOError:  # it fell silent
        pass
    finally:
        sender.join()
        receiver.close()
    return received_bytes / (ended - began)


def _blast(address: tuple[str, int], datagram_bytes: int) -> None:
    data = os.urandom(datagram_bytes)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.connect(address)
        until = time.monotonic() + RAW_SECONDS
        while time.monotonic() < until:
            sender.send(data)


if __name__ == "__main__":
    sys.exit(main())
