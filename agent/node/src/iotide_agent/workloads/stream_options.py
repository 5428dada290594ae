"""The form of a stream: what is sent, how it is recorded, and whether the rate is raised until something is lost."""

from typing import Final, Literal

from pydantic import Field

from iotide_agent.workloads.base import Options
from iotide_agent.workloads.bounds import MemoryNeed, product
from iotide_agent.workloads.option_types import Bytes, BytesPerSecond, Seconds
from iotide_wire.units import GIB, KIB, MIB

MEGABIT: Final = 125_000
"""Bytes in a megabit: rates are whole numbers of Mbit/s."""


class StreamOptions(Options):
    """What is sent, how it is recorded, and whether the rate is raised until something is lost."""

    rate_bytes_per_second: BytesPerSecond = Field(
        default=1024 * MEGABIT, ge=8 * MEGABIT, le=100_000 * MEGABIT, multiple_of=MEGABIT, title="Rate"
    )
    """Constant rate of the stream, the first one of a ramp; a whole number of Mbit/s."""
    ramp_rates: int = Field(default=1, ge=1, le=64, title="Rates of the ramp")
    """How many rates are tried, each one step above the one before; after the first that loses something the rest is
    left out. 1 is no ramp."""
    ramp_step_bytes_per_second: BytesPerSecond = Field(
        default=512 * MEGABIT, ge=8 * MEGABIT, le=100_000 * MEGABIT, multiple_of=MEGABIT, title="Step of the ramp"
    )
    """By how much each rate is above the one before; a whole number of Mbit/s."""
    duration_seconds: Seconds = Field(default=30, ge=1, le=86_400, title="Duration")
    """How long it is sent at each rate."""
    datagram_bytes: Bytes = Field(default=8192, ge=1024, le=8972, multiple_of=4, title="Datagram")
    """Payload of a datagram, our header of 32 bytes included. 8972 fills a jumbo frame."""
    socket_buffer_bytes: Bytes = Field(default=64 * MIB, ge=64 * KIB, le=GIB, title="Socket buffer")
    """What the kernel holds until the receiver takes it. Above net.core.rmem_max it needs CAP_NET_ADMIN; what was
    granted is reported."""
    ring_bytes: Bytes = Field(default=256 * MIB, ge=64 * MIB, le=64 * GIB, title="Ring of memory")
    """What the receiver holds until a writer has written it."""
    files: Literal["recycle", "split", "single"] = Field(default="recycle", title="Files")
    """recycle: the oldest file makes room for the next, so that a long stream needs little space. split: file after
    file, all kept until the end. single: one file for the stream on each target."""
    file_size_bytes: Bytes = Field(default=512 * MIB, ge=32 * MIB, le=64 * GIB, title="File size")
    """Size of a file, and what is allocated at once; rounded down to whole chunks of about 8 MiB."""
    kept_files: int = Field(default=4, ge=2, le=10_000, title="Files kept")
    """With recycle: how many files a target holds, and one more while the oldest is removed."""
    direct: bool = Field(default=True, title="O_DIRECT")
    """Past the page cache; otherwise each file is flushed when it is full."""
    verify: bool = Field(default=False, title="Verify")
    """Reads the files back after each rate and checks that every sequence number is there once."""

    def memory_needed(self) -> MemoryNeed:
        ring, socket = product(self, "ring_bytes"), product(self, "socket_buffer_bytes")
        return MemoryNeed(ring.needed_bytes + socket.needed_bytes, f"{ring.because} + {socket.because}")

    def memory_needed_for(self, target_count: int) -> MemoryNeed:
        """Return the same: one receiver writes to all targets."""
        return self.memory_needed()
