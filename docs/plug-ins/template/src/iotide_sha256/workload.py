"""sha256: writes a file, then reads and hashes it, as a backup does."""

import re
from typing import ClassVar, Final

from pydantic import Field

from iotide_agent.workloads import quality
from iotide_agent.workloads.base import (
    Before,
    Group,
    Options,
    OutputRefusedError,
    Parsed,
    Place,
    Sample,
    Step,
    StepOutcome,
    Workload,
    in_turn,
)
from iotide_agent.workloads.metrics import THROUGHPUT
from iotide_agent.workloads.option_types import Bytes
from iotide_wire.catalogue import MetricSpec
from iotide_wire.expressions import Expression, Option
from iotide_wire.units import format_bytes

CLOCK_SECONDS: Final = 1e-6
_LINE: Final = re.compile(r"\A[0-9a-f]{64}  \S.*\n\Z")


class Sha256Options(Options):
    file_size_bytes: Bytes = Field(default=1024**3, ge=1024**2, le=2**50, multiple_of=1024**2, title="File size")
    """Size of the file, in whole MiB."""


class Sha256Workload(Workload[Sha256Options]):
    """Throughput of one reader that processes what it reads."""

    name: ClassVar[str] = "sha256"
    title: ClassVar[str] = "sha256: read and hash a file"
    description: ClassVar[str] = "Writes a file, drops the caches, and reads it with sha256sum."
    revision: ClassVar[int] = 1
    tool: ClassVar[str | None] = "sha256sum"
    package: ClassVar[str] = "coreutils"
    version_argv: ClassVar[tuple[str, ...]] = ("sha256sum", "--version")
    metrics: ClassVar[tuple[MetricSpec, ...]] = (THROUGHPUT.by(primary=True),)
    bytes_needed: ClassVar[Expression] = Option.of("file_size_bytes")
    bytes_moved: ClassVar[Expression] = Option.of("file_size_bytes") * 2
    options_type = Sha256Options

    def groups(self, options: Sha256Options, place: Place) -> list[Group]:
        """Return the write, which is not measured, and then the measured read."""
        file = place.directory / "sha256.data"
        size = options.file_size_bytes
        write = ("dd", "if=/dev/zero", f"of={file}", "bs=1M", f"count={size}", "iflag=count_bytes", "conv=fsync")
        return in_turn(
            Step("write", f"writing {format_bytes(size)}", write, place.target_id, bytes_moved=size),
            Step(
                "hash",
                f"hashing {format_bytes(size)}",
                ("sha256sum", str(file)),
                place.target_id,
                bytes_moved=size,
                before=Before.DROP,
                declared_files=(file,),
            ),
        )

    def read(self, options: Sha256Options, place: Place, outcome: StepOutcome) -> Parsed:
        """Return the throughput over the wall time of sha256sum, which prints its line only at the end."""
        if outcome.step.name == "write":
            return Parsed(flags=quality.judge_data("zeroes"))
        if not _LINE.match(outcome.stdout):
            raise OutputRefusedError("hash", "not one line with a digest and a name", outcome.stdout)
        rate = options.file_size_bytes / outcome.wall_seconds
        flags = quality.judge_duration("hash", outcome.wall_seconds, CLOCK_SECONDS)
        flags += quality.judge_cache_size(place, options.file_size_bytes, direct=False)
        flags += quality.judge_cache_drop(place, outcome, direct=False)
        return Parsed([Sample("throughput", rate, {}, place.target_id)], flags)
