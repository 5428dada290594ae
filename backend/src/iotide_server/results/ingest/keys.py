"""Identity of a series."""

from collections.abc import Mapping
from typing import Any, Final

from iotide_server.kit.digests import canonical_sha256

Label = str | int | float | bool
TICK_SECONDS: Final = 0.01
FEWEST_TICKS: Final = 10
_OF_TICKS: Final = frozenset({"user", "sys", "wait"})


def key_sha256(series: Mapping[str, Any]) -> str:
    """Return the digest of a series' identity.

    Nodes and targets have no order. `variant` and `superseded` count only if not empty. Everything else (kernel,
    mount options, tool version) is environment.
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
    """True if a CPU time has too few ticks for a meaningful spread."""
    return labels.get("part") in _OF_TICKS and abs(value) < FEWEST_TICKS * TICK_SECONDS
