"""Caller of a request, and permissions."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from iotide_server.accounts.errors import CLUSTER_PUBLISHED, PERSON_WANTED
from iotide_server.accounts.models import Role
from iotide_server.kit.errors import IotideError, NotAllowedError, NotFoundError


class PrincipalKind(StrEnum):
    USER = "user"
    TOKEN = "token"  # noqa: S105 - the name of a kind
    NODE = "node"
    ANONYMOUS = "anonymous"


class OfCluster(Protocol):
    """Belongs to a cluster, or to all if `cluster_id` is None."""

    @property
    def cluster_id(self) -> Any:  # noqa: ANN401 - a column, or a name in a row
        pass


T = TypeVar("T", bound=OfCluster)


@dataclass(frozen=True, slots=True)
class Principal:
    kind: PrincipalKind
    id: int | None
    name: str
    address: str | None = None
    user_id: int | None = None
    # role by cluster; None stands for all clusters, including future ones
    grants: Mapping[int | None, Role] = field(default_factory=dict)
    # published clusters by id: everyone may view, no one may change them
    published: Mapping[int, str] = field(default_factory=dict)
    session_id: int | None = None
    is_automatic: bool = False  # a schedule or an alert acts for the user

    @property
    def actor(self) -> str | None:
        return None if self.id is None else f"{self.kind}:{self.id}"

    def role_in(self, cluster_id: int | None) -> Role | None:
        """Return the strongest role in the cluster (None: in all clusters)."""
        if cluster_id in self.published:
            return Role.VIEWER
        roles = [self.grants[key] for key in {None, cluster_id} if key in self.grants]
        return max(roles, key=lambda role: role.rank, default=None)

    def may(self, role: Role, cluster_id: int | None) -> bool:
        own = self.role_in(cluster_id)
        return own is not None and own.rank >= role.rank

    def may_somewhere(self, role: Role) -> bool:
        return any(own.rank >= role.rank for own in self.grants.values())

    def clusters_with(self, role: Role) -> frozenset[int] | None:
        """Return the clusters with at least `role`; None means all."""
        if self.may(role, None):
            return None
        own = {key for key, own in self.grants.items() if key is not None and own.rank >= role.rank}
        return frozenset(own | self.published.keys() if role is Role.VIEWER else own)

    def visible_clusters(self) -> frozenset[int] | None:
        return self.clusters_with(Role.VIEWER)

    def require(self, role: Role, cluster_id: int | None, missing: IotideError | None = None) -> None:
        """Raise `missing`, NotFoundError, CLUSTER_PUBLISHED or NotAllowedError without the role."""
        # To callers who may not view the cluster, hidden looks like missing.
        if cluster_id is not None and not self.may(Role.VIEWER, cluster_id):
            raise missing or NotFoundError(f"there is no cluster {cluster_id}")
        if cluster_id is not None and cluster_id in self.published and role is not Role.VIEWER:
            raise CLUSTER_PUBLISHED(name=self.published[cluster_id])
        if not self.may(role, cluster_id):
            where = "of this cluster" if cluster_id is not None else "of all clusters"
            raise NotAllowedError(
                f"{self.name} is not {role} {where}", remedy=f"ask an administrator for the role {role} {where}"
            )

    def require_row(self, role: Role, row: T | None, missing: IotideError) -> T:
        if row is None:
            raise missing
        self.require(role, row.cluster_id, missing)
        return row

    def require_person(self, what: str) -> int:
        """Return the user id. Raise PERSON_WANTED for API tokens."""
        if self.kind is not PrincipalKind.USER or self.user_id is None:
            raise PERSON_WANTED(what=what)
        return self.user_id


ANONYMOUS = Principal(PrincipalKind.ANONYMOUS, None, "anonymous")


def public_reader(address: str | None, published: Mapping[int, str]) -> Principal:
    grants: dict[int | None, Role] = {None: Role.VIEWER}
    return Principal(PrincipalKind.ANONYMOUS, None, "anonymous", address, None, grants, published)
