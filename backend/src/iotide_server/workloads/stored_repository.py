"""SQL of existing catalogue entries, so that a hello writes only differences."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from iotide_server.kit.db import Json, any_text_of
from iotide_server.workloads.models import EVERYWHERE, Catalogue, Workload, WorkloadBaseline
from iotide_server.workloads.repository import APART_FROM_DIGEST, ENTRY, REJECTED_DIGEST, Entry
from iotide_wire.catalogue import WorkloadAnnouncement


@dataclass(frozen=True, slots=True)
class StoredEntries:
    """Entries, locked against removal, and frozen defaults by `Catalogue.key`."""

    entries: Mapping[Entry, Row[Any]]
    frozen: Mapping[str, Json]

    def id_of(self, catalogue: Catalogue, row: Json) -> int | None:
        """Return the id of this row's entry; None if `upsert_workload` would change something."""
        entry = self.entries.get(Entry(row["name"], row["revision"], catalogue.key(row["schema_sha256"])))
        if entry is None or _changes(catalogue, entry, row):
            return None
        found: int = entry.id
        return found

    def has_frozen(self, catalogue: Catalogue, name: str, option_defaults: Json) -> bool:
        frozen = self.frozen.get(catalogue.key(name))
        return frozen is not None and option_defaults.keys() <= frozen.keys()


def read_stored(
    session: Session, catalogue: Catalogue, announcements: Collection[WorkloadAnnouncement]
) -> StoredEntries:
    """Return the stored entries of these announcements in both catalogues, locked against removal."""
    names = {announced.name for announced in announcements}
    digests = {REJECTED_DIGEST, *(announced.schema_sha256 for announced in announcements)}
    catalogues = (EVERYWHERE, catalogue)
    columns = (*APART_FROM_DIGEST, "options_schema")
    found = session.execute(
        select(Workload.id, *ENTRY, *(Workload.__table__.c[name] for name in columns))
        .where(
            Workload.name == any_text_of(names),
            Workload.schema_sha256 == any_text_of(one.key(digest) for one in catalogues for digest in digests),
        )
        .with_for_update(read=True, key_share=True)
    )
    entries = {Entry(row.name, row.revision, row.schema_sha256): row for row in found}
    keys = {one.key(name) for one in catalogues for name in names}
    baselines = session.execute(
        select(WorkloadBaseline.name, WorkloadBaseline.option_defaults).where(
            WorkloadBaseline.name == any_text_of(keys)
        )
    )
    return StoredEntries(entries, {row.name: row.option_defaults for row in baselines})


def _changes(catalogue: Catalogue, entry: Row[Any], row: Json) -> bool:
    if catalogue.cluster_id is None:
        return any(getattr(entry, name) != row[name] for name in APART_FROM_DIGEST)
    names_primary = _names_primary(row["metrics"]) and not _names_primary(entry.metrics)
    return names_primary or entry.options_schema != row["options_schema"]


def _names_primary(metrics: Collection[Json]) -> bool:
    return any(metric.get("primary") is True for metric in metrics)
