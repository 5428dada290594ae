"""The series that a cell's numbers belong to, made where they are new."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from iotide_server.kit.db import Json
from iotide_server.results.ingest import repository
from iotide_server.results.ingest.keys import Label, SeriesKey
from iotide_server.results.ingest.repository import SeriesCell
from iotide_server.workloads.service import series_options


@dataclass(frozen=True, slots=True)
class Measured:
    """What a number of a cell is about; `metric` is one of its workload's, `superseded` says why it does not count."""

    metric: str
    labels: Mapping[str, Label]
    superseded: str = ""


def series_ids(session: Session, cell: SeriesCell, measured: Sequence[Measured]) -> list[int]:
    """The series of each; those that are missing are made, whoever else makes them too."""
    digests = [_key(cell, one).sha256 for one in measured]
    by_digest = dict(zip(digests, measured, strict=True))
    ids = repository.ensure_series(session, by_digest, lambda digest: _row(cell, by_digest[digest], digest))
    return [ids[digest] for digest in digests]


def _key(cell: SeriesCell, measured: Measured) -> SeriesKey:
    return SeriesKey(
        cluster_id=cell.cluster_id,
        node_ids=cell.node_ids,
        target_ids=cell.target_ids,
        workload=cell.workload,
        series_revision=cell.series_revision,
        options_sha256=cell.options_sha256,
        metric=measured.metric,
        labels=measured.labels,
        variant=cell.variant,
        superseded=measured.superseded,
    )


def _row(cell: SeriesCell, measured: Measured, digest: str) -> Json:
    metric = cell.metrics[measured.metric]
    return {
        "key_sha256": digest,
        "cluster_id": cell.cluster_id,
        "node_ids": sorted(cell.node_ids),
        "target_ids": sorted(cell.target_ids),
        "workload": cell.workload,
        "series_revision": cell.series_revision,
        "options": series_options(cell.baseline, cell.options),
        "options_sha256": cell.options_sha256,
        "metric": metric.name,
        "title": metric.title,
        "unit": metric.unit,
        "better": metric.better,
        "labels": dict(measured.labels),
        "variant": cell.variant,
        "superseded": measured.superseded,
    }
