"""Sums over the nodes of a gang."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.campaigns.models import CellNode
from iotide_server.kit.db import any_of
from iotide_server.results.ingest import repository
from iotide_server.results.ingest.series import Measured, series_ids
from iotide_server.results.models import Series
from iotide_server.results.values import RunValue
from iotide_wire.units import Unit

NODES: Final = "nodes"  # label of sums over nodes; its value is ALL

ALL: Final = "all"

_RATES: Final = (Unit.BYTES_PER_SECOND, Unit.OPERATIONS_PER_SECOND)
_WRITER: Final = "writer"  # first writers of several nodes have no meaningful sum


def node_totals(session: Session, values: Iterable[RunValue]) -> list[RunValue]:
    """Return the sum of the nodes' rates for each run of a gang in which each node has one, labelled `nodes: all`.

    Several values of a node count as their median. Totals keep the series id of the nodes' values.
    """
    values = list(values)
    first_orders: dict[int, int] = {}
    several = {
        value.cell_id for value in values if first_orders.setdefault(value.run_id, value.order_id) != value.order_id
    }
    node_counts = _node_counts(session, several) if several else {}
    if not node_counts:
        return []
    of_gangs = Series.id == any_of({value.series_id for value in values if value.cell_id in node_counts})
    rates = set(session.scalars(select(Series.id).where(of_gangs, Series.unit.in_(_RATES))))
    alike: dict[tuple[int, int, int | None], list[RunValue]] = defaultdict(list)
    for value in values:
        if value.series_id in rates and value.labels.keys().isdisjoint({NODES, _WRITER}):
            alike[value.run_id, value.series_id, value.target_id].append(value)
    totals = (_total(group, node_counts[group[0].cell_id]) for group in alike.values())
    return [total for total in totals if total is not None]


def _total(values: Sequence[RunValue], node_count: int) -> RunValue | None:
    by_order: dict[int, list[float]] = defaultdict(list)
    for value in values:
        by_order[value.order_id].append(value.value)
    if len(by_order) < node_count:
        return None
    return replace(
        values[0],
        labels={**values[0].labels, NODES: ALL},
        flags=frozenset().union(*(value.flags for value in values)),
        value=sum(median(own) for own in by_order.values()),
    )


def in_own_series(session: Session, cell_id: int, totals: Sequence[RunValue]) -> list[RunValue]:
    if not totals:
        return []
    own_series = Series.id == any_of({total.series_id for total in totals})
    metrics = dict(session.execute(select(Series.id, Series.metric).where(own_series)).all())
    measured = [Measured(metrics[total.series_id], total.labels) for total in totals]
    own = series_ids(session, repository.measured_cell(session, cell_id), measured)
    return [replace(total, series_id=series_id) for total, series_id in zip(totals, own, strict=True)]


def _node_counts(session: Session, cell_ids: Iterable[int]) -> Mapping[int, int]:
    """Return the number of nodes of cells in which several nodes do the same, unlike sender and receiver."""
    count = func.count().label("nodes")
    alike = CellNode.cell_id == any_of(cell_ids), CellNode.step_role.is_(None)
    statement = select(CellNode.cell_id, count).where(*alike).group_by(CellNode.cell_id)
    return dict(session.execute(statement.having(count > 1)).all())
