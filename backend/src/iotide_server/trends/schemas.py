"""What the API gives for trends."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.kit.web import Output
from iotide_server.results.models import Point
from iotide_server.results.schemas import Series


class Points(Output):
    """The points of a series in time order, one list a column, all of one length; values in the series' base unit.

    `n` counts the runs behind a point; the spreads are null below four of them.
    """

    series: Series
    at: list[datetime]
    median: list[float]
    low: list[float]
    high: list[float]
    n: list[int]
    variation_ratio: list[float | None]
    robust_spread_ratio: list[float | None]
    cell_id: list[int]
    campaign_id: list[int]
    flags: Annotated[list[list[str]], Field(examples=[[["ENV_CHANGED"], []]])]

    @classmethod
    def of(cls, series: Series, points: Sequence[Point]) -> "Points":
        """As the API shows the rows."""
        return cls(
            series=series,
            at=[point.at for point in points],
            median=[point.median for point in points],
            low=[point.low for point in points],
            high=[point.high for point in points],
            n=[point.run_count for point in points],
            variation_ratio=[point.variation_ratio for point in points],
            robust_spread_ratio=[point.robust_spread_ratio for point in points],
            cell_id=[point.cell_id for point in points],
            campaign_id=[point.campaign_id for point in points],
            flags=[point.flags for point in points],
        )
