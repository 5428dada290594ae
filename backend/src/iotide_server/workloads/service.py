"""Catalogue of workloads: announcements of agents, and lookups for campaigns."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from importlib.resources import files
from typing import Any, Final

import structlog
from sqlalchemy.orm import Session

from iotide_server.accounts.roles.principal import Principal
from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json, after_commit
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.kit.suggest import choose_from
from iotide_server.workloads import repository
from iotide_server.workloads.errors import WORKLOAD_DIFFERS, WORKLOAD_NOT_FOUND, WORKLOAD_UNAVAILABLE
from iotide_server.workloads.models import EVERYWHERE, Catalogue, NodeWorkload, Workload, WorkloadBaseline
from iotide_server.workloads.repository import Entry
from iotide_server.workloads.schemas import WorkloadOutput
from iotide_server.workloads.stored_repository import StoredEntries, read_stored
from iotide_wire.built_in import (
    FIRST_REVISION,
    BuiltIn,
    as_shipped,
    breaking_revisions,
    built_in,
    frozen_defaults,
)
from iotide_wire.catalogue import WorkloadAnnouncement
from iotide_wire.measured import StepRole
from iotide_wire.references import in_place
from iotide_wire.vocabulary import VocabularyError, require_vocabulary

_log = structlog.get_logger(__name__)

_MOST_LOGGED: Final = 3  # rejected workloads in one log line; the node's page lists all


class _Room:
    """Room in a cluster's catalogue.

    Entries that a node already has need no room, so a thousand starting agents cause few queries.
    """

    def __init__(self, session: Session, node: Node) -> None:
        self.catalogue = Catalogue(node.cluster_id)
        self.session = session
        self.node = node
        self._before = repository.entries_of(session, node)
        self._of_others: frozenset[Entry] | None = None
        self._own: set[Entry] = set()

    def take(self, name: str, revision: int, digest: str) -> bool:
        entry = Entry(name, revision, self.catalogue.key(digest))
        if not (entry in self._before or entry in self._own or repository.others_have(self.session, self.node, entry)):
            if self._of_others is None:
                self._of_others = repository.entries_of_others(self.session, self.node)
            if len(self._of_others | self._own) >= repository.MOST_ENTRIES:
                return False
        self._own.add(entry)
        return True


def announce(session: Session, node: Node, announcements: Sequence[WorkloadAnnouncement]) -> None:
    """Replace the node's workloads by those that it announces.

    iotide's own must match a release; others belong to the node's cluster. A rejected one is stored as unavailable,
    with the reason.
    """
    rows: dict[int, NodeWorkload] = {}
    room = _Room(session, node)
    stored = read_stored(session, room.catalogue, announcements)
    refusals: list[Json] = []
    for announced in sorted(announcements, key=lambda workload: workload.name):
        try:
            workload_id = _store(announced, room, stored)
        except VocabularyError as error:
            refusals.append({"workload": announced.name, "path": error.path, "problem": error.problem})
            rejected = _rejected(announced.name, error, room, stored)
            if rejected is not None:
                rows[rejected.workload_id] = rejected
            continue
        rows[workload_id] = NodeWorkload(
            node_id=node.id,
            workload_id=workload_id,
            available=announced.available,
            unavailable_because=announced.unavailable_because,
            tool_version=announced.tool_version,
        )
    repository.replace_node_workloads(session, node.id, rows.values())
    repository.remove_unused(session, Catalogue(node.cluster_id))
    if refusals:
        said = {"node_id": node.id, "count": len(refusals), "first": refusals[:_MOST_LOGGED]}
        after_commit(session, lambda: _log.warning("workloads_rejected", **said))


def ensure(session: Session, announced: WorkloadAnnouncement) -> Workload:
    shipped = as_shipped(announced) or BuiltIn.of(announced)
    stored = read_stored(session, EVERYWHERE, [announced])
    return session.get_one(Workload, _store_shipped(session, announced, shipped, stored))


def is_shipped(workload: Workload) -> bool:
    known = built_in().get(workload.name, ())
    return workload.cluster_id is None and any(one.sha256 == workload.digest for one in known)


def own_entries(session: Session) -> list[tuple[Workload, int]]:
    rows = [row for row in repository.entries(session) if not is_shipped(row)]
    nodes = repository.nodes_of(session, [row.id for row in rows], None, None)
    return [(row, sum(len(alike.node_ids) for alike in nodes.get(row.id, []))) for row in rows]


def _store(announced: WorkloadAnnouncement, room: _Room, stored: StoredEntries) -> int:
    """Raise VocabularyError."""
    shipped = as_shipped(announced)
    if shipped is not None:
        return _store_shipped(room.session, announced, shipped, stored)
    known = built_in().get(announced.name)
    if known is not None:
        raise _unknown(announced, known[-1].revision)
    schema = in_place(announced.options_schema)  # agents of 0.1.0 and 0.2.0 announce references
    require_vocabulary(announced.model_copy(update={"options_schema": schema}))
    if not room.take(announced.name, announced.revision, announced.schema_sha256):
        raise VocabularyError(
            "announcement",
            f"the cluster's nodes already announce {repository.MOST_ENTRIES} entries of their own",
            "remove unused plug-ins from its nodes and restart their agents",
        )
    row = _row(announced) | {"announced_by": room.node.name, "options_schema": schema}
    breaking = [announced.revision] if announced.breaks_series else []
    return _store_entry(
        room.session, room.catalogue, row, stored, breaking=breaking, option_defaults=announced.option_defaults
    )


def _store_shipped(session: Session, announced: WorkloadAnnouncement, shipped: BuiltIn, stored: StoredEntries) -> int:
    """Take only what the digest covers from the announcement."""
    metrics = (metric.model_copy(update={"primary": metric.name in shipped.primary}) for metric in announced.metrics)
    columns = {
        "title": shipped.title,
        "description": shipped.description,
        "tool": shipped.tool,
        "breaks_series": shipped.breaks_series,
        "metrics": [metric.model_dump(mode="json") for metric in metrics],
    }
    return _store_entry(
        session,
        EVERYWHERE,
        _row(announced) | columns,
        stored,
        breaking=breaking_revisions(shipped.name),
        option_defaults=frozen_defaults(shipped.name),
    )


def _store_entry(  # noqa: PLR0913 - each is a part of the entry
    session: Session,
    catalogue: Catalogue,
    row: Json,
    stored: StoredEntries,
    *,
    breaking: Collection[int],
    option_defaults: Json,
) -> int:
    """Write the entry and its frozen defaults where they differ."""
    workload_id = stored.id_of(catalogue, row)
    if workload_id is None:
        known_by = _series_revision(session, catalogue, row["name"], row["revision"], breaking)
        workload_id = repository.upsert_workload(session, catalogue, row | {"series_revision": known_by})
    if not stored.has_frozen(catalogue, row["name"], option_defaults):
        repository.freeze_baseline(session, catalogue, row["name"], option_defaults)
    return workload_id


def _series_revision(
    session: Session, catalogue: Catalogue, name: str, revision: int, breaking: Collection[int]
) -> int:
    """Return the revision for the series key: the previous one unless a later revision breaks series."""
    before = repository.revision_before(session, catalogue, name, revision)
    last, known_by = before or (0, FIRST_REVISION)
    return max((one for one in breaking if last < one <= revision), default=known_by)


def _rejected(name: str, because: VocabularyError, room: _Room, stored: StoredEntries) -> NodeWorkload | None:
    """Return the row that the node's page shows for a rejected workload; None if the catalogue is full."""
    row = repository.rejected_row(name, room.node.name)
    if not room.take(name, row["revision"], row["schema_sha256"]):
        return None
    workload_id = stored.id_of(room.catalogue, row)
    if workload_id is None:
        workload_id = repository.upsert_workload(room.session, room.catalogue, row)
    return NodeWorkload(
        node_id=room.node.id,
        workload_id=workload_id,
        available=False,
        unavailable_because=f"rejected: {name}: {because}",
    )


def _unknown(announced: WorkloadAnnouncement, newest: int) -> VocabularyError:
    if announced.revision > newest:
        remedy = "upgrade the server first"
        problem = f"this server does not know revision {announced.revision} of {announced.name}"
        return VocabularyError("revision", problem, remedy)
    return VocabularyError(
        "announcement",
        f"revision {announced.revision} with digest {announced.schema_sha256[:8]} is not from any release",
        "install a released agent, or rename your own workload",
    )


def catalogue(
    session: Session,
    principal: Principal,
    cluster_id: int | None,
    paging: PageRequest,
    *,
    with_former: bool = False,
) -> Page[WorkloadOutput]:
    visible = principal.visible_clusters()
    page = repository.catalogue(session, visible, cluster_id, paging, with_former=with_former)
    nodes = repository.nodes_of(session, [workload.id for workload in page.rows], visible, cluster_id)
    return page.page(lambda row: WorkloadOutput.of(row, nodes.get(row.id, [])))


def workload_for(session: Session, name: str, node_ids: Collection[int], *, field: str | None = None) -> Workload:
    """Return the workload that all these nodes can run.

    Raises WORKLOAD_NOT_FOUND, WORKLOAD_UNAVAILABLE or WORKLOAD_DIFFERS, each with `field`.
    """
    rows = repository.availability(session, node_ids)
    offered = {row.has.node_id: row for row in rows if row.workload.name == name}
    if not offered:
        chosen_by_plans = {row.workload.name for row in rows if StepRole.MAKER not in row.workload.step_roles}
        remedy = choose_from(name, chosen_by_plans)
        raise WORKLOAD_NOT_FOUND(name=name, field=field, remedy=remedy)
    reasons = {
        node_name: (offered[node_id].has.unavailable_because or "its agent reports it as unavailable")
        if node_id in offered
        else "its agent does not have it"
        for node_id, node_name in repository.node_names(session, node_ids).items()
        if node_id not in offered or not offered[node_id].has.available
    }
    if reasons:
        words = [f"{node}: {reason}" for node, reason in reasons.items()]
        raise WORKLOAD_UNAVAILABLE(name=name, nodes=reasons, reasons=words, field=field)
    versions = _nodes_by_version(list(offered.values()))
    if len(versions) > 1:
        words = [f"{version} on {', '.join(nodes)}" for version, nodes in versions.items()]
        raise WORKLOAD_DIFFERS(name=name, versions=words, field=field)
    return next(iter(offered.values())).workload


def baseline(session: Session, workload: Workload) -> WorkloadBaseline:
    return session.get_one(WorkloadBaseline, Catalogue(workload.cluster_id).key(workload.name))


def _nodes_by_version(offered: Sequence[repository.Availability]) -> dict[str, list[str]]:
    nodes: defaultdict[str, list[str]] = defaultdict(list)
    for row in offered:
        nodes[f"revision {row.workload.revision} ({row.workload.digest[:8]})"].append(row.node_name)
    return dict(nodes)


def _row(announced: WorkloadAnnouncement) -> dict[str, Any]:
    columns = set(Workload.__table__.columns.keys())
    return announced.model_dump(mode="json", include=columns) | {"schema_sha256": announced.schema_sha256}


def recorded_announcements(names: Collection[str]) -> tuple[WorkloadAnnouncement, ...]:
    recorded: list[Any] = json.loads(files(__package__).joinpath("recorded.json").read_text())
    return tuple(WorkloadAnnouncement.model_validate(one) for one in recorded if one["name"] in names)
