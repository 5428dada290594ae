"""Points of several series as one table: one row a point, with everything that tells the series apart."""

import json
from collections.abc import Callable, Sequence
from datetime import datetime

from iotide_server.kit.files import Cell, Column
from iotide_server.results.schemas import SeriesOutput
from iotide_server.trends.schemas import Points


def point_columns(found: Sequence[Points]) -> list[Column]:
    """Values in the series' base unit, which stands beside them; lists and options as JSON."""

    def told(name: str, kind: type[str] | type[int], of: Callable[[SeriesOutput], Cell]) -> Column:
        return Column(name, kind, [of(points.series) for points in found for _ in points.at])

    return [
        told("series_id", int, lambda series: series.id),
        told("cluster_id", int, lambda series: series.cluster_id),
        told("nodes", str, lambda series: " ".join(series.node_names)),
        told("targets", str, lambda series: " ".join(series.target_names)),
        told("variant", str, lambda series: series.variant),
        told("workload", str, lambda series: series.workload),
        told("options", str, lambda series: json.dumps(series.options, sort_keys=True)),
        told("metric", str, lambda series: series.metric),
        told("labels", str, lambda series: json.dumps(series.labels, sort_keys=True)),
        told("unit", str, lambda series: series.unit),
        Column("at", datetime, [at for points in found for at in points.at]),
        Column("median", float, [value for points in found for value in points.median]),
        Column("low", float, [value for points in found for value in points.low]),
        Column("high", float, [value for points in found for value in points.high]),
        Column("n", int, [n for points in found for n in points.n]),
        Column("campaign_id", int, [key for points in found for key in points.campaign_id]),
        Column("cell_id", int, [key for points in found for key in points.cell_id]),
        Column("flags", str, [" ".join(flags) for points in found for flags in points.flags]),
    ]
