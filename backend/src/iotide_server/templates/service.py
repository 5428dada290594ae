"""Create, change and remove templates."""

from datetime import datetime
from typing import TypeVar

from sqlalchemy.orm import Session

from iotide_server.accounts.audit.trail import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.roles.principal import Principal
from iotide_server.campaigns.plain import LISTED_PLAN_BYTES
from iotide_server.change_feed import service as live
from iotide_server.clusters import service as clusters
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import Json, savepoint
from iotide_server.kit.pagination import Page, PageRequest
from iotide_server.kit.quotas import QUOTA_REACHED, Addition, QuotaKind, count_day, quotas_of
from iotide_server.templates import models, repository
from iotide_server.templates.errors import TEMPLATE_MOVES, TEMPLATE_NAME_TAKEN, TEMPLATE_NOT_FOUND
from iotide_server.templates.schemas import ListedTemplate, TemplateInput, TemplateOutput, TemplatePatch
from iotide_wire.plan import CampaignPlan

ListedT = TypeVar("ListedT", bound=ListedTemplate)


def list_templates(
    session: Session, principal: Principal, cluster_id: int | None, paging: PageRequest
) -> Page[ListedTemplate]:
    found = repository.page(session, principal.visible_clusters(), cluster_id, paging)
    rows = repository.named(session, list(found.rows), LISTED_PLAN_BYTES)
    return Page(items=[_shown(row, ListedTemplate) for row in rows], next_cursor=found.next_cursor)


def template(session: Session, principal: Principal, template_id: int) -> TemplateOutput:
    """Raise TEMPLATE_NOT_FOUND."""
    missing = TEMPLATE_NOT_FOUND(template_id=template_id)
    found = repository.named(session, [template_id])
    if not found:
        raise missing
    principal.require(Role.VIEWER, found[0][0].cluster_id, missing)
    return _shown(found[0], TemplateOutput)


def create(session: Session, principal: Principal, given: TemplateInput, now: datetime) -> int:
    """Return the new id; raise CLUSTER_NOT_FOUND, QUOTA_REACHED or TEMPLATE_NAME_TAKEN."""
    cluster = clusters.cluster_named(session, principal, given.plan.cluster, Role.OPERATOR, field="plan.cluster")
    count_day(session, Addition(QuotaKind.TEMPLATES, cluster.id, principal.user_id, now, field="plan.cluster"))
    most, count = quotas_of(session).templates, repository.count_in(session, cluster.id) + 1
    if count > most:
        remedy = "remove unused templates, or ask an admin to raise IOTIDE_QUOTA_TEMPLATES"
        raise QUOTA_REACHED(
            what="templates in the cluster", count=count, most=most, field="plan.cluster", remedy=remedy
        )
    made = models.Template(cluster_id=cluster.id, name=given.name, created_at=now)
    _write(made, principal, given.plan, now)
    session.add(made)
    _flush(session, given.name)
    _announce(session, principal, made, "template_created", after=_summary(made))
    return made.id


def change(session: Session, principal: Principal, template_id: int, given: TemplatePatch, now: datetime) -> None:
    """Change the name, or the plan within its cluster; raise TEMPLATE_NOT_FOUND, _MOVES or _NAME_TAKEN."""
    changed = _own(session, principal, template_id)
    before = _summary(changed)
    if given.plan is not None:
        cluster = session.get_one(Cluster, changed.cluster_id)
        if given.plan.cluster != cluster.name:
            raise TEMPLATE_MOVES(cluster=cluster.name, named=given.plan.cluster)
        _write(changed, principal, given.plan, now)
    if given.name is not None:
        changed.name = given.name
    _flush(session, changed.name)
    _announce(session, principal, changed, "template_changed", before=before, after=_summary(changed))


def remove(session: Session, principal: Principal, template_id: int) -> None:
    """Raise TEMPLATE_NOT_FOUND."""
    removed = _own(session, principal, template_id)
    session.delete(removed)
    _announce(session, principal, removed, "template_removed", before=_summary(removed))


def _own(session: Session, principal: Principal, template_id: int) -> models.Template:
    found = repository.locked(session, template_id)
    return principal.require_row(Role.OPERATOR, found, TEMPLATE_NOT_FOUND(template_id=template_id))


def _write(row: models.Template, principal: Principal, plan: CampaignPlan, now: datetime) -> None:
    row.plan, row.owner_id, row.changed_at = plan.model_dump(mode="json"), principal.user_id, now


def _flush(session: Session, name: str) -> None:
    with savepoint(session, TEMPLATE_NAME_TAKEN(name=name)):
        session.flush()


def _announce(session: Session, principal: Principal, row: models.Template, name: str, **changes: Json) -> None:
    session.flush()
    live.record(session, principal, Action.on(name, row, **changes))


def _summary(row: models.Template) -> Json:
    return {"name": row.name, "campaign": row.plan["name"]}


def _shown(found: repository.Named, shown: type[ListedT]) -> ListedT:
    row, plan, cluster_name, owner = found
    return shown.of_row(row, cluster_name=cluster_name, owner=owner, plan=plan)
