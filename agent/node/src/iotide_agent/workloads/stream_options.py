"""Options of the stream workload."""

from typing import Final, Literal

from pydantic import Field

from iotide_agent.workloads.base import Options
from iotide_agent.workloads.bounds import MemoryNeed, product
from iotide_agent.workloads.option_types import Bytes, BytesPerSecond, Seconds
from iotide_wire.units import GIB, KIB, MIB

MEGABIT: Final = 125_000
"""Bytes in a megabit; rates are whole numbers of Mbit/s."""


class StreamOptions(Options):
    rate_bytes_per_second: BytesPerSecond = Field(
        default=1024 * MEGABIT, ge=8 * MEGABIT, le=100_000 * MEGABIT, multiple_of=MEGABIT, title="Rate"
    )
    """Constant rate of the stream, or the first rate of a ramp; a whole number of Mbit/s."""
    ramp_rates: int = Field(default=1, ge=1, le=64, title="Ramp rates")
    """Number of rates to try, each one step above the previous one. The ramp ends after the first rate with losses. 1:
    no ramp.
    """
    ramp_step_bytes_per_second: BytesPerSecond = Field(
        default=512 * MEGABIT, ge=8 * MEGABIT, le=100_000 * MEGABIT, multiple_of=MEGABIT, title="Ramp step"
    )
    """Difference between one rate and the next; a whole number of Mbit/s."""
    duration_seconds: Seconds = Field(default=30, ge=1, le=86_400, title="Duration")
    """Sending time at each rate."""
    datagram_bytes: Bytes = Field(default=8192, ge=1024, le=8972, multiple_of=4, title="Datagram size")
    """Payload of a datagram, including iotide's header of 32 bytes. 8972 fills a jumbo frame."""
    socket_buffer_bytes: Bytes = Field(default=64 * MIB, ge=64 * KIB, le=GIB, title="Socket buffer")
    """Data that the kernel holds until the receiver takes it. More than net.core.rmem_max needs CAP_NET_ADMIN. The
    granted size is reported.
    """
    ring_bytes: Bytes = Field(default=256 * MIB, ge=64 * MIB, le=64 * GIB, title="Ring buffer")
    """Data that the receiver holds until a writer has written it."""
    files: Literal["recycle", "split", "single"] = Field(default="recycle", title="File handling")
    """recycle: the oldest file is removed for the next one, so a long stream needs little space. split: one file after
    another, all kept until the end. single: one file per target.
    """
    file_size_bytes: Bytes = Field(default=512 * MIB, ge=32 * MIB, le=64 * GIB, title="File size")
    """Size of a file, allocated at once; rounded down to whole chunks of about 8 MiB."""
    kept_files: int = Field(default=4, ge=2, le=10_000, title="Kept files")
    """With recycle: number of files on a target, plus one while the oldest is removed."""
    direct: bool = Field(default=True, title="O_DIRECT")
    """Bypass the page cache. Otherwise each file is flushed when it is full."""
    verify: bool = Field(default=False, title="Verification")
    """Read the files back after each rate and check that every sequence number is there once."""

    def memory_needed(self) -> MemoryNeed:
        ring, socket = product(self, "ring_bytes"), product(self, "socket_buffer_bytes")
        return MemoryNeed(ring.needed_bytes + socket.needed_bytes, f"{ring.because} + {socket.because}")

    def memory_needed_for(self, target_count: int) -> MemoryNeed:
        """One receiver writes to all targets, so their number does not matter."""
        return self.memory_needed()
