"""SQL of the workload catalogue."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, Final, NamedTuple

from pydantic import Field
from sqlalchemy import ColumnElement, SQLColumnExpression, cast, delete, exists, func, or_, select, text
from sqlalchemy.dialects.postgresql import JSONPATH, aggregate_order_by, insert
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.kit.db import Json, any_of, any_text_of, array_of, in_clusters
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.kit.web import Output
from iotide_server.workloads.models import Catalogue, NodeWorkload, Workload, WorkloadBaseline
from iotide_wire import names as wire_names
from iotide_wire.expressions import Number
from iotide_wire.measured import StepRole

MOST_ENTRIES: Final = 500
APART_FROM_DIGEST: Final = ("metrics", "title", "description", "tool", "breaks_series")
"""Columns that a digest does not cover; of `metrics`, only which are primary."""
REJECTED: Final = 0
REJECTED_DIGEST: Final = ""

_IN_CAMPAIGNS: Final = text(
    """
    EXISTS (
        SELECT FROM cell JOIN campaign ON campaign.id = cell.campaign_id
        WHERE cell.workload_id = workload.id
          AND (CAST(:visible AS bigint[]) IS NULL OR campaign.cluster_id = ANY(:visible))
          AND (CAST(:cluster_id AS bigint) IS NULL OR campaign.cluster_id = :cluster_id)
    )
    """
)

IN_SERVICE: Final = Node.retired_at.is_(None) & Node.revoked_at.is_(None)
_USED: Final = or_(
    exists(
        select(NodeWorkload)
        .join(Node, Node.id == NodeWorkload.node_id)
        .where(NodeWorkload.workload_id == Workload.id, IN_SERVICE)
        .correlate(Workload)
    ),
    text("EXISTS (SELECT FROM cell WHERE cell.workload_id = workload.id)"),
    text(
        """
        EXISTS (
            SELECT FROM workload AS later
            WHERE workload.breaks_series AND later.series_revision = workload.revision AND later.id <> workload.id
              AND later.name = workload.name AND later.cluster_id IS NOT DISTINCT FROM workload.cluster_id
        )
        """
    ),
)
"""Condition: a node in service has it, campaigns used it, or its revision is another's series key."""
_FORGET_BASELINES: Final = text(
    """
    DELETE FROM workload_baseline
    WHERE name = ANY(CAST(:names AS text[])) AND NOT EXISTS (
        SELECT FROM workload
        WHERE workload.name || coalesce('@' || workload.cluster_id, '') = workload_baseline.name
          AND workload.revision > 0
    )
    """
)
_FORGET_DEFAULTS: Final = text(
    """
    UPDATE workload_baseline SET option_defaults = kept.defaults
    FROM (
        SELECT baseline.name, coalesce(jsonb_object_agg(one.key, one.value) FILTER (WHERE EXISTS (
            SELECT FROM workload
            WHERE workload.name || coalesce('@' || workload.cluster_id, '') = baseline.name
              AND (jsonb_exists(workload.option_defaults, one.key)
                   OR jsonb_exists(CAST(workload.options_schema AS jsonb) -> 'properties', one.key))
        )), '{}') AS defaults
        FROM workload_baseline AS baseline CROSS JOIN LATERAL jsonb_each(baseline.option_defaults) AS one
        WHERE baseline.name = ANY(CAST(:names AS text[]))
        GROUP BY baseline.name
    ) AS kept
    WHERE workload_baseline.name = kept.name AND workload_baseline.option_defaults <> kept.defaults
    """
)
"""Drops defaults of options that no entry has. No cell can have them, so no series key changes."""


class Availability(NamedTuple):
    has: NodeWorkload
    workload: Workload
    node_name: str


class Entry(NamedTuple):
    """The digest is in its stored form."""

    name: str
    revision: int
    digest: str


ENTRY: Final = (Workload.name, Workload.revision, Workload.schema_sha256)


class WorkloadNodes(Output):
    """Nodes with the same tool version of a workload, or with the same reason why they cannot run it."""

    available: bool
    unavailable_because: str | None
    tool_version: str | None
    node_ids: Annotated[list[int], Field(description="Ascending")]


def upsert_workload(session: Session, catalogue: Catalogue, row: Json) -> int:
    """Store a workload if it is new; return its id.

    A digest does not cover which metrics are primary: a cluster's first agent decides. For iotide's own workloads,
    this release decides all that the digest does not cover.
    """
    values = row | {"cluster_id": catalogue.cluster_id, "schema_sha256": catalogue.key(row["schema_sha256"])}
    changed = APART_FROM_DIGEST if catalogue.cluster_id is None else ("metrics",)
    statement = insert(Workload).values(**values)
    statement = statement.on_conflict_do_update(
        index_elements=[Workload.name, Workload.revision, Workload.schema_sha256],
        set_={name: statement.excluded[name] for name in changed},
        where=_may_change(catalogue, statement.excluded),
    )
    workload_id: int | None = session.scalar(statement.returning(Workload.id))
    if workload_id is None:
        same = (column == values[column.key] for column in ENTRY)
        workload_id = session.scalars(select(Workload.id).where(*same)).one()
    if catalogue.cluster_id is not None:
        # An earlier release stored the schema as announced.
        session.get_one(Workload, workload_id).options_schema = row["options_schema"]
    return workload_id


def rejected_row(name: str, announced_by: str) -> Json:
    """Return the empty row that all rejected announcements of a name in a cluster share."""
    nothing: Json = {"type": "object", "properties": {}, "additionalProperties": False}
    none = Number.of(0).model_dump(mode="json")
    return {
        "name": name,
        "revision": REJECTED,
        "schema_sha256": REJECTED_DIGEST,
        "title": name,
        "description": "",
        "options_schema": nothing,
        "option_defaults": {},
        "metrics": [],
        "bytes_needed": none,
        "bytes_moved": none,
        "breaks_series": False,
        "tool": "",
        "announced_by": announced_by,
    }


def entries_of(session: Session, node: Node) -> frozenset[Entry]:
    has = select(*ENTRY).join(NodeWorkload, NodeWorkload.workload_id == Workload.id)
    return frozenset(Entry(*row) for row in session.execute(has.where(NodeWorkload.node_id == node.id)))


def others_have(session: Session, node: Node, entry: Entry) -> bool:
    one = (Workload.name == entry.name, Workload.revision == entry.revision, Workload.schema_sha256 == entry.digest)
    return session.scalar(select(exists().where(*one, *_on_another(node)))) is True


def entries_of_others(session: Session, node: Node) -> frozenset[Entry]:
    on_another = exists().where(*_on_another(node)).correlate(Workload)
    own = select(*ENTRY).where(Workload.cluster_id == node.cluster_id, on_another)
    return frozenset(Entry(*row) for row in session.execute(own))


def _on_another(node: Node) -> list[ColumnElement[bool]]:
    return [
        NodeWorkload.workload_id == Workload.id,
        NodeWorkload.node_id == Node.id,
        Node.cluster_id == node.cluster_id,
        Node.id != node.id,
        IN_SERVICE,
    ]


def remove_unused(session: Session, catalogue: Catalogue) -> None:
    """Remove unused entries and their defaults if a cluster has too many."""
    count = select(func.count()).where(Workload.cluster_id == catalogue.cluster_id)
    if session.scalars(count).one() <= MOST_ENTRIES:
        return
    # Concurrent users of an entry have it locked.
    locked = session.scalars(
        select(Workload.id).where(Workload.cluster_id == catalogue.cluster_id, ~_USED).with_for_update(skip_locked=True)
    ).all()
    remove(session, locked)


def remove(session: Session, workload_ids: Collection[int]) -> None:
    """Remove unused entries, and defaults of options that no entry has any more."""
    unused = session.execute(
        select(Workload.id, Workload.name, Workload.cluster_id).where(Workload.id == any_of(workload_ids), ~_USED)
    ).all()
    ids = [row.id for row in unused]
    session.execute(delete(NodeWorkload).where(NodeWorkload.workload_id == any_of(ids)))  # of nodes out of service
    session.execute(delete(Workload).where(Workload.id == any_of(ids)))
    keys = sorted({Catalogue(row.cluster_id).key(row.name) for row in unused})
    for statement in (_FORGET_BASELINES, _FORGET_DEFAULTS):
        session.execute(statement, {"names": keys})


def revision_before(session: Session, catalogue: Catalogue, name: str, revision: int) -> tuple[int, int] | None:
    statement = (
        select(Workload.revision, Workload.series_revision)
        .where(
            Workload.cluster_id.is_not_distinct_from(catalogue.cluster_id),
            Workload.name == name,
            Workload.revision <= revision,
            Workload.revision > REJECTED,
        )
        .order_by(Workload.revision.desc(), Workload.id)
        .limit(1)
    )
    found = session.execute(statement).one_or_none()
    return None if found is None else (found.revision, found.series_revision)


def _may_change(catalogue: Catalogue, new: Any) -> ColumnElement[bool]:  # noqa: ANN401 - the row of a conflict
    if catalogue.cluster_id is not None:
        return _names_primary(new["metrics"]) & ~_names_primary(Workload.metrics)
    return or_(*(Workload.__table__.c[name] != new[name] for name in APART_FROM_DIGEST))


def _names_primary(metrics: SQLColumnExpression[Any]) -> ColumnElement[bool]:
    return func.jsonb_path_exists(metrics, cast("$[*] ? (@.primary == true)", JSONPATH))


def freeze_baseline(session: Session, catalogue: Catalogue, name: str, option_defaults: Json) -> None:
    """Keep each option's first default forever, also of options added by later revisions."""
    statement = insert(WorkloadBaseline).values(name=catalogue.key(name), option_defaults=option_defaults)
    frozen = statement.excluded.option_defaults.concat(WorkloadBaseline.option_defaults)
    session.execute(
        statement.on_conflict_do_update(
            index_elements=[WorkloadBaseline.name],
            set_={"option_defaults": frozen},
            where=frozen != WorkloadBaseline.option_defaults,
        )
    )


def replace_node_workloads(session: Session, node_id: int, rows: Collection[NodeWorkload]) -> None:
    session.execute(delete(NodeWorkload).where(NodeWorkload.node_id == node_id))
    session.add_all(rows)
    session.flush()


def catalogue(
    session: Session,
    visible: frozenset[int] | None,
    cluster_id: int | None,
    paging: PageRequest,
    *,
    with_former: bool = False,
) -> Slice[Workload]:
    """Return the workloads of these clusters' nodes, newest first, without those that only prepare stages.

    `with_former`: also of campaigns, if no node has them any more.
    """
    on_a_node = (
        select(NodeWorkload)
        .join(Node, Node.id == NodeWorkload.node_id)
        .where(
            NodeWorkload.workload_id == Workload.id,
            Node.retired_at.is_(None),
            *in_clusters(Node.cluster_id, visible, cluster_id),
        )
    )
    is_known: ColumnElement[bool] = exists(on_a_node)
    if with_former:
        asked = {"visible": array_of(visible), "cluster_id": cluster_id}
        is_known = or_(is_known, _IN_CAMPAIGNS.bindparams(**asked))
    is_offered = ~Workload.step_roles.contains([StepRole.MAKER])
    statement = select(Workload).where(is_known, is_offered, Workload.revision > REJECTED)
    return newest_first(session, statement, Workload.id, paging)


def entries(session: Session) -> Sequence[Workload]:
    return session.scalars(
        select(Workload).order_by(Workload.cluster_id, Workload.name, Workload.revision, Workload.id)
    ).all()


def option_titles(session: Session, names: Collection[str], cluster_ids: Collection[int]) -> dict[str, dict[str, str]]:
    """Return by workload the newest title of each option, from iotide or these clusters."""
    is_theirs = Workload.cluster_id.is_(None) | (Workload.cluster_id == any_of(cluster_ids))
    statement = (
        select(Workload.name, Workload.options_schema)
        .where(Workload.name == any_text_of(names), is_theirs)
        .order_by(Workload.id)
    )
    titles: dict[str, dict[str, str]] = {name: {} for name in names}
    for name, schema in session.execute(statement):
        titles[name] |= wire_names.option_titles(schema)
    return titles


def nodes_of(
    session: Session, workload_ids: Collection[int], visible: frozenset[int] | None, cluster_id: int | None
) -> Mapping[int, list[WorkloadNodes]]:
    """Group these clusters' nodes by workload, then by identical announcement; retired nodes are left out."""
    alike = (NodeWorkload.available, NodeWorkload.unavailable_because, NodeWorkload.tool_version)
    node_ids = func.array_agg(aggregate_order_by(NodeWorkload.node_id, NodeWorkload.node_id)).label("node_ids")
    statement = (
        select(NodeWorkload.workload_id, *alike, node_ids)
        .join(Node, Node.id == NodeWorkload.node_id)
        .where(
            NodeWorkload.workload_id == any_of(workload_ids),
            Node.retired_at.is_(None),
            *in_clusters(Node.cluster_id, visible, cluster_id),
        )
        .group_by(NodeWorkload.workload_id, *alike)
        .order_by(func.min(NodeWorkload.node_id))
    )
    by_workload: defaultdict[int, list[WorkloadNodes]] = defaultdict(list)
    for row in session.execute(statement):
        by_workload[row.workload_id].append(WorkloadNodes.model_validate(row))
    return by_workload


def node_names(session: Session, node_ids: Collection[int]) -> dict[int, str]:
    rows = session.execute(select(Node.id, Node.name).where(Node.id == any_of(node_ids)).order_by(Node.name))
    return {row.id: row.name for row in rows}


def availability(session: Session, node_ids: Collection[int]) -> list[Availability]:
    statement = (
        select(NodeWorkload, Workload, Node.name)
        .join(Workload, Workload.id == NodeWorkload.workload_id)
        .join(Node, Node.id == NodeWorkload.node_id)
        .where(NodeWorkload.node_id == any_of(node_ids))
        .order_by(Node.name, Workload.name)
    )
    return [Availability(*row) for row in session.execute(statement)]
