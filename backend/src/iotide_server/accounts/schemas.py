"""What the API takes and gives for accounts."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import Row

from iotide_server.accounts import models
from iotide_server.accounts.models import GrantSource, Role
from iotide_server.accounts.roles.authentication import Scope
from iotide_server.kit.web import Input, Output
from iotide_wire.base import Name, UtcTime

USUAL_LIFETIME: Final = timedelta(days=90)  # an API token lives this long unless a request says otherwise
PersonName = Annotated[Name, Field(description="Name to sign in with", examples=["grace"])]


class RoleGrantOutput(Input):
    """A role in one cluster, or in all, those to come included, where `cluster_id` is null."""

    cluster_id: Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])] | None
    role: Annotated[Role, Field(examples=["operator"])]


class TokenInput(Input):
    """A new API token."""

    name: Annotated[str, Field(min_length=1, max_length=100, description="What it is for", examples=["nightly"])]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3, examples=[["read", "operate"]])]
    expires_at: Annotated[
        UtcTime | None,
        Field(description=f"Left out: in {USUAL_LIFETIME.days} days; null: never", examples=["2999-01-01T00:00:00Z"]),
    ] = None

    def expiry(self, now: datetime) -> datetime | None:
        """When it ends; that it never does has to be said."""
        return self.expires_at if "expires_at" in self.model_fields_set else now + USUAL_LIFETIME


class Token(Output):
    """An API token, without its secret."""

    id: int
    user_id: int
    user_name: str
    name: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: Annotated[datetime | None, Field(description="To the minute")]
    last_used_address: Annotated[str | None, Field(description="From where that was", examples=["10.0.0.7"])]


class TokenCreated(Token):
    """A new API token; its secret is shown this once."""

    token: Annotated[str, Field(examples=["iot_kX3mBv0uJqTn6dYw2eRz8cPs5aLf1hGi9oUt7xZbNQ"])]


class UserInput(Input):
    """A new person."""

    name: PersonName
    roles: Annotated[list[RoleGrantOutput], Field(max_length=1000)]


class UserChange(Input):
    """All that can be changed of a person."""

    roles: Annotated[list[RoleGrantOutput], Field(max_length=1000)]
    disabled: Annotated[
        bool,
        Field(description="True ends sessions, sign-in links and tokens, and pauses schedules; false lets in again"),
    ]


class UserOutput(Output):
    """A person."""

    id: int
    name: str
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None
    last_seen_at: Annotated[datetime | None, Field(description="When a session or a token of theirs was last used")]
    session_count: Annotated[int, Field(description="Browsers in which they are signed in")]
    token_count: Annotated[int, Field(description="API tokens that open something")]
    schedule_count: Annotated[int, Field(description="Schedules that fire in their name")]
    roles: Annotated[list[RoleGrantOutput], Field(description="Given by administrators")]
    issuer: Annotated[str | None, Field(description="The OpenID provider they sign in at; null for none")]
    provider_roles: Annotated[
        list[RoleGrantOutput], Field(description="Given by their groups at the provider, anew at each sign-in")
    ]

    @classmethod
    def of(cls, user: models.User, grants: list[models.RoleGrant], standing: Row[Any]) -> "UserOutput":
        return cls.of_row(
            user,
            has_password=user.password_hash is not None,
            last_seen_at=standing.last_seen_at,
            session_count=standing.session_count,
            token_count=standing.token_count,
            schedule_count=standing.schedule_count,
            roles=roles_by(GrantSource.LOCAL, grants),
            provider_roles=roles_by(GrantSource.PROVIDER, grants),
        )


def roles_by(source: GrantSource, grants: list[models.RoleGrant]) -> list[RoleGrantOutput]:
    return [RoleGrantOutput(cluster_id=row.cluster_id, role=Role(row.role)) for row in grants if row.source == source]


class SignInLink(Output):
    """A URL that signs a person in once."""

    url: Annotated[str, Field(examples=["https://iotide.example.org/login#token=kX3mBv0uJqTn6dYw2eRz8cPs5aLf1hGi"])]
