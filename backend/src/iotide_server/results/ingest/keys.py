"""The identity of a series: what must be equal for two numbers to stand on one trend."""

from collections.abc import Mapping
from typing import Any, Final

from iotide_server.kit.digests import canonical_sha256

Label = str | int | float | bool
TICK_SECONDS: Final = 0.01  # the kernel counts processor time in ticks of this length
FEWEST_TICKS: Final = 10
_OF_TICKS: Final = frozenset({"user", "sys", "wait"})


def key_sha256(series: Mapping[str, Any]) -> str:
    """Return the digest of what a series is known by, from its columns; equal digests are one series for ever.

    The order of nodes and targets means nothing. The variant, and why its numbers count no more, are parts where they
    are not empty. Everything else (kernel, mount options, tool version) is environment.
    """
    known = {
        "cluster": series["cluster_id"],
        "nodes": sorted(series["node_ids"]),
        "targets": sorted(series["target_ids"]),
        "options": series["options_sha256"],
        **{name: series[name] for name in ("workload", "series_revision", "metric", "labels")},
    }
    return canonical_sha256(known | {name: series[name] for name in ("variant", "superseded") if series.get(name)})


def is_below_clock(labels: Mapping[str, Label], value: float) -> bool:
    """Check that a processor time is of so few ticks that its spread is that of the clock."""
    return labels.get("part") in _OF_TICKS and abs(value) < FEWEST_TICKS * TICK_SECONDS
