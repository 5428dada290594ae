"""Draining of nodes, targets and clusters."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy.orm import Session

from iotide_server.accounts.audit import trail as audit
from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.change_feed import service as live
from iotide_server.clusters import repository
from iotide_server.clusters.drains import repository as drain_repository
from iotide_server.clusters.drains.schemas import DrainInput, DrainOutput, NamedDrain
from iotide_server.clusters.errors import DRAIN_END_PASSED, NODE_NOT_FOUND
from iotide_server.clusters.models import Drain
from iotide_server.clusters.service import cluster
from iotide_server.clusters.views import DrainKind
from iotide_server.kit.db import Json, fields_of
from iotide_server.kit.wake import wake_scheduler


@dataclass(frozen=True, slots=True)
class Drainable:
    kind: DrainKind
    id: int
    cluster_id: int | None  # None for everything


EVERYTHING: Final = Drainable(DrainKind.ALL, 0, None)


def node_subject(session: Session, principal: Principal, node_id: int) -> Drainable:
    row = repository.living_node(session, node_id)
    found = principal.require_row(Role.OPERATOR, row, NODE_NOT_FOUND(node=node_id))
    return Drainable(DrainKind.NODE, found.id, found.cluster_id)


def cluster_subject(session: Session, principal: Principal, cluster_id: int) -> Drainable:
    return Drainable(DrainKind.CLUSTER, cluster_id, cluster(session, principal, cluster_id, Role.OPERATOR).id)


def drain(session: Session, principal: Principal, subject: Drainable, wanted: DrainInput, now: datetime) -> DrainOutput:
    # Runs that the scheduler was starting are visible before this returns.
    principal.require(Role.OPERATOR, subject.cluster_id)
    if wanted.until is not None and wanted.until <= now:
        raise DRAIN_END_PASSED(until=wanted.until)
    drain_repository.stop_starts(session)
    before = drain_repository.drain_of(session, subject.kind, subject.id)
    known = None if before is None else _shown(before)
    drained = before or Drain(kind=subject.kind, subject_id=subject.id, cluster_id=subject.cluster_id, since=now)
    drained.reason, drained.until, drained.by = wanted.reason, wanted.until, principal.name
    session.add(drained)
    session.flush()
    action = Action(
        f"{subject.kind}_drained", subject.kind, subject.id, subject.cluster_id, before=known, after=_shown(drained)
    )
    audit.record(session, principal, action)
    _publish(session, subject.kind, subject.id, subject.cluster_id)
    wake_scheduler(session, "drain")
    return DrainOutput.model_validate(drained)


def resume(session: Session, principal: Principal, subject: Drainable) -> None:
    principal.require(Role.OPERATOR, subject.cluster_id)
    found = drain_repository.drain_of(session, subject.kind, subject.id)
    if found is None:
        return
    action = Action(f"{subject.kind}_resumed", subject.kind, subject.id, subject.cluster_id, before=_shown(found))
    session.delete(found)
    session.flush()
    audit.record(session, principal, action)
    _publish(session, subject.kind, subject.id, subject.cluster_id)
    wake_scheduler(session, "drain")


def resume_due(session: Session, now: datetime) -> None:
    for ended in drain_repository.end_due(session, now):
        _publish(session, ended.kind, ended.subject_id, ended.cluster_id)


def list_drains(session: Session, principal: Principal, cluster_id: int | None) -> list[NamedDrain]:
    rows = drain_repository.named_drains(session, principal.visible_clusters(), cluster_id)
    return [NamedDrain.model_validate(row) for row in rows]


def _publish(session: Session, kind: str, subject_id: int, cluster_id: int | None) -> None:
    live.publish(session, "cluster" if kind == DrainKind.ALL else kind, subject_id, cluster_id)


def _shown(row: Drain) -> Json:
    return fields_of(row, "reason", "by", "until")
