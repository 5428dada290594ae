"""API schemas of users and API tokens."""

from datetime import datetime, timedelta
from typing import Annotated, Any, Final

from pydantic import Field
from sqlalchemy import Row

from iotide_server.accounts import models
from iotide_server.accounts.models import GrantSource, Role
from iotide_server.accounts.roles.authentication import Scope
from iotide_server.kit.web import Input, Output
from iotide_wire.base import Name, UtcTime

USUAL_LIFETIME: Final = timedelta(days=90)
PersonName = Annotated[Name, Field(description="Name to sign in with", examples=["grace"])]


class RoleGrantOutput(Input):
    """Role in one cluster, or in all clusters including future ones if `cluster_id` is null."""

    cluster_id: Annotated[int, Field(ge=1, le=2**63 - 1, examples=[1])] | None
    role: Annotated[Role, Field(examples=["operator"])]


class TokenInput(Input):
    """New API token."""

    name: Annotated[str, Field(min_length=1, max_length=100, description="Purpose of the token", examples=["nightly"])]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3, examples=[["read", "operate"]])]
    expires_at: Annotated[
        UtcTime | None,
        Field(description=f"Default: in {USUAL_LIFETIME.days} days; null: never", examples=["2999-01-01T00:00:00Z"]),
    ] = None

    def expiry(self, now: datetime) -> datetime | None:
        """Return the expiry; no expiry must be explicit."""
        return self.expires_at if "expires_at" in self.model_fields_set else now + USUAL_LIFETIME


class LoginInput(Input):
    """Login of the command `iotide`, which keeps its secret and passes the digest."""

    name: Annotated[
        str, Field(min_length=1, max_length=100, description="Where it runs", examples=["iotide on login1"])
    ]
    scopes: Annotated[list[Scope], Field(min_length=1, max_length=3, examples=[["read", "operate"]])]
    secret_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256 of the new token")]
    asked_at: Annotated[UtcTime, Field(description="When the login began; valid for ten minutes")]


class Token(Output):
    id: int
    user_id: int
    user_name: str
    name: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: Annotated[datetime | None, Field(description="To the minute")]
    last_used_address: Annotated[str | None, Field(description="Address of that use", examples=["10.0.0.7"])]


class TokenCreated(Token):
    """New API token with its secret, which is shown only once."""

    token: Annotated[str, Field(examples=["iot_kX3mBv0uJqTn6dYw2eRz8cPs5aLf1hGi9oUt7xZbNQ"])]


class UserInput(Input):
    """New user."""

    name: PersonName
    roles: Annotated[list[RoleGrantOutput], Field(max_length=1000)]


class UserChange(Input):
    """Changeable fields of a user."""

    roles: Annotated[list[RoleGrantOutput], Field(max_length=1000)]
    disabled: Annotated[
        bool,
        Field(description="True ends sessions, sign-in links and tokens, and pauses schedules; false restores access"),
    ]


class UserOutput(Output):
    """User."""

    id: int
    name: str
    has_password: bool
    created_at: datetime
    disabled_at: datetime | None
    last_seen_at: Annotated[datetime | None, Field(description="Last use of a session or token of the user")]
    session_count: Annotated[int, Field(description="Signed-in browsers")]
    token_count: Annotated[int, Field(description="Valid API tokens")]
    schedule_count: Annotated[int, Field(description="Active schedules of the user")]
    roles: Annotated[list[RoleGrantOutput], Field(description="Assigned by administrators")]
    issuer: Annotated[str | None, Field(description="OpenID provider of the user; null for local users")]
    provider_roles: Annotated[
        list[RoleGrantOutput],
        Field(description="Assigned from the user's groups at the provider, updated at each sign-in"),
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
    """URL that signs a user in once."""

    url: Annotated[str, Field(examples=["https://iotide.example.org/login#token=kX3mBv0uJqTn6dYw2eRz8cPs5aLf1hGi"])]
