"""Highest rate that the stream workload records without loss on this machine, compared with raw loopback."""

import multiprocessing
import os
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
_TEMPORARY: Final = Path(tempfile.gettempdir())

console = Console()


def stream(
    directory: Path = _TEMPORARY,
    seconds: float = LEAST_SECONDS,
    first_mbit_s: int = 2048,
    step_mbit_s: int = 1024,
    rates: int = 7,
) -> bool:
    """Record a ramp of rates on this machine, as an agent would, until datagrams are lost.

    Sender and receiver run side by side; the files are in `--directory`, and each rate takes this many seconds. Raw
    is the simplest pair of Python loops over the same datagrams and the same socket buffer: sent unpaced, received
    into one buffer, neither counted nor written.

    Prints a sentence for each exceeded limit: less than 4096 Mbit/s recorded without loss, no O_DIRECT, or a smaller
    socket buffer than requested. A run with rates of less than 30 s is a quick check and may be slower.
    """
    options = StreamOptions(
        rate_bytes_per_second=first_mbit_s * MEGABIT,
        ramp_step_bytes_per_second=step_mbit_s * MEGABIT,
        ramp_rates=rates,
        duration_seconds=seconds,
    )
    with tempfile.TemporaryDirectory(prefix="iotide-stream-", dir=directory) as own:
        parsed = record(options, make_place(Path(own)))
    raw = raw_rate(options.datagram_bytes, options.socket_buffer_bytes)
    problems = shortfalls(parsed, options)
    console.print(table(parsed, options, directory))
    for flag in parsed.flags:
        print(f"{flag.code}: {flag.measured} (limit: {flag.limit})")
    for problem in problems:
        print(f"below the limit: {problem}", file=sys.stderr)
    print(f"stream: lossless_mbit_s={lossless_mbit_s(parsed):.0f} raw_mbit_s={raw / MEGABIT:.0f}")
    return not problems


def shortfalls(parsed: Parsed, options: StreamOptions) -> list[str]:
    """Return the reasons why this machine does not record 4 Gbit/s; empty if it does."""
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
    """Return the highest rate without loss."""
    [rate] = [sample.value for sample in parsed.samples if sample.metric == "lossless_rate"]
    return rate / MEGABIT


def record(options: StreamOptions, place: Place) -> Parsed:
    """Return the workload's samples of the ramp."""
    workload = StreamWorkload()
    outcomes = run_groups(workload.plan(options, [place]), place)
    failures = [failure for outcome in outcomes if (failure := workload.failure(outcome))]
    if failures:
        raise SystemExit("\n".join(failures))
    reads = [workload.read(options, place, outcome) for outcome in outcomes]
    return Parsed.of_all([*reads, workload.conclude(options, [place], outcomes)])


def table(parsed: Parsed, options: StreamOptions, directory: Path) -> Table:
    """Return a row for each tested rate."""
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
    """Return the bytes a second that arrive with plain send and receive loops."""
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
    except BlockingIOError:  # end of the datagrams
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
