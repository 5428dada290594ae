"""People with roles and tokens."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.orm import Session

from iotide_server.accounts.models import ApiToken, Role, RoleGrant, User
from iotide_server.accounts.roles.authentication import API_TOKEN_PREFIX
from iotide_server.accounts.roles.principal import Principal, PrincipalKind
from iotide_server.kit.digests import digest, new_secret

ADMIN = Principal(PrincipalKind.USER, None, "ada", grants={None: Role.ADMIN})
"""An admin of all clusters, without a row."""


@dataclass(frozen=True)
class Person:
    """A user with an API token of all scopes."""

    principal: Principal
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


def person(
    session: Session, name: str, role: Role | None = None, cluster_id: int | None = None, *, now: datetime
) -> Person:
    """Make a person with that role in the cluster, or in all; without a role if None."""
    user = User(name=name, created_at=now)
    session.add(user)
    session.flush()
    secret = new_secret(API_TOKEN_PREFIX)
    grants = {} if role is None else {cluster_id: role}
    session.add_all(RoleGrant(user_id=user.id, cluster_id=key, role=granted) for key, granted in grants.items())
    session.add(ApiToken(user_id=user.id, name="test", secret_sha256=digest(secret), scopes=["admin"], created_at=now))
    session.flush()
    principal = Principal(PrincipalKind.USER, user.id, name, None, user.id, grants)
    return Person(principal, secret)
