"""What the API takes and gives for accounts."""

from datetime import datetime
from typing import Annotated

from pydantic import Field

from iotide_server.accounts import models, service
from iotide_server.accounts.authentication import Scope
from iotide_server.accounts.models import GrantSource, Role
from iotide_server.accounts.principal import PrincipalKind
from iotide_server.kit.db import Json
from iotide_server.kit.web import Input, Output
from iotide_wire.base import Name, UtcTime

PersonName = Annotated[Name, Field(description="Name to sign in with", examples=["grace"])]


class RoleGrant(Input):
    """A role in one cluster, or in all, those to come included, where `cluster_id` is null."""

    cluster_id: Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])] | None
    role: Annotated[Role, Field(examples=["operator"])]


class TokenInput(Input):
    """A new API token."""

    name: Annotated[str, Field(min_length=1, max_length=100, description="What it is for", examples=["nightly"])]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3, examples=[["read", "operate"]])]
    expires_at: UtcTime | None = None


class Token(Output):
    """An API token, without its secret."""

    id: int
    name: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: Annotated[datetime | None, Field(description="To the minute")]

    @classmethod
    def of(cls, row: models.ApiToken) -> "Token":
        """As the API shows the row."""
        return cls.model_validate(row)


class TokenCreated(Token):
    """A new API token; its secret is shown this once."""

    token: Annotated[str, Field(examples=["iot_kX3mBv0uJqTn6dYw2eRz8cPs5aLf1hGi9oUt7xZbNQ"])]


class UserInput(Input):
    """A new person."""

    name: PersonName
    roles: Annotated[list[RoleGrant], Field(max_length=1000)]


class UserChange(Input):
    """All that can be changed of a person."""

    roles: Annotated[list[RoleGrant], Field(max_length=1000)]
    disabled: Annotated[bool, Field(description="Whether sessions and tokens are refused")]


class User(Output):
    """A person."""

    id: int
    name: str
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None
    roles: Annotated[list[RoleGrant], Field(description="Given by administrators")]
    issuer: Annotated[str | None, Field(description="The OpenID provider they sign in at; null for none")]
    provider_roles: Annotated[
        list[RoleGrant], Field(description="Given by their groups at the provider, anew at each sign-in")
    ]

    @classmethod
    def of(cls, found: service.UserWithGrants) -> "User":
        """As the API shows the rows."""
        return cls(
            id=found.user.id,
            name=found.user.name,
            has_password=found.user.password_hash is not None,
            created_at=found.user.created_at,
            disabled_at=found.user.disabled_at,
            roles=_roles(found.grants, GrantSource.LOCAL),
            issuer=found.user.issuer,
            provider_roles=_roles(found.grants, GrantSource.PROVIDER),
        )


def _roles(grants: list[models.RoleGrant], source: GrantSource) -> list[RoleGrant]:
    return [RoleGrant(cluster_id=row.cluster_id, role=Role(row.role)) for row in grants if row.source == source]


class SignInLink(Output):
    """A URL that signs a person in once."""

    url: Annotated[str, Field(examples=["https://iotide.example.org/login#token=kX3mBv0uJqTn6dYw2eRz8cPs5aLf1hGi"])]


class AuditEntry(Output):
    """One change: who, what, before, after, from where."""

    id: int
    at: datetime
    principal_kind: PrincipalKind
    principal_id: int | None
    principal_name: str
    address: str | None
    action: Annotated[str, Field(examples=["cluster_changed"])]
    subject_kind: Annotated[str, Field(examples=["cluster"])]
    subject_id: int | None
    cluster_id: int | None
    before: Json | None
    after: Json | None

    @classmethod
    def of(cls, row: models.AuditEntry) -> "AuditEntry":
        """As the API shows the row."""
        return cls.model_validate(row)
