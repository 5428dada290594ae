"""SQL of templates."""

from typing import Final

from sqlalchemy import func, select
from sqlalchemy.orm import Session, defer, load_only

from iotide_server.accounts.models import User
from iotide_server.clusters.models import Cluster
from iotide_server.kit.db import Json, any_of, in_clusters, up_to
from iotide_server.kit.pagination import PageRequest, Slice, newest_first
from iotide_server.templates.models import Template

Named = tuple[Template, Json | None, str, str | None]
"""Template without its plan, the plan, and the names of its cluster and its owner."""
_ANY_SIZE: Final = 2**31 - 1


def page(session: Session, visible: frozenset[int] | None, cluster_id: int | None, paging: PageRequest) -> Slice[int]:
    """Return ids, newest first; `visible` None: of all clusters."""
    statement = select(Template).options(load_only(Template.id))
    statement = statement.where(*in_clusters(Template.cluster_id, visible, cluster_id))
    found = newest_first(session, statement, Template.id, paging)
    return Slice([row.id for row in found.rows], found.next_cursor)


def count_in(session: Session, cluster_id: int) -> int:
    return session.scalar(select(func.count()).where(Template.cluster_id == cluster_id)) or 0


def named(session: Session, template_ids: list[int], plan_bytes: int = _ANY_SIZE) -> list[Named]:
    """Return these templates, newest first. A plan longer than `plan_bytes` is None."""
    statement = (
        select(Template, up_to(Template.plan, plan_bytes), Cluster.name, User.name)
        .options(defer(Template.plan))
        .join(Cluster, Cluster.id == Template.cluster_id)
        .outerjoin(User, User.id == Template.owner_id)
        .where(Template.id == any_of(template_ids))
        .order_by(Template.id.desc())
    )
    return [(row, plan, cluster_name, owner) for row, plan, cluster_name, owner in session.execute(statement)]


def locked(session: Session, template_id: int) -> Template | None:
    return session.scalar(select(Template).where(Template.id == template_id).with_for_update())
