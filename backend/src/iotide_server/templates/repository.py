"""SQL of templates."""

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from iotide_server.accounts.models import User
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import any_of
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.templates.models import Template

Named = tuple[Template, str, str | None]
"""A template with the names of its cluster and its owner."""


def page(session: Session, visible: frozenset[int] | None, cluster_id: int | None, paging: PageRequest) -> Slice[int]:
    """Ids of the templates of the visible clusters (None: all), newest first."""
    statement = select(Template)
    if visible is not None:
        statement = statement.where(Template.cluster_id == any_of(visible))
    if cluster_id is not None:
        statement = statement.where(Template.cluster_id == cluster_id)
    found = newest_first(session, statement, Template.id, paging)
    return Slice([row.id for row in found.rows], found.next_cursor)


def count_in(session: Session, cluster_id: int) -> int:
    """Count the templates of a cluster."""
    return session.scalar(select(func.count()).where(Template.cluster_id == cluster_id)) or 0


def named(session: Session, template_ids: list[int]) -> list[Named]:
    """These templates with the names that are shown, newest first."""
    statement = (
        select(Template, Cluster.name, User.name)
        .join(Cluster, Cluster.id == Template.cluster_id)
        .outerjoin(User, User.id == Template.owner_id)
        .where(Template.id == any_of(template_ids))
        .order_by(Template.id.desc())
    )
    return [(row, cluster_name, owner) for row, cluster_name, owner in session.execute(statement)]


def locked(session: Session, template_id: int) -> Template | None:
    """The template, its row locked until the end of the transaction."""
    return session.scalar(select(Template).where(Template.id == template_id).with_for_update())
