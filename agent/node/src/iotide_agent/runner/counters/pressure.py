"""Pressure stall information: the share of time in which tasks waited for a resource. /proc/pressure, since Linux 4.20.

See https://docs.kernel.org/accounting/psi.html: "some" is the time in which at least one task waited, "full" that in
which all did that were not idle, in microseconds since the boot; `full` of the processors is no use for a whole node.
"""

from collections.abc import Mapping
from pathlib import Path

from iotide_agent.runner.counters.source import OpenFile, Source, Span, growth

_MICROSECONDS = 1e6


class Pressure(Source[tuple[int, ...]]):
    """Of one resource: cpu, io or memory."""

    def __init__(self, proc: Path, resource: str) -> None:
        self.files = (OpenFile(proc / "pressure" / resource),)
        kinds = ("some",) if resource == "cpu" else ("some", "full")
        self._names = tuple(f"psi_{resource}_{kind}_ratio" for kind in kinds)

    def read(self) -> tuple[int, ...]:
        """The totals in microseconds, some before full."""
        (file,) = self.files
        ends = [line.rpartition(b"total=")[2] for line in file.read(512).splitlines()]
        return tuple(int(ends[index]) for index in range(len(self._names)))

    def rates(self, before: tuple[int, ...], after: tuple[int, ...], span: Span) -> Mapping[str, float]:
        """Shares of the time."""
        shares = (stalled / _MICROSECONDS / span.seconds for stalled in growth(before, after))
        return dict(zip(self._names, (min(1.0, share) for share in shares), strict=True))
