"""Series that grew for months, as rows."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from factories.measured import Measured, finish, sample
from sqlalchemy import select, text
from sqlalchemy.orm import Session

from iotide_server.results.models import Point, Series
from iotide_server.trends.models import ChangePoint


def history(measured: Measured, medians: Sequence[float], *, first_day: int = 0, operation: str = "write") -> Series:
    """Add the series of an operation's rate, with one point a day from the first day on."""
    session = measured.session
    cell = measured.cell()
    measured.deliver(cell, finish(measured.now, sample(medians[0], operation=operation)))
    is_of = Series.labels["operation"].astext == operation
    series = session.scalars(select(Series).where(Series.cluster_id == measured.cluster.id, is_of)).one()
    for day, median in enumerate(medians, start=first_day):
        cell = measured.cell()
        session.add(
            Point(
                series_id=series.id,
                cell_id=cell.id,
                campaign_id=cell.campaign_id,
                at=measured.now + timedelta(days=day),
                median=median,
                low=median,
                high=median,
                run_count=4,
                variation_ratio=0.01,
                robust_spread_ratio=0.01,
                flags=[],
            )
        )
    session.flush()
    return series


def levels(*parts: tuple[int, float]) -> list[float]:
    """Return that many medians at each level, slightly apart."""
    return [level * (1 + 0.004 * ((number * 7) % 5 - 2)) for count, level in parts for number in range(count)]


def confirmed_change(session: Session, series: Series, at: datetime, before: float, after: float) -> ChangePoint:
    """Add a change of the series at that time, as if several analyses had confirmed it."""
    cell_id = session.scalars(text("SELECT min(cell_id) FROM point WHERE series_id = :id"), {"id": series.id}).one()
    made = ChangePoint(
        series_id=series.id,
        at=at,
        previous_at=at - timedelta(days=1),
        cell_id=cell_id,
        points_before=20,
        points_after=8,
        median_before=before,
        median_after=after,
        shift_ratio=after / before - 1,
        p_value=1e-4,
        found_at=at,
        found_points=28,
        confirmed_at=at + timedelta(days=9),
        detector="kernel-cpd-1",
    )
    session.add(made)
    session.flush()
    return made


def another(series: Series, session: Session, **differing: object) -> Series:
    """Add a second series with points on the same days."""
    columns = {column.name: getattr(series, column.name) for column in Series.__table__.columns if column.name != "id"}
    made = Series(**(columns | {"key_sha256": f"{differing}", "metric": "wait"} | differing))
    session.add(made)
    session.flush()
    session.execute(
        text(
            "INSERT INTO point (series_id, cell_id, campaign_id, at, median, low, high, run_count)"
            " SELECT :made, cell_id, campaign_id, at, median, low, high, run_count FROM point WHERE series_id = :series"
        ),
        {"made": made.id, "series": series.id},
    )
    return made
