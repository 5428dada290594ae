"""SQL of retention."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import Row, delete, insert, text
from sqlalchemy.orm import Session

from iotide_server.results.ingest.curves import Stretch
from iotide_server.results.models import CurveChunk

# Every change for the worse has an alert. It keeps its runs while it is new, or while a user handles it.
_KEEPS: Final = "(alert.state IN ('acknowledged', 'investigating', 'fixed') OR alert.raised_at >= :raised_since)"
_OLD: Final = (
    # An alert's runs and its confirmation runs need their raw output and curves.
    f"""
    run.state IN ('finished', 'failed', 'cancelled') AND run.ended_at < :before
      AND NOT EXISTS (SELECT FROM kept_campaign WHERE kept_campaign.campaign_id = run.campaign_id)
      AND NOT EXISTS (SELECT FROM alert WHERE alert.confirmation_id = run.campaign_id AND {_KEEPS})
      AND NOT EXISTS (SELECT FROM alert JOIN point ON point.series_id = alert.series_id
                      AND point.at BETWEEN alert.window_from AND alert.window_until
                      WHERE point.cell_id = run.cell_id AND {_KEEPS})
    """  # noqa: S608 - ours alone
)
_HAS_RAW: Final = "EXISTS (SELECT FROM artefact WHERE artefact.run_id = run.id)"
_HAS_CURVES: Final = (
    "NOT EXISTS (SELECT FROM thinned_run WHERE thinned_run.run_id = run.id AND curves_thinned_at IS NOT NULL)"
    " AND EXISTS (SELECT FROM node_order JOIN curve_chunk ON curve_chunk.order_id = node_order.id"
    " WHERE node_order.run_id = run.id)"
)
_IN_LINE: Final = "ORDER BY run.id LIMIT :limit FOR NO KEY UPDATE SKIP LOCKED"
_RAW_OF: Final = text(f"SELECT run.id FROM run WHERE {_OLD} AND {_HAS_RAW} {_IN_LINE}")  # noqa: S608 - ours alone
_CURVES_OF: Final = text(f"SELECT run.id FROM run WHERE {_OLD} AND {_HAS_CURVES} {_IN_LINE}")  # noqa: S608 - as above
_RAW_WAITING: Final = text(
    "SELECT count(DISTINCT run.id) AS runs, coalesce(sum(artefact.size_bytes), 0) AS size_bytes"  # noqa: S608 - as above
    f" FROM run JOIN artefact ON artefact.run_id = run.id WHERE {_OLD}"
)
_CURVES_WAITING: Final = text(
    "SELECT count(DISTINCT run.id) AS runs, coalesce(sum(pg_column_size(curve_chunk.values)), 0) AS size_bytes"  # noqa: S608 - as above
    " FROM run JOIN node_order ON node_order.run_id = run.id JOIN curve_chunk ON curve_chunk.order_id = node_order.id"
    f" WHERE {_OLD} AND {_HAS_CURVES}"
)
_DROP_ARTEFACTS: Final = text(
    """
    WITH gone AS (DELETE FROM artefact WHERE run_id = ANY(:run_ids) RETURNING run_id, sha256, size_bytes),
    noted AS (
        INSERT INTO run_event (run_id, at, kind, text)
        SELECT run_id, :now, 'raw_removed',
               'raw output removed by retention: ' || count(*) || ' files, ' || sum(size_bytes) || ' bytes'
        FROM gone GROUP BY run_id
    )
    SELECT DISTINCT sha256 FROM gone
    """
)
_LOCK_BLOBS: Final = text("SELECT sha256 FROM blob WHERE sha256 = ANY(:digests) ORDER BY sha256 FOR UPDATE SKIP LOCKED")
_DROP_BLOBS: Final = text(
    """
    DELETE FROM blob WHERE sha256 = ANY(:digests)
      AND NOT EXISTS (SELECT FROM artefact WHERE artefact.sha256 = blob.sha256)
    """
)
_NOTE_RAW: Final = text(
    """
    INSERT INTO thinned_run (run_id, raw_removed_at) SELECT unnest(CAST(:run_ids AS bigint[])), :now
    ON CONFLICT (run_id) DO UPDATE SET raw_removed_at = excluded.raw_removed_at
    """
)
_NOTE_CURVES: Final = text(
    """
    INSERT INTO thinned_run (run_id, curves_thinned_at) SELECT unnest(CAST(:run_ids AS bigint[])), :now
    ON CONFLICT (run_id) DO UPDATE SET curves_thinned_at = excluded.curves_thinned_at
    """
)
_LOG_CURVES: Final = text(
    """
    INSERT INTO run_event (run_id, at, kind, text)
    SELECT unnest(CAST(:run_ids AS bigint[])), :now, 'curves_thinned', :words
    """
)
_KINDS: Final = (
    ("raw output", ("blob", "artefact")),
    ("per-second values", ("curve_chunk",)),
    ("numbers", ("sample", "reading", "run_headline")),
    (
        "series, points and their analysis",
        ("series", "point", "series_course", "change_point", "event", "event_effect"),
    ),
    ("runs and their logs", ("run", "attempt", "node_order", "run_event", "lease", "cell", "campaign", "environment")),
)
_SIZES: Final = text(
    "SELECT relname AS name, pg_total_relation_size(oid) AS size_bytes FROM pg_class"
    " WHERE relkind = 'r' AND relnamespace = CAST('public' AS regnamespace)"
)


@dataclass(frozen=True, slots=True)
class Expiry:
    """Runs that ended before that time are old, unless an alert keeps them."""

    before: datetime
    raised_since: datetime  # older alerts keep only what a user has acknowledged

    def values(self) -> dict[str, datetime]:
        return {"before": self.before, "raised_since": self.raised_since}


@dataclass(frozen=True, slots=True)
class Space:
    kind: str
    size_bytes: int


def space(session: Session) -> list[Space]:
    sizes = {row.name: int(row.size_bytes) for row in session.execute(_SIZES)}
    found = [Space(kind, sum(sizes.pop(name, 0) for name in tables)) for kind, tables in _KINDS]
    found.append(Space("everything else", sum(sizes.values())))
    return sorted(found, key=lambda one: one.size_bytes, reverse=True)


def raw_waiting(session: Session, expiry: Expiry) -> Row[Any]:
    """Return the number of runs with expired raw output, and its uncompressed size."""
    return session.execute(_RAW_WAITING, expiry.values()).one()


def curves_waiting(session: Session, expiry: Expiry) -> Row[Any]:
    return session.execute(_CURVES_WAITING, expiry.values()).one()


def lock_raw(session: Session, expiry: Expiry, limit: int) -> Sequence[int]:
    """Skip locked rows."""
    return session.scalars(_RAW_OF, {**expiry.values(), "limit": limit}).all()


def lock_curves(session: Session, expiry: Expiry, limit: int) -> Sequence[int]:
    return session.scalars(_CURVES_OF, {**expiry.values(), "limit": limit}).all()


def remove_raw(session: Session, run_ids: Sequence[int], now: datetime) -> None:
    """Keep content that other runs use."""
    digests = list(session.scalars(_DROP_ARTEFACTS, {"run_ids": list(run_ids), "now": now}))
    # Content that is being uploaded again is locked and stays.
    free = list(session.scalars(_LOCK_BLOBS, {"digests": digests}))
    session.execute(_DROP_BLOBS, {"digests": free})
    session.execute(_NOTE_RAW, {"run_ids": list(run_ids), "now": now})


def replace_curve(session: Session, order_id: int, counter: str, stretches: Sequence[Stretch]) -> None:
    session.execute(delete(CurveChunk).where(CurveChunk.order_id == order_id, CurveChunk.counter == counter))
    rows = [
        {
            "order_id": order_id,
            "counter": counter,
            "started_at": stretch.started_at,
            "step_seconds": stretch.step_seconds,
            "values": list(stretch.values),
            "lows": stretch.lows and list(stretch.lows),
            "highs": stretch.highs and list(stretch.highs),
        }
        for stretch in stretches
    ]
    if rows:
        session.execute(insert(CurveChunk), rows)


def note_curves(session: Session, run_ids: Sequence[int], words: str, now: datetime) -> None:
    session.execute(_NOTE_CURVES, {"run_ids": list(run_ids), "now": now})
    session.execute(_LOG_CURVES, {"run_ids": list(run_ids), "now": now, "words": words})
