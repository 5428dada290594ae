"""Who is calling and what they may do; every service asks this one object."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol, TypeVar

from iotide_server.accounts.errors import CLUSTER_PUBLISHED, PERSON_WANTED
from iotide_server.accounts.models import Role
from iotide_server.kit.errors import IotideError, NotAllowedError, NotFoundError


class PrincipalKind(StrEnum):
    """By what the caller proved who they are."""

    USER = "user"
    TOKEN = "token"  # noqa: S105 - the name of a kind
    NODE = "node"
    ANONYMOUS = "anonymous"


class OfCluster(Protocol):
    """Belongs to a cluster, or to all where its `cluster_id` is None."""

    @property
    def cluster_id(self) -> Any:  # noqa: ANN401 - a column, or a name in a row
        """Return the id."""


T = TypeVar("T", bound=OfCluster)


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request."""

    kind: PrincipalKind
    id: int | None  # of the user, the API token or the node; None for nobody
    name: str
    address: str | None = None  # where the request came from
    user_id: int | None = None  # the person behind a session or an API token; who owns what the request makes
    # role by cluster; the key None stands for all clusters, those to come included
    grants: Mapping[int | None, Role] = field(default_factory=dict)
    # names, by id, of the clusters of which only published results are known: everybody may view them, and nobody may
    # change them
    published: Mapping[int, str] = field(default_factory=dict)
    session_id: int | None = None  # of the browser's session, where that proved who is calling

    @property
    def actor(self) -> str | None:
        """Return what stored sentences call the caller: `user:7`, `token:3`; None for nobody (see `kit/people.py`)."""
        return None if self.id is None else f"{self.kind}:{self.id}"

    def role_in(self, cluster_id: int | None) -> Role | None:
        """The strongest role in the cluster, or, for None, over all clusters; None without any."""
        if cluster_id in self.published:
            return Role.VIEWER
        roles = [self.grants[key] for key in {None, cluster_id} if key in self.grants]
        return max(roles, key=lambda role: role.rank, default=None)

    def may(self, role: Role, cluster_id: int | None) -> bool:
        """Whether the caller has at least `role` in the cluster (None: over all clusters)."""
        own = self.role_in(cluster_id)
        return own is not None and own.rank >= role.rank

    def may_somewhere(self, role: Role) -> bool:
        return any(own.rank >= role.rank for own in self.grants.values())

    def clusters_with(self, role: Role) -> frozenset[int] | None:
        """The clusters in which the caller has at least `role`; None means all."""
        if self.may(role, None):
            return None
        own = {key for key, own in self.grants.items() if key is not None and own.rank >= role.rank}
        return frozenset(own | self.published.keys() if role is Role.VIEWER else own)

    def visible_clusters(self) -> frozenset[int] | None:
        """The clusters whose things the caller may see; None means all."""
        return self.clusters_with(Role.VIEWER)

    def require(self, role: Role, cluster_id: int | None, missing: IotideError | None = None) -> None:
        """Check the role in the cluster; raise `missing` or NotFoundError, CLUSTER_PUBLISHED or NotAllowedError."""
        # Where the caller may not view the cluster, hidden and absent look alike.
        if cluster_id is not None and not self.may(Role.VIEWER, cluster_id):
            raise missing or NotFoundError(f"there is no cluster {cluster_id}")
        if cluster_id is not None and cluster_id in self.published and role is not Role.VIEWER:
            raise CLUSTER_PUBLISHED(name=self.published[cluster_id])
        if not self.may(role, cluster_id):
            where = "in this cluster" if cluster_id is not None else "for all clusters"
            raise NotAllowedError(
                f"{self.name} is not {role} {where}", remedy=f"ask an administrator for the role {role} {where}"
            )

    def require_row(self, role: Role, row: T | None, missing: IotideError) -> T:
        """Return a row after `require` of the cluster that its `cluster_id` names; None raises `missing`, too."""
        if row is None:
            raise missing
        self.require(role, row.cluster_id, missing)
        return row

    def require_person(self, what: str) -> int:
        """Return the id of the person who calls from a browser; raise PERSON_WANTED for a program."""
        if self.kind is not PrincipalKind.USER or self.user_id is None:
            raise PERSON_WANTED(what=what)
        return self.user_id


ANONYMOUS = Principal(PrincipalKind.ANONYMOUS, None, "anonymous")


def public_reader(address: str | None, published: Mapping[int, str]) -> Principal:
    """Nobody in particular, who may view everything where the installation is open for reading."""
    grants: dict[int | None, Role] = {None: Role.VIEWER}
    return Principal(PrincipalKind.ANONYMOUS, None, "anonymous", address, None, grants, published)
