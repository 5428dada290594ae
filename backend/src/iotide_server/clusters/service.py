"""Clusters as people make and change them."""

from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from iotide_server.accounts import audit
from iotide_server.accounts.audit import Action
from iotide_server.accounts.models import Role
from iotide_server.accounts.principal import Principal
from iotide_server.clusters import repository
from iotide_server.clusters.errors import ClusterNameTakenError, ClusterNotFoundError
from iotide_server.clusters.models import Cluster
from iotide_server.kit.pagination import PageRequest, Slice
from iotide_server.live import service as live


def list_clusters(session: Session, principal: Principal, paging: PageRequest) -> Slice[Cluster]:
    """The clusters that the caller may see."""
    return repository.clusters(session, principal.visible_clusters(), paging)


def cluster(session: Session, principal: Principal, cluster_id: int, role: Role = Role.VIEWER) -> Cluster:
    """The cluster, for a caller with at least `role` in it.

    Raises:
        ClusterNotFoundError: there is none that the caller may see.
        NotAllowedError: the caller may see it but lacks the role.
    """
    found = session.get(Cluster, cluster_id)
    missing = ClusterNotFoundError(cluster_id)
    principal.require(role, cluster_id, missing)
    if found is None:
        raise missing
    return found


def create_cluster(session: Session, principal: Principal, name: str, description: str) -> Cluster:
    """A new cluster; only for administrators of all clusters.

    Raises:
        ClusterNameTakenError: the name is in use.
    """
    principal.require(Role.ADMIN, None)
    created = Cluster(name=name, description=description, owner_id=principal.user_id)
    try:
        with session.begin_nested():
            session.add(created)
    except IntegrityError as error:
        raise ClusterNameTakenError(name) from error
    after = {"name": name, "description": description}
    audit.record(session, principal, Action("cluster_created", "cluster", created.id, created.id, after=after))
    live.publish(session, "cluster", created.id, created.id)
    return created


def change_cluster(session: Session, principal: Principal, cluster_id: int, changes: dict[str, str]) -> Cluster:
    """The cluster with another name or description.

    Raises:
        ClusterNameTakenError: the new name is in use.
    """
    changed = cluster(session, principal, cluster_id, Role.ADMIN)
    before = {field: getattr(changed, field) for field in changes}
    try:
        with session.begin_nested():
            for field, value in changes.items():
                setattr(changed, field, value)
    except IntegrityError as error:
        raise ClusterNameTakenError(changes["name"]) from error
    audit.record(
        session,
        principal,
        Action("cluster_changed", "cluster", changed.id, changed.id, before=before, after={**changes}),
    )
    live.publish(session, "cluster", changed.id, changed.id)
    return changed
