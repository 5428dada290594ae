"""SQL that stores results."""

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

from sqlalchemy import Row, Text, cast, func, select, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session, aliased

from iotide_server.campaigns.models import Campaign, CampaignStage, Cell, CellNode, CellTarget
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json
from iotide_server.results.concerned import Number
from iotide_server.results.errors import REVISION_UNKNOWN
from iotide_server.results.ingest.curves import MAX_CHUNK_VALUES, Stretch
from iotide_server.results.models import Artefact, Blob, CurveChunk, Environment, Sample, Series
from iotide_server.runs.models import Order, Run
from iotide_server.workloads.key_options import KeyOptions
from iotide_server.workloads.models import Workload, WorkloadBaseline
from iotide_wire.catalogue import MetricSpec
from iotide_wire.measured import SampleMessage, StepRole
from iotide_wire.messages import OrderRole, Outcome
from iotide_wire.plan import QuietPolicy

_WORKLOAD: Final = (Workload.name.label("workload"), Workload.revision, Workload.metrics, Workload.series_revision)
_OF_CLUSTER: Final = "@" + cast(Workload.cluster_id, Text)  # same form as `Catalogue.key`
_BASELINE: Final = aliased(WorkloadBaseline, name="baseline")
_MEASURED_CELL: Final = (
    select(
        *(Cell.id, Campaign.cluster_id, Cell.options, Cell.options_sha256, Cell.variant, _BASELINE),
        select(func.array_agg(CellNode.node_id)).where(CellNode.cell_id == Cell.id).scalar_subquery().label("node_ids"),
        select(func.array_agg(CellTarget.target_id))
        .where(CellTarget.cell_id == Cell.id)
        .scalar_subquery()
        .label("target_ids"),
        select(Node.name)
        .join(CellNode, CellNode.node_id == Node.id)
        .where(CellNode.cell_id == Cell.id, CellNode.step_role == StepRole.SENDER)
        .scalar_subquery()
        .label("sender"),
        select(CellNode.node_id)
        .where(CellNode.cell_id == Cell.id, CellNode.step_role == StepRole.HEAD)
        .scalar_subquery()
        .label("head"),
        Workload.own_programs,
        Campaign.plan["scratch"].label("scratch"),
        CampaignStage.does.label("does"),
        *_WORKLOAD,
    )
    .join(Campaign, Campaign.id == Cell.campaign_id)
    .join(Workload, Workload.id == Cell.workload_id)
    .outerjoin(CampaignStage, (CampaignStage.campaign_id == Campaign.id) & (CampaignStage.ordinal == Cell.stage))
    .join(_BASELINE, _BASELINE.name == Workload.name + func.coalesce(_OF_CLUSTER, ""))
)

_REPLACE_SAMPLES: Final = text(
    """
    WITH before AS (DELETE FROM sample WHERE run_id = :run_id AND order_id = :order_id)
    INSERT INTO sample (run_id, order_id, series_id, target_id, value)
    SELECT :run_id, :order_id, new.series_id, new.target_id, new.value
    FROM unnest(CAST(:series_ids AS bigint[]), CAST(:target_ids AS bigint[]), CAST(:values AS double precision[]))
        WITH ORDINALITY AS new (series_id, target_id, value, place)
    ORDER BY new.place
    """
)
_ADD_SERIES: Final = text(
    """
    INSERT INTO series (key_sha256, cluster_id, node_ids, target_ids, workload, series_revision, options,
                        options_sha256, metric, title, unit, better, labels, variant, superseded)
    SELECT new.*
    FROM jsonb_to_recordset(CAST(:rows AS jsonb)) AS new (
        key_sha256 text, cluster_id bigint, node_ids bigint[], target_ids bigint[], workload text,
        series_revision bigint, options jsonb, options_sha256 text, metric text, title text, unit text, better text,
        labels jsonb, variant text, superseded text)
    ORDER BY key_sha256
    ON CONFLICT (key_sha256) DO NOTHING
    """
)
_GROW_CHUNKS: Final = text(
    """
    UPDATE curve_chunk SET values = curve_chunk.values || (CAST(:values AS real[]))[grown.first:grown.last]
    FROM unnest(CAST(:ids AS bigint[]), CAST(:firsts AS int[]), CAST(:lasts AS int[])) AS grown (id, first, last)
    WHERE curve_chunk.id = grown.id
    """
)
_LOCK_BLOB: Final = text("SELECT sha256 FROM blob WHERE sha256 = :sha256 FOR UPDATE SKIP LOCKED")
_DROP_BLOB: Final = text(
    "DELETE FROM blob WHERE sha256 = :sha256 AND NOT EXISTS (SELECT FROM artefact WHERE artefact.sha256 = blob.sha256)"
)
_TOUCHED_CHUNKS: Final = text(
    """
    SELECT id, curve_chunk.counter, started_at, step_seconds, cardinality(values) AS size
    FROM unnest(CAST(:counters AS text[]), CAST(:earliest AS timestamptz[]), CAST(:firsts AS timestamptz[]),
                CAST(:lasts AS timestamptz[])) AS span (counter, earliest, first, last)
    JOIN curve_chunk ON curve_chunk.order_id = :order_id AND curve_chunk.counter = span.counter
        AND started_at BETWEEN earliest AND last
        AND started_at + (cardinality(values) + 1) * step_seconds * interval '1 s' >= first
    """
)


class DayCounter:
    def __init__(self, column: str, day: str) -> None:
        today = "(SELECT CAST(now() AT TIME ZONE 'UTC' AS date) AS day) AS today"
        # The later day wins: transactions may span midnight.
        self._add = text(
            f"""
            UPDATE node_beat
            SET {column} = CASE WHEN {day} < today.day THEN 0 ELSE {column} END
                         + CASE WHEN {day} > today.day THEN 0 ELSE :more END,
                {day} = GREATEST({day}, today.day)
            FROM {today} WHERE node_id = :node_id RETURNING {column}
            """  # noqa: S608 - names of columns
        )
        self._today = text(
            f"SELECT {column} FROM node_beat, {today} WHERE node_id = :node_id AND {day} = today.day"  # noqa: S608 - as above
        )

    def add(self, session: Session, node_id: int, more: int) -> int:
        return int(session.scalar(self._add, {"node_id": node_id, "more": more}) or 0)

    def today(self, session: Session, node_id: int) -> int:
        return int(session.scalar(self._today, {"node_id": node_id}) or 0)


RAW_BYTES: Final = DayCounter("raw_bytes", "raw_on")
NEW_SERIES: Final = DayCounter("new_series", "series_on")


@dataclass(frozen=True, slots=True)
class SeriesCell:
    id: int
    cluster_id: int
    node_ids: frozenset[int]
    target_ids: frozenset[int]
    workload: str
    revision: int
    series_revision: int  # the last one that broke series
    options: Json
    options_sha256: str
    variant: str
    metrics: Mapping[str, MetricSpec]
    baseline: WorkloadBaseline
    own_programs: Json  # of the workload's revision that the cell was planned for
    sender: str | None  # None if all nodes do the same
    head: int | None  # id of the node that starts one program over all nodes; None: there is none
    scratch: Json | None  # the block of its plan
    does: str | None  # work of its stage; None without stages

    @property
    def key(self) -> KeyOptions:
        return KeyOptions.of(self.baseline.option_defaults, self.own_programs, is_gang=self._is_gang)

    @property
    def _is_gang(self) -> bool:
        return len(self.node_ids) > 1 and self.sender is None

    @property
    def members(self) -> frozenset[int]:
        """Return the ids of the nodes that start parts of the head's program."""
        return frozenset() if self.head is None else self.node_ids - {self.head}

    @property
    def is_measured(self) -> bool:
        """Return false for a run that only prepares a stage, such as a fill."""
        return self.does in {None, "measure"}


@dataclass(frozen=True, slots=True)
class StoredChunk:
    """Row id of a stretch; the values are 0, because only the span is needed."""

    id: int
    stretch: Stretch


def measured_cell(session: Session, cell_id: int, revision: int | None = None) -> SeriesCell:
    """Return the cell as a revision of the workload measured it (None: its own); raise REVISION_UNKNOWN."""
    cell = session.execute(_MEASURED_CELL.where(Cell.id == cell_id)).one()
    measuring: Row[Any] = cell
    if revision is not None and revision != cell.revision:
        measuring = _revision(session, cell, revision)
    metrics = map(MetricSpec.model_validate, measuring.metrics)
    known = {**cell._mapping, **measuring._mapping, "metrics": {metric.name: metric for metric in metrics}}
    known |= {name: frozenset(known[name] or ()) for name in ("node_ids", "target_ids")}
    return SeriesCell(**known)


def _revision(session: Session, cell: Row[Any], revision: int) -> Row[Any]:
    """Search iotide's own workloads before the cluster's catalogue."""
    is_theirs = Workload.cluster_id.is_(None) | (Workload.cluster_id == cell.cluster_id)
    newest = (
        select(*_WORKLOAD)
        .where(Workload.name == cell.workload, Workload.revision == revision, is_theirs)
        .order_by(Workload.cluster_id.nulls_first(), Workload.id.desc())
    )
    found = session.execute(newest.limit(1)).one_or_none()
    if found is None:
        raise REVISION_UNKNOWN(workload=cell.workload, revision=revision)
    return found


def ensure_series(session: Session, of_cell: Json, columns: Mapping[str, Json]) -> dict[str, int]:
    """Return ids by key digest, also of new series."""
    known = _series_ids(session, columns)
    missing = [of_cell | columns[digest] | {"key_sha256": digest} for digest in columns.keys() - known.keys()]
    if missing:
        # Sorted, so that two results with the same new series cannot deadlock.
        session.execute(_ADD_SERIES, {"rows": json.dumps(missing)})
        known = _series_ids(session, columns)
    return known


def newest_series(session: Session) -> int:
    return session.scalar(select(func.max(Series.id))) or 0


def _series_ids(session: Session, digests: Collection[str]) -> dict[str, int]:
    is_wanted = Series.key_sha256 == func.any(cast(list(digests), ARRAY(Text)))
    return dict(session.execute(select(Series.key_sha256, Series.id).where(is_wanted)).all())


def quiet_policy(session: Session, campaign_id: int) -> QuietPolicy:
    policy = session.scalar(select(Campaign.plan["quiet"].astext).where(Campaign.id == campaign_id))
    return QuietPolicy(policy or QuietPolicy.FLAG)


def replace_samples(
    session: Session, order: Order, series_ids: Sequence[int], samples: Sequence[SampleMessage]
) -> None:
    """`series_ids` is parallel to `samples`."""
    columns = {
        "series_ids": series_ids,
        "target_ids": [sample.target_id for sample in samples],
        "values": [sample.value for sample in samples],
    }
    session.execute(_REPLACE_SAMPLES, {"run_id": order.run_id, "order_id": order.id, **columns})


def ensure_environment(session: Session, sha256: str, facts: Json) -> None:
    statement = upsert(Environment).values(sha256=sha256, facts=facts)
    session.execute(statement.on_conflict_do_nothing(index_elements=[Environment.sha256]))


def environment_of(session: Session, run: Run) -> Json:
    return session.scalars(select(Environment.facts).where(Environment.sha256 == run.environment_sha256)).one()


def others_in_attempt(session: Session, order: Order) -> Sequence[Order]:
    statement = select(Order).where(
        Order.attempt_id == order.attempt_id, Order.id != order.id, Order.role == OrderRole.LOAD
    )
    return session.scalars(statement.order_by(Order.id)).all()


def earlier_result_in_attempt(session: Session, order: Order) -> bool:
    """Check if another node of the attempt has delivered a result that is no decline."""
    statement = select(Order.id).where(
        Order.attempt_id == order.attempt_id,
        Order.id != order.id,
        Order.role == OrderRole.LOAD,
        Order.result_sha256.is_not(None),
        Order.outcome.is_distinct_from(Outcome.DECLINED),
    )
    return session.scalar(statement.limit(1)) is not None


def concerned_values(session: Session, order: Order) -> list[Number]:
    """Return labels and target of each value that the attempt's other nodes have delivered."""
    others = select(Order.id).where(Order.attempt_id == order.attempt_id, Order.id != order.id)
    statement = (
        select(Series.labels, Sample.target_id)
        .join(Series, Series.id == Sample.series_id)
        .where(Sample.run_id == order.run_id, Sample.order_id.in_(others))
        .distinct()
    )
    return [(row.labels, row.target_id) for row in session.execute(statement)]


def artefacts(session: Session, order_id: int) -> dict[str, Row[str, str, int]]:
    statement = select(Artefact.name, Artefact.sha256, Artefact.size_bytes).where(Artefact.order_id == order_id)
    return {row.name: row for row in session.execute(statement)}


def put_artefact(session: Session, order: Order, name: str, sha256: str, content: bytes) -> None:
    """Equal content is stored once."""
    session.execute(
        upsert(Blob).values(sha256=sha256, content=content).on_conflict_do_nothing(index_elements=[Blob.sha256])
    )
    row: dict[str, Any] = {"sha256": sha256, "size_bytes": len(content)}
    session.execute(
        upsert(Artefact)
        .values(run_id=order.run_id, order_id=order.id, name=name, **row)
        .on_conflict_do_update(index_elements=[Artefact.order_id, Artefact.name], set_=row)
    )


def drop_blob(session: Session, sha256: str) -> None:
    """Delete content without artefacts, unless another transaction is storing it."""
    if session.scalar(_LOCK_BLOB, {"sha256": sha256}) is not None:
        session.execute(_DROP_BLOB, {"sha256": sha256})


def lock_order(session: Session, order_id: int) -> None:
    session.execute(select(Order.id).where(Order.id == order_id).with_for_update(key_share=True))


def chunks_between(
    session: Session, order_id: int, arrived: Mapping[str, Sequence[Stretch]]
) -> dict[str, dict[datetime, StoredChunk]]:
    """Return by counter and start the rows that overlap what arrived, or end one step before it."""
    firsts = [min(stretch.started_at for stretch in own) for own in arrived.values()]
    longest = [max(stretch.step_seconds for stretch in own) * (MAX_CHUNK_VALUES + 1) for own in arrived.values()]
    values = {
        "order_id": order_id,
        "counters": list(arrived),
        "earliest": [first - timedelta(seconds=row) for first, row in zip(firsts, longest, strict=True)],
        "firsts": firsts,
        "lasts": [max(stretch.ended_at for stretch in own) for own in arrived.values()],
    }
    found: dict[str, dict[datetime, StoredChunk]] = defaultdict(dict)
    for row in session.execute(_TOUCHED_CHUNKS, values):
        stretch = Stretch(row.started_at, row.step_seconds, _zeros(row.size))
        found[row.counter][row.started_at] = StoredChunk(row.id, stretch)
    return found


@lru_cache(maxsize=MAX_CHUNK_VALUES)
def _zeros(count: int) -> tuple[float, ...]:
    return (0.0,) * count


def chunk_counts(session: Session, order_id: int) -> dict[str, int]:
    statement = select(CurveChunk.counter, func.count()).where(CurveChunk.order_id == order_id)
    return dict(session.execute(statement.group_by(CurveChunk.counter)).all())


def grow_chunks(session: Session, values_by_id: Mapping[int, Sequence[float]]) -> None:
    ids = sorted(values_by_id)
    ends = list(accumulate(len(values_by_id[chunk_id]) for chunk_id in ids))
    grown = {
        "ids": ids,
        "firsts": [end - len(values_by_id[chunk_id]) + 1 for chunk_id, end in zip(ids, ends, strict=True)],
        "lasts": ends,
        "values": [value for chunk_id in ids for value in values_by_id[chunk_id]],
    }
    if ids:
        session.execute(_GROW_CHUNKS, grown)


def add_chunks(session: Session, order_id: int, stretches: Sequence[tuple[str, Stretch]]) -> None:
    """Add rows by counter, except where one starts at the same time."""
    rows = [
        {
            "order_id": order_id,
            "counter": counter,
            "started_at": stretch.started_at,
            "step_seconds": stretch.step_seconds,
            "values": list(stretch.values),
        }
        for counter, stretch in stretches
    ]
    if rows:
        session.execute(upsert(CurveChunk).on_conflict_do_nothing(), rows)
