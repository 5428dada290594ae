"""SQL of scratch sets."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from sqlalchemy import Row, select, text
from sqlalchemy.orm import Session

from iotide_server.clusters.models import Node
from iotide_server.kit.db import any_of, in_clusters
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.scratch.models import KnownSet


@dataclass(frozen=True, slots=True)
class SetFilter:
    visible: frozenset[int] | None  # clusters; None: all
    cluster_id: int | None
    node_id: int | None


def sets(session: Session, wanted: SetFilter, paging: PageRequest) -> Slice[KnownSet]:
    """Return sets of nodes that are not retired, newest first."""
    statement = select(KnownSet).join(Node, Node.id == KnownSet.node_id).where(Node.retired_at.is_(None))
    statement = statement.where(*in_clusters(KnownSet.cluster_id, wanted.visible, wanted.cluster_id))
    if wanted.node_id is not None:
        statement = statement.where(KnownSet.node_id == wanted.node_id)
    return newest_first(session, statement, KnownSet.id, paging)


def locked_set(session: Session, set_id: int) -> KnownSet | None:
    statement = select(KnownSet).where(KnownSet.id == set_id).with_for_update()
    return session.scalar(statement, execution_options={"populate_existing": True})


def locked_sets_of(session: Session, node_id: int) -> list[KnownSet]:
    statement = select(KnownSet).where(KnownSet.node_id == node_id).order_by(KnownSet.id).with_for_update()
    return list(session.scalars(statement, execution_options={"populate_existing": True}))


def using_campaigns(session: Session, row: KnownSet) -> Sequence[Row[int, str, int]]:
    """Return the campaigns with open runs that make, fill, load or clean the set, and the number of these."""
    statement = text(
        "SELECT campaign.id, campaign.name, count(*) AS run_count FROM run"
        " JOIN cell ON cell.id = run.cell_id JOIN campaign ON campaign.id = run.campaign_id"
        " WHERE run.cluster_id = :cluster_id AND run.state IN ('waiting', 'active') AND ("
        "  EXISTS (SELECT FROM campaign_stage WHERE campaign_stage.campaign_id = cell.campaign_id"
        "   AND campaign_stage.ordinal = cell.stage AND scratch_set_id = :set_id)"
        "  OR EXISTS (SELECT FROM cell_target WHERE cell_id = cell.id AND target_id = :target_id)"
        " ) GROUP BY campaign.id, campaign.name ORDER BY campaign.id"
    )
    values = {"cluster_id": row.cluster_id, "set_id": row.id, "target_id": row.target_id}
    return session.execute(statement, values).all()


def set_named(session: Session, cluster_id: int, node_name: str, name: str) -> KnownSet | None:
    """Return the set of a living node of the cluster."""
    statement = (
        select(KnownSet)
        .join(Node, Node.id == KnownSet.node_id)
        .where(Node.cluster_id == cluster_id, Node.name == node_name, Node.retired_at.is_(None))
        .where(KnownSet.name == name)
    )
    return session.scalar(statement)


def names_on(session: Session, node_id: int) -> list[str]:
    return list(session.scalars(select(KnownSet.name).where(KnownSet.node_id == node_id).order_by(KnownSet.name)))


def node_names(session: Session, node_ids: Collection[int]) -> dict[int, str]:
    return dict(session.execute(select(Node.id, Node.name).where(Node.id == any_of(node_ids))).all())


def failed_cleanings(session: Session, set_ids: Collection[int]) -> dict[int, int]:
    """Return, by set, the run that cleans it last, if that failed or was cancelled."""
    statement = text(
        "SELECT newest.set_id, newest.run_id FROM ("
        " SELECT DISTINCT ON (scratch_set_id) scratch_set_id AS set_id, run.id AS run_id, run.state FROM campaign_stage"
        " JOIN cell ON cell.campaign_id = campaign_stage.campaign_id AND cell.stage = campaign_stage.ordinal"
        " JOIN run ON run.cell_id = cell.id"
        " WHERE scratch_set_id = ANY(:set_ids) AND does = 'clean' ORDER BY scratch_set_id, run.id DESC"
        ") AS newest WHERE newest.state IN ('failed', 'cancelled')"
    )
    return {row.set_id: row.run_id for row in session.execute(statement, {"set_ids": sorted(set_ids)})}


def set_of_cell(session: Session, cell_id: int) -> int | None:
    """Return the set that the stage of a cell works on; None without one."""
    statement = text(
        "SELECT scratch_set_id FROM cell JOIN campaign_stage ON campaign_stage.campaign_id = cell.campaign_id"
        " AND campaign_stage.ordinal = cell.stage WHERE cell.id = :cell_id"
    )
    found: int | None = session.scalar(statement, {"cell_id": cell_id})
    return found
