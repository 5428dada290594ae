"""The identity of a series: what must be equal for two numbers to stand on one trend."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from iotide_server.kit.digests import canonical_sha256

Label = str | int | float | bool
TICK_SECONDS: Final = 0.01  # the kernel counts processor time in ticks of this length
FEWEST_TICKS: Final = 10
_OF_TICKS: Final = frozenset({"user", "sys", "wait"})


@dataclass(frozen=True, slots=True)
class SeriesKey:
    """What a series is known by; everything else (kernel, mount options, tool version) is environment."""

    cluster_id: int
    # node_ids, target_ids: of the cell; their order means nothing
    node_ids: frozenset[int]
    target_ids: frozenset[int]
    workload: str
    series_revision: int  # the last revision of the workload that breaks series
    options_sha256: str  # of the options that differ from the workload's frozen defaults, in base units
    metric: str
    labels: Mapping[str, Label]
    variant: str = ""  # of the campaign's stage; empty outside stages, and then no part of the key
    superseded: str = ""  # why its numbers count no more; empty where they count, and then no part of the key

    @property
    def sha256(self) -> str:
        """Digest over its canonical JSON; equal keys are one series for ever."""
        return canonical_sha256(
            {
                "cluster": self.cluster_id,
                "nodes": sorted(self.node_ids),
                "targets": sorted(self.target_ids),
                "workload": self.workload,
                "series_revision": self.series_revision,
                "options": self.options_sha256,
                "metric": self.metric,
                "labels": self.labels,
            }
            | ({"variant": self.variant} if self.variant else {})
            | ({"superseded": self.superseded} if self.superseded else {})
        )


def is_below_clock(labels: Mapping[str, Label], value: float) -> bool:
    """Check that a processor time is of so few ticks that its spread is that of the clock."""
    return labels.get("part") in _OF_TICKS and abs(value) < FEWEST_TICKS * TICK_SECONDS
