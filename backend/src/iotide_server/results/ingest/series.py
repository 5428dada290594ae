from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.orm import Session

from iotide_server.kit.db import Json
from iotide_server.results.ingest import repository
from iotide_server.results.ingest.keys import Label, key_sha256
from iotide_server.results.ingest.repository import SeriesCell
from iotide_wire.catalogue import MetricSpec


@dataclass(frozen=True, slots=True)
class Measured:
    """`superseded` is the reason why the value does not count."""

    metric: str
    labels: Mapping[str, Label]
    superseded: str = ""


def series_ids(session: Session, cell: SeriesCell, measured: Sequence[Measured]) -> list[int]:
    of_cell = {
        "cluster_id": cell.cluster_id,
        "node_ids": sorted(cell.node_ids),
        "target_ids": sorted(cell.target_ids),
        "workload": cell.workload,
        "series_revision": cell.series_revision,
        "options": cell.key.chosen(cell.options),
        "options_sha256": cell.options_sha256,
        "variant": cell.variant,
    }
    columns = [_columns(one, cell.metrics[one.metric]) for one in measured]
    digests = [key_sha256(of_cell | own) for own in columns]
    ids = repository.ensure_series(session, of_cell, dict(zip(digests, columns, strict=True)))
    return [ids[digest] for digest in digests]


def _columns(measured: Measured, metric: MetricSpec) -> Json:
    described = {"metric": metric.name, "title": metric.title, "unit": metric.unit, "better": metric.better}
    return described | {"labels": measured.labels, "superseded": measured.superseded}
