"""Primary metrics of a run: lists show the first one present, and comparisons use only these."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from iotide_wire.catalogue import MetricSpec

TOTAL = "total_throughput"
WRITER = "writer"  # label of one of several writers, not of the whole run

Measured = TypeVar("Measured")


def primary_metrics(announced: Iterable[Mapping[str, Any]]) -> frozenset[str]:
    """Return the primary metrics.

    Agents below wire version 3 name none. Then use the total and the first metric with `better: higher`, else the
    first.
    """
    metrics = [MetricSpec.model_validate(metric) for metric in announced]
    named = frozenset(metric.name for metric in metrics if metric.primary)
    if named:
        return named
    higher = [metric for metric in metrics if metric.better == "higher"]
    first = next((metric.name for metric in (higher or metrics)), None)
    return frozenset(metric.name for metric in metrics if metric.name in {TOTAL, first})


def of_whole_runs(
    measured: Sequence[tuple[str, Collection[str], Measured]], primary: Collection[str]
) -> list[Measured]:
    """Return the primary ones of (metric, label names, number), without single writers if there is a total."""
    found = [(labels, one) for metric, labels, one in measured if metric in primary]
    return [one for labels, one in found if WRITER not in labels] or [one for _, one in found]


def metric_places(announced: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """Return table positions: primary metrics first."""
    metrics = list(announced)
    primary = primary_metrics(metrics)
    names = sorted((str(metric["name"]) for metric in metrics), key=lambda name: name not in primary)
    return {name: place for place, name in enumerate(names)}
